// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the text that `systemctl status pinfoldd` shows after "Status:".
#pragma once

#include "model/drain.hpp"
#include "os/event_loop.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Returns a status line such as "2 jobs; takes no new jobs: new disk; configuration rejected: …". The argument `rejected` says
/// why pinfoldd has rejected the configuration, and is empty if pinfoldd has accepted the configuration.
std::string statusLine(std::size_t jobs, const std::optional<Drain>& drain, const std::string& rejected);

/// When the status line has changed, StatusTeller tells systemd the new status line. Thousands of jobs can begin and end in a
/// second, so StatusTeller sends the status line at most once a second.
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
