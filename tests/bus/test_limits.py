# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests over D-Bus that pinfoldd changes the limits of a running job, and suspends and resumes the job."""

import dbus
import pytest

from conftest import error_name, wait_until
from test_callers import as_user

ERROR = "org.pinfold1.Error."
NONE = dbus.Dictionary({}, signature="sv")
MIB = 1 << 20


def limits(**values):
    return dbus.Dictionary({name: dbus.UInt64(v) if isinstance(v, int) else v for name, v in values.items()}, signature="sv")


@pytest.fixture
def job(world):
    process = world.process()
    world.create("bus.1", process)
    return process


def test_limits_change_on_slice_and_scope_and_the_property_tells(world, job):
    in_force = world.manager().SetLimits("bus.1", limits(memory_max=64 * MIB, tasks_max=7), NONE)
    assert dict(in_force) == {"memory_max": 64 * MIB, "tasks_max": 7}
    calls = [str(call) for call in world.systemd.Calls() if str(call).startswith("set ")]
    assert calls == ["set batch-bus.1.slice MemoryMax TasksMax", "set job-bus.1.scope MemoryMax TasksMax"]
    assert dict(world.job_property("bus.1", "Limits")) == dict(in_force)
    assert list(world.job_property("bus.1", "LimitsNotEnforced")) == []


def test_a_refused_change_changes_nothing(world, job):
    world.systemd.Faults(["refuse-property"])
    assert error_name(lambda: world.manager().SetLimits("bus.1", limits(memory_max=64 * MIB), NONE)) == ERROR + "SystemdFailed"
    assert dict(world.manager().SetLimits("bus.1", limits(tasks_max=9), NONE)) == {"tasks_max": 9}, "and the next one finds it as it was"


def test_what_the_kernel_does_not_take_is_named_in_the_job_and_in_its_receipt(world):
    world.configure('[jobs]\nunenforced_limits = "warn"\n')
    process = world.process()
    world.create("bus.2", process)
    world.systemd.Faults(["ignore-property", "ignore-property"])
    assert dict(world.manager().SetLimits("bus.2", limits(tasks_max=7), NONE)) == {"tasks_max": 7}
    assert list(world.job_property("bus.2", "LimitsNotEnforced")) == ["tasks_max"]
    assert list(world.end("bus.2", process)["limits_not_enforced"]) == ["tasks_max"]


@pytest.mark.parametrize("wrong, error", [
    (limits(memory_max=5), "LimitInvalid"), (limits(memory_most=5), "InvalidArgument"), (limits(memory_max="64M"), "InvalidArgument"),
    (limits(oom_policy="job"), "LimitInvalid"), (limits(oom_policy="both"), "InvalidArgument"),
    (limits(io_read_iops_max="/dev/no-disk 7"), "LimitInvalid"), (limits(device_profile="no-profile"), "LimitInvalid"),
    (limits(memory_zswap_max=0), "LimitUnenforceable")])
def test_what_can_not_be(world, job, wrong, error):
    assert error_name(lambda: world.manager().SetLimits("bus.1", wrong, NONE)) == ERROR + error
    assert not [call for call in world.systemd.Calls() if str(call).startswith("set ")]


def test_options_are_checked(world, job):
    for options in ({"force": "yes"}, {"hard": True}):
        wrong = dbus.Dictionary(options, signature="sv")
        assert error_name(lambda: world.manager().SetLimits("bus.1", limits(tasks_max=9), wrong)) == ERROR + "InvalidArgument"


@pytest.mark.parametrize("call", ["SetLimits('bus.1', dbus.Dictionary({'tasks_max': dbus.UInt64(9)}, signature='sv'), none)", "SuspendJob('bus.1')", "ResumeJob('bus.1')"])
def test_a_stranger_changes_nothing(world, job, call):
    assert as_user(world, f"m.{call}") == ERROR + "Denied"


def test_a_suspended_job_says_so_and_is_thawed_for_its_end(world, job):
    world.manager().SuspendJob("bus.1")
    assert world.live() == {"bus.1": "suspended"}
    world.manager().ResumeJob("bus.1")
    assert world.live() == {"bus.1": "running"}
    world.manager().SuspendJob("bus.1")
    world.manager().StopJob("bus.1", NONE)
    wait_until(lambda: not world.live(), "the job's end")
    calls = [str(call) for call in world.systemd.Calls()]
    assert calls.index("kill batch-bus.1.slice 15") > len(calls) - calls[::-1].index("thaw batch-bus.1.slice") - 1
