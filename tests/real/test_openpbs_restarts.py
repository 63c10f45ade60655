# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the jobs of a real OpenPBS while MoM or pinfoldd is restarted. One test runs many jobs at once."""

import time

import pytest

import openpbs
from jobs import processes_with, wait_until
from nodes import NODES, ask, on
from openpbs import WAITS, Job, held, vnode
from two_hosts import failed_jobs, outcome


UNKNOWN = ("exited", None, None)


def told(job, node="node1"):
    """Returns what PBS and pinfold report about the job's runs, the newest receipt first."""
    shown = job.shown()
    print(f"Exit_status {shown['Exit_status']}, run_count {shown['run_count']}, receipts {list(map(outcome, ask(node, 'receipts', job.key)))}")
    return shown["Exit_status"], shown["run_count"], list(map(outcome, ask(node, "receipts", job.key)))


def test_a_job_goes_on_while_mom_is_away_and_nobody_knows_its_status():
    job = Job(WAITS.format(4723), node="node1")
    job.wait_file(f"{job.id}.runs")
    openpbs.end_mom("node1", "INT")
    before = ask("node1", "live_jobs")[job.key]
    openpbs.start_mom("node1", "-p")
    openpbs.wait_periodic("node1")
    assert ask("node1", "live_jobs")[job.key] == before and processes_with("sleep\x004723")
    (job.home / f"{job.id}.go").touch()
    job.wait()
    assert told(job) == (0, 1, [UNKNOWN])
    assert job.receipt()["leftover_commands"] == ["sleep 4723"] and not processes_with("sleep\x004723")
    assert job.key in failed_jobs("--unknown") and job.key not in failed_jobs()


def test_what_a_job_that_ends_while_mom_is_away_leaves_is_gone_when_mom_is_back():
    job = Job(WAITS.format(4724), node="node1")
    job.wait_file(f"{job.id}.runs")
    openpbs.end_mom("node1", "KILL")
    (job.home / f"{job.id}.go").touch()
    wait_until(lambda: ask("node1", "live_jobs")[job.key]["state"] == "ending", "pinfoldd waits for the report")
    openpbs.start_mom("node1", "-p")
    job.wait()
    assert told(job) == (0, 1, [UNKNOWN])
    assert job.receipt()["leftover_commands"] == ["sleep 4724"] and not processes_with("sleep\x004724")


RUN_AGAIN = """echo run >>$HOME/$PBS_JOBID.runs
[ $(wc -l <$HOME/$PBS_JOBID.runs) -gt 1 ] && exit 5
$HOME/leave 4725
touch $HOME/$PBS_JOBID.left
sleep 1000"""
RAN_AGAIN = (5, 2, [("exited", 5, None), UNKNOWN])


@pytest.mark.parametrize("signal, options, expected", [("INT", ["-r"], RAN_AGAIN), ("TERM", ["-r"], RAN_AGAIN), ("KILL", ["-r"], RAN_AGAIN),
                                                       ("KILL", [], RAN_AGAIN), ("TERM", ["-p"], (0, 1, [UNKNOWN]))])
def test_a_mom_that_gives_up_its_jobs_leaves_nothing_of_them(signal, options, expected):
    job = Job(RUN_AGAIN, node="node1")
    job.wait_file(f"{job.id}.left")
    openpbs.end_mom("node1", signal)
    openpbs.start_mom("node1", *options)
    job.wait()
    assert told(job) == expected
    assert not processes_with("sleep\x004725")


def test_a_restart_of_pbs_leaves_nothing_of_its_jobs():
    job = Job(RUN_AGAIN, node="node2")
    job.wait_file(f"{job.id}.left")
    on("node2", "systemctl", "restart", "pbs")
    job.wait()
    assert told(job, "node2") == RAN_AGAIN
    assert "sleep 4725" not in on("node2", "ps", "-eo", "args").stdout


@pytest.fixture
def another_name():
    """MoM of node2 has a name that is not the name of the host."""
    on("node2", "sh", "-c", "echo PBS_MOM_NODE_NAME=vn7 >>/etc/pbs.conf; systemctl restart pbs")
    openpbs.qmgr("create node vn7 Mom=node2")
    wait_until(lambda: vnode("vn7").get("state") == "free", "vn7 is free")
    openpbs.qmgr("set node vn7 resources_available.ncpus = 2")
    yield "vn7"
    openpbs.qmgr("delete node vn7")
    on("node2", "sh", "-c", "sed -i /PBS_MOM_NODE_NAME/d /etc/pbs.conf; systemctl restart pbs")
    wait_until(lambda: vnode("node2")["state"] == "free", "node2 is free")


def test_a_host_with_another_name_in_pbs_finds_its_chunks(another_name):
    job = Job("grep ^0: /proc/self/cgroup; exit 3", node=another_name).wait()
    print(job.shown()["exec_vnode"], job.output(), outcome(job.receipt("node2")))
    assert f"/batch-{job.key}.slice/" in job.output() and outcome(job.receipt("node2")) == ("exited", 3, None)


def restart_until_over(jobs):
    restarts = 0
    while any(job.state() != "F" for job in jobs):
        for node in NODES:
            on(node, "systemctl", "restart", "pinfoldd")
        restarts += 1
    print(f"{restarts} restarts of pinfoldd on each node")


@pytest.mark.parametrize("restarted", [False, True])
def test_fifty_jobs_at_once(restarted):
    begun = time.monotonic()
    jobs = [Job(f"$HOME/leave 4718; sleep {3 if restarted else 0}; exit {index % 4}") for index in range(50)]
    if restarted:
        restart_until_over(jobs)
    for job in jobs:
        job.wait()
    print(f"{time.monotonic() - begun:.1f} s; run_count {[job.shown()['run_count'] for job in jobs]}")
    wrong = [(job.id, job.shown()["Exit_status"], outcome(job.receipt())) for index, job in enumerate(jobs)
             if job.shown()["Exit_status"] != index % 4 or outcome(job.receipt()) != ("exited", index % 4, None)]
    assert not wrong, wrong
    assert not held(jobs)
    assert not any("sleep 4718" in on(node, "ps", "-eo", "args").stdout for node in NODES)
