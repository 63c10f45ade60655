# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the whole life of one job under a real systemd. The job starts pinfoldd on demand, leaves a process behind, and gets a receipt."""

from pathlib import Path

import pytest

from jobs import expect_nothing_left, finish, receipts, run, start_job, wait_for_entries, wait_for_journal, wait_until

# The script ends after its daemon has executed sleep. While a process executes another program, the kernel shows the new name a moment before it shows
# the new command line. `tr` replaces the zero bytes, because grep would treat a zero byte like the end of a line.
LEAVES_SLEEP = "setsid sleep 4711 >&- 2>&- <&- & until tr '\\0' ' ' </proc/$!/cmdline | grep -q ^sleep; do :; done; echo $!"


def test_systemd_is_pid_1_and_up():
    assert Path("/proc/1/comm").read_text() == "systemd\n"
    wait_until(lambda: run("systemctl", "is-system-running", check=False).stdout.strip() == "running", "systemd running")


def test_pinfoldd_is_started_by_the_first_call():
    run("systemctl", "stop", "pinfoldd.service")
    assert run("systemctl", "is-active", "pinfoldd.service", check=False).stdout == "inactive\n"
    answer = run("busctl", "get-property", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Version").stdout
    assert answer.startswith('s "')
    assert run("systemctl", "is-active", "pinfoldd.service").stdout == "active\n"


def test_pinfoldd_is_started_by_the_first_job():
    run("systemctl", "stop", "pinfoldd.service")
    assert run("systemctl", "is-active", "pinfoldd.service", check=False).stdout == "inactive\n"
    assert finish(start_job("first.1", "true"))[0] == 0
    assert run("systemctl", "is-active", "pinfoldd.service").stdout == "active\n"


def test_nothing_that_was_installed_makes_systemd_complain():
    installed = ["pinfoldd.service", "pinfoldd.socket", "batch.slice", "pinfold.slice"]
    assert run("systemd-analyze", "verify", "--man=no", *installed).stderr == ""
    assert run("systemctl", "show", "-P", "LoadState", *installed).stdout.split() == ["loaded"] * len(installed)


@pytest.mark.parametrize("mode", [[], ["--exec"]], ids=["supervise", "exec"])
@pytest.mark.parametrize("status", [0, 7])
def test_the_jobs_status_is_pinfold_runs(mode, status):
    key = f"smoke.status.{status}.{len(mode)}"
    assert finish(start_job(key, "sh", "-c", f"exit {status}", options=mode))[0] == status
    receipt = wait_until(lambda: receipts(key), "receipt")[0]
    if not mode:
        assert (receipt["result"], receipt["exit_status"]) == ("exited", status)
    expect_nothing_left()


def test_a_leftover_is_named_killed_and_accounted_for():
    key = "smoke.leftover"
    status, out, err = finish(start_job(key, "sh", "-c", LEAVES_SLEEP))
    assert status == 0, err
    assert not Path(f"/proc/{out.strip()}").exists()
    assert [entry["MESSAGE"] for entry in wait_for_entries(key, "leftovers")] == [f"rogue process(es) found for task {key}"]
    named = wait_for_entries(key, "leftover")
    assert [(entry["MESSAGE"], entry["PINFOLD_LEFTOVER_PID"]) for entry in named] == [("leftover: sleep 4711", out.strip())]
    wait_for_journal("leftover: sleep 4711", "-o", "cat", "-u", "job-smoke.leftover.scope")
    assert [receipt["leftovers"] for receipt in receipts(key)] == [1]
    expect_nothing_left()
