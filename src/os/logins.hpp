// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>

namespace pinfold {

/// What systemd-logind knows at one moment (sd-login(3)). Empty where logind does not run.
struct Logins {
    std::map<std::string, std::string> services; ///< session id → PAM service of the login: "sshd", "crond"
    std::set<uid_t> lingering;                   ///< users whose manager runs while they have no session
};

Logins readLogins();

} // namespace pinfold
