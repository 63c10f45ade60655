// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "core/access/caller_limits.hpp"
#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

namespace pinfold {

/// Reads the members of the groups pinfold-admin and pinfold-audit from the system's user database, and keeps the result. The
/// user database can be a directory service in the network, so an answer can take long.
class Admins {
public:
    /// The longest time for which a caller waits for an answer.
    static constexpr Microseconds kPatience = 1s;

    Admins(EventLoop& loop, Background& background, CallerLimits& clients)
        : loop_(loop), background_(background), clients_(clients) {}

    /// Asks the user database for the present members of the groups pinfold-admin and pinfold-audit. Until the user database has
    /// answered, the members from the previous answer remain admins. Before the first answer of the user database, only root is
    /// an admin. When the answer has come, or after kPatience, refresh() calls `then` once.
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
