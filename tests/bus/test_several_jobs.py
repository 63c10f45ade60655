# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands of pinfold for all live jobs of a user or of the node."""

import subprocess

import dbus

from conftest import BUILD, wait_until
from test_callers import USER
from test_open_job import open_job


def pinfold(world, *words, uid=0):
    with open(BUILD / "src/cli/pinfold", "rb") as program:  # the user may not be able to read the program in its directory
        return subprocess.run([f"/proc/self/fd/{program.fileno()}", *words], env=world.environment, capture_output=True, text=True, user=uid,
                              timeout=60, pass_fds=[program.fileno()])


def printed(done):
    return done.returncode, done.stdout, done.stderr


def open_three(world):
    for key in ("bus.1", "bus.2"):
        open_job(world, key)
    open_job(world, "bus.3", uid=dbus.UInt32(USER - 1))


def test_root_stops_all_jobs_of_a_user_and_no_others(world):
    open_three(world)
    status, out, err = printed(pinfold(world, "stop", "--user", str(USER), "--dry-run"))
    assert (status, err) == (0, "") and out.count("would send SIGTERM to all processes of batch-bus.") == 2
    assert world.live().keys() == {"bus.1", "bus.2", "bus.3"}
    assert printed(pinfold(world, "stop", "--user", str(USER), "--wait")) == (0, "", "")
    assert world.live().keys() == {"bus.3"}
    assert [str(world.manager().GetReceipt(key)["result"]) for key in ("bus.1", "bus.2")] == ["stopped"] * 2
    assert printed(pinfold(world, "stop", "--user", str(USER))) == (0, "", ""), "there is nothing left to stop"


def test_a_user_stops_all_of_their_own_and_nobody_elses(world):
    open_three(world)
    status, out, err = printed(pinfold(world, "stop", "-u", str(USER - 1), uid=USER))
    assert (status, out) == (5, "") and err.startswith("pinfold: bus.3: ") and err.count("\n") == 1
    assert printed(pinfold(world, "stop", "-u", str(USER), uid=USER)) == (0, "", "")
    wait_until(lambda: world.live().keys() == {"bus.3"}, "the user's own jobs are over")


def test_stop_wants_to_know_whose_jobs(world):
    assert printed(pinfold(world, "stop")) == (2, "", "pinfold: name a job, or use --user\n")
    status, _, err = printed(pinfold(world, "stop", "--user", "no-such-user"))
    assert (status, err) == (2, "pinfold: unknown user 'no-such-user'\n")


def columns(world, *words, uid=0):
    done = pinfold(world, "list", "--pairs", *words, uid=uid)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_list_has_the_limits_and_the_use_of_jobs(world):
    open_job(world, "bus.1", memory_max=dbus.UInt64(3 << 30), tasks_max=dbus.UInt64(9))
    open_job(world, "bus.2", memory_max=dbus.UInt64(20 << 30), uid=dbus.UInt32(USER - 1))
    names = ("-o", "key,memory_max,tasks_max,gpus")
    assert columns(world, *names) == ['KEY="bus.1" MEMORY_MAX="3G" TASKS_MAX="9" GPUS="-"', 'KEY="bus.2" MEMORY_MAX="20G" TASKS_MAX="-" GPUS="-"']
    assert columns(world, "-o", "key", "--sort", "memory_max") == ['KEY="bus.1"', 'KEY="bus.2"'], "3G is less than 20G"
    assert columns(world, "-o", "key", "--sort", "tasks_max") == ['KEY="bus.2"', 'KEY="bus.1"'], "no limit comes first"
    memory = {line.split()[0]: line.split()[1] for line in columns(world, "-o", "key,cpu", uid=USER)}
    assert memory['KEY="bus.2"'] == 'CPU="-"', "the use of others is not for everybody"


def test_an_ordinary_user_gets_the_columns_of_many_jobs(world):
    """pinfoldd makes a user wait who asks too much. Each of these jobs is asked about on its own."""
    keys = [f"bus.{i}" for i in range(100)]
    for key in keys:
        open_job(world, key, memory_max=dbus.UInt64(1 << 30))
    listed = columns(world, "-o", "key,memory_max", uid=USER)
    assert sorted(listed) == sorted(f'KEY="{key}" MEMORY_MAX="1G"' for key in keys)
