# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which messages the bus does not deliver to pinfoldd. The tests in tests/hostile send a flood of messages, and test_permissions.py covers the
three methods that take descriptors."""

import sys
from pathlib import Path

import dbus

from jobs import as_alice, run

# Sends a signal with a descriptor, and prints whether the bus has refused the signal.
SEND = f"""
import sys
sys.path.append({str(Path(__file__).resolve().parents[1] / "bus")!r})
from raw_bus import RawBus
bus = RawBus("/run/dbus/system_bus_socket")
with open("/dev/null") as file:
    bus.send(4, [file.fileno()], dict(path="/x", interface="x.y", member="Z", destination=sys.argv[1]))
print(b"org.freedesktop.DBus.Error.AccessDenied" in bus.answers())
"""


def test_users_descriptors_do_not_reach_a_pinfoldd_that_is_not_ready_yet():
    """As soon as pinfoldd connects to the bus, it takes the name org.pinfold1.Daemon. In this test, a connection of root asks for the name
    org.pinfold1.Daemon, waits for the name, and acts as pinfoldd. The bus applies the policy to all connections that have asked for a name."""
    early = dbus.SystemBus(private=True)

    def refused():
        return run(*as_alice(sys.executable, "-c", SEND, early.get_unique_name())).stdout == "True\n"
    assert not refused()
    early.request_name("org.pinfold1.Daemon")
    assert refused()
    early.close()
