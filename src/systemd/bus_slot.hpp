// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <systemd/sd-bus.h>

#include <memory>

namespace pinfold::dbus {

struct SlotRemover {
    void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};

/// Owns a filter, a table of properties or another addition to a connection of libsystemd. The addition ends when the Slot is
/// destroyed. libsystemd keeps a connection in memory while the connection has an addition.
using Slot = std::unique_ptr<sd_bus_slot, SlotRemover>;

} // namespace pinfold::dbus
