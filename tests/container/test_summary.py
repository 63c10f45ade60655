# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the setting jobs.summary, which adds the output of `pinfold why` to the end of a job's standard output."""

import os
import subprocess

import pytest

from jobs import finish, run, site, start_job
from names import wait_for_name

PIPE = 65536  # the capacity of a pipe in bytes


def summary(key):
    """Returns what jobs.summary adds to a job's output: a title line, and the page of `pinfold why`."""
    return f"\n--- pinfold: job {key} on {os.uname().nodename} ---\n" + run("pinfold", "why", key).stdout


@pytest.fixture(params=["true"])
def summaries(request):
    with site(f"[jobs]\nsummary = {request.param}\n"):
        wait_for_name()
        yield


def test_comes_after_the_jobs_own_output(summaries):
    status, out, err = finish(start_job("summary.1", "sh", "-c", "echo own; exit 3"))
    assert (status, err) == (3, "")
    assert "Job summary.1 of user root is over. It exited with status 3.\n\n  host " in out
    assert out == "own\n" + summary("summary.1")


def test_names_the_owner_of_the_job():
    user = dict(user="alice", group="alice", extra_groups=[])
    with site("[jobs]\nsummary = true\nallow_user_jobs = true\n"):
        wait_for_name("alice")
        status, out, err = finish(start_job("user.summary9", "sh", "-c", "echo own; exit 3", **user))
    assert status == 3 and out == "own\n" + summary("user.summary9"), err
    assert "Job user.summary9 of user alice is over. " in out


def test_has_the_use_over_time_of_a_job_of_some_seconds(summaries):
    status, out, err = finish(start_job("summary.8", "sh", "-c", "end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done"))
    assert (status, err) == (0, "") and "What the job used over " in out
    assert out == summary("summary.8")


@pytest.mark.parametrize("summaries", ['"on-failure"'], indirect=True)
def test_comes_only_of_a_job_that_failed(summaries):
    assert finish(start_job("summary.5", "sh", "-c", "echo own")) == (0, "own\n", "")
    status, out, err = finish(start_job("summary.6", "sh", "-c", "echo own; exit 3"))
    assert (status, out, err) == (3, "own\n" + summary("summary.6"), "")
    job = start_job("summary.7", "sh", "-c", "trap 'exit 0' TERM; echo ready; sleep 1000 & wait")
    assert job.stdout.readline() == "ready\n"
    run("pinfold", "limits", "--run-time-max", "1s", "summary.7")
    status, out, err = finish(job)
    assert status == 0 and out == summary("summary.7"), "it exited with 0, and not by itself"
    assert " was stopped: it reached its run time limit of 1s. It ran for " in err and err.count("\n") == 1


def test_comes_only_where_the_site_wants_it():
    assert finish(start_job("summary.2", "sh", "-c", "echo own")) == (0, "own\n", "")


def test_a_reader_that_hangs_does_not_keep_the_job(summaries):
    reader, writer = os.pipe()
    os.write(writer, b"x" * PIPE)
    job = start_job("summary.3", "true", stdout=writer, stderr=subprocess.DEVNULL)
    try:
        assert job.wait(timeout=60) == 0
    finally:
        job.kill()
        os.close(writer)
        os.close(reader)


def test_a_reader_that_left_is_no_failure(summaries):
    reader, writer = os.pipe()
    os.close(reader)
    job = start_job("summary.4", "true", stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (job.wait(timeout=60), job.stderr.read()) == (0, "")
    job.stderr.close()
