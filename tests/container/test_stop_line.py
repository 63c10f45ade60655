# SPDX-License-Identifier: LGPL-2.1-or-later
"""The line in a job's standard error about an end that the job did not cause, and the ends without this line."""

import os
import pwd

import pytest

from jobs import as_alice, batch_script, finish, run, start_job, wait_running

LINE = f"pinfold-run: job {{key}} on {os.uname().nodename} was stopped{{because}}\n"


def line(key, because):
    return LINE.format(key=key, because=because)


def test_of_the_time_limit():
    assert finish(start_job("said.time", "sleep", "1000", options=["--run-time-max", "1s"])) == (
        -15, "", line("said.time", ": it reached its run time limit of 1s"))


def test_of_a_request_and_whose_it_was():
    job = start_job("said.root", "sleep", "1000")
    wait_running("said.root")
    run("pinfold", "stop", "said.root")
    assert finish(job) == (-15, "", line("said.root", " on request of user root"))
    run("pinfold", "open", "said.owner", "--uid", "alice")
    job = batch_script("said.owner", "alice")
    run(*as_alice("pinfold", "stop", "said.owner"))
    assert finish(job) == (-15, "", line("said.owner", " on request of user " + str(pwd.getpwnam("alice").pw_uid)))


@pytest.mark.parametrize("command, status", [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -15), ("kill -KILL $$", -9)])
def test_none_of_an_end_of_its_own(command, status):
    assert finish(start_job("said.own", "sh", "-c", command)) == (status, "", "")


def test_none_of_a_signal_that_the_batch_system_sends():
    job = start_job("said.signal", "sleep", "1000")
    wait_running("said.signal")
    run("pinfold", "kill", "-9", "said.signal")
    assert finish(job) == (-9, "", "")


def test_nobody_says_it_where_the_job_took_the_wrappers_place():
    job = start_job("said.place", "sleep", "1000", options=["--exec"])
    wait_running("said.place")
    run("pinfold", "stop", "said.place")
    assert finish(job) == (-15, "", "")
