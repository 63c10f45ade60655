// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/call_queue.hpp"

namespace pinfold {

void CallQueue::call(sdbus::MethodCall message, Handler handler) {
    if (inFlight_ < maxInFlight_ && waiting_.empty())
        send(message, std::move(handler));
    else
        waiting_.push_back({std::move(message), std::move(handler), loop_.bootTime()});
}

void CallQueue::send(const sdbus::MethodCall& message, Handler handler) {
    ++inFlight_;
    // Because of noexcept, an unexpected exception ends pinfoldd, and systemd starts pinfoldd again. Without noexcept,
    // sdbus-c++ 1.2 would pass the exception on through the C functions of libsystemd.
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
    try {
        dbus::callAsync(proxy_, message, answered, timeout_);
    } catch (const sdbus::Error& notSent) {
        // When callAsync() throws, the connection to the bus is lost, and pinfoldd will soon restart. PID 1 has not refused the
        // call, so send() reports that the answer to the call was lost.
        sdbus::MethodReply none;
        const auto lost = dbus::makeError("org.freedesktop.DBus.Error.Disconnected", notSent.getMessage());
        answered(none, &lost);
    }
}

void CallQueue::next() {
    while (!waiting_.empty() && inFlight_ < maxInFlight_) {
        auto first = std::move(waiting_.front());
        waiting_.pop_front();
        if (loop_.bootTime() - first.since < timeout_)
            return send(first.message, std::move(first.handler));
        sdbus::MethodReply none;
        const auto tooLate = dbus::makeError("org.freedesktop.DBus.Error.NoReply", "systemd was too busy to be called in time");
        first.handler(none, &tooLate);
    }
}

} // namespace pinfold
