// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>

namespace pinfold {

/// Lets each user have at most one request at a time in Lane::Owners, the queue for requests of jobs' owners. So while a request
/// waits in Lane::Owners, at most one request of every other user is in front of it.
class OwnersTurns {
public:
    /// The maximum number of waiting requests of one user, including the request that has its turn.
    static constexpr std::size_t kMostOfOne = 128;

    /// Calls `begin` when the request's turn comes, possibly before take() returns. The turn lasts until the call of over(). If a
    /// subordinate id makes the request, `user` is the owner of the subordinate id. The error is Busy if too many requests of
    /// `user` wait.
    Result<void> take(uid_t user, std::function<void()> begin);
    void over(uid_t user);

private:
    /// The map contains the functions of each user's requests. In each queue, the first function is empty, because it belongs to
    /// the request in progress and has already been called.
    std::map<uid_t, std::deque<std::function<void()>>> begins_;
};

} // namespace pinfold
