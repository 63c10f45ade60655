# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drains a node of a Grid Engine cell while jobs run. Running jobs finish. New jobs go back to the queue and run later."""

import subprocess

import pytest

import grid_engine
from calls import timed
from escapes import survives
from grid_engine import Job
from jobs import run, wait_until
from nodes import NODES, ask, on, set_site

SITE = "[jobs]\nlinger = \"1s\"\n"
NODE = "node1"
LOCK = "exec 9>>$HOME/$JOB_ID.lock; flock -s 9; "
GO = "while [ ! -e $HOME/go ]; do sleep 0.1; done; "


@pytest.fixture(scope="module", autouse=True)
def pinfold(cell):
    for node in NODES:
        set_site(node, SITE)
    grid_engine.configure(shepherd_cmd=grid_engine.PINFOLD)


@pytest.fixture(autouse=True)
def open_again():
    yield
    on(NODE, "pinfold", "undrain")
    run("qmod", "-cq", f"{grid_engine.QUEUE}@{NODE}", check=False)
    for node in NODES:
        ask(node, "expect_nothing_left")


def outcome(account):
    """qacct prints each number and then words that explain the number. outcome() returns only the numbers."""
    return account["exit_status"].split()[0], account["failed"].split()[0]


def resume():
    on(NODE, "pinfold", "undrain")
    run("qmod", "-cq", f"{grid_engine.QUEUE}@{NODE}")


def test_under_load():
    running = [Job(f"{GO}exit {number}", node=NODE) for number in range(1, 5)]
    leaves = Job(f"{LOCK}setsid sleep 1000 & {GO}exit 9", node=NODE)
    for job in [*running, leaves]:
        wait_until(lambda: job.key() in ask(NODE, "live_jobs"), f"{job.key()} runs")
    go = leaves.home / "go"

    waiting = subprocess.Popen(["pinfold", "drain", "--wait", "--reason", "new disk"], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: "draining since" in on(NODE, "pinfold", "status").stdout, "drained")
    late = [Job("echo ran", node=NODE) for _ in range(3)]
    elsewhere = Job("echo ran", node="node2")
    assert "E" in wait_until(lambda: grid_engine.queue_state(NODE), "the queue takes no more")
    refused = "this node takes no jobs for now: drained by user 0"
    wait_until(lambda: any(refused in run("qstat", "-j", job.id).stdout for job in late), "the reason")
    on(NODE, "systemctl", "restart", "pinfoldd")
    elsewhere.wait()
    assert elsewhere.output() == "ran\n", "the other node goes on"

    wait_until(lambda: {job.state() for job in late} == {"qw"}, "all late jobs back in the queue")
    assert waiting.poll() is None
    assert ask(NODE, "live_jobs").keys() == {job.key() for job in [*running, leaves]}
    go.touch()
    for job in [*running, leaves]:
        wait_until(lambda: ask(NODE, "receipts", job.key()), f"the receipt of {job.key()}")
    status, seconds = timed(lambda: waiting.wait(30))
    assert status == 0 and seconds < 2
    assert not ask(NODE, "live_jobs") and waiting.stderr.read() == ""
    go.unlink()
    for number, job in enumerate(running, start=1):
        assert outcome(job.wait().account()) == (str(number), "0"), "as if nothing had been"
    assert outcome(leaves.wait().account()) == ("9", "0") and not survives(leaves)
    assert {job.output() for job in late} == {""}

    resume()
    for job in late:
        assert job.wait().output() == "ran\n"
        wait_until(lambda: outcome(job.account()) == ("0", "0"), f"the record of {job.id}'s run")
    assert any(outcome(account) == ("0", "7") for job in late for account in job.accounts()), "one was put back by the node"


def test_a_job_that_runs_gets_its_further_tasks():
    """A parallel job can start slave tasks even after a drain has begun, because the node already knows the job."""
    job = Job(f"{GO}qrsh -inherit {NODE} 'echo slave; cat /proc/self/cgroup'", "-pe", "mpi", "2", node=NODE)
    wait_until(lambda: job.key() in ask(NODE, "live_jobs"), "the job runs")
    on(NODE, "pinfold", "drain", "--reason", "new disk")
    (job.home / "go").touch()
    job.wait()
    (job.home / "go").unlink()
    assert "slave\n" in job.output() and f"/job-{job.key()}-1.scope" in job.output()
    assert outcome(job.accounts(2)[-1])[1] == "0"
