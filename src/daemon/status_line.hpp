// SPDX-License-Identifier: LGPL-2.1-or-later
// The line "Status:" of `systemctl status pinfoldd`.
#pragma once

#include "model/drain.hpp"
#include "os/event_loop.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// "2 jobs; takes no new jobs: new disk; configuration rejected: …". `rejected`: empty, or why.
std::string statusLine(std::size_t jobs, const std::optional<Drain>& drain, const std::string& rejected);

/// Tells systemd within a second of a change, and not more often: thousands of jobs may begin and end in it.
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
