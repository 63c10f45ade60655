// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>

namespace pinfold {

/// Lets at most one request that a user makes as a job's owner into Lane::Owners, so that nobody waits there behind a second
/// request of somebody else.
class OwnersTurns {
public:
    static constexpr std::size_t kMostOfOne = 128; ///< requests of one user, including the one that has its turn

    /// Calls `begin` when it is the request's turn, possibly at once. over() ends the turn. `user`: the user who is counted, for
    /// a subordinate id its owner. Error: Busy, because too many requests of this user wait.
    Result<void> take(uid_t user, std::function<void()> begin);
    void over(uid_t user);

private:
    std::map<uid_t, std::deque<std::function<void()>>> begins_; ///< the first entry of each user has its turn, and is empty
};

} // namespace pinfold
