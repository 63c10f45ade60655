// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/admins.hpp"

#include <grp.h>
#include <pwd.h>

#include <string>
#include <vector>

namespace pinfold {

std::set<uid_t> adminUsers() {
    std::set<uid_t> uids;
    const group* admins = ::getgrnam("pinfold-admin");
    if (!admins)
        return uids;
    // getpwnam may overwrite what getgrnam returned.
    std::vector<std::string> names;
    for (char** member = admins->gr_mem; *member; ++member)
        names.emplace_back(*member);
    for (const auto& name : names)
        if (const passwd* user = ::getpwnam(name.c_str()))
            uids.insert(user->pw_uid);
    return uids;
}

} // namespace pinfold
