# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what pinfoldd does if systemd refuses calls or disappears. In some tests, systemd's answers come late, twice, in the wrong order or not at
all."""

import threading
import time

import dbus
import dbus.bus
import pytest

from conftest import error_name, pidfd, wait_until


def test_a_job_from_creation_to_receipt(world):
    leader = world.process()
    assert world.create("bus.1", leader)[2] == "job-bus.1.scope"
    assert world.live() == {"bus.1": "running"}
    receipt = world.end("bus.1", leader)
    assert (receipt["result"], receipt["cpu_user"]) == ("exited", 7)
    assert (world.live(), world.records(), list(world.systemd.Units())) == ({}, [], [])


@pytest.mark.parametrize("fault, error", [("refuse-property", "SystemdFailed"), ("process-gone", "PidGone")])
def test_a_refusal_leaves_nothing(world, fault, error):
    world.systemd.Faults([fault])
    leader = world.process()
    assert error_name(lambda: world.create("bus.1", leader)) == f"org.pinfold1.Error.{error}"
    wait_until(lambda: not world.live() and not world.records(), "nothing left")
    assert leader.poll() is None, "a job that never was has no process to lose"
    assert world.create("bus.1", leader)[0] == "bus.1", "the key is free again"
    world.end("bus.1", leader)


def test_the_refused_property_is_named(world):
    world.systemd.Faults(["refuse-property"])
    leader = world.process()
    with pytest.raises(dbus.DBusException, match="OOMPolicy"):
        world.create("bus.1", leader)


@pytest.mark.parametrize("fault", ["signal-first", "twice", "no-reply"])
def test_answers_out_of_order(world, fault):
    world.systemd.Faults([fault])
    leader = world.process()
    world.create("bus.1", leader)
    assert world.live() == {"bus.1": "running"}
    assert [call for call in world.systemd.Calls() if call.startswith("start")] == ["start job-bus.1.scope"]
    world.end("bus.1", leader)
    assert world.records() == []


def test_a_late_answer(world):
    world.systemd.Delay(dbus.UInt32(2000))
    leader = world.process()
    world.create("bus.1", leader)
    world.systemd.Delay(dbus.UInt32(0))
    world.end("bus.1", leader)


def test_never_an_answer_but_done(world):
    """Neither a reply nor a signal comes. pinfoldd waits 30 s for the reply, and then asks the kernel. The kernel shows the leader in the job's
    scope."""
    world.systemd.Faults(["silent"])
    leader = world.process()
    world.create("bus.1", leader)
    assert world.live() == {"bus.1": "running"}
    world.end("bus.1", leader)


def test_a_lost_call_is_repeated(world):
    world.systemd.Faults(["lost", "lost"])
    leader = world.process()
    world.create("bus.1", leader)
    assert list(world.systemd.Calls()).count("start job-bus.1.scope") == 3
    world.end("bus.1", leader)


def test_a_name_that_frees_itself(world):
    world.systemd.Faults(["name-taken", "stopping"])
    leader = world.process()
    world.create("bus.1", leader)
    assert "reset job-bus.1.scope" in world.systemd.Calls()
    world.end("bus.1", leader)


def test_a_name_that_stays_taken(world):
    world.systemd.Faults(["name-taken"] * 100)
    leader = world.process()
    with pytest.raises(dbus.DBusException, match="systemctl status batch-bus.1.slice") as caught:
        world.create("bus.1", leader)
    assert caught.value.get_dbus_name() == "org.pinfold1.Error.AlreadyExists"


def test_systemd_drops_off_the_bus(world):
    first = world.process()
    world.create("bus.1", first)
    world.systemd.DropOffTheBus()
    assert not world.bus.name_has_owner("org.freedesktop.systemd1")
    assert world.live() == {"bus.1": "running"}
    world.systemd.ComeBack()
    assert world.bus.name_has_owner("org.freedesktop.systemd1")
    again = world.process()
    world.create("bus.2", again)
    world.end("bus.2", again)
    world.end("bus.1", first)


def test_a_reload_ends_no_job(world):
    leader = world.process()
    world.create("bus.1", leader)
    world.systemd.Reload()
    assert world.live() == {"bus.1": "running"}
    assert [call for call in world.systemd.Calls() if not call.startswith("start")] == []
    world.end("bus.1", leader)


def test_more_calls_than_the_bus_allows_unanswered(world):
    """dbus-daemon refuses a connection's 129th unanswered call, so pinfoldd must never have more than 128 unanswered calls."""
    world.systemd.Delay(dbus.UInt32(300))
    leaders = [world.process() for _ in range(200)]
    failures = []

    def lane(number):
        bus = dbus.bus.BusConnection(world.address)
        for index in range(number, 200, 50):
            try:
                world.manager(bus).CreateJob(f"bus.{index}", pidfd(leaders[index]), dbus.Dictionary({}, signature="sv"), timeout=100)
            except dbus.DBusException as error:
                failures.append(error)
        bus.close()

    lanes = [threading.Thread(target=lane, args=(number,)) for number in range(50)]
    for each in lanes:
        each.start()
    for each in lanes:
        each.join()
    assert failures == []
    assert len(world.live()) == 200


def test_a_daemon_killed_while_it_creates(world):
    world.systemd.Hold(True)
    leader = world.process()
    errors = []

    def ask():
        try:
            world.create("bus.1", leader, bus=dbus.bus.BusConnection(world.address))
        except dbus.DBusException as error:
            errors.append(error.get_dbus_name())

    asked = threading.Thread(target=ask)
    asked.start()
    wait_until(lambda: world.systemd.Held() == 1, "the start")
    world.daemon.kill()
    world.daemon.wait()
    asked.join()
    assert errors == ["org.freedesktop.DBus.Error.NoReply"]
    world.daemon = world.start_daemon()
    world.systemd.Hold(False)
    assert world.create("bus.1", leader)[0] == "bus.1", "asked again, it is the same job"
    assert list(world.systemd.Calls()).count("start job-bus.1.scope") <= 3
    world.end("bus.1", leader)
    assert (world.records(), list(world.systemd.Units())) == ([], [])


def test_freezes_that_hang_hold_up_no_start(world):
    """systemd answers a freeze only when all processes of the job are frozen. The kernel cannot freeze a process that waits for a dead file server,
    so systemd perhaps never answers."""
    keys = [f"bus.{number}" for number in range(70)]
    for key in keys:
        world.create(key, world.process())
    world.systemd.HoldFreezes(True)
    for key in keys:
        world.manager().SuspendJob(key, ignore_reply=True)
    begun = time.monotonic()
    world.create("bus.100", world.process())
    assert time.monotonic() - begun < 15, "not the 30 s for which a freeze is waited for"
    assert sum(call.startswith("freeze") for call in world.systemd.Calls()) <= 16
