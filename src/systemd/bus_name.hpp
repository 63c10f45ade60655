// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "os/event_loop.hpp"
#include "systemd/call_queue.hpp"
#include "systemd/sdbus_compat.hpp"

#include <functional>
#include <memory>
#include <string>

namespace pinfold {

/// Gets one name on the bus for the connection.
class BusName {
public:
    BusName(sdbus::IConnection& connection, const EventLoop& loop, std::string name);

    /// Asks the bus for the name, and calls `done` when the bus has answered. Unlike dbus::requestName(), request() does not wait
    /// for the answer. If another program owns the name, the error is AlreadyExists. If the bus refuses the name or does not
    /// answer in time, the error is Unreachable.
    void request(std::function<void(Result<void>)> done);

private:
    std::string name_;
    std::unique_ptr<sdbus::IProxy> bus_;
    CallQueue calls_;
};

} // namespace pinfold
