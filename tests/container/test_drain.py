# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a drained node with the installed unit, sandbox and bus policy of pinfoldd. The tests check which jobs pinfoldd refuses, what remains after
a restart of pinfoldd, and when `pinfold drain --wait` returns."""

import json
import os
import pty
import pwd
import select
import signal
import stat
import struct
import subprocess
import termios
from fcntl import ioctl
from pathlib import Path

import pytest

from calls import timed
from jobs import (daemon_ready, drained, expect_nothing_left, finish, live_jobs, main_pid, read_journal, receipts, run, site, start_job,
                  wait_for_journal, wait_running, wait_until)
from test_disturbance import kill_daemon, restart_daemon, upgrade

FILE = Path("/var/lib/pinfold/drain.json")
REFUSED = 125


@pytest.fixture(autouse=True)
def resumed():
    yield
    run("pinfold", "undrain")
    assert not FILE.exists()
    expect_nothing_left()


def as_user(name, *command):
    return run("runuser", "-u", name, "--", *command, check=False)


def node():
    return json.loads(run("pinfold", "status", "--json").stdout)


def wait_for_event(name, user):
    """Waits until the journal has an entry of the event `name` that the user caused. Returns the newest of these entries."""
    of_user = f"PINFOLD_BY_UID={pwd.getpwnam(user).pw_uid}"
    lines = wait_until(lambda: read_journal("-o", "json", f"PINFOLD_EVENT={name}", of_user).splitlines(), f"an entry of the event {name}")
    return json.loads(lines[-1])


def waiting_job(key):
    job = start_job(key, "cat", stdin=subprocess.PIPE)
    wait_running(key)
    return job


def drain_and_wait(*options):
    waiting = subprocess.Popen(["pinfold", "drain", "--wait", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: node()["draining"], "drained")
    return waiting


def test_a_job_is_refused_by_name_and_never_runs_unconfined():
    with site('[jobs]\non_failure = "run-unconfined"\n'), drained():
        status, out, err = finish(start_job("drain.refused", "echo", "ran"))
        assert (status, out) == (REFUSED, "") and "this node takes no jobs for now: drained by user 0 at " in err and err.endswith(": test\n")
        assert run("pinfold", "open", "drain.opened", "--uid=alice", check=False).returncode == 1
        assert not live_jobs()
    assert finish(start_job("drain.refused", "echo", "ran"))[:2] == (0, "ran\n")


def test_administrators_drain_and_nobody_else():
    for words in (("drain",), ("undrain",)):
        denied = as_user("alice", "pinfold", *words)
        assert denied.returncode == 5 and "only root and pinfold-admin may drain" in denied.stderr
    assert not node()["draining"]
    assert as_user("carol", "pinfold", "drain", "--reason", "by carol").returncode == 0
    assert (node()["drain"]["by"], node()["drain"]["reason"]) == ("carol", "by carol")
    assert "draining since" in as_user("alice", "pinfold", "status").stdout, "everyone may know"
    assert as_user("carol", "pinfold", "undrain").returncode == 0
    assert wait_for_event("drained", "carol")["PINFOLD_REASON"] == "by carol"
    assert wait_for_event("undrained", "carol")["PRIORITY"] == "5"
    text = read_journal("-x", "PINFOLD_EVENT=drained")
    assert "The node was drained" in text and "`pinfold undrain` lets the node take jobs again" in text


@pytest.mark.parametrize("disturb", [kill_daemon, restart_daemon, upgrade], ids=lambda f: f.__name__)
def test_it_outlives(disturb):
    run("pinfold", "drain", "--reason", "new\ndisk")
    before, pid = node(), main_pid()
    disturb()
    daemon_ready(other_than=pid)
    kept = {**node(), "last_errors": before["last_errors"]}
    assert kept == before and before["drain"]["reason"] == "new\\x0adisk"
    assert finish(start_job("drain.after", "true"))[0] == REFUSED
    assert stat.S_IMODE(FILE.stat().st_mode) == 0o600 and [entry.name for entry in FILE.parent.glob("*drain*")] == [FILE.name]


def test_a_damaged_file_is_a_drain():
    run("systemctl", "stop", "pinfoldd")
    FILE.write_text("")
    run("systemctl", "start", "pinfoldd")
    assert "drain.json cannot be read" in node()["drain"]["reason"]
    assert finish(start_job("drain.damaged", "true"))[0] == REFUSED
    wait_for_journal("takes no jobs, because pinfoldd does not know whether", "-u", "pinfoldd", "-p", "err", "-o", "cat")
    run("pinfold", "undrain")
    assert finish(start_job("drain.damaged", "true"))[0] == 0


def test_a_wait_is_over_with_the_last_receipt_and_at_once():
    jobs = {f"drain.wait.{number}": waiting_job(f"drain.wait.{number}") for number in range(3)}
    waiting = drain_and_wait("--reason", "new disk")
    for number in (1, 0):
        assert finish(jobs[f"drain.wait.{number}"])[0] == 0
    daemon, pid = "drain.wait.2", main_pid()
    kill_daemon()
    daemon_ready(other_than=pid)
    assert waiting.poll() is None and list(live_jobs()) == [daemon]
    jobs[daemon].stdin.close()
    # pinfoldd stores the receipt while PID 1 stops the job's slice, and the job is over when both have happened.
    wait_until(lambda: receipts(daemon) and not live_jobs(), "the end of the job and its receipt")
    status, seconds = timed(lambda: waiting.wait(30))
    assert status == 0 and seconds < 1 and node()["draining"]
    assert waiting.communicate() == ("", "")
    jobs[daemon].wait(30)


def test_a_wait_sees_what_its_jobs_leave_behind():
    """The leader has ended. A leftover that ignores SIGTERM keeps the job alive until the grace time is over. When the test has seen the leftover,
    the test ends the grace time."""
    with site('[jobs]\nkill_grace = "1h"\n'):
        script = "setsid sh -c 'trap \"\" TERM; echo here; while :; do sleep 0.1; done' & read line"
        job = start_job("drain.leaves", "sh", "-c", script, stdin=subprocess.PIPE)
        assert job.stdout.readline() == "here\n"
        waiting = drain_and_wait()
        job.stdin.close()
        wait_until(lambda: live_jobs()["drain.leaves"]["state"] == "ending", "ending")
        assert waiting.poll() is None
        run("pinfold", "stop", "--grace", "0", "drain.leaves")
        assert waiting.wait(30) == 0
        assert receipts("drain.leaves")[0]["leftovers"] >= 1
        job.wait(30)


def test_a_terminal_has_one_line_that_is_written_anew():
    jobs = {key: waiting_job(key) for key in ("drain.tty.1", "drain.tty.2")}
    leader, side = pty.openpty()
    ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    waiting = subprocess.Popen(["pinfold", "drain", "--wait"], stdout=subprocess.PIPE, stderr=side, env={**os.environ, "TERM": "xterm"})
    os.close(side)
    seen = ""

    def until(text):
        nonlocal seen
        while text not in seen:
            assert select.select([leader], [], [], 20)[0], seen
            seen += os.read(leader, 4096).decode()
    until("waiting for 2 jobs: drain.tty.1, drain…")
    assert max(len(line) for line in seen.split("\r\x1b[K")) <= 39
    assert finish(jobs["drain.tty.1"])[0] == 0
    until("\r\x1b[Kwaiting for 1 job: drain.tty.2")
    assert finish(jobs["drain.tty.2"])[0] == 0
    assert waiting.wait(30) == 0 and waiting.stdout.read() == b""
    seen = ""
    until("\r\x1b[K")
    assert "\n" not in seen
    os.close(leader)


def test_an_interrupted_wait_leaves_it_drained():
    job = waiting_job("drain.interrupted")
    waiting = drain_and_wait("--reason", "new disk")
    wait_until(lambda: "SigCgt:\t0000000000000002" in Path(f"/proc/{waiting.pid}/status").read_text(), "it listens")
    waiting.send_signal(signal.SIGINT)
    assert "stays drained" in waiting.communicate(timeout=30)[1] and waiting.returncode == -signal.SIGINT
    late = subprocess.run(["pinfold", "drain", "--wait", "--timeout", "200ms"], capture_output=True, text=True, timeout=30)
    assert late.returncode == 124 and "1 job: drain.interrupted; the node stays drained" in late.stderr
    assert node()["drain"]["reason"] == "new disk"
    assert finish(job)[0] == 0
