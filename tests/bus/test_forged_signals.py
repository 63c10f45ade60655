# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that pinfoldd ignores forged signals of systemd. Every user can send a forged signal, either directly to pinfoldd or as a broadcast. If a
user addresses a signal to pinfoldd, the bus delivers the signal without regard to the match rules. A broadcast signal reaches pinfoldd if a match
rule of pinfoldd names no sender."""

import dbus
import dbus.bus
import dbus.lowlevel
import pytest

MANAGER = ("/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
BUS = ("/org/freedesktop/DBus", "org.freedesktop.DBus")
SCOPE = "/batch.slice/batch-sge.1.slice/job-sge.1.scope"
FORGED = {
    "oomd killed it": ("/org/freedesktop/oom1", "org.freedesktop.oom1.Manager", "Killed", "ss", (SCOPE, "memory-used")),
    "systemd is reloading": (*MANAGER, "Reloading", "b", (True,)),
    "its unit is gone": (*MANAGER, "UnitRemoved", "so", ("job-sge.1.scope", "/org/freedesktop/systemd1/unit/x")),
    "the node is shut down": (*MANAGER, "JobNew", "uos", (1, "/org/freedesktop/systemd1/job/1", "shutdown.target")),
    "systemd is new": (*BUS, "NameOwnerChanged", "sss", ("org.freedesktop.systemd1", "", ":1.4711")),
}


def forge(bus, destination, signal):
    path, interface, member, signature, arguments = signal
    message = dbus.lowlevel.SignalMessage(path, interface, member)
    message.append(*arguments, signature=signature)
    if destination:
        message.set_destination(destination)
    bus.send_message(message)


@pytest.mark.parametrize("to", ["the name", "the connection", "all"])
@pytest.mark.parametrize("signal", FORGED.values(), ids=FORGED)
def test_a_signal_of_another_sender_is_nobodys(world, signal, to):
    world.create("sge.1", world.process())
    attacker = dbus.bus.BusConnection(world.address)
    destination = {"the name": "org.pinfold1", "the connection": world.bus.get_name_owner("org.pinfold1"), "all": None}[to]
    for _ in range(10):
        forge(attacker, destination, signal)
    # The bus keeps the order of one sender's messages, so pinfoldd gets the forged signals before the call ListJobs.
    assert world.manager(attacker).ListJobs()
    assert world.live() == {"sge.1": "running"}
    world.create("sge.2", world.process())
    assert world.live() == {"sge.1": "running", "sge.2": "running"}
    assert {call.split()[0] for call in world.systemd.Calls()} == {"start"}
