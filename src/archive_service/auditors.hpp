// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>

namespace pinfold {

/// Knows who is allowed to see the receipts of all users: root, and the members of the groups pinfold-admin and pinfold-audit.
/// seesAll() does not wait for the user database, because a directory service sometimes takes long to answer. A separate thread
/// asks the user database again and again, and seesAll() uses the latest answer.
class Auditors {
public:
    /// A function of the type Look returns the user ids of all members of pinfold-admin and pinfold-audit. The thread of Auditors
    /// calls the Look function again and again.
    using Look = std::function<std::set<uid_t>()>;

    /// The constructor waits for the first answer of the user database, but not longer than `patience`.
    Auditors(Look look, Microseconds patience);
    /// The destructor does not wait for the thread that asks the user database.
    ~Auditors();
    Auditors(const Auditors&) = delete;
    Auditors& operator=(const Auditors&) = delete;

    /// Returns true if the user is allowed to see all receipts. Until the user database has answered for the first time, the
    /// error is Unreachable for all users except root. If seesAll() returned false in place of the error, an auditor could
    /// mistake their own receipts for the receipts of all users.
    Result<bool> seesAll(uid_t uid) const;

private:
    struct Shared;
    std::shared_ptr<Shared> shared_; ///< the pointer is shared, because the thread can outlive the Auditors object
};

} // namespace pinfold
