# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests nodes under a real OpenPBS: nodes that take no jobs, nodes that refuse some jobs, nodes without pinfoldd, and nodes without the hook."""

import json
from pathlib import Path

import pytest

import openpbs
from jobs import processes_with, run, wait_until
from nodes import NODES, ask, set_site
from openpbs import WAITS, Job, held, pbs, vnode
from two_hosts import drain, no_pinfoldd, outcome, undrain


def test_a_drained_node_goes_offline_with_the_reason_and_the_others_take_its_jobs():
    drain("node1")
    jobs = [Job("sleep 1") for _ in range(20)]
    for job in jobs:
        job.wait()
    runs = [job.shown()["run_count"] for job in jobs]
    print("on", sorted(job.node() for job in jobs), "run_count", runs)
    assert {job.node() for job in jobs} == {"node2"} and max(runs) <= 2, runs
    shown = vnode("node1")
    print(shown["state"], shown["comment"])
    assert "offline" in shown["state"] and "new disk" in shown["comment"]
    undrain("node1")
    openpbs.wait_back("node1")
    assert "comment" not in vnode("node1"), vnode("node1")
    assert outcome(Job("exit 0", node="node1").wait().receipt("node1")) == ("exited", 0, None)


def test_jobs_that_wait_for_a_drained_node_run_when_it_is_back():
    drain("node1")
    jobs = [Job("exit 0", node="node1") for _ in range(5)]
    wait_until(lambda: "offline" in vnode("node1")["state"], "node1 is offline")
    wait_until(lambda: all(job.state() == "Q" for job in jobs), "all wait")
    assert not held(jobs)
    undrain("node1")
    openpbs.wait_back("node1")
    for job in jobs:
        job.wait()
    runs = [job.shown()["run_count"] for job in jobs]
    print("run_count", runs)
    assert max(runs) <= 3, runs  # the scheduler can have started some jobs before the scheduler knew of the drain
    assert [outcome(job.receipt("node1")) for job in jobs] == [("exited", 0, None)] * len(jobs)


def test_a_comment_of_an_administrator_keeps_a_node_offline():
    drain("node1")
    job = Job("exit 0", node="node1")
    wait_until(lambda: "offline" in vnode("node1")["state"], "node1 is offline")
    pbs("pbsnodes", "-C", "mine", "node1")
    undrain("node1")
    note = Path(openpbs.HOME, "mom_priv/hooks/pinfold.said")
    wait_until(lambda: json.loads(note.read_text()) == {}, "the hook has seen that the node takes jobs")
    assert (vnode("node1")["state"], vnode("node1")["comment"]) == ("offline", "mine")
    pbs("pbsnodes", "-r", "-C", "", "node1")
    openpbs.wait_back("node1")
    job.wait()


def test_a_job_that_asks_for_what_the_node_has_not_leaves_the_node_as_it_is():
    job = Job("exit 0", "-l", "select=1:ncpus=1:ngpus=1:vnode=node1").wait_state("H")
    refusal = f"Job;{job.id};pinfold: 1 GPU requested, but this node has 0"
    refused = sum(refusal in line for line in openpbs.mom_log("node1"))
    print(refused, "refusals,", {name: job.shown().get(name) for name in ("run_count", "Hold_Types", "comment")})
    assert refused == job.shown()["run_count"] == 21 and job.shown()["Hold_Types"] == "s"
    assert "offline" not in vnode("node1")["state"]
    job.delete()
    job.wait()


@pytest.mark.parametrize("asks, small", [("select=1:ncpus=1:vmem=16mb", "vmem=16384kb"), ("pvmem=16mb", "pvmem=16mb"),
                                         ("pvmem=24mb", "pvmem=24mb"), ("file=1kb", "file=1kb"), ("cput=1", "cput=1"), ("pcput=9", "pcput=9")])
def test_no_job_starts_whose_limits_the_hook_cannot_run_under(asks, small):
    """The limits of a job also apply to the hook. The hook cannot run with the small limits of these jobs. If pinfold did not refuse such a job,
    OpenPBS would start the job without the hook, and the job would run outside of a scope."""
    job = Job("grep ^0: /proc/self/cgroup", "-l", asks)
    refusal = f"Job;{job.id};pinfold: {small} is too small for the hook"
    wait_until(lambda: any(refusal in line for node in NODES for line in openpbs.mom_log(node)), "MoM's log has the refusal")
    job.wait_state("H")  # the server never answers a qdel that arrives while the server starts the job
    assert not job.out.exists() and not any("offline" in vnode(node)["state"] for node in NODES)
    job.delete()
    job.wait()


