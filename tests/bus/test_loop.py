# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a process that hangs and holds the lock of its memory, so that nobody can read its command line. In place of /proc/PID/cmdline, the test puts
a FIFO to which nobody writes. Every process that opens the FIFO hangs."""

import os
import signal
import time

import dbus
import pytest

from conftest import wait_until

AT_ONCE = dbus.Dictionary({"grace": dbus.UInt64(0)}, signature="sv")
SOON = 0.3


def lock_memory(world, process):
    cmdline = world.root / "proc" / str(process.pid) / "cmdline"
    cmdline.unlink()
    os.mkfifo(cmdline)


def quickest(call, tries=5):
    """Makes several calls, and returns the time of the quickest call. On a busy machine, only some calls are slow. If the event loop waits
    for something, all calls are slow."""
    def once():
        begun = time.monotonic()
        call()
        return time.monotonic() - begun
    return min(once() for _ in range(tries))


def end(world, leader):
    """Moves the leader out of the scope before the leader ends. Unlike the kernel, the stand-in lists a process in cgroup.procs for a
    moment after the end of the process."""
    world.systemd.Move(dbus.UInt32(leader.pid), "/system.slice/batchd.service")
    leader.kill()
    leader.wait()


@pytest.fixture
def stuck(world):
    """Returns the process that the job bus.1 leaves behind. The stand-in for systemd has much time to send SIGTERM before pinfoldd uses SIGKILL."""
    world.configure('[jobs]\nkill_grace = "1min"\n')
    leader, leftover = world.process(), world.process()
    world.create("bus.1", leader)
    world.systemd.Move(dbus.UInt32(leftover.pid), "/batch.slice/batch-bus.1.slice/job-bus.1.scope")
    lock_memory(world, leftover)
    return leader, leftover


def test_the_signals_come_and_others_are_answered(world, stuck):
    leader, leftover = stuck
    end(world, leader)
    assert leftover.wait(10) == -signal.SIGTERM
    assert quickest(world.live) < SOON
    receipt = world.manager().WaitJob("bus.1")
    assert receipt["leftovers"] == 1 and receipt["leftover_commands"] == ["[sleep]"]


def test_a_stop_at_once_is_at_once(world, stuck):
    _, leftover = stuck
    world.manager().StopJob("bus.1", AT_ONCE)
    assert leftover.wait(10) == -signal.SIGKILL


def test_the_list_of_its_processes_is_answered(world, stuck):
    leader, leftover = stuck
    def listed():
        return {int(process["pid"]): str(process["command"]) for process in world.manager().ListProcesses("bus.1")}
    begun = time.monotonic()
    found = listed()
    assert time.monotonic() - begun < 10
    assert set(found) == {leader.pid, leftover.pid} and found[leftover.pid] == "[sleep]"
    # On a busy machine, pinfoldd perhaps cannot read the leader's command line within a second.
    wait_until(lambda: listed() == {leader.pid: "sleep 1000", leftover.pid: "[sleep]"}, "the leader's command line")
    assert quickest(lambda: world.manager().ListProcesses("bus.1")) < SOON, "who hangs is known by now, and not asked again"
    assert quickest(world.live) < SOON


def test_a_restart_takes_the_job_up(world, stuck):
    leader, leftover = stuck
    world.systemd.Hang(dbus.UInt32(leftover.pid))
    end(world, leader)
    wait_until(lambda: world.live() == {"bus.1": "ending"}, "the job's end")
    world.daemon.kill()
    world.daemon.wait()
    world.daemon = world.start_daemon()
    assert world.live() == {"bus.1": "ending"}
    assert world.end("bus.1", leftover)["leftovers"] == 1
