// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/event_loop.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

namespace pinfold {

/// Makes asynchronous calls on one proxy. A limited number of calls is in flight; the rest wait in the order in which they came.
class CallQueue {
public:
    using Handler = std::function<void(sdbus::MethodReply&, const sdbus::Error*)>;

    CallQueue(sdbus::IProxy& proxy, const EventLoop& loop, std::size_t maxInFlight, std::uint64_t timeoutUsec)
        : proxy_(proxy), loop_(loop), maxInFlight_(maxInFlight), timeout_(timeoutUsec) {}

    /// `handler` is called once. It may throw sdbus::Error for a reply that it cannot read. A call that has waited for longer
    /// than the time-out is not sent any more and fails with NoReply, because what it names may belong to somebody else by now.
    void call(sdbus::MethodCall message, Handler handler);

private:
    struct Waiting {
        sdbus::MethodCall message;
        Handler handler;
        std::uint64_t since;
    };
    void send(const sdbus::MethodCall& message, Handler handler);
    void next();

    sdbus::IProxy& proxy_;
    const EventLoop& loop_;
    std::size_t maxInFlight_;
    std::uint64_t timeout_;
    std::size_t inFlight_ = 0;
    std::deque<Waiting> waiting_;
};

} // namespace pinfold
