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

/// The members of the group pinfold-admin in the system's user database. This may ask a directory service, which takes as long as
/// the network takes.
class Admins {
public:
    /// Microseconds for which a caller waits for an answer.
    static constexpr std::uint64_t kPatience = 1'000'000;

    Admins(EventLoop& loop, Background& background, CallerLimits& clients)
        : loop_(loop), background_(background), clients_(clients) {}

    /// Asks anew. Until the answer has come, the members of the last answer stay in force; before the first answer only root is
    /// an admin. `then` is called once, when the answer is in force or after kPatience.
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
