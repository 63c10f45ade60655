// SPDX-License-Identifier: LGPL-2.1-or-later
// What the daemon's logic asks of its loop; an interface that tests replace. The loop is one thread. A handler never blocks and
// lets no exception out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// A registration of a handler. Its destruction ends the registration, also from within the handler, which is kept until it
/// returns.
class EventSource {
public:
    virtual ~EventSource() = default;
};
using EventHandle = std::unique_ptr<EventSource>;

class EventLoop {
public:
    using Handler = std::function<void()>;
    virtual ~EventLoop() = default;

    /// Calls `handler` each time `fd` is readable (or hung up), until the handle is destroyed. The caller keeps the fd.
    virtual EventHandle onReadable(int fd, Handler handler) = 0;
    /// Calls `handler` once, `delayUsec` microseconds from now.
    virtual EventHandle after(std::uint64_t delayUsec, Handler handler) = 0;
    /// Calls `handler` once when everything that is pending now, or much of it, has been handled. This is for work that is
    /// cheaper in batches.
    virtual EventHandle whenIdle(Handler handler) = 0;

    /// CLOCK_BOOTTIME, microseconds. This is the clock of time limits.
    virtual std::uint64_t bootTime() const = 0;
    /// CLOCK_REALTIME, microseconds. This is the clock for people.
    virtual std::uint64_t realTime() const = 0;
    /// CPU time that the calling thread has used, microseconds, without the time in which it waited for a processor.
    virtual std::uint64_t cpuTime() const = 0;
};

} // namespace pinfold
