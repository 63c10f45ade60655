# SPDX-License-Identifier: LGPL-2.1-or-later
"""If an ssh login belongs to a job, the limits of the job hold for the processes of the login. The tests in tests/container/test_ssh.py check who may
log in by ssh."""

import pytest

from jobs import expect_nothing_left, receipts, run, wait_until
from logins import open_job, ssh, sshd


@pytest.fixture(autouse=True)
def the_sshd():
    with sshd():
        yield


def test_the_jobs_memory_limit_binds_the_session():
    open_job("pbs.hog", "alice", "--memory-max=128M")
    hog = ssh("alice", "python3 -c 'held = b\"x\" * (400 << 20)'", check=False)
    assert hog.returncode != 0
    wait_until(lambda: receipts("pbs.hog"), "the job's end", deadline=120)
    [receipt] = receipts("pbs.hog")
    assert receipt["result"] == "out-of-memory" and receipt["memory_max"] == 128 << 20
    assert "python3" in run("pinfold", "why", "pbs.hog").stdout
    assert ssh("alice", "true", check=False).returncode == 255
    expect_nothing_left()
