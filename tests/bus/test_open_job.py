# SPDX-License-Identifier: LGPL-2.1-or-later
"""Opens jobs before the jobs have a process, and makes systemd fail. In some tests, tasks open their job themselves."""

import os

import dbus
import pytest

from conftest import error_name, pidfd, wait_until
from test_callers import USER
from test_wrapper_socket import ask, ask_as_user, made

ERROR = "org.pinfold1.Error."
NONE = dbus.Dictionary({}, signature="sv")
FOR_EVER = {"linger": dbus.UInt64(2**64 - 1)}


def open_job(world, key="bus.1", **options):
    options = dbus.Dictionary({"uid": dbus.UInt32(USER), **FOR_EVER, **options}, signature="sv")
    return world.manager().OpenJob(key, options, timeout=100)


def join(world, process, role="task-of-open", key="bus.1", **more):
    request = {"version": 1, "call": "create", "key": key, "limits": {}, "role": role, **more}
    fd = os.pidfd_open(process.pid)
    try:
        return ask(world, request, [fd])
    finally:
        os.close(fd)


def expect_over(world):
    wait_until(lambda: not world.live() and not world.records() and not world.systemd.Units(), "nothing left")


@pytest.mark.parametrize("fault", ["lost", "signal-first", "twice", "name-taken"])
def test_whatever_becomes_of_the_answer(world, fault):
    world.systemd.Faults([fault])
    assert open_job(world) == ("bus.1", "/org/pinfold1/job/bus_2e1", "batch-bus.1.slice")
    assert world.live() == {"bus.1": "running"}
    assert world.manager().EndJob("bus.1", NONE)["tasks"] == 0
    expect_over(world)


@pytest.mark.parametrize("fault", ["refuse-property", "result failed"])
def test_a_slice_that_systemd_refuses(world, fault):
    world.systemd.Faults([fault])
    assert error_name(lambda: open_job(world)) == ERROR + "SystemdFailed"
    expect_over(world)
    open_job(world)


def test_slots_become_cores_where_the_site_says_so(world):
    world.configure('[jobs]\nslots = "cpus"\n')
    open_job(world, slots=dbus.UInt32(2))
    assert world.job_property("bus.1", "Allocation")["allocated_cpus"] == "0-1"
    assert error_name(lambda: open_job(world, "bus.2", slots=dbus.UInt32(0))) == ERROR + "InvalidArgument"


def test_a_task_opens_its_job_and_the_next_one_joins_it(world):
    first, second = world.process(), world.process()
    assert join(world, first, owner=USER) == made("bus.1", task=1)
    assert join(world, first, owner=USER) == made("bus.1", task=1), "asked again"
    assert join(world, second, owner=USER) == made("bus.1", task=2)
    assert [job["uid"] for job in world.manager().ListJobs()] == [USER]
    first.kill()
    assert ask(world, {"version": 1, "call": "end", "key": "bus.1", "leader": first.pid, "exit_signal": 9, "task": 1}) == {"key": "bus.1"}
    assert world.manager().ListJobs()[0]["tasks"] == 1


def test_only_the_batch_system_opens_and_names_shepherds(world):
    process = world.process()
    for more in ({"role": "task-of-open", "owner": USER}, {"owner": 0}, {"shepherd": True}):
        request = {"version": 1, "call": "create", "key": "bus.1", "limits": {}, **more}
        assert ask_as_user(world, request, process.pid)["error"] == "Denied"
    assert world.live() == {}


def test_suspend_and_resume_by_the_wrapper(world):
    leader = world.process()
    world.create("bus.1", leader)
    assert ask(world, {"version": 1, "call": "suspend", "key": "bus.1"}) == {"key": "bus.1"}
    assert world.live() == {"bus.1": "suspended"}
    assert ask_as_user(world, {"version": 1, "call": "resume", "key": "bus.1"}, leader.pid)["error"] == "Denied"
    assert ask(world, {"version": 1, "call": "resume", "key": "bus.1"}) == {"key": "bus.1"}
    assert world.live() == {"bus.1": "running"}


def test_the_receipt_for_who_asks(world):
    leader = world.process()
    world.create("bus.1", leader)
    leader.kill()
    answer = ask(world, {"version": 1, "call": "end", "key": "bus.1", "leader": leader.pid, "exit_signal": 9, "receipt": True})
    assert answer["receipt"]["key"] == "bus.1" and answer["receipt"]["exit_signal"] == 9


def test_an_opened_job_outlives_the_daemon(world):
    open_job(world)
    world.daemon.kill()
    world.daemon.wait()
    world.daemon = world.start_daemon()
    assert world.live() == {"bus.1": "running"}
    assert world.manager().AddTask("bus.1", pidfd(world.process()), dbus.Dictionary({"batch": True}, signature="sv"))[0] == 0
