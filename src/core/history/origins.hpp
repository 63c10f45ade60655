// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"
#include "model/job_record.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// Keeps the names of user ids or of group ids. A separate thread asks the database, because the database can be a directory
/// service in the network.
class NameCache {
public:
    using Look = std::function<Result<std::string>(std::uint32_t)>;

    /// Asks for the name of the id, if the name is not known yet.
    void expect(Background& background, const Look& look, std::uint32_t id);
    /// Returns the name of the id, or nullopt if the database has not answered yet.
    [[nodiscard]] std::optional<std::string> find(std::uint32_t id) const;

private:
    std::map<std::uint32_t, std::optional<std::string>> names_; ///< by id; nullopt while a thread asks for the name
};

/// Finds out three facts for the receipts of jobs: the name of the node, the name of the job's owner, and the name of the job's
/// group. At the start of a job, a separate thread asks the user database and the group database for the names. If the user
/// database has not answered before the job ends, the receipt does not contain the user's name. If the group database has not
/// answered before the job ends, the receipt contains the number of the group.
class Origins {
public:
    explicit Origins(CoreContext& context) : context_(context) {}

    /// Asks for the names of the owner and of the group of a running job, if the names are not known yet.
    void expect(const JobRecord& record);
    Origin of(const JobRecord& record) const;
    /// Returns the identity of the job. If the batch system has passed the number of the group, and pinfoldd knows the group's
    /// name, the identity has the name.
    JobIdentity identityOf(const JobRecord& record) const;
    /// Returns the name of the user, or nullopt if the user database has not answered yet. If pinfoldd could not ask the user
    /// database, or if the user database gave no answer, nameOf() asks again.
    std::optional<std::string> nameOf(uid_t user);

private:
    CoreContext& context_;
    NameCache users_;
    NameCache groups_;
};

} // namespace pinfold
