// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>

namespace pinfold {

/// Holds the answers that systemd-logind gave when readLogins() asked systemd-logind about sessions (sd-login(3)). If logind does
/// not run, all members of Logins are empty.
struct Logins {
    std::map<std::string, std::string> services; ///< maps a session id to the PAM service of the login, such as "sshd" or "crond"
    std::set<uid_t> lingering;                   ///< the users whose service managers run, although the users have no session
};

Logins readLogins();

} // namespace pinfold
