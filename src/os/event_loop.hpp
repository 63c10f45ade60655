// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares what the daemon's logic asks of its loop. Tests replace this interface. The loop runs in one thread. A handler never
// blocks and lets no exception out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// Is a registration of a handler. The destruction of the EventSource ends the registration. The handler itself may destroy it:
/// the loop keeps the handler until the handler returns.
class EventSource {
public:
    virtual ~EventSource() = default;
};
using EventHandle = std::unique_ptr<EventSource>;

class EventLoop {
public:
    using Handler = std::function<void()>;
    virtual ~EventLoop() = default;

    /// Calls `handler` each time `fd` is readable (or hung up), until the caller destroys the handle. The caller keeps `fd`.
    virtual EventHandle onReadable(int fd, Handler handler) = 0;
    /// Calls `handler` once, `delayUsec` microseconds from now.
    virtual EventHandle after(std::uint64_t delayUsec, Handler handler) = 0;
    /// Calls `handler` once, when the loop has handled all or much of what is pending now. This is for work that is cheaper in
    /// batches.
    virtual EventHandle whenIdle(Handler handler) = 0;

    /// Returns CLOCK_BOOTTIME in microseconds. This is the clock of time limits.
    virtual std::uint64_t bootTime() const = 0;
    /// Returns CLOCK_REALTIME in microseconds. This is the clock for people.
    virtual std::uint64_t realTime() const = 0;
    /// Returns the CPU time in microseconds that the calling thread has used. The time in which the thread waited for a CPU does
    /// not count.
    virtual std::uint64_t cpuTime() const = 0;
};

} // namespace pinfold
