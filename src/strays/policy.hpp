// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/strays_config.hpp"
#include "model/subordinate_ids.hpp"

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace pinfold {

/// [strays], with its names of users and groups looked up.
struct StrayPolicy {
    StraysConfig config;
    std::set<uid_t> users; ///< only these users; without meaning if config.users is empty
    std::set<uid_t> exemptUsers;
    std::set<gid_t> exemptGroups;
    SubordinateIds subordinates;       ///< a subordinate id counts as its owner when looks into processes hang
    std::string ownCgroup;             ///< processes in this process's own cgroup, such as the admin's login session, are spared
    std::vector<std::string> problems; ///< names that are not known; since they may mean anybody, nothing may be killed
};

StrayPolicy resolve(StraysConfig config);

/// True: the user is neither a system user, nor nobody, nor the user of a service with DynamicUser=.
bool isOrdinaryUser(uid_t uid, const StraysConfig& config);

} // namespace pinfold
