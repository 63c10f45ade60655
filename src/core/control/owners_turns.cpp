// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/owners_turns.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace pinfold {

Result<void> OwnersTurns::take(uid_t user, std::function<void()> begin) {
    auto& mine = begins_[user];
    if (mine.size() >= kMostOfOne)
        return Error{ErrorCode::Busy,
                     fmt::format("user {} has {} signals and suspensions of own jobs in progress: try again", user, mine.size())};
    mine.push_back(nullptr);
    if (mine.size() == 1)
        begin();
    else
        mine.back() = std::move(begin);
    return {};
}

void OwnersTurns::over(uid_t user) {
    auto& mine = begins_[user];
    mine.pop_front();
    if (mine.empty()) {
        begins_.erase(user);
        return;
    }
    std::exchange(mine.front(), nullptr)();
}

} // namespace pinfold
