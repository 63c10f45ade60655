// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/call_queue.hpp"

namespace pinfold {

void CallQueue::call(sdbus::MethodCall message, Handler handler) {
    if (inFlight_ < maxInFlight_)
        send(message, std::move(handler));
    else
        waiting_.push_back({std::move(message), std::move(handler)});
}

void CallQueue::send(const sdbus::MethodCall& message, Handler handler) {
    ++inFlight_;
    // noexcept: 1.2 would let an exception fly through libsystemd's C frames. A bug ends pinfoldd, and systemd starts it again.
    const auto answered = [this, handler](sdbus::MethodReply& reply, const sdbus::Error* error) noexcept {
        --inFlight_;
        try {
            handler(reply, error);
        } catch (const sdbus::Error& unreadable) {
            sdbus::MethodReply none;
            handler(none, &unreadable);
        }
        next();
    };
    bus::callAsync(proxy_, message, answered, timeout_);
}

void CallQueue::next() {
    if (waiting_.empty() || inFlight_ >= maxInFlight_)
        return;
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    send(first.message, std::move(first.handler));
}

} // namespace pinfold