def test_without_the_daemon_a_job_waits_and_then_runs():
    with no_pinfoldd():
        job = Job("exit 3", node="node1")
        wait_until(lambda: "offline" in vnode("node1")["state"], "node1 is offline")
        assert "not reachable" in vnode("node1")["comment"], vnode("node1")
        wait_until(lambda: job.state() == "Q", "it waits")
    openpbs.wait_back("node1")
    job.wait()
    print("run_count", job.shown()["run_count"], vnode("node1"))
    assert outcome(job.receipt("node1")) == ("exited", 3, None)


def test_a_job_whose_launch_is_rejected_runs_again():
    with openpbs.launch_waits() as launch:
        job = Job("exit 3", node="node1")
        launch.wait()
        with no_pinfoldd():
            launch.go(job)
            wait_until(lambda: "offline" in vnode("node1")["state"], "the next begin is refused")
    openpbs.wait_back("node1")
    job.wait()
    print("run_count", job.shown()["run_count"], [line for line in openpbs.mom_log("node1") if f"Job;{job.id};pinfold: " in line])
    assert job.shown()["run_count"] >= 3 and outcome(job.receipt()) == ("exited", 3, None)


def test_a_task_that_is_rejected_does_not_have_its_job_run_again():
    job = Job("""echo run
touch $HOME/$PBS_JOBID.runs
while [ ! -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done
/opt/pbs/bin/pbsdsh -n 0 -- /bin/echo task
exit 0""", node="node1")
    job.wait_file(f"{job.id}.runs")
    with no_pinfoldd():
        (job.home / f"{job.id}.go").touch()
        wait_until(lambda: any("task not started" in line and job.id in line for line in openpbs.mom_log("node1")), "MoM has rejected the task")
    job.wait()
    print(job.output(), job.shown()["run_count"])
    assert job.output().splitlines().count("run") == 1 and job.shown()["run_count"] == 1


def test_what_a_job_that_ends_without_the_daemon_leaves_is_gone_when_the_daemon_is_back():
    job = Job(WAITS.format(4740), node="node1")
    job.wait_file(f"{job.id}.runs")
    with no_pinfoldd():
        (job.home / f"{job.id}.go").touch()
        job.wait()
        assert processes_with("sleep\x004740")
    wait_until(lambda: job.key not in ask("node1", "live_jobs"), "pinfoldd has ended it")
    print(job.shown()["Exit_status"], outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert job.shown()["Exit_status"] == 3 and job.receipt()["leftover_commands"] == ["sleep 4740"]
    assert not processes_with("sleep\x004740")


@pytest.fixture
def unconfined():
    set_site("node1", '[jobs]\non_failure = "run-unconfined"\n')
    yield
    set_site("node1", "")


def test_a_site_may_let_jobs_run_unconfined(unconfined):
    with no_pinfoldd():
        job = Job("grep ^0: /proc/self/cgroup; exit 4", node="node1").wait()
    warnings = [entry["MESSAGE"] for entry in ask("node1", "journal", job.key, "run-unconfined")]
    print(job.output(), job.shown()["Exit_status"], warnings)
    assert "batch.slice" not in job.output() and job.shown()["Exit_status"] == 4
    assert len(warnings) == 2, "one for begin, and one for launch"


def test_a_job_that_began_without_the_daemon_is_in_its_scope_if_the_daemon_is_back_at_the_launch(unconfined):
    with openpbs.launch_waits() as launch:
        with no_pinfoldd():
            job = Job("grep ^0: /proc/self/cgroup; exit 4", node="node1")
            launch.wait()
        launch.go(job)
        job.wait()
    print(job.output(), outcome(job.receipt()))
    assert f"/batch-{job.key}.slice/" in job.output() and outcome(job.receipt()) == ("exited", 4, None)
    assert len(ask("node1", "journal", job.key, "run-unconfined")) == 1


def test_the_doctor_says_whether_the_jobs_use_pinfold():
    for node in NODES:
        found = openpbs.doctor(node)
        print(node, found["openpbs.hook"], found["openpbs.cgroups"])
        assert found["openpbs.hook"]["state"] == found["openpbs.cgroups"]["state"] == "ok"
    with openpbs.switched_off():
        found = openpbs.doctor("node1")["openpbs.hook"]
    print(found)
    assert (found["state"], found["remedy"]) == ("warn", 'on the server: qmgr -c "set hook pinfold enabled = true"')


def test_a_job_that_lives_when_the_hook_is_switched_off_is_ended_by_hand():
    job = Job(WAITS.format(4726), node="node1")
    job.wait_file(f"{job.id}.runs")
    with openpbs.switched_off():
        (job.home / f"{job.id}.go").touch()
        job.wait()
        assert job.shown()["Exit_status"] == 3 and ask("node1", "live_jobs")[job.key]["state"] == "ending"
        run("pinfold", "end", job.key)
        assert job.receipt()["leftover_commands"] == ["sleep 4726"] and not processes_with("sleep\x004726")
