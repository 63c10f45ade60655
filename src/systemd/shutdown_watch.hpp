// SPDX-License-Identifier: LGPL-2.1-or-later
// Learns from PID 1 that the machine is being shut down or rebooted. If systemd-logind runs, systemd-logind announces a
// shutdown earlier than PID 1. logind can cancel a shutdown that it has announced, and does not announce a shutdown that somebody
// requests directly from PID 1. So ShutdownWatch asks PID 1 in any case, but waits longer for PID 1's answer after logind has
// announced a shutdown.
#pragma once

#include "os/event_loop.hpp"
#include "systemd/bus_filter.hpp"
#include "systemd/call_queue.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace pinfold {

class ShutdownWatch {
public:
    struct Parts {
        sdbus::IConnection& connection; ///< a connection that has subscribed to PID 1's signals
        sdbus::IProxy& proxy;           ///< the proxy of PID 1's manager
        EventLoop& loop;
    };
    /// ShutdownWatch calls `begun` in the event loop's thread when a shutdown has begun. The argument `since` is the time of
    /// logind's announcement, or the time of the call if logind has not announced the shutdown. ShutdownWatch possibly calls
    /// `begun` more than once.
    ShutdownWatch(Parts parts, std::function<void(BootTime since)> begun);
    ShutdownWatch(const ShutdownWatch&) = delete;

    /// Call announce(true) when logind announces a shutdown, and announce(false) when logind cancels the shutdown.
    void announce(bool begins);

    /// Asks PID 1 whether a shutdown has begun. When PID 1 has answered, ShutdownWatch calls `done`, whatever the answer is. If
    /// a shutdown has begun, ShutdownWatch calls `begun` before `done`. If no answer comes, ShutdownWatch calls `done` after 10
    /// s. After an announcement of logind, ShutdownWatch waits up to 5 minutes for the answer.
    void ask(std::function<void()> done);

private:
    struct Question {
        std::function<void()> done;
        EventHandle deadline;
    };
    void look(sd_bus_message* message);
    void answered(std::uint64_t number);
    EventHandle deadline(std::uint64_t number);

    Parts parts_;
    CallQueue calls_;
    std::function<void(BootTime since)> begun_;
    std::optional<BootTime> announced_; ///< the time at which logind has announced a shutdown
    std::map<std::uint64_t, Question> questions_;
    std::uint64_t next_ = 0;
    bool asking_ = false; ///< pinfoldd has asked PID 1 because of a signal, and PID 1 has not answered yet
    dbus::Slot filter_;
};

} // namespace pinfold
