# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the start of pinfoldd, in particular on a bus that does not answer for a long time when pinfoldd asks for the name org.pinfold1."""

import contextlib
import os
import signal
import socket
import threading

import dbus
import pytest

from conftest import BUILD, wait_until

# On the bus, each string ends with a zero byte. pinfoldd asks for the name org.pinfold1.Daemon first, and the bus answers this request.
REQUEST = (b"RequestName\0", b"org.pinfold1\0")
MOST_DESCRIPTORS = 16  # each message of the tests has at most this number of descriptors


class SlowBus:
    """Passes messages from pinfoldd to the bus and from the bus to pinfoldd. SlowBus keeps the request for the name org.pinfold1 until the test sets
    `answers`."""

    def __init__(self, path, bus):
        self.bus = bus
        self.asked, self.answers = threading.Event(), threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self.bus))
        threading.Thread(target=self._pass, args=(server, client), daemon=True).start()
        self._pass(client, server)

    def _pass(self, source, target):
        with contextlib.suppress(OSError):
            while True:
                data, descriptors, _, _ = socket.recv_fds(source, 65536, MOST_DESCRIPTORS)
                if not data:
                    return target.shutdown(socket.SHUT_RDWR)
                if all(word in data for word in REQUEST):
                    self.asked.set()
                    self.answers.wait()
                socket.send_fds(target, [data], descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)


def start(world, passed=None):
    return world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd", passed))


def end_pinfoldd(world):
    world.stop_daemon()
    wait_until(lambda: not world.bus.name_has_owner("org.pinfold1"), "the end of pinfoldd")


@pytest.fixture
def slow_bus(world):
    """Ends the pinfoldd of the fixture `world`, and starts a new pinfoldd, which asks for the name org.pinfold1 in vain."""
    end_pinfoldd(world)
    slow = SlowBus(world.directory / "slow-bus", world.directory / "bus")
    world.environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={world.directory}/slow-bus"
    world.daemon = start(world)
    assert slow.asked.wait(60)
    yield slow
    slow.answers.set()


@pytest.fixture
def job(world):
    leader, leftover = world.process(), world.process()
    world.create("bus.1", leader)
    world.systemd.Move(dbus.UInt32(leftover.pid), "/batch.slice/batch-bus.1.slice/job-bus.1.scope")
    return leader, leftover


def test_a_signal_ends_it(world, slow_bus):
    world.daemon.terminate()
    assert world.daemon.wait(15) == 0


def test_jobs_end_meanwhile(world, job, slow_bus):
    leader, leftover = job
    # Unlike the kernel, the stand-in for systemd lists a process in cgroup.procs for a moment after the end of the process.
    world.systemd.Move(dbus.UInt32(leader.pid), "/system.slice/batchd.service")
    leader.kill()
    leader.wait()
    assert leftover.wait(15) in (-signal.SIGTERM, -signal.SIGKILL)
    slow_bus.answers.set()
    wait_until(lambda: world.bus.name_has_owner("org.pinfold1"), "pinfoldd on the bus")
    assert world.manager().WaitJob("bus.1")["leftovers"] == 1


def test_a_name_that_another_program_owns(world):
    end_pinfoldd(world)
    world.bus.request_name("org.pinfold1")
    world.daemon = start(world)
    assert world.daemon.wait(60) == 1
    assert b"cannot acquire the bus name org.pinfold1: " in world.daemon.stderr.read()


def test_a_descriptor_that_is_not_a_socket(world):
    end_pinfoldd(world)
    world.daemon = start(world, "/dev/null")
    assert world.daemon.wait(60) == 1
    assert b"unexpected error: " in world.daemon.stderr.read()
