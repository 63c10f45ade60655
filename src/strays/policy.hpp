// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/strays_config.hpp"
#include "model/subordinate_ids.hpp"

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace pinfold {

/// [strays] with its names looked up.
struct StrayPolicy {
    StraysConfig config;
    std::set<uid_t> users; ///< only these; meaningless where config.users is empty
    std::set<uid_t> exemptUsers;
    std::set<gid_t> exemptGroups;
    SubordinateIds subordinates;       ///< such an id counts as its owner where looks into processes hang
    std::string ownCgroup;             ///< what runs beside who acts, in the admin's own login session say, is spared
    std::vector<std::string> problems; ///< names that nobody knows: whoever was meant must not be killed
};

StrayPolicy resolve(StraysConfig config);

/// Not one of the system's, of nobody, or of a service with DynamicUser=.
bool isOrdinaryUser(uid_t uid, const StraysConfig& config);

} // namespace pinfold
