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
    std::set<uid_t> users; ///< only processes of these users can be strays; ignored if config.users is empty
    std::set<uid_t> exemptUsers;
    std::set<gid_t> exemptGroups;
    SubordinateIds subordinates; ///< the owners of subordinate ids; a limit for a user includes the user's subordinate ids
    std::string ownCgroup; ///< the cgroup of this program; pinfold spares the processes in it, such as the admin's login session
    /// Each text names a user or group that the configuration contains, but the node does not know. While the configuration
    /// contains an unknown name, pinfold must not kill any process, because any process could belong to the named user or group.
    std::vector<std::string> problems;
};

StrayPolicy resolve(StraysConfig config);

/// Returns true for an ordinary user. System users, the user nobody, and the users that systemd creates for services
/// (DynamicUser=) are not ordinary users.
bool isOrdinaryUser(uid_t uid, const StraysConfig& config);

} // namespace pinfold
