// SPDX-License-Identifier: LGPL-2.1-or-later
// Learns from PID 1 that the machine is being shut down or rebooted. (logind would say this earlier, where it runs, but not when
// somebody asks PID 1 itself.)
#pragma once

#include "os/event_loop.hpp"
#include "systemd/call_queue.hpp"
#include "systemd/sdbus_compat.hpp"

#include <systemd/sd-bus.h>

#include <cstdint>
#include <functional>
#include <map>

namespace pinfold {

class ShutdownWatch {
public:
    struct Parts {
        sdbus::IConnection& connection; ///< has subscribed to PID 1's signals
        sdbus::IProxy& proxy;           ///< the proxy of PID 1's manager
        CallQueue& calls;
        EventLoop& loop;
    };
    /// `begun` is called from the loop when a shutdown has begun, perhaps more than once.
    ShutdownWatch(Parts parts, std::function<void()> begun);
    ShutdownWatch(const ShutdownWatch&) = delete;
    ~ShutdownWatch();

    /// Asks PID 1. `done` is called when PID 1 has answered, and after `begun` if a shutdown has begun; or after 10 s without an
    /// answer.
    void ask(std::function<void()> done);

private:
    struct Question {
        std::function<void()> done;
        EventHandle deadline;
    };
    void look(sd_bus_message* message);
    void answered(std::uint64_t number);

    Parts parts_;
    std::function<void()> begun_;
    std::map<std::uint64_t, Question> questions_;
    std::uint64_t next_ = 0;
    bool asking_ = false; ///< a question is under way because of a signal
    sd_bus_slot* slot_ = nullptr;
};

} // namespace pinfold
