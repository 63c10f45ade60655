// SPDX-License-Identifier: LGPL-2.1-or-later
// addFilter() makes libsystemd pass each message on a D-Bus connection to a function of pinfoldd.
#pragma once

#include "systemd/bus_slot.hpp"
#include "systemd/sdbus_compat.hpp"

#include <system_error>

namespace pinfold::dbus {

/// libsystemd calls the function `look` for each message that comes on the connection, and passes on `self` as the second
/// argument (sd_bus_add_filter(3)). After the destruction of the Slot, libsystemd does not call `look` any more. Throws
/// std::system_error.
inline Slot addFilter(sdbus::IConnection& connection, sd_bus_message_handler_t look, void* self) {
    sd_bus_slot* slot = nullptr;
    if (const int result = sd_bus_add_filter(rawBus(connection), &slot, look, self); result < 0)
        throw std::system_error(-result, std::generic_category(), "sd_bus_add_filter");
    return Slot(slot);
}

} // namespace pinfold::dbus
