// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the line "Status:" of `systemctl status pinfoldd`.
#pragma once

#include "model/drain.hpp"
#include "os/event_loop.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Returns a line such as "2 jobs; takes no new jobs: new disk; configuration rejected: …". `rejected` says why the configuration
/// was rejected, or is empty.
std::string statusLine(std::size_t jobs, const std::optional<Drain>& drain, const std::string& rejected);

/// Tells systemd about changes, at most once a second, because thousands of jobs may begin and end in a second.
class StatusTeller {
public:
    StatusTeller(EventLoop& loop, std::function<void()> tell) : loop_(loop), tell_(std::move(tell)) {}
    void changed();

private:
    EventLoop& loop_;
    std::function<void()> tell_;
    EventHandle due_;
};

} // namespace pinfold
