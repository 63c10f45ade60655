// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "bus/caller.hpp"
#include "bus/foreign_descriptors.hpp"
#include "core/access/caller_limits.hpp"
#include "os/event_loop.hpp"
#include "systemd/bus_filter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace pinfold {

/// Looks at every call before sdbus-c++ reads the call. pinfoldd needs more time to read the message of a call than to carry out
/// the call. Without the gate, a user who sends calls faster than pinfoldd can read them would delay all other users. The gate
/// refuses users who call too often, and refuses messages that are not requests to pinfoldd. The gate needs almost no time to
/// refuse a call.
class Gate {
public:
    /// `jobCount` returns the number of jobs. For a call that lists all objects, the gate charges the caller a fixed time for
    /// each job. `objectBytes` returns the size, in bytes, of an answer that lists all objects of jobs.
    Gate(sdbus::IConnection& connection, CallerResolver& callers, CallerLimits& clients, EventLoop& loop,
         ForeignDescriptors& foreign, std::function<std::size_t()> jobCount, std::function<std::size_t()> objectBytes);
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    /// Describes the method call that pinfoldd is handling.
    struct Call {
        std::string sender;
        std::string method = {};
        Microseconds spentBefore{}; ///< the value of EventLoop::cpuTime() at the time when the gate accepted the call
        bool counted = false;       ///< true if the gate has counted the call against the user's rate limit
        /// The gate keeps the result of ForeignDescriptors::takeOver() until the call has been decoded.
        std::shared_ptr<void> kept = {};
    };
    const Call& call() const { return call_; }

private:
    /// Checks a message. If look() returns 0, sdbus-c++ handles the message.
    int look(sd_bus_message* message);
    /// Holds a message until the bus has said which user sent the message. When the bus has named the user, hold() puts the
    /// message back into libsystemd's queue, and look() checks the message again.
    int hold(sd_bus_message* message, const char* sender, std::shared_ptr<void> kept);
    bool letIn(sd_bus_message* message, const Caller& caller);
    /// Returns true if the caller asks for a list of all objects and the list would be too large. (libsystemd writes all objects
    /// into one message.)
    bool asksForTooMuch(sd_bus_message* message) const;

    CallerResolver& callers_;
    CallerLimits& clients_;
    const EventLoop& loop_;
    ForeignDescriptors& foreign_;
    std::function<std::size_t()> jobCount_;
    std::function<std::size_t()> objectBytes_;
    Call call_;
    dbus::Slot filter_;
};

} // namespace pinfold
