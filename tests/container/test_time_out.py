# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the message of a time-out says what the command was waiting for."""

import pytest

from jobs import daemon_ready, finish, processes_with, run, start_job, stopped, wait_running, wait_until

KEY = "late.1"


@pytest.fixture
def job():
    """The job is one process, which ignores SIGTERM."""
    process = start_job(KEY, "sh", "-c", "trap '' TERM; exec sleep 1000.7", options=["--kill-grace", "10min"])
    wait_running(KEY)
    wait_until(lambda: processes_with("sleep\x001000.7"), "the job's sleep")
    yield process
    run("pinfold", "kill", "-s", "KILL", KEY, check=False)
    finish(process)


def timed_out(*command):
    done = run("pinfold", *command, check=False)
    assert (done.returncode, done.stdout) == (124, ""), done
    return done.stderr


def test_of_a_wait_and_of_an_end(job):
    assert timed_out("wait", KEY, "--timeout", "300ms") == f"pinfold: job {KEY} is still running after 300ms: 1 process is left\n"
    ending = f"pinfold: job {KEY} is still ending after 300ms: 1 process is left\n"
    assert timed_out("stop", KEY, "--wait", "--timeout", "300ms") == ending
    assert timed_out("end", KEY, "--timeout", "300ms") == ending


def test_of_a_pinfoldd_that_hangs(job):
    with stopped(daemon_ready()):
        message = timed_out("wait", KEY, "--timeout", "300ms")
    assert message == "pinfold: pinfoldd did not answer within 300ms; look at `systemctl status pinfoldd`\n"
