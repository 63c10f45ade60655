// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <systemd/sd-bus.h>

#include <memory>

namespace pinfold::dbus {

struct SlotRemover {
    void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};

/// Owns a filter, a table of properties or anything else that the program has added to a connection of libsystemd. The destructor
/// of a Slot removes from the connection what the Slot owns. libsystemd keeps a connection in memory for as long as a Slot of the
/// connection exists.
using Slot = std::unique_ptr<sd_bus_slot, SlotRemover>;

} // namespace pinfold::dbus
