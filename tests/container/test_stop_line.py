# SPDX-License-Identifier: LGPL-2.1-or-later
"""At the end of a job, pinfoldd writes a line about the end to the job's standard error. If the job caused its own end, pinfoldd adds no line to the
job's standard error."""

import contextlib
import os
import pwd
import re
import subprocess
import time
from pathlib import Path

import pytest

from jobs import as_alice, batch_script, finish, held_up, receipts, run, start_job, wait_running, wait_until
from own_server import FUSE_HANG

PIPE = 65536  # the capacity of a pipe in bytes


def expect_line(err, key, what):
    """Checks that `err` is one line with the host, the reason, and the figures of the receipt."""
    [receipt] = receipts(key)
    figures = r"It ran for [0-9a-z. ]+ until ([0-9T:-]+Z)(?:, used [0-9a-z. ]+ of CPU time)?[^\n]*\.\n"
    line = re.fullmatch(rf"pinfold: job {re.escape(key)} on {re.escape(os.uname().nodename)} {re.escape(what)}\. {figures}", err)
    assert line, err
    assert line[1] == receipt["ended_iso"]


def test_of_the_time_limit():
    status, out, err = finish(start_job("said.time", "sleep", "1000", options=["--run-time-max", "1s"]))
    assert (status, out) == (-15, "")
    expect_line(err, "said.time", "was stopped: it reached its run time limit of 1s")


def test_of_a_request_and_whose_it_was():
    job = start_job("said.root", "sleep", "1000")
    wait_running("said.root")
    run("pinfold", "stop", "said.root")
    status, out, err = finish(job)
    assert (status, out) == (-15, "")
    expect_line(err, "said.root", "was stopped on request of user root")
    run("pinfold", "open", "said.owner", "--uid", "alice")
    job = batch_script("said.owner", "alice")
    run(*as_alice("pinfold", "stop", "said.owner"))
    status, out, err = finish(job)
    assert (status, out) == (-15, "")
    # If the user database answers only after the job's end, the receipt has no user name, and the job's output has the user id.
    [receipt] = receipts("said.owner")
    expect_line(err, "said.owner", f"was stopped on request of user {receipt['user'] or pwd.getpwnam('alice').pw_uid}")


def test_of_a_supervisor_that_was_killed():
    job = start_job("said.killed", "sleep", "1000")
    wait_running("said.killed")
    job.kill()
    status, out, err = finish(job)  # pinfoldd writes the line before it closes the pipe, and finish() waits until the pipe is closed
    assert (status, out) == (-9, "")
    wait_until(lambda: receipts("said.killed"), "its receipt")
    expect_line(err, "said.killed", "was stopped: its supervisor was killed")


def test_of_a_job_that_took_the_wrappers_place():
    job = start_job("said.place", "sleep", "1000", options=["--exec"])
    wait_running("said.place")
    run("pinfold", "stop", "said.place")
    status, out, err = finish(job)
    assert (status, out) == (-15, "")
    wait_until(lambda: receipts("said.place"), "its receipt")
    expect_line(err, "said.place", "was stopped on request of user root")


@contextlib.contextmanager
def hanging_reader():
    """Returns a pipe that is full, and that nobody reads."""
    reader, writer = os.pipe()
    os.write(writer, b"x" * PIPE)
    try:
        yield writer
    finally:
        os.close(writer)
        os.close(reader)


@contextlib.contextmanager
def hanging_file_server():
    """Returns a file on a file server that does not answer a write. When the test is over, the file server must have got a write."""
    mount = Path("/mnt/hangs")
    server = subprocess.Popen([FUSE_HANG, "serve", mount], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == "mounted\n"
        with open(mount / "f", "ab", buffering=0) as output:
            yield output
        assert server.stdout.readline() == "written\n"
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
        run("umount", "--lazy", mount)
        mount.rmdir()


@pytest.mark.parametrize("output", [hanging_reader, hanging_file_server])
@pytest.mark.parametrize("options", [(), ("--exec",)])
def test_an_output_that_hangs_delays_no_end(output, options):
    key = f"said.{output.__name__}.{len(options)}"
    with output() as stderr:
        job = start_job(key, "sleep", "1000", options=options, stderr=stderr)
        try:
            wait_running(key)
            begun = time.monotonic()
            run("pinfold", "stop", key)
            assert job.wait(timeout=60 + held_up()) == -15
            assert options or time.monotonic() - begun > 1, "the supervisor has waited for its line"
            run("pinfold", "wait", key, timeout=60)
            assert finish(start_job("said.next", "true")) == (0, "", ""), "other jobs do not wait"
            [receipt] = receipts(key)
            assert receipt["result"] == "stopped"
        finally:
            job.kill()


@pytest.mark.parametrize("command, status", [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -15), ("kill -KILL $$", -9)])
def test_none_of_an_end_of_its_own(command, status):
    assert finish(start_job("said.own", "sh", "-c", command)) == (status, "", "")


def test_none_of_a_signal_that_the_batch_system_sends():
    job = start_job("said.signal", "sleep", "1000")
    wait_running("said.signal")
    run("pinfold", "kill", "-9", "said.signal")
    assert finish(job) == (-9, "", "")
