# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the jobs of a real OpenPBS on two hosts."""

import pytest

import openpbs
from jobs import run, wait_until
from nodes import NODES, ask, on
from openpbs import WAITS, Job, limits, pbs, seconds, vnode
from two_hosts import drain, drained, identity, no_pinfoldd, outcome, undrain

BOTH = ["-l", "select=1:ncpus=1:vnode=node1+1:ncpus=1:vnode=node2"]


def alive(node, command):
    return command in on(node, "ps", "-eo", "args").stdout


def test_each_receipt_says_whose_job_it_was_and_where_it_ran():
    job = Job("true", "-N", "train", "-A", "physics", "-P", "detector", "-l", "walltime=600", "-l",
              "select=1:ncpus=2:vnode=node1+1:ncpus=1:vnode=node2").wait()
    for node, slots in {"node1": 2, "node2": 1}.items():
        assert identity(job.receipt(node)) == {
            "job_name": "train", "account": "physics", "queue": "workq", "project": "detector", "group": "alice", "submit_host": "node1",
            "submit_directory": "/home/alice", "run": 0, "slots": slots, "nodes": list(NODES), "node_count": 2, "batch_run_time_max": 600 * 10**6}


def test_a_job_on_two_hosts_has_no_leftover_of_moms_and_no_status_on_the_sister():
    select = "select=1:ncpus=1:vnode=node1+1:ncpus=1:vnode=node2"
    job = Job("/opt/pbs/bin/pbsdsh -- /bin/sh -c 'hostname; grep ^0: /proc/self/cgroup'\nexit 3", "-l", select).wait()
    print(job.output(), job.receipt("node1"), job.receipt("node2"))
    lines = job.output().splitlines()
    assert {"node1", "node2"} <= set(lines), lines
    unit = run("systemd-escape", job.key).stdout.strip()
    assert sum(f"batch-{unit}.slice/" in line for line in lines) == 2, lines
    assert outcome(job.receipt("node1")) == ("exited", 3, None) and job.receipt("node1")["leftovers"] == 0
    assert job.receipt("node2")["exit_status"] is None and job.receipt("node2")["leftovers"] == 0
    assert job.shown()["Exit_status"] == 3


def test_a_deleted_job_on_two_hosts_has_no_status_on_the_sister():
    job = Job("/opt/pbs/bin/pbsdsh -n 1 -- /home/alice/leave 4741; touch $HOME/$PBS_JOBID.runs; sleep 1000", *BOTH)
    job.wait_file(f"{job.id}.runs")
    job.delete()
    job.wait()
    print(job.shown()["Exit_status"], *(outcome(job.receipt(node)) for node in NODES))
    assert job.shown()["Exit_status"] == 256 + 15 and job.receipt("node1")["exit_signal"] == 15
    assert job.receipt("node2")["exit_status"] is None and job.receipt("node2")["leftover_commands"] == ["sleep 4741"]
    assert not alive("node2", "sleep 4741")


def test_what_a_task_leaves_on_a_sister_host_is_gone():
    select = "select=1:ncpus=1:vnode=node1+1:ncpus=1:vnode=node2"
    job = Job("/opt/pbs/bin/pbsdsh -n 1 -- /home/alice/leave 4714\nexit 0", "-l", select).wait()
    assert job.receipt("node2")["leftover_commands"] == ["sleep 4714"], job.receipt("node2")
    assert "sleep 4714" not in on("node2", "ps", "-eo", "args").stdout


@pytest.mark.parametrize("away", ["drain", "outage"])
def test_a_job_whose_sister_host_takes_no_jobs_waits_and_then_runs(away):
    aborts = openpbs.events("node1", "execjob_abort")
    with drained("node2") if away == "drain" else no_pinfoldd("node2"):
        job = Job("exit 3", *BOTH)
        wait_until(lambda: "offline" in vnode("node2")["state"], "node2 is offline")
        wait_until(lambda: job.state() == "Q", "it waits")
        assert job.key not in ask("node1", "live_jobs")
    openpbs.wait_back("node2")
    job.wait()
    print("run_count", job.shown()["run_count"], "aborts", openpbs.events("node1", "execjob_abort") - aborts)
    assert openpbs.events("node1", "execjob_abort") > aborts and "offline" not in vnode("node1")["state"]
    assert job.shown()["Exit_status"] == 3 and outcome(job.receipt("node1")) == ("exited", 3, None)


