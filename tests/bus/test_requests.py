# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what a request may contain, and which user pinfoldd treats as the sender."""

import os
import subprocess
import sys

import dbus
import dbus.bus
import pytest

from conftest import error_name, pidfd
from test_callers import USER, as_user, bearable, held_up

ERROR = "org.pinfold1.Error."
NONE = dbus.Dictionary({}, signature="sv")
EVIL = "0\nTasksMax=7\x1b[31m\u202e"


class Repeated(dict):
    """This dictionary yields each of its keys twice, so that a message contains the same entry twice."""

    def __iter__(self):
        return iter(list(self.keys()) * 2)


def test_who_connected_is_who_calls(world):
    """A process of root connects to the bus while its effective user is an ordinary user. The process becomes root again, and then calls pinfoldd. If
    pinfoldd read the caller's user id from /proc, it would believe that root calls, and would not refuse Reload."""
    os.setegid(USER)
    os.seteuid(USER)
    try:
        bus = dbus.bus.BusConnection(world.address)
    finally:
        os.seteuid(0)
        os.setegid(0)
    assert error_name(lambda: world.manager(bus).Reload()) == ERROR + "Denied"
    leader = world.process()
    assert error_name(lambda: world.create("bus.1", leader, bus=bus)) == ERROR + "Denied"
    assert world.manager().Reload() is None, "and root itself may"


CALLS = {
    "key": lambda world, process: world.create(EVIL, process),
    "id": lambda world, process: world.create("bus." + EVIL, process),
    "list of CPUs": lambda world, process: world.create("bus.1", process, dbus.Dictionary({"allowed_cpus": EVIL}, signature="sv")),
    "entry": lambda world, process: world.create("bus.1", process, dbus.Dictionary({EVIL: "x"}, signature="sv")),
    "key looked for": lambda world, process: world.manager().GetJob(EVIL),
    "unit looked for": lambda world, process: world.manager().GetJobByUnit(EVIL),
    "key of the task": lambda world, process: world.manager().AddTask(EVIL, pidfd(process), NONE),
    "key of the end": lambda world, process: world.manager().EndJob(EVIL, NONE),
    "key of the stop": lambda world, process: world.manager().StopJob(EVIL, NONE),
    "key of the signal": lambda world, process: world.manager().KillJob(EVIL, 15),
    "key of the receipt": lambda world, process: world.manager().GetReceipt(EVIL),
}


@pytest.mark.parametrize("field", CALLS)
def test_a_line_break_in_a_text(world, field):
    process = world.process()
    with pytest.raises(dbus.DBusException) as caught:
        CALLS[field](world, process)
    assert caught.value.get_dbus_name().startswith(ERROR)
    message = caught.value.get_dbus_message()
    assert message.isprintable() and "TasksMax" in message, "told in one line, and what it was"
    assert list(world.systemd.Calls()) == [] and world.live() == {}


@pytest.mark.parametrize("method, arguments", [("GetJob", ("k" * 1025,)), ("GetJobByUnit", ("u" * 1025,)), ("StopJob", ("k" * 1025, NONE)),
                                               ("GetUsage", ("k" * 1_000_000,))])
def test_a_name_that_is_too_long_is_not_looked_at(world, method, arguments):
    with pytest.raises(dbus.DBusException, match="at most 1024") as caught:
        getattr(world.manager(), method)(*arguments)
    assert caught.value.get_dbus_name() == ERROR + "InvalidArgument"


@pytest.mark.parametrize("entry", ["Slice", "ExecStart", "Delegate", "OnFailure", "Description", "MemoryMax", "User", "Conflicts"])
def test_settings_of_systemd_can_not_be_smuggled_in(world, entry):
    process = world.process()
    with pytest.raises(dbus.DBusException, match=f"unknown entry '{entry}'") as caught:
        world.create("bus.1", process, dbus.Dictionary({entry: "system.slice"}, signature="sv"))
    assert caught.value.get_dbus_name() == ERROR + "InvalidArgument"
    assert list(world.systemd.Calls()) == []


@pytest.mark.parametrize("entry, told", [("memory_max", "'memory_max'"), ("x\ny", r"'x\\x0ay'")])
def test_an_entry_twice(world, entry, told):
    process = world.process()
    arguments = ("bus.1", pidfd(process), Repeated({entry: dbus.UInt64(1 << 30)}))
    with pytest.raises(dbus.DBusException, match=told + " occurs more than once") as caught:
        world.bus.call_blocking("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "CreateJob", "sha{sv}", arguments)
    assert caught.value.get_dbus_name() == ERROR + "InvalidArgument"
    assert caught.value.get_dbus_message().isprintable()
    assert list(world.systemd.Calls()) == []


def test_a_kernel_thread(world):
    process = world.process()
    world.systemd.MakeKernelThread(dbus.UInt32(process.pid))
    with pytest.raises(dbus.DBusException, match="kernel thread"):
        world.create("bus.1", process)


@pytest.mark.parametrize("pid", [0, 1, 2**31, 2**32 - 1])
def test_numbers_that_are_no_process(world, pid):
    assert error_name(lambda: world.manager().GetJobByPID(dbus.UInt32(pid))) == ERROR + "InvalidArgument"


def test_more_processes_than_a_message_may_carry(world):
    leader = world.process()
    world.create("bus.1", leader)
    assert error_name(lambda: world.manager().Adopt("bus.1", dbus.Array([], signature="h"))) == ERROR + "InvalidArgument"
    assert world.live() == {"bus.1": "running"}


FLOODS = {
    "histories": "m = call('ListReceipts', 'a{sv}', dbus.Dictionary({'limit': dbus.UInt32(10000)}, signature='sv'))",
    "large dictionaries": "m = call('ListReceipts', 'a{sv}', dbus.Dictionary({str(i): dbus.UInt32(i) for i in range(5000)}, signature='sv'))",
    "objects": "m = call('GetManagedObjects', '', interface='org.freedesktop.DBus.ObjectManager')",
    "properties": "m = call('GetAll', 's', 'org.pinfold1.Manager', interface='org.freedesktop.DBus.Properties')",
    "waits": "m = call('WaitJob', 's', 'bus.1')",
}

FLOOD = """
import dbus, dbus.bus, dbus.lowlevel, os
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
def call(name, signature, *arguments, interface='org.pinfold1.Manager'):
    message = dbus.lowlevel.MethodCallMessage('org.pinfold1', '/org/pinfold1', interface, name)
    message.append(*arguments, signature=signature)
    message.set_no_reply(True)
    return message
buses = [dbus.bus.BusConnection({address!r}) for _ in range(8)]
{message}
print('up', flush=True)
while True:
    for bus in buses:
        for _ in range(20):
            bus.send_message(m)
        bus.flush()
"""


@pytest.mark.timing
@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_costly_calls(world, kind):
    usual = held_up(world)
    flooder = subprocess.Popen([sys.executable, "-c", FLOOD.format(uid=USER, address=world.address, message=FLOODS[kind])],
                               stdout=subprocess.PIPE, text=True)
    world.processes.append(flooder)
    assert flooder.stdout.readline() == "up\n"
    assert held_up(world) < bearable(usual)
    flooder.kill()
    flooder.stdout.close()
