// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>

namespace pinfold {

/// Knows who may see the receipts of all users: root, and the members of the groups pinfold-admin and pinfold-audit. A thread
/// asks the user database again and again, because the database may be a directory service that takes long to answer.
class Auditors {
public:
    /// A function of the type Look returns the user ids of the members of both groups. The thread of Auditors calls the Look
    /// function again and again.
    using Look = std::function<std::set<uid_t>()>;

    /// The constructor waits at most the time `patience` for the first answer of the user database.
    Auditors(Look look, Microseconds patience);
    /// The destructor does not wait for the thread that asks the user database.
    ~Auditors();
    Auditors(const Auditors&) = delete;
    Auditors& operator=(const Auditors&) = delete;

    /// Returns whether the user may see all receipts. While the user database has not answered yet, the error is Unreachable for
    /// all users except root: an auditor must not take their own receipts for all receipts.
    Result<bool> seesAll(uid_t uid) const;

private:
    struct Shared;
    std::shared_ptr<Shared> shared_; ///< the pointer is shared, because the thread may outlive the Auditors object
};

} // namespace pinfold
