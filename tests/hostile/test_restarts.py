# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests attacks during a start of pinfoldd. The tests of this file run last, because they restart pinfoldd. The tests of the other files need a
pinfoldd that does not restart."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from crowd import identity
from jobs import daemon_ready, live_jobs, main_pid, run, wait_running, wait_until
from test_hostile import command, user_run

WRONG = Path("/etc/pinfold/pinfold.toml.d/wrong.toml")


def test_03_a_key_that_pinfoldd_picks():
    """pinfoldd uses a counter to make keys for jobs. After a restart, pinfoldd must not choose the key of a live job."""
    before = set(live_jobs())
    with subprocess.Popen(["pinfold-run", "--", "sleep", "1000"], stdin=subprocess.DEVNULL, **identity("dora")) as job:
        key, = wait_until(lambda: set(live_jobs()) - before, "her job")
        wait_running(key)
        old = main_pid()
        run("systemctl", "restart", "pinfoldd")
        daemon_ready()
        assert main_pid() != old
        for user in ("alice", "bob") * 3:
            assert user_run(user, "true").returncode == 0
        assert live_jobs()[key]["state"] == "running" and job.poll() is None
        job.terminate()


@pytest.fixture
def a_configuration_that_is_wrong():
    WRONG.write_text("[jobs\n", encoding="utf-8")
    yield
    WRONG.unlink()
    run("systemctl", "reset-failed", "pinfoldd.service", "pinfoldd.socket", check=False)
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")
    daemon_ready()


@pytest.mark.usefixtures("a_configuration_that_is_wrong")
def test_25_the_silent_before_a_pinfoldd_that_refuses_to_start():
    """The test's configuration lets jobs run without pinfold if pinfoldd refuses to start. Although bob opens 300 connections to the socket of
    pinfoldd, the job of dora must start within 15 s."""
    run("systemctl", "stop", "pinfoldd.service")
    first, last = os.pipe()
    words, who = command("bob", "flood_of_connections", 300, first)
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, pass_fds=[first], **who) as flood:
        os.close(first)
        assert int(flood.stdout.readline()) == 300
        begun = time.monotonic()
        done = user_run("dora", "echo", "ran")
        assert done.stdout == "ran\n" and "without a scope" in done.stderr and time.monotonic() - begun < 15, done
        os.close(last)
        flood.stdout.read()
