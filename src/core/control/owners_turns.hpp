// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>

namespace pinfold {

/// Lets each user have at most one request in Lane::Owners, the lane for requests of jobs' owners. So nobody waits in that lane
/// behind two requests of the same user.
class OwnersTurns {
public:
    static constexpr std::size_t kMostOfOne = 128; ///< requests of one user, with the request that has its turn

    /// Calls `begin` when it is the request's turn, possibly at once. The turn lasts until over(). The request counts for `user`;
    /// for a subordinate id this is the id's owner. Error: Busy if too many requests of this user wait.
    Result<void> take(uid_t user, std::function<void()> begin);
    void over(uid_t user);

private:
    std::map<uid_t, std::deque<std::function<void()>>> begins_; ///< the first request of each user has its turn, so its function
                                                                ///< is empty
};

} // namespace pinfold
