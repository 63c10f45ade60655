# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests jobs with very many tasks. For each additional task, pinfoldd needs two more descriptors, and the job's record gets longer."""

import dbus

from conftest import error_name, pidfd, wait_until
from test_callers import USER, as_user, owned
from test_open_job import join, open_job
from test_wrapper_socket import made

BUSY = "org.pinfold1.Error.Busy"
NONE = dbus.Dictionary({}, signature="sv")


def add(world, key="bus.1"):
    """Adds a task as root, as a batch system does."""
    process = world.process()
    return process, world.manager().AddTask(key, pidfd(process), NONE)[0]


def test_a_job_has_at_most_this_many_tasks_no_matter_who_adds_them(world):
    world.configure("[jobs]\nmax_tasks = 2\n")
    open_job(world)
    batch_script = world.process(**owned(True))
    assert join(world, batch_script, role="batch") == made("bus.1"), "which is not counted"
    first, number = add(world)
    own, one_more = world.process(**owned(True)), world.process(**owned(True))
    assert as_user(world, f"int(m.Adopt('bus.1', [fd({own.pid})])[0])") == str(number + 1)
    for call in (f"m.Adopt('bus.1', [fd({one_more.pid})])", f"m.AddTask('bus.1', fd({one_more.pid}), none)"):
        assert as_user(world, call) == BUSY
    assert error_name(lambda: add(world)) == BUSY
    refusal = join(world, world.process())
    assert refusal["error"] == "Busy" and "job 'bus.1' has 2 live tasks already, the maximum (jobs.max_tasks)" in refusal["message"]
    assert world.manager().ListJobs()[0]["tasks"] == 3
    first.kill()
    wait_until(lambda: world.manager().ListJobs()[0]["tasks"] == 2, "the end of a task")
    assert add(world)[1] == number + 2, "only live ones count"


def test_a_users_jobs_take_so_many_tasks_together(world):
    world.configure("[jobs]\nmax_tasks_per_user = 3\n")
    for key in ("bus.1", "bus.2"):
        open_job(world, key)
    open_job(world, "bus.3", uid=dbus.UInt32(USER - 1))
    for key in ("bus.1", "bus.2", "bus.2"):
        add(world, key)
    assert error_name(lambda: add(world, "bus.1")) == BUSY
    refusal = join(world, world.process(), key="bus.2")
    assert f"the jobs of user {USER} have 3 live tasks already, the maximum (jobs.max_tasks_per_user)" in refusal["message"]
    add(world, "bus.3")
