// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"
#include "model/job_record.hpp"
#include "model/receipt.hpp"

#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// Finds out two facts for the receipts of jobs: the name of the node, and the name of the job's owner. The user database can be
/// a directory service in the network. A separate thread asks the user database for the owner's name at the start of a job. If
/// the user database has not answered before the job ends, the receipt does not contain the user's name.
class Origins {
public:
    explicit Origins(CoreContext& context) : context_(context) {}

    /// Asks for the name of the owner of a running job, if the name is not known yet.
    void expect(uid_t owner);
    Origin of(const JobRecord& record) const;
    /// Returns the name of the user, or nullopt if the user database has not answered yet. If pinfoldd could not ask the user
    /// database, or if the user database gave no answer, nameOf() asks again.
    std::optional<std::string> nameOf(uid_t user);

private:
    CoreContext& context_;
    std::map<uid_t, std::optional<std::string>> names_; ///< by user id; nullopt while a thread asks for the user's name
};

} // namespace pinfold
