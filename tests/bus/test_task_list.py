# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the list of tasks in a receipt on D-Bus and in the JSON of pinfold."""

import json
import os
import signal
import subprocess

import dbus
import pytest
from conftest import BUILD, pidfd, wait_until
from test_callers import USER, owned
from test_open_job import NONE, join, open_job
from test_wrapper_socket import adopt, ask, ask_as_user

def task_list(world, key="bus.1"):
    receipt = world.manager().GetReceipt(key)
    assert receipt["task_list"].signature == "a{sv}"
    for task in receipt["task_list"]:
        assert receipt["started"] <= task["started"] <= task["ended"] <= receipt["ended"]
    return [{str(name): value for name, value in task.items() if name not in ("started", "ended")} for task in receipt["task_list"]]


def names(task):
    """Leaves out the measured values, because they differ from run to run."""
    return {name: value for name, value in task.items() if name not in ("cpu", "memory_peak", "exact")}


def report(world, process, task, **exit):
    return {"version": 1, "call": "end", "key": "bus.1", "leader": process.pid, **exit, "task": task}


def add(world, process):
    return world.manager().AddTask("bus.1", pidfd(process), NONE)[0]


def end(process):
    process.kill()
    process.wait()


def test_a_job_with_only_its_batch_script_has_one_task(world):
    batch = world.process()
    world.create("bus.1", batch)
    world.end("bus.1", batch)
    assert task_list(world) == [{"number": 0, "kind": "batch", "command": "sleep", "cpu": 12, "exact": True}]


def test_a_late_report_is_about_the_batch_script(world):
    batch = world.process()
    world.create("bus.1", batch)
    world.end("bus.1", batch)
    world.manager().EndJob("bus.1", dbus.Dictionary({"exit_status": dbus.Int32(5)}, signature="sv"))
    assert task_list(world) == [{"number": 0, "kind": "batch", "command": "sleep", "exit_status": 5, "cpu": 12, "exact": True}]


@pytest.mark.parametrize("restart", [False, True])
def test_each_task_of_a_job(world, restart):
    batch, second, login = world.process(), world.process(), world.process(**owned(True))
    first = world.process(["sh", "-c", "read line"], stdin=subprocess.PIPE)
    open_job(world)
    assert [add(world, first), add(world, second)] == [1, 2]
    assert adopt(world, login, "bus.1")["task"] == 3
    join(world, batch, role="batch")
    for number, process in ((1, first), (2, second)):
        end(process)
        ask(world, report(world, process, number, exit_status=3) if number == 1 else report(world, process, number, exit_signal=9))
    if restart:  # at once: pinfoldd stores the reports before it exits
        world.stop_daemon()
        world.daemon = world.start_daemon()
    end(login)
    wait_until(lambda: world.manager().ListJobs()[0]["tasks"] == 1, "the end of the login")
    end(batch)
    ask(world, {"version": 1, "call": "end", "key": "bus.1", "leader": batch.pid, "exit_signal": int(signal.SIGKILL)})
    batch_task, *tasks = task_list(world)
    assert names(batch_task) == {"number": 0, "kind": "batch", "command": "sleep", "exit_signal": 9}
    assert [names(task) for task in tasks] == [{"number": 1, "kind": "task", "command": "sh", "exit_status": 3},
                                               {"number": 2, "kind": "task", "command": "sleep", "exit_signal": 9},
                                               {"number": 3, "kind": "login", "command": "sleep"}]
    assert not any("memory_peak" in task for task in tasks)
    shown = subprocess.run([str(BUILD / "src/cli/pinfold"), "why", "--json", "bus.1"], env=world.environment, capture_output=True, text=True,
                           timeout=60, check=True)
    shown = json.loads(shown.stdout)["receipt"]["task_list"]
    assert [(task["number"], task["kind"], task["command"], task["exit_status"], task["exit_signal"]) for task in shown[1:]] == [
        (1, "task", "sh", 3, None), (2, "task", "sleep", None, 9), (3, "login", "sleep", None, None)]
    assert all(task["memory_peak"] is None for task in shown)


def test_a_stranger_says_nothing_about_a_task(world):
    batch, task = world.process(), world.process()
    world.create("bus.1", batch)
    assert add(world, task) == 1
    end(task)
    request = report(world, task, 1, exit_status=7)
    assert os.getuid() != USER and ask_as_user(world, request, os.getpid())["error"] == "Denied"
    world.end("bus.1", batch)
    assert names(task_list(world)[1]) == {"number": 1, "kind": "task", "command": "sleep"}
