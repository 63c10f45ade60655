// SPDX-License-Identifier: LGPL-2.1-or-later
// The user and group databases (getpwnam(3), getgrnam(3)). They may be a directory service that takes its time: not for
// pinfoldd's loop.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <string>

namespace pinfold {

/// A name or number. Errors: InvalidArgument for a name that is not known; Internal when the database can't be asked.
Result<uid_t> findUser(const std::string& text);
/// Errors: InvalidArgument where the user has none; Internal when the database can't be asked.
Result<std::string> nameOfUser(uid_t uid);
Result<gid_t> findGroup(const std::string& text);

} // namespace pinfold
