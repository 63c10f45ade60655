// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/access/caller_limits.hpp"
#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

namespace pinfold {

/// Keeps the members of the group pinfold-admin, from the system's user database. The database may be a directory service, which
/// takes as long as the network takes.
class Admins {
public:
    /// A caller waits at most this many microseconds for an answer.
    static constexpr std::uint64_t kPatience = 1'000'000;

    Admins(EventLoop& loop, Background& background, CallerLimits& clients)
        : loop_(loop), background_(background), clients_(clients) {}

    /// Asks the database anew. Until the answer has come, the members of the last answer stay in force. Before the first answer
    /// only root is an admin. refresh() calls `then` once, when the answer is in force or after kPatience.
    void refresh(std::function<void()> then);

private:
    struct Waiting;
    void over(const std::weak_ptr<Waiting>& waiting);

    EventLoop& loop_;
    Background& background_;
    CallerLimits& clients_;
    std::set<std::shared_ptr<Waiting>> waiting_;
};

} // namespace pinfold
