// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>

namespace pinfold {

/// At most one thing that a user asks for as an owner is in Lane::Owners, so that nobody waits there behind a second one of
/// somebody else's.
class OwnersTurns {
public:
    static constexpr std::size_t kMostOfOne = 128; ///< of a user, with the one that has its turn

    /// Calls `begin` when it may, which may be at once. over() ends the turn. `user`: who is counted, a subordinate id as its
    /// owner. Error: Busy, this user has too much waiting.
    Result<void> take(uid_t user, std::function<void()> begin);
    void over(uid_t user);

private:
    std::map<uid_t, std::deque<std::function<void()>>> begins_; ///< the first of each user's has its turn, and is empty
};

} // namespace pinfold
