# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how pinfoldd handles a process that SIGKILL cannot end. The process writes to a frozen file system, and sleeps in the kernel until somebody
thaws the file system."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import daemon_ready, expect_nothing_left, finish, journal, live_jobs, main_pid, receipts, run, start_job, wait_until

CONFIG = Path("/etc/pinfold/pinfold.toml.d/50-unkillable.toml")
COMMENT = Path("/run/pinfold/comment")
SCRIPT = Path("/etc/pinfold/unkillable")
SAID = Path("/run/unkillable-said")


def configure(action):
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(f'[unkillable]\nafter = "2s"\naction = "{action}"\nscript = "{SCRIPT}"\n')
    run("systemctl", "reload-or-restart", "pinfoldd")


@pytest.fixture(autouse=True)
def default_configuration():
    yield
    CONFIG.unlink(missing_ok=True)
    run("systemctl", "reload-or-restart", "pinfoldd")


def wait_point(pid):
    return Path(f"/proc/{pid}/wchan").read_text()


def hang(key, directory):
    """Starts a job with a leader that hangs, and stops the job. Returns the job, and the pid of its leader."""
    job = start_job(key, "dd", "if=/dev/zero", f"of={directory}/file", "bs=4k", "count=1")
    pid = wait_until(lambda: live_jobs().get(key, {}).get("leader"), f"{key} running")
    wait_until(lambda: "rwsem" in wait_point(pid), f"{pid} waits for the thaw")
    run("pinfold", "stop", "--grace=0", key)
    return job, pid


def reported(key, number=1):
    return wait_until(lambda: journal(key, "unkillable-process")[number - 1:], f"report {number} of {key}")[0]


def expect_end(job, key, frozen):
    """Thaws the frozen file system, and checks that the job then ends without another request."""
    assert job.poll() is None
    run("fsfreeze", "--unfreeze", frozen)
    assert finish(job)[0] == -signal.SIGKILL
    [receipt] = receipts(key)
    assert receipt["result"] == "stopped"
    expect_nothing_left()


def test_it_is_named_and_seen_until_it_goes(frozen):
    configure("comment")
    job, pid = hang("hang.seen", frozen)
    event = reported("hang.seen")
    assert event["PINFOLD_UNKILLABLE_PID"] == str(pid)
    assert event["PINFOLD_UNKILLABLE_STATE"] == "D"
    assert event["PINFOLD_UNKILLABLE_COMMAND"].startswith("dd if=/dev/zero")
    place = event["PINFOLD_UNKILLABLE_WAIT_POINT"]
    assert "rwsem" in place and place == wait_point(pid)
    assert event["MESSAGE"].startswith(f"unkillable: pid {pid}, state D, waits in {place}: dd ")

    status = run("pinfold", "status", "hang.seen").stdout
    assert "ending" in status and re.search(r"unkillable +SIGKILL of 20", status) and place in status, status
    shown = json.loads(run("pinfold", "status", "--json", "hang.seen").stdout)["job"]
    assert shown["state"] == "ending" and shown["unkillable_since"] > shown["created"]
    [process] = shown["processes"]
    assert (process["pid"], process["state"], process["wait_point"]) == (pid, "D", place)
    path = "/org/pinfold1/job/hang_2eseen"
    assert run("busctl", "get-property", "org.pinfold1", path, "org.pinfold1.Job", "Unkillable").stdout == "b true\n"
    assert re.fullmatch(r"pinfold: job hang\.seen cannot be killed since \S+Z\n", COMMENT.read_text())

    expect_end(job, "hang.seen", frozen)
    assert not COMMENT.exists()


def test_a_drained_node_takes_jobs_again_when_it_goes(frozen):
    configure("drain")
    job, _ = hang("hang.drain", frozen)
    reported("hang.drain")
    status, _, err = finish(start_job("hang.next", "true"))
    assert status == 125 and "job hang.drain cannot be killed" in err, err
    expect_end(job, "hang.drain", frozen)
    assert finish(start_job("hang.next", "true"))[0] == 0


def test_the_script_runs_once_and_the_job_survives_a_restart(frozen):
    SAID.unlink(missing_ok=True)
    SCRIPT.write_text(f'#!/bin/sh\necho "$*" "$(cat /proc/self/cgroup)" >>{SAID}\n')
    SCRIPT.chmod(0o755)
    configure("script")
    job, pid = hang("hang.script", frozen)
    reported("hang.script")
    said = wait_until(lambda: SAID.exists() and SAID.read_text(), "the script has run")
    assert said == f"hang.script 0 {pid} 0::/system.slice/pinfold-unkillable-hang.script.service\n"
    before = main_pid()
    subprocess.run(["systemctl", "kill", "-s", "KILL", "pinfoldd"], check=True, timeout=60)
    daemon_ready(other_than=before)
    assert reported("hang.script", 2)["PINFOLD_UNKILLABLE_PID"] == str(pid), "a new pinfoldd says it again"
    assert live_jobs()["hang.script"]["state"] == "ending"
    assert SAID.read_text() == said, "and runs no script twice"
    expect_end(job, "hang.script", frozen)
    SCRIPT.unlink()
