# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pinfoldd after PID 1 has announced a shutdown of the system."""

import signal
import time

import dbus
import pytest

from conftest import pidfd, wait_until

NOTHING = dbus.Dictionary({}, signature="sv")


def refusal(world, key, process):
    with pytest.raises(dbus.DBusException) as caught:
        world.create(key, process)
    return caught.value.get_dbus_name(), caught.value.get_dbus_message()


def test_pinfoldd_exits_when_the_last_job_has_its_receipt(world):
    job = world.process()
    world.create("sge.1", job)
    world.systemd.Shutdown("stopping")
    wait_until(lambda: world.live()["sge.1"] == "ending", "the job's end")
    assert refusal(world, "sge.2", world.process()) == ("org.pinfold1.Error.Draining",
                                                       "this node takes no jobs, because it is being shut down")
    assert not [call for call in world.systemd.Calls() if call.startswith(("kill", "stop"))]
    job.kill()
    job.wait()
    wait_until(lambda: not world.live(), "the receipt")
    assert world.manager().GetReceipt("sge.1")["result"] == "node-shutdown"
    world.daemon.send_signal(signal.SIGTERM)
    assert world.daemon.wait(30) == 0


def test_a_sigterm_at_shutdown_waits_for_the_jobs(world):
    job = world.process()
    world.create("sge.1", job)
    world.systemd.Shutdown("stopping")
    wait_until(lambda: world.live()["sge.1"] == "ending", "the job's end")
    world.daemon.send_signal(signal.SIGTERM)  # pinfoldd writes to cgroup.kill, and the stand-in for the kernel then kills the job
    assert world.daemon.wait(30) == 0
    assert job.wait(30) == -signal.SIGKILL
    world.systemd.Shutdown("running")
    world.daemon = world.start_daemon()
    assert world.manager().GetReceipt("sge.1")["result"] == "node-shutdown"
    assert world.live() == {}


def test_a_job_for_the_target_is_no_shutdown_by_itself(world):
    world.systemd.Shutdown("running")
    world.create("sge.1", world.process())
    assert world.live() == {"sge.1": "running"}


def test_a_shutdown_that_began_before_pinfoldd_is_noticed(world):
    world.daemon.send_signal(signal.SIGKILL)
    world.daemon.wait(30)
    world.systemd.Shutdown("stopping")
    world.daemon = world.start_daemon()
    assert refusal(world, "sge.1", world.process())[0] == "org.pinfold1.Error.Draining"


def logind_announces(world, begins):
    world.broadcast("org.freedesktop.login1", "PrepareForShutdown", "b", begins)


def killed_while_pid_1_is_busy(world):
    """Kills a job while PID 1 does not say whether it stops the system. Returns when pinfoldd has waited for PID 1 for longer than 10 s, the time for
    which pinfoldd waits at the end of a job without an announcement of logind."""
    job = world.process()
    world.create("sge.1", job)
    world.systemd.HoldStates(True)
    job.terminate()
    job.wait(30)
    ended = time.monotonic()
    wait_until(lambda: time.monotonic() > ended + 12, "the usual time is over")


def test_pinfoldd_waits_for_pid_1_when_logind_has_announced_a_shutdown(world):
    logind_announces(world, True)
    killed_while_pid_1_is_busy(world)
    assert list(world.live()) == ["sge.1"]
    world.systemd.Shutdown("stopping")
    world.systemd.HoldStates(False)
    wait_until(lambda: not world.live(), "the receipt")
    assert world.manager().GetReceipt("sge.1")["result"] == "node-shutdown"


def test_pinfoldd_does_not_wait_longer_when_logind_has_cancelled_the_shutdown(world):
    logind_announces(world, True)
    logind_announces(world, False)
    killed_while_pid_1_is_busy(world)
    assert world.live() == {}
    assert world.manager().GetReceipt("sge.1")["result"] == "exited"
