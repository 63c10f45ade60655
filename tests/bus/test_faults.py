# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests faults of systemd during a call, and faults while a job runs."""

import contextlib
import os
import socket

import dbus
import dbus.bus
import pytest
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

from conftest import BUILD, error_name, pidfd, wait_until

ERROR = "org.pinfold1.Error."
NONE = dbus.Dictionary({}, signature="sv")


class Asker:
    """Sends each call before the answer to the previous call has come."""

    def __init__(self, world, connections=1):
        self.buses = [dbus.bus.BusConnection(world.address, mainloop=DBusGMainLoop()) for _ in range(connections)]
        self.answers = {}

    def create(self, key, process):
        fd = pidfd(process)
        bus = self.buses[len(self.answers) % len(self.buses)]
        self.answers[key] = None
        bus.call_async("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "CreateJob", "sha{sv}", (key, fd, NONE),
                       lambda *reply: self.answers.update({key: str(reply[2])}),
                       lambda error: self.answers.update({key: error.get_dbus_name()}), timeout=120)
        bus.flush()
        os.close(fd.take())

    def answered(self):
        while GLib.MainContext.default().iteration(False):
            pass
        return all(self.answers.values())


def expect_nothing_left(world):
    wait_until(lambda: not world.live() and not world.records() and not world.systemd.Units(), "nothing left")


def test_no_more_than_64_calls_are_unanswered(world):
    """Makes 200 calls of CreateJob at once, while systemd does not answer. dbus-daemon would refuse pinfoldd's 129th call."""
    processes = [world.process() for _ in range(200)]  # before the first call, because pinfoldd gives up a call of systemd after 30 s
    world.systemd.Hold(True)
    asker = Asker(world, connections=4)
    for number, process in enumerate(processes):
        asker.create(f"bus.{number}", process)
    wait_until(lambda: len(world.live()) == 200 and world.systemd.Held() >= 64, "200 creations under way")
    assert set(world.live().values()) == {"creating"}
    assert world.systemd.Held() == 64
    world.systemd.Hold(False)
    wait_until(asker.answered, "200 answers", 60)
    assert asker.answers == {f"bus.{number}": f"job-bus.{number}.scope" for number in range(200)}
    assert list(world.live().values()) == ["running"] * 200


def test_no_more_than_64_systemd_jobs_are_under_way(world):
    """PID 1 has a match rule for each systemd job of pinfoldd. If dbus-daemon refuses the 513th match rule of PID 1, PID 1 leaves the
    bus."""
    processes = [world.process() for _ in range(200)]  # before the first call, because pinfoldd gives up a systemd job after 30 s
    world.systemd.HoldEnds(True)
    asker = Asker(world, connections=4)
    for number, process in enumerate(processes):
        asker.create(f"bus.{number}", process)
    starts = lambda: len([call for call in world.systemd.Calls() if call.startswith("start")])
    wait_until(lambda: len(world.live()) == 200 and starts() >= 64, "200 creations under way")
    assert starts() == 64
    world.systemd.HoldEnds(False)
    wait_until(asker.answered, "200 answers", 60)
    assert starts() == 200
    assert list(world.live().values()) == ["running"] * 200


def test_never_an_answer_and_nothing_done(world):
    """If systemd ignores the start of a job, pinfoldd gives up the job after systemd's time limit. The starts of other jobs do not wait until
    pinfoldd gives up."""
    world.systemd.Faults(["ignored"] * 3)
    asker = Asker(world)
    leader, other = world.process(), world.process()
    asker.create("bus.1", leader)
    wait_until(lambda: "start job-bus.1.scope" in world.systemd.Calls(), "the start")
    world.systemd.Faults(dbus.Array([], signature="s"))
    world.create("bus.2", other, timeout=5)
    world.end("bus.2", other)
    world.systemd.Faults(["ignored"] * 3)
    wait_until(asker.answered, "the end of patience", 100)
    assert asker.answers == {"bus.1": ERROR + "SystemdFailed"}
    expect_nothing_left(world)
    assert leader.poll() is None


def test_systemd_is_gone_with_the_call_in_flight(world):
    world.systemd.Faults(["vanish"])
    asker = Asker(world)
    asker.create("bus.1", world.process())
    wait_until(asker.answered, "the answer")
    assert asker.answers == {"bus.1": "job-bus.1.scope"}
    assert world.live() == {"bus.1": "running"}


def test_a_job_that_ends_while_systemd_is_away(world):
    leader = world.process()
    world.create("bus.1", leader)
    world.systemd.DropOffTheBus()
    leader.kill()
    leader.wait()
    wait_until(lambda: world.live().get("bus.1") != "running", "the end of the job")
    world.systemd.ComeBack()
    assert world.manager().WaitJob("bus.1")["result"] == "exited"
    expect_nothing_left(world)
    assert len(world.manager().ListReceipts(dbus.Dictionary({"key": "bus.1"}, signature="sv"))) == 1


