// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks up users and groups in the user and group databases (getpwnam(3), getgrnam(3)). The event loop of pinfoldd must not call
// the functions of user_database.hpp, because the databases can be on a slow server.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <set>
#include <string>

namespace pinfold {

/// Returns the user id for a name or a number. Fails with InvalidArgument if the name is not known, and with Internal if the
/// database does not answer.
Result<uid_t> findUser(const std::string& text);
/// Returns the user's name. Fails with InvalidArgument if the user has no name, and with Internal if the database does not
/// answer.
Result<std::string> nameOfUser(uid_t uid);
/// Returns the name of the group. Fails with InvalidArgument if the group does not exist, and with Internal if the database does
/// not answer.
Result<std::string> nameOfGroup(gid_t gid);
Result<gid_t> findGroup(const std::string& text);
/// Returns the users that the group lists as its members. The result is empty if the group does not exist, or if the database
/// does not answer. Only one thread of the process may use the database at a time.
std::set<uid_t> membersOfGroup(const std::string& name);

} // namespace pinfold
