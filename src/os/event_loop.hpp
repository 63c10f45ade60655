// SPDX-License-Identifier: LGPL-2.1-or-later
// Seam: what the daemon's logic asks of its loop. One thread; a handler never blocks and lets no exception out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// A registration; its destruction ends it, also from within its own handler, which is kept until it returns.
class EventSource {
public:
    virtual ~EventSource() = default;
};
using EventHandle = std::unique_ptr<EventSource>;

class EventLoop {
public:
    using Handler = std::function<void()>;
    virtual ~EventLoop() = default;

    /// Calls `handler` each time `fd` is readable (or hung up) until the handle goes. The fd stays the caller's.
    virtual EventHandle onReadable(int fd, Handler handler) = 0;
    /// Calls `handler` once, `delayUsec` microseconds from now.
    virtual EventHandle after(std::uint64_t delayUsec, Handler handler) = 0;
    /// Calls `handler` once when everything that is pending now has been handled, or much has. For work that is cheaper in
    /// batches.
    virtual EventHandle whenIdle(Handler handler) = 0;

    /// CLOCK_BOOTTIME, microseconds: the clock of time limits.
    virtual std::uint64_t bootTime() const = 0;
    /// CLOCK_REALTIME, microseconds: for people.
    virtual std::uint64_t realTime() const = 0;
    /// CPU time of the calling thread, microseconds: what it has spent, however long it had to wait for a processor meanwhile.
    virtual std::uint64_t cpuTime() const = 0;
};

} // namespace pinfold
