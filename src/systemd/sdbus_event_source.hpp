// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

struct sd_event;
namespace sdbus {
class IConnection;
}

namespace pinfold {

/// Adds a D-Bus connection of sdbus-c++ to an sd-event loop. sdbus-c++ 1.2 cannot add a connection to an sd-event loop.
/// SdbusEventSource does not wake pinfoldd while the bus is silent.
class SdbusEventSource {
public:
    /// SdbusEventSource calls `onLost` once when the bus has gone away. If the constructor fails, it throws std::system_error.
    SdbusEventSource(sd_event* event, sdbus::IConnection& connection, std::function<void(const std::string&)> onLost);
    ~SdbusEventSource();
    SdbusEventSource(const SdbusEventSource&) = delete;
    SdbusEventSource& operator=(const SdbusEventSource&) = delete;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
