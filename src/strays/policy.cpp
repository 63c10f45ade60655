// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/policy.hpp"

#include "os/process_looks.hpp"
#include "os/user_database.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr uid_t kNobody = 65534;
// systemd uses the ids from kFirstDynamic to kLastDynamic for DynamicUser= (see UIDS-GIDS.md of systemd).
constexpr uid_t kFirstDynamic = 61184;
constexpr uid_t kLastDynamic = 65519;

template <class Id> std::set<Id> lookUp(const std::vector<std::string>& names, Result<Id> (*find)(const std::string&),
                                        const char* key, std::vector<std::string>& problems) {
    std::set<Id> ids;
    for (const auto& name : names) {
        const auto id = find(name);
        if (id)
            ids.insert(*id);
        else
            problems.push_back(fmt::format("{}: {}", key, id.error().message));
    }
    return ids;
}

} // namespace

StrayPolicy resolve(StraysConfig config) {
    StrayPolicy policy;
    policy.users = lookUp(config.users, findUser, "users", policy.problems);
    policy.exemptUsers = lookUp(config.exemptUsers, findUser, "exempt_users", policy.problems);
    policy.exemptGroups = lookUp(config.exemptGroups, findGroup, "exempt_groups", policy.problems);
    policy.subordinates = readSubordinateIds();
    policy.config = std::move(config);
    return policy;
}

bool isOrdinaryUser(uid_t uid, const StraysConfig& config) {
    return uid >= config.minUid && uid <= config.maxUid && uid != kNobody && (uid < kFirstDynamic || uid > kLastDynamic);
}

} // namespace pinfold
