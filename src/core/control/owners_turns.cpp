// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/owners_turns.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace pinfold {

Result<void> OwnersTurns::take(uid_t user, std::function<void()> begin) {
    auto& mine = users_[user];
    if (const auto all = mine.underWay + mine.waiting.size(); all >= most_)
        return Error{ErrorCode::Busy,
                     fmt::format("user {} has {} signals and suspensions of own jobs in progress: try again", user, all)};
    if (mine.underWay == atOnce_) {
        mine.waiting.push_back(std::move(begin));
        return {};
    }
    ++mine.underWay;
    begin();
    return {};
}

void OwnersTurns::over(uid_t user) {
    auto& mine = users_[user];
    if (mine.waiting.empty()) {
        if (--mine.underWay == 0)
            users_.erase(user);
        return;
    }
    const auto begin = std::move(mine.waiting.front());
    mine.waiting.pop_front();
    begin();
}

} // namespace pinfold