def test_a_suspended_job_stands_still_on_both_hosts():
    job = Job("/opt/pbs/bin/pbsdsh -n 1 -- /home/alice/leave 4742; touch $HOME/$PBS_JOBID.runs; sleep 1000", *BOTH)
    job.wait_file(f"{job.id}.runs")
    for signal, state, known in (("suspend", "S", "suspended"), ("resume", "R", "running")):
        pbs("qsig", "-s", signal, job.id)
        job.wait_state(state)
        for node in NODES:
            wait_until(lambda: ask(node, "live_jobs")[job.key]["state"] == known, f"{known} on {node}")
            events = on(node, "cat", f"/sys/fs/cgroup/batch.slice/batch-{job.key}.slice/cgroup.events").stdout.split()
            assert events[events.index("frozen") + 1] == str(int(known == "suspended")), events
    job.delete()
    job.wait()
    assert job.receipt("node2")["leftover_commands"] == ["sleep 4742"]


def test_attach_takes_a_process_of_the_sister_host_into_the_job():
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", *BOTH)
    job.wait_file(f"{job.id}.runs")
    on("node2", "systemd-run", "--quiet", "--unit=stray", "--uid=alice", "sleep", "4743")
    pid = on("node2", "systemctl", "show", "-P", "MainPID", "stray").stdout.strip()
    for _ in range(2):  # a second time is no error
        on("node2", "runuser", "-u", "alice", "--", f"{openpbs.PREFIX}/bin/pbs_attach", "-j", job.id, "-p", pid)
        assert f"/batch-{job.key}.slice/" in on("node2", "cat", f"/proc/{pid}/cgroup").stdout
    job.delete()
    job.wait()
    assert not alive("node2", "sleep 4743")


def test_the_usage_of_the_sister_host_arrives():
    spin = "i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done"
    job = Job(f"/opt/pbs/bin/pbsdsh -n 1 -- /bin/sh -c '{spin}'", *BOTH).wait()
    used = {node: (receipt["cpu_user"] + receipt["cpu_system"]) // 10**6 for node in NODES for receipt in [job.receipt(node)]}
    print(job.shown()["resources_used"], used)
    assert used["node2"] > 0 and seconds(job.shown()["resources_used"]["cput"]) == sum(used.values())


def test_what_runs_on_a_host_that_is_given_back_is_gone_and_the_job_goes_on():
    job = Job("/opt/pbs/bin/pbsdsh -n 1 -- " + WAITS.format(4744), *BOTH)
    job.wait_file(f"{job.id}.runs")
    # The server rejects pbs_release_nodes until the server knows that the job runs, so the test repeats the command.
    wait_until(lambda: pbs("pbs_release_nodes", "-j", job.id, "node2", check=False).returncode == 0, "node2 is given back")
    wait_until(lambda: job.key not in ask("node2", "live_jobs"), "the job is over on node2")
    print(job.shown()["exec_vnode"], outcome(job.receipt("node2")), job.receipt("node2")["leftover_commands"])
    assert not alive("node2", "sleep 4744") and job.receipt("node2")["leftover_commands"] == ["sleep 4744"]
    assert ask("node1", "live_jobs")[job.key]["state"] == "running"
    (job.home / f"{job.id}.go").touch()
    job.wait()
    assert job.shown()["Exit_status"] == 3 and outcome(job.receipt("node1")) == ("exited", 3, None)


def test_a_job_that_loses_chunks_at_its_start_has_the_limits_of_its_new_share(unenforced):
    with openpbs.prune("1:ncpus=1:mem=100mb+1:ncpus=1:mem=150mb"):
        job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", "-W", "tolerate_node_failures=job_start",
                  "-l", "select=1:ncpus=1:mem=100mb:vnode=node1+1:ncpus=1:mem=150mb:vnode=node2+1:ncpus=1:mem=250mb:vnode=node2")
        job.wait_file(f"{job.id}.runs")
    wait_until(lambda: limits(job, "node2")["memory_max"] == 150 << 20, "the smaller share")
    print(job.shown()["exec_vnode"], [openpbs.events(node, "execjob_resize") for node in NODES])
    assert limits(job)["memory_max"] == 100 << 20
    job.delete()
    job.wait()


