# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests limits that this node cannot enforce. In most containers, the controller for the number of tasks is missing."""

import json
from pathlib import Path

import pytest

from jobs import finish, receipts, run, site, start_job, wait_running

WARNING = "pinfold: warning: tasks_max is not enforced on this node: "

pytestmark = pytest.mark.skipif("pids" in Path("/sys/fs/cgroup/cgroup.controllers").read_text().split(),
                                reason="this node has the controller")


@pytest.fixture
def job():
    with site('[jobs]\nunenforced_limits = "warn"\n'):
        process = start_job("limits.1", "sleep", "1000", options=["--tasks-max", "100", "--run-time-max", "2h"])
        wait_running("limits.1")
        yield process
        run("pinfold", "stop", "limits.1", check=False)
        finish(process)


def line_of(text, word):
    [line] = [line for line in text.splitlines() if line.split()[:1] == [word]]
    return " ".join(line.split())


def test_are_marked_while_the_job_runs(job):
    table = run("pinfold", "limits", "limits.1").stdout
    assert line_of(table, "tasks_max") == "tasks_max 100 (not enforced) TasksMax"
    assert line_of(table, "run_time_max") == "run_time_max 2:00:00 -", "pinfoldd itself enforces that"
    assert json.loads(run("pinfold", "limits", "limits.1", "--json").stdout)["limits_not_enforced"] == ["tasks_max"]
    page = run("pinfold", "status", "limits.1").stdout
    assert line_of(page, "threads").endswith(" of 100 (not enforced)") and line_of(page, "limits") == "limits tasks_max (not enforced)"
    assert json.loads(run("pinfold", "status", "limits.1", "--json").stdout)["job"]["limits_not_enforced"] == ["tasks_max"]
    assert run("pinfold", "show", "limits.1", "-p", "limits_not_enforced", "--value").stdout == "tasks_max\n"


def test_a_change_says_what_it_changed_and_warns(job):
    done = run("pinfold", "limits", "limits.1", "--tasks-max", "50", "--run-time-max", "1h")
    assert done.stdout == "tasks_max: 100 -> 50\nrun_time_max: 2:00:00 -> 1:00:00\n"
    assert done.stderr.startswith(WARNING) and done.stderr.count("\n") == 1
    silent = run("pinfold", "limits", "limits.1", "--run-time-max", "3h")
    assert (silent.stdout, silent.stderr) == ("run_time_max: 1:00:00 -> 3:00:00\n", "")
    planned = run("pinfold", "limits", "limits.1", "--run-time-max", "4h", "--dry-run").stdout
    assert planned == "Dry run; nothing was changed:\nrun_time_max: 3:00:00 -> 4:00:00\n"
    assert line_of(run("pinfold", "limits", "limits.1").stdout, "run_time_max") == "run_time_max 3:00:00 -"


def test_are_marked_after_a_restart_and_in_the_receipt(job):
    run("systemctl", "restart", "pinfoldd")
    assert json.loads(run("pinfold", "limits", "limits.1", "--json").stdout)["limits_not_enforced"] == ["tasks_max"]
    run("pinfold", "stop", "limits.1", "--wait")
    assert receipts("limits.1")[0]["limits_not_enforced"] == ["tasks_max"]
    assert "\n  limits       tasks_max (not enforced)\n" in run("pinfold", "why", "limits.1").stdout
