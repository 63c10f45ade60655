// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/clients.hpp"
#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

namespace pinfold {

/// The members of the group pinfold-admin, as the system's user database has them: a directory service may be asked, which takes
/// the time that the network takes.
class Admins {
public:
    /// How long whoever waits for an answer waits; microseconds.
    static constexpr std::uint64_t kPatience = 1'000'000;

    Admins(EventLoop& loop, Background& background, Clients& clients) : loop_(loop), background_(background), clients_(clients) {}

    /// Asks anew. Until the answer is there those of the last one stay in force: none but root before the first. `then` is called
    /// once, when the answer is in force or after kPatience.
    void refresh(std::function<void()> then);

private:
    struct Waiting;
    void over(const std::weak_ptr<Waiting>& waiting);

    EventLoop& loop_;
    Background& background_;
    Clients& clients_;
    std::set<std::shared_ptr<Waiting>> waiting_;
};

} // namespace pinfold