@pytest.fixture
def second_vnode():
    with openpbs.second_vnode("node2"):
        yield


def test_a_vnode_that_an_administrator_has_set_offline_stays_so(second_vnode):
    openpbs.take_away("second", "mine")
    drain("node2")
    job = Job("exit 3", node="node2")
    wait_until(lambda: "offline" in vnode("node2")["state"], "node2 is offline")
    print([(name, vnode(name)["state"], vnode(name)["comment"]) for name in ("node2", "second")])
    assert "new disk" in vnode("node2")["comment"]
    undrain("node2")
    openpbs.wait_back("node2")
    assert outcome(job.wait().receipt("node2")) == ("exited", 3, None)
    assert "comment" not in vnode("node2")
    assert (vnode("second")["state"], vnode("second")["comment"]) == ("offline", "mine")


def test_a_sister_host_that_gives_a_vnode_back_has_the_limits_of_the_rest(second_vnode, unenforced):
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000",
              "-l", "select=1:ncpus=1:mem=100mb:vnode=node1+1:ncpus=1:mem=150mb:vnode=node2+1:ncpus=1:mem=250mb:vnode=second")
    job.wait_file(f"{job.id}.runs")
    assert (limits(job)["memory_max"], limits(job, "node2")["memory_max"]) == (100 << 20, 400 << 20)
    # The server rejects pbs_release_nodes until the server knows that the job runs, so the test repeats the command.
    wait_until(lambda: pbs("pbs_release_nodes", "-j", job.id, "second", check=False).returncode == 0, "the vnode is given back")
    wait_until(lambda: limits(job, "node2")["memory_max"] == 150 << 20, "the smaller share")
    print(job.shown()["exec_vnode"], [openpbs.events(node, "execjob_resize") for node in NODES])
    assert limits(job)["memory_max"] == 100 << 20
    job.delete()
    job.wait()


def test_a_job_that_mom_no_longer_has_is_ended_five_minutes_after_its_start():
    lives = Job(WAITS.format(4745), node="node2")
    lives.wait_file(f"{lives.id}.runs")
    job = Job("/opt/pbs/bin/pbsdsh -n 1 -- " + WAITS.format(4746), *BOTH)
    job.wait_file(f"{job.id}.runs")
    with no_pinfoldd("node2"):
        (job.home / f"{job.id}.go").touch()
        job.wait()
        assert alive("node2", "sleep 4746")
    wait_until(lambda: job.key not in ask("node2", "live_jobs"), "the hook has ended it", 600)
    receipt = job.receipt("node2")
    print((receipt["ended"] - receipt["started"]) // 10**6, "s after its start", outcome(receipt), receipt["leftover_commands"])
    assert receipt["leftover_commands"] == ["sleep 4746"] and not alive("node2", "sleep 4746")
    assert any(f"pinfold: MoM does not know the job {job.key}, so the hook ends this job" in line for line in openpbs.mom_log("node2"))
    assert ask("node2", "live_jobs")[lives.key]["state"] == "running", "it is older, and MoM has it"
    (lives.home / f"{lives.id}.go").touch()
    lives.wait()
    assert outcome(lives.receipt("node2")) == ("exited", 3, None)
