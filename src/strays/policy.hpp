// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/strays_config.hpp"
#include "model/subordinate_ids.hpp"

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace pinfold {

/// Holds the section [strays] of the configuration, and the ids of the users and groups that the section names.
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

/// Returns true for an ordinary user. System users, the user nobody, and users of services with DynamicUser= are not ordinary
/// users.
bool isOrdinaryUser(uid_t uid, const StraysConfig& config);

} // namespace pinfold
