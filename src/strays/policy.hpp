// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/strays_config.hpp"
#include "model/subordinate_ids.hpp"

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace pinfold {

/// Is the section [strays], with the names of users and groups looked up.
struct StrayPolicy {
    StraysConfig config;
    std::set<uid_t> users; ///< only strays of these users; without meaning if config.users is empty
    std::set<uid_t> exemptUsers;
    std::set<gid_t> exemptGroups;
    SubordinateIds subordinates;       ///< by these, a subordinate id counts as its owner when looks into processes hang
    std::string ownCgroup;             ///< processes in this program's own cgroup, such as the admin's login session, are spared
    std::vector<std::string> problems; ///< unknown names; nothing may be killed if there are any, because such a name may mean
                                       ///< anybody
};

StrayPolicy resolve(StraysConfig config);

/// Returns true if the user is neither a system user, nor nobody, nor the user of a service with DynamicUser=.
bool isOrdinaryUser(uid_t uid, const StraysConfig& config);

} // namespace pinfold
