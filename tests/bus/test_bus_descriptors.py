# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends messages with file descriptors to pinfoldd over the bus. In most tests, a message carries descriptors, but no argument of the message names
them. A bus library sends a descriptor only if an argument of the message names the descriptor."""

import os
import resource
import signal
import struct
import subprocess
import sys
import time

import dbus
import pytest

from conftest import HERE, wait_until
from raw_bus import RawBus, text
from test_callers import USER
from test_wrapper_socket import LINGERING

RAW_BUS = (HERE / "raw_bus.py").read_text()  # the test reads raw_bus.py itself, because the user is perhaps not allowed to read this file

PING = dict(path="/", interface="org.freedesktop.DBus.Peer", member="Ping")
MANAGER = dict(path="/org/pinfold1", interface="org.pinfold1.Manager")
MESSAGES = {
    "Ping": (1, PING),
    "Introspect": (1, dict(path="/org/pinfold1", interface="org.freedesktop.DBus.Introspectable", member="Introspect")),
    "GetAll": (1, dict(path="/org/pinfold1", interface="org.freedesktop.DBus.Properties", member="GetAll", signature="s"), text(MANAGER["interface"])),
    "ListJobs": (1, dict(**MANAGER, member="ListJobs")),
    "an unknown method": (1, dict(**MANAGER, member="Nonsense")),
    "wrong arguments": (1, dict(**MANAGER, member="GetJob", signature="u"), struct.pack("<I", 1)),
    "no object": (1, dict(path="/nowhere", interface="org.pinfold1.Manager", member="ListJobs")),
    "a return": (2, dict(reply_serial=7)),
    "an error": (3, dict(error_name="org.pinfold1.Error.Busy", reply_serial=7)),
    "a signal": (4, dict(path="/org/freedesktop/systemd1", interface="org.freedesktop.systemd1.Manager", member="Reloading")),
}


def attack(world, send):
    """Sends the message six times as an ordinary user, because pinfoldd has fewer than six threads for one user. The sender closes its own
    copies of the descriptors before pinfoldd reads the messages."""
    program = LINGERING.format(uid=USER, path=str(world.socket), send=send)
    world.daemon.send_signal(signal.SIGSTOP)
    users = []
    for _ in range(6):
        user = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        world.processes.append(user)
        users.append(user)
        assert user.stdout.readline() == "sent\n"
        user.stdout.close()
    world.daemon.send_signal(signal.SIGCONT)
    return users


def longest_call(world):
    begun = time.monotonic()
    world.manager().ListJobs()
    return time.monotonic() - begun


@pytest.mark.parametrize("name", MESSAGES)
def test_a_descriptor_that_the_message_does_not_name_holds_up_nobody(world, name):
    kind, fields, *body = MESSAGES[name]
    send = f"""
exec({RAW_BUS!r})
RawBus({str(world.directory / "bus")!r}).send({kind}, [lingering.fileno()], {fields!r}, *{body!r})
"""
    longest_call(world)
    users = attack(world, send)
    took = longest_call(world)
    assert took < 5, "not as long as that socket lingers, which is 20 s"
    for user in users:
        user.stdin.close()


def opened(world, file):
    """Returns how many of pinfoldd's descriptors refer to this file."""
    wanted = os.readlink(f"/proc/self/fd/{file}")
    directory = f"/proc/{world.daemon.pid}/fd"
    links = []
    for name in os.listdir(directory):
        try:
            links.append(os.readlink(f"{directory}/{name}"))
        except FileNotFoundError:
            pass
    return links.count(wanted)


def test_a_jobs_output_is_what_its_caller_has_sent(world):
    reader, writer = os.pipe()
    leader = world.process()
    options = dbus.Dictionary({"output": dbus.types.UnixFd(writer)}, signature="sv")
    world.create("bus.1", leader, options)
    assert opened(world, writer) == 1
    world.end("bus.1", leader)
    wait_until(lambda: opened(world, writer) == 0, "the output closed after the job's end")
    os.close(reader)
    os.close(writer)


def test_more_descriptors_than_there_are_numbers_for(world):
    """If a message has too many descriptors, pinfoldd loses this one message. If pinfoldd has too few free descriptor numbers, the kernel removes the
    remaining descriptors from the message. Without pinfoldd's precautions, libsystemd would leave the bus after a message with cut-off
    descriptors."""
    count = lambda: len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
    used, hard = count(), resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE)[1]
    bus = RawBus(world.directory / "bus")
    with open("/dev/null") as file:
        for most in range(used + 1, used + 40, 4):
            resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE, (most, hard))
            bus.send(1, [file.fileno()] * 16, PING)
            bus.send(1, [], PING)
            assert bus.connection.recv(4096), "the bus keeps the order: by now both have been read"
            resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE, (hard, hard))
    assert world.live() == {} and world.daemon.poll() is None
    wait_until(lambda: count() <= used, "all descriptors given back")


def test_the_bus_knows_pinfoldd_by_name_before_it_is_ready(world):
    """The bus's policy about descriptors names org.pinfold1.Daemon, so pinfoldd must own this name before pinfoldd is ready. If there are records of
    a thousand jobs, a new pinfoldd needs some time until it is ready."""
    world.daemon.kill()
    world.daemon.wait()
    wait_until(lambda: not world.bus.name_has_owner("org.pinfold1"), "the end of pinfoldd")
    command = ["dbus-monitor", "--address", world.address, "member='NameOwnerChanged',arg0namespace='org.pinfold1'"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as monitor:
        world.processes.append(monitor)
        assert "NameAcquired" in monitor.stdout.readline(), "it listens"
        world.daemon = world.start_daemon()
        names = []
        while names[-1:] != ['"org.pinfold1"']:
            line = monitor.stdout.readline()
            assert line, names
            names += [word for word in line.split() if word.startswith('"org.pinfold1')]
        monitor.terminate()
    assert names == ['"org.pinfold1.Daemon"', '"org.pinfold1"']
