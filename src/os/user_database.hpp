// SPDX-License-Identifier: LGPL-2.1-or-later
// The user and group databases (getpwnam(3), getgrnam(3)). They may be a directory service that takes its time, so pinfoldd's
// loop must not call these functions.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <string>

namespace pinfold {

/// The user id for a name or a number. Errors: InvalidArgument for a name that is not known; Internal when the database cannot be
/// asked.
Result<uid_t> findUser(const std::string& text);
/// Errors: InvalidArgument if the user has no name; Internal when the database cannot be asked.
Result<std::string> nameOfUser(uid_t uid);
Result<gid_t> findGroup(const std::string& text);

} // namespace pinfold
