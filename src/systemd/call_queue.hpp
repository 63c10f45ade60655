// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "os/event_loop.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

namespace pinfold {

/// Makes asynchronous calls through one sdbus::IProxy. CallQueue limits the number of calls that wait for a reply at the same
/// time. Calls above the limit wait in a queue until CallQueue can send them.
class CallQueue {
public:
    using Handler = std::function<void(sdbus::MethodReply&, const sdbus::Error*)>;

    CallQueue(sdbus::IProxy& proxy, const EventLoop& loop, std::size_t maxInFlight, Microseconds timeout)
        : proxy_(proxy), loop_(loop), maxInFlight_(maxInFlight), timeout_(timeout) {}

    /// Makes the call, and calls `handler` once with the reply. If `handler` cannot read the reply, `handler` is allowed to throw
    /// sdbus::Error. If a call has waited in the queue longer than the time-out, CallQueue drops the call with the error NoReply.
    /// After a long wait, the call could reach the wrong unit or process. During the wait, a new unit can get the name of an
    /// ended unit. A new process can get the id of an ended process.
    void call(sdbus::MethodCall message, Handler handler);

private:
    struct Waiting {
        sdbus::MethodCall message;
        Handler handler;
        BootTime since;
    };
    void send(const sdbus::MethodCall& message, Handler handler);
    void next();

    sdbus::IProxy& proxy_;
    const EventLoop& loop_;
    std::size_t maxInFlight_;
    Microseconds timeout_;
    std::size_t inFlight_ = 0;
    std::deque<Waiting> waiting_;
};

} // namespace pinfold
