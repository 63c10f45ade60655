// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the functions that the daemon's logic calls to use the event loop. The unit tests have their own class that implements
// EventLoop. The loop runs in one thread. A handler must never block, and must not throw.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// Represents the registration of a handler. The destruction of the EventSource ends the registration. A handler is allowed to
/// destroy its own EventSource, because the loop keeps the handler until the handler returns.
class EventSource {
public:
    virtual ~EventSource() = default;
};
using EventHandle = std::unique_ptr<EventSource>;

class EventLoop {
public:
    using Handler = std::function<void()>;
    virtual ~EventLoop() = default;

    /// Calls `handler` each time `fd` is readable or its other end is closed. After the caller has destroyed the EventHandle, the
    /// loop no longer calls `handler`. The caller remains the owner of `fd`.
    virtual EventHandle onReadable(int fd, Handler handler) = 0;
    /// Calls `handler` once, after the time `delay`.
    virtual EventHandle after(Microseconds delay, Handler handler) = 0;
    /// Calls `handler` once, as soon as no other event is pending, or at the latest after many turns of the loop. Use whenIdle()
    /// for work that the caller needs to do only once after several events.
    virtual EventHandle whenIdle(Handler handler) = 0;

    /// Returns CLOCK_BOOTTIME. All time limits use CLOCK_BOOTTIME.
    virtual BootTime bootTime() const = 0;
    /// Returns CLOCK_REALTIME. Times that people see are from CLOCK_REALTIME.
    virtual RealTime realTime() const = 0;
    /// Returns the CPU time that the calling thread has used. cpuTime() does not count the time in which the thread waited for a
    /// CPU.
    virtual Microseconds cpuTime() const = 0;
};

} // namespace pinfold
