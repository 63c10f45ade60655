// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>

namespace pinfold {

/// Lets each user have at most one request at a time in Lane::Owners, the queue for requests of jobs' owners. So a user never
/// waits in Lane::Owners for more than one request of each other user.
class OwnersTurns {
public:
    static constexpr std::size_t kMostOfOne = 128; ///< requests of one user, with the request that has its turn

    /// Calls `begin` when the request's turn comes, possibly at once. The turn lasts until the call of over(). If a subordinate
    /// id makes the request, `user` is the owner of the subordinate id. Error: Busy if too many requests of `user` wait.
    Result<void> take(uid_t user, std::function<void()> begin);
    void over(uid_t user);

private:
    std::map<uid_t, std::deque<std::function<void()>>> begins_; ///< the first function of each user is empty: it has its turn
};

} // namespace pinfold
