// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>

namespace pinfold {

/// Limits how many requests about one user's jobs are in progress at the same time. The requests of all users share the queue of
/// Lane::Owners. If several users share a queue, at most `atOnce` requests of any one user are in the queue at the same time.
class OwnersTurns {
public:
    /// A user can have at most `most` unfinished requests. A request is unfinished while it waits or is in progress.
    OwnersTurns(std::size_t atOnce, std::size_t most) : atOnce_(atOnce), most_(most) {}

    /// Calls `begin` when the request's turn comes, possibly before take() returns. The turn of a request lasts until the caller
    /// calls over(). If a subordinate id makes the request, `user` is the owner of the subordinate id. The error is Busy if too
    /// many requests of `user` wait. `begin` must not be empty.
    Result<void> take(uid_t user, std::function<void()> begin);
    void over(uid_t user);

private:
    struct User {
        std::size_t underWay = 0;
        std::deque<std::function<void()>> waiting;
    };

    std::size_t atOnce_;
    std::size_t most_;
    std::map<uid_t, User> users_; ///< the users who have requests in progress
};

} // namespace pinfold