@pytest.mark.parametrize("word", ["failed", "canceled", "timeout", "dependency", "frozen"])
def test_a_start_that_systemd_does_not_finish(world, word):
    world.systemd.Faults([f"result {word}"])
    leader = world.process()
    with pytest.raises(dbus.DBusException, match=f"'{word}'") as caught:
        world.create("bus.1", leader)
    assert caught.value.get_dbus_name() == ERROR + "SystemdFailed"
    expect_nothing_left(world)
    assert leader.poll() is None


def test_done_is_not_believed(world):
    world.systemd.Faults(["unmoved"] * 100)
    leader = world.process()
    assert error_name(lambda: world.create("bus.1", leader)) == ERROR + "SystemdFailed"
    expect_nothing_left(world)
    assert leader.poll() is None


def test_one_call_answered_twice(world):
    world.systemd.Faults(["answered-twice"])
    leader, other = world.process(), world.process()
    world.create("bus.1", leader)
    world.create("bus.2", other)
    assert world.live() == {"bus.1": "running", "bus.2": "running"}
    world.end("bus.1", leader)
    world.end("bus.2", other)


def test_units_that_are_said_to_be_gone_and_are_not(world):
    leader = world.process()
    world.create("bus.1", leader)
    for unit in ("job-bus.1.scope", "batch-bus.1.slice", "job-bus.1-7.scope", "job-bus.2.scope", "batch.slice", "job-.scope"):
        world.systemd.SayRemoved(unit)
    assert world.live() == {"bus.1": "running"}
    assert [call for call in world.systemd.Calls() if not call.startswith("start")] == []
    world.end("bus.1", leader)


def test_descriptors_are_given_back(world):
    """pinfoldd closes the descriptors of each refused call, and the descriptors of each job that is over."""
    open_now = lambda: len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
    leader = world.process()
    world.create("bus.0", leader)
    world.end("bus.0", leader)
    # pinfoldd keeps the history open for the next reader. WaitJob reads the history only if the machine is slow. The test calls GetReceipt,
    # which always makes pinfoldd open the history.
    world.manager().GetReceipt("bus.0")
    before = open_now()
    stays = world.process()
    for number in range(50):
        assert error_name(lambda: world.create("no key", stays)) == ERROR + "InvalidArgument"
        leader = world.process()
        world.create(f"bus.{number}", leader)
        world.end(f"bus.{number}", leader)
    wait_until(lambda: open_now() <= before, f"no more than {before} descriptors")


@pytest.mark.parametrize("missing", ["systemd", "bus"])
def test_nothing_to_start_on(world, missing):
    """If systemd or the bus is missing, pinfoldd exits, and systemd starts pinfoldd again. Before pinfoldd exits, it prints one line that
    says what is missing and what to do."""
    world.daemon.kill()
    world.daemon.wait()
    process = world.processes[1 if missing == "systemd" else 0]
    process.kill()
    process.wait()
    daemon = world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd"))
    assert daemon.wait(timeout=20) == 1
    [line] = daemon.stderr.read().decode().splitlines()
    assert "cannot start" in line and "systemctl status dbus" in line
    assert ("org.freedesktop.systemd1" in line) == (missing == "systemd")


def start_with(world, descriptors, notified):
    """Starts pinfoldd with a limit of `descriptors` open descriptors. Returns "ready" if pinfoldd becomes ready. If pinfoldd ends, the function
    returns the exit status of pinfoldd."""
    daemon = world.start("prlimit", f"--nofile={descriptors}", *world.daemon_command(BUILD / "src/daemon/pinfoldd"))
    said = []

    def outcome():
        with contextlib.suppress(BlockingIOError):
            said.append(notified.recv(4096).decode())
        return "ready" if any(text.startswith("READY=1") for text in said) else daemon.poll()
    try:
        return wait_until(outcome, f"an outcome with {descriptors} descriptors", 20)
    finally:
        daemon.kill()
        daemon.communicate()


def test_a_start_without_descriptors_ends(world):
    """If any step of pinfoldd's start fails because there is no free descriptor, pinfoldd ends. If pinfoldd neither became ready nor ended,
    all jobs would wait for systemd's start time-out."""
    needed = len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
    world.daemon.kill()
    world.daemon.wait()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as notified:
        notified.bind(str(world.directory / "notify"))
        world.environment |= {"NOTIFY_SOCKET": str(world.directory / "notify"), "WATCHDOG_USEC": "30000000"}
        outcomes = [start_with(world, descriptors, notified) for descriptors in range(needed - 12, needed + 8)]
    assert set(outcomes) == {1, "ready"} and outcomes[0] == 1 and outcomes[-1] == "ready", outcomes
