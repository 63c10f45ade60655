// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <systemd/sd-bus.h>

#include <memory>

namespace pinfold::dbus {

struct SlotRemover {
    void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};

/// Owns something that pinfoldd has added to a connection of libsystemd, such as a filter or a table of properties. The
/// destructor of a Slot removes the filter or table from the connection. libsystemd keeps a connection in memory until all Slots
/// of the connection are destroyed.
using Slot = std::unique_ptr<sd_bus_slot, SlotRemover>;

} // namespace pinfold::dbus
