# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what a real Torque does while pinfold refuses jobs. pinfold refuses a job in three cases: the node is drained, pinfoldd does not run, or
no prologue has opened the job. When pinfold takes jobs again, the tests start one more job. The last tests can make pbs_server send no jobs to node1
for five minutes."""

import torque
from jobs import journal, read_journal, wait_until
from nodes import set_site
from torque import Interactive, Job, alive, sent_back, site_scripts, wait_back, without_node_check
from two_hosts import drain, no_pinfoldd, outcome, undrain


def held(jobs):
    return [job.id for job in jobs if job.is_held()]


def test_without_the_node_check_the_prologue_refuses_again_and_again_and_says_why():
    with without_node_check():
        wait_back("node1")
        drain("node1")
        job = Job("echo ran; exit 3", nodes="node1")
        wait_until(lambda: len(sent_back(job)) >= 5, "the prologue has refused the job five times")
        seen = torque.node("node1")["state"], job.starts(), job.is_held()
        print(seen, sent_back(job)[0], *[line for line in read_journal("-o", "cat", "-t", "pbs_mom").splitlines() if "exit: 2" in line][-1:])
        undrain("node1")
        job.wait()
    print("start_count", job.starts(), job.status(), [outcome(receipt) for receipt in job.receipts()], job.output())
    assert "new disk" in sent_back(job)[0]
    assert seen[1] >= 5 and not seen[2]
    assert (job.status(), job.output()) == (3, "ran\n")
    assert [outcome(receipt) for receipt in job.receipts("node1")] == [("exited", 3, None)]


def test_without_the_node_check_and_without_the_daemon_a_job_goes_back_to_the_queue():
    with without_node_check():
        wait_back("node1")
        with no_pinfoldd():
            job = Job("echo ran; exit 3", nodes="node1")
            wait_until(lambda: len(sent_back(job)) >= 2, "the prologue has refused the job twice")
        job.wait()
    print("start_count", job.starts(), job.status(), *sent_back(job)[:1], job.output())
    assert "pinfoldd is not reachable" in sent_back(job)[0]
    assert job.status() == 3 and job.output().endswith("\nran\n"), "an epilogue has written before that pinfoldd is not reachable"
    assert [outcome(receipt) for receipt in job.receipts("node1")] == [("exited", 3, None)]


def test_without_the_daemon_an_interactive_job_is_deleted():
    """The prologue writes the reason to the terminal. pbs_mom at once kills the process that sends the terminal's output to qsub. The test does not
    check whether the user sees the prologue's reason."""
    with without_node_check():
        wait_back("node1")
        with no_pinfoldd():
            job = Interactive()
            job.terminal.status()
            job.wait()
    said = read_journal("-o", "cat", "-t", "torque-prologue")
    print(job.terminal.seen, job.shown().get("exit_status"), said)
    assert f"job {job.key} does not start: pinfold: pinfoldd is not reachable" in said
    assert job.receipts("node1") == []


def test_a_site_may_let_jobs_run_unconfined():
    set_site("node1", '[jobs]\non_failure = "run-unconfined"\n')
    try:
        with no_pinfoldd():
            job = Job("grep ^0: /proc/self/cgroup; exit 4", nodes="node1").wait()
    finally:
        set_site("node1", "")
    warnings = [entry["MESSAGE"] for entry in journal(job.key, "run-unconfined")]
    print(job.output(), job.status(), job.shown()["total_runtime"], warnings)
    assert "0::/system.slice/pbs_mom.service" in job.output() and job.status() == 4
    assert len(warnings) == 2, "of the prologue and the starter"


def test_without_a_prologue_the_starter_ends_the_job():
    with site_scripts(prologue=None):
        job = Job("echo ran", nodes="node1").wait()
        found = torque.doctor("node1")["torque.prologue"]
    print(job.output(), job.status(), found)
    assert job.status() == 125
    assert job.output() == (f"torque-job-starter: job {job.key} is not open on this node: pbs_mom's prologue and prologue.parallel must call "
                            "torque-prologue\n")
    assert found[0] == "fail"


def test_a_job_that_ends_without_the_daemon_is_over_and_what_it_left_is_gone_afterwards():
    job = Job("$HOME/leave 4751; touch $HOME/$PBS_JOBID.runs; until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; echo b; exit 2",
              nodes="node1")
    job.wait_file(f"{job.id}.runs")
    with no_pinfoldd():
        (job.home / f"{job.id}.go").touch()
        job.wait()
        lives = alive("sleep 4751")
        said = [line for line in read_journal("-o", "cat", "-t", "pbs_mom").splitlines() if "run_epilogues" in line]
    wait_until(lambda: job.receipts("node1"), "pinfoldd has ended the job")
    print(job.output(), job.status(), lives, said, outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert job.status() == 2 and job.output().startswith("b\n") and "pinfold: pinfoldd is not reachable" in job.output()
    assert lives == ["node1"] and not alive("sleep 4751")
    assert any("system epilog failed w/rc=1" in line for line in said)
    assert job.receipt()["leftover_commands"] == ["sleep 4751"]
    wait_back("node1")


def test_a_drained_node_is_down_with_the_reason_and_the_others_take_its_jobs():
    drain("node1")
    jobs = [Job("sleep 1") for _ in range(20)]
    for job in jobs:
        job.wait()
    starts = [job.starts() for job in jobs]
    print("on", sorted(job.node() for job in jobs), "start_count", starts)
    assert {job.node() for job in jobs} == {"node2"}
    assert not held(jobs)
    torque.wait_down("node1", "new disk")
    undrain("node1")
    wait_back("node1")
    assert "new disk" not in torque.torque("pbsnodes", "-l", "-n").stdout
    assert outcome(Job("exit 0", nodes="node1").wait().receipt("node1")) == ("exited", 0, None)


def test_jobs_that_wait_for_a_drained_node_run_when_it_is_back():
    wait_back("node1")
    drain("node1")
    torque.wait_state("node1", "down")
    jobs = [Job("exit 0", nodes="node1") for _ in range(5)]
    wait_until(lambda: all(job.state() == "Q" for job in jobs), "all wait")
    assert not held(jobs)
    undrain("node1")
    wait_back("node1")
    for job in jobs:
        job.wait()
    starts = [job.starts() for job in jobs]
    print("start_count", starts)
    assert set(starts) == {1}, starts
    assert [outcome(job.receipt("node1")) for job in jobs] == [("exited", 0, None)] * len(jobs)


def test_without_the_daemon_a_job_waits_and_then_runs():
    with no_pinfoldd():
        job = Job("exit 3", nodes="node1")
        torque.wait_down("node1", "not reachable")
        wait_until(lambda: job.state() == "Q", "it waits")
        before = job.starts()
    job.wait()
    print("start_count", before, job.starts(), sent_back(job))
    assert outcome(job.receipt("node1")) == ("exited", 3, None)
    assert len(sent_back(job)) <= 1, "if SIGCHLD interrupts pbs_mom while it reads what the node check prints, the node counts as up once"
