# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pinfold's hook under a real OpenPBS on two hosts, and also the assumptions behind the tests with a stand-in for MoM
(tests/container/test_openpbs.py)."""

import contextlib
import json
import re
import signal
import tempfile
from pathlib import Path

import pytest

import mom
import openpbs
import recorder
from jobs import processes_with, run, wait_until
from nodes import NODES, ask, on, set_site
from openpbs import Job, pbs, vnode
from stand_in import DELETED, RUNS, WITH_A_TASK, compare, real_job, recorded
from terminal import Terminal
from two_hosts import CLEANS_UP, ENDS, drain, failed_jobs, identity, outcome, undrain

WAITS = "$HOME/leave {} ; touch $HOME/$PBS_JOBID.runs; while [ ! -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3"


@pytest.mark.parametrize("script, status, expected", ENDS)
def test_the_exit_status_is_the_same_in_pbs_and_in_the_receipt(script, status, expected):
    job = Job(script, node="node1").wait()
    shown = job.shown()
    seen = f"{shown['Exit_status']} in PBS, receipt {outcome(job.receipt())}"
    print(seen)
    assert outcome(job.receipt()) == expected, seen
    assert (job.key in failed_jobs()) == (script != "exit 0")
    assert job.key not in failed_jobs("--unknown")


def test_a_job_runs_in_its_scope_and_leaves_nothing():
    job = Job("grep ^0: /proc/self/cgroup; grep ^0: /proc/$PPID/cgroup; $HOME/leave 4713; exit 3").wait()
    unit = run("systemd-escape", job.key).stdout.strip()
    lines = job.output().splitlines()
    assert all(f"/batch-{unit}.slice/job-{unit}.scope" in line for line in lines), lines
    receipt = job.receipt()
    assert outcome(receipt) == ("exited", 3, None)
    assert (receipt["leftovers"], receipt["leftover_commands"]) == (1, ["sleep 4713"])
    assert not any("sleep 4713" in on(node, "ps", "-eo", "args").stdout for node in NODES)


def test_each_receipt_says_whose_job_it_was_and_where_it_ran():
    job = Job("true", "-N", "train", "-A", "physics", "-P", "detector", "-l", "walltime=600", "-l",
              "select=1:ncpus=2:vnode=node1+1:ncpus=1:vnode=node2").wait()
    for node, slots in {"node1": 2, "node2": 1}.items():
        assert identity(job.receipt(node)) == {
            "job_name": "train", "account": "physics", "queue": "workq", "project": "detector", "group": "alice", "submit_host": "node1",
            "submit_directory": "/home/alice", "run": 0, "slots": slots, "nodes": list(NODES), "node_count": 2, "batch_run_time_max": 600 * 10**6}


def test_the_receipt_of_a_subjob_names_its_array():
    array = Job("true", "-J", "3-4", node="node1").wait()
    number = int(array.id.partition("[")[0])
    for index in (3, 4):
        said = identity(ask("node1", "receipts", array.key.replace("[]", f"[{index}]"))[0])
        assert (said["array_job"], said["array_task"], said["slots"], said["nodes"]) == (number, index, 1, ["node1"])


@pytest.mark.parametrize("how", ["qdel", "walltime"])
def test_a_job_that_cleans_up_has_the_time_that_mom_gives_it(how):
    options = ["-l", "walltime=8"] if how == "walltime" else []
    job = Job(CLEANS_UP, *options, node="node1")
    job.wait_file(f"{job.id}.runs")
    if how == "qdel":
        job.delete()
    job.wait()
    print(job.output(), job.shown()["Exit_status"], job.receipt())
    said = job.output().splitlines()
    assert said.count("got term") == 1 and "cleaned up" in said, said
    receipt = job.receipt()
    assert (receipt["leftovers"], receipt["leftover_commands"]) == (0, [])
    assert receipt["result"] == "signaled" and receipt["exit_signal"] == signal.SIGTERM, receipt


def test_a_warning_is_in_the_output_while_the_job_runs():
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    run("pinfold", "limits", job.key, "--run-time-max", "1h", "--run-time-warning", "59min 59s 999ms")
    spooled = Path(openpbs.HOME, "spool", f"{job.id}.OU")
    wait_until(lambda: "reaches its run time limit of 1h" in spooled.read_text(), "the warning")
    run("pinfold", "stop", job.key)
    job.wait()
    lines = [line for line in job.output().splitlines() if line.startswith("pinfold: ")]
    assert len(lines) == 2 and "reaches its run time limit of 1h" in lines[0] and "was stopped on request of user root" in lines[1], lines


def test_a_job_that_ignores_sigterm_is_killed_after_kill_delay():
    job = Job("trap '' TERM\ntouch $HOME/$PBS_JOBID.runs\nwhile :; do sleep 0.2; done", node="node1")
    job.wait_file(f"{job.id}.runs")
    job.delete()
    job.wait()
    assert job.receipt()["result"] == "signaled", job.receipt()


def held(jobs):
    return [job.id for job in jobs if job.state() == "H" or job.shown().get("Hold_Types", "n") != "n"]


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
    assert max(runs) <= 3, runs  # the scheduler may have started some jobs before it knew of the drain
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
    job = Job("exit 0", "-l", "select=1:ncpus=1:ngpus=1:vnode=node1")
    refusal = f"Job;{job.id};pinfold: 1 GPU requested, but this node has 0"
    wait_until(lambda: any(refusal in line for line in openpbs.mom_log("node1")), "MoM's log has the refusal")
    assert "offline" not in vnode("node1")["state"]
    job.delete()
    job.wait()


@pytest.mark.parametrize("asks, small", [("select=1:ncpus=1:vmem=16mb", "vmem=16384kb"), ("pvmem=16mb", "pvmem=16mb"),
                                         ("pvmem=24mb", "pvmem=24mb"), ("file=1kb", "file=1kb"), ("cput=1", "cput=1"), ("pcput=9", "pcput=9")])
def test_no_job_starts_whose_limits_the_hook_cannot_run_under(asks, small):
    """OpenPBS would run the first two jobs without the hook, and so outside of their scopes. OpenPBS would also run jobs with little CPU
    time or a large environment without the hook."""
    job = Job("grep ^0: /proc/self/cgroup", "-l", asks)
    refusal = f"Job;{job.id};pinfold: {small} is too small for the hook"
    wait_until(lambda: any(refusal in line for node in NODES for line in openpbs.mom_log(node)), "MoM's log has the refusal")
    job.wait_state("H")  # the server never answers a qdel that arrives while it starts the job
    assert not job.out.exists() and not any("offline" in vnode(node)["state"] for node in NODES)
    job.delete()
    job.wait()


def test_the_least_limits_are_enough_for_the_hook(unenforced):
    job = Job("ulimit -v; grep ^0: /proc/self/cgroup", "-l", "select=1:ncpus=1:vmem=64mb:vnode=node1").wait()
    print(job.output())
    assert job.output().startswith("65536\n0::/batch.slice/batch-")


@pytest.mark.parametrize("limit", ["cput", "pcput", "vmem", "pvmem", "file"])
def test_a_limit_that_the_owner_lowers_takes_no_task_out_of_the_job(limit):
    """MoM runs the hook for a task under the job's limits. If an owner could lower such a limit of a running job far enough, the hook would
    not run, and the next task of the job would be outside of the job."""
    job = Job("""touch $HOME/$PBS_JOBID.runs
while [ ! -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done
/opt/pbs/bin/pbsdsh -n 0 -- /bin/grep ^0: /proc/self/cgroup
exit 0""", node="node1")
    job.wait_file(f"{job.id}.runs")
    done = pbs("qalter", "-l", f"{limit}={1 if 'cput' in limit else '1kb'}", job.id, user="alice", check=False)
    print(limit, done.returncode, done.stderr.strip(), job.shown()["Resource_List"])
    (job.home / f"{job.id}.go").touch()
    job.wait()
    lines = job.output().splitlines()
    print(lines)
    unit = run("systemd-escape", job.key).stdout.strip()
    assert all(f"/batch-{unit}.slice/" in line for line in lines if line.startswith("0::")), lines


@contextlib.contextmanager
def no_pinfoldd():
    run("systemctl", "mask", "--runtime", "--now", "pinfoldd.socket", "pinfoldd")
    try:
        yield
    finally:
        run("systemctl", "unmask", "--runtime", "pinfoldd.socket", "pinfoldd")
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


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


def test_a_site_may_let_jobs_run_unconfined():
    set_site("node1", '[jobs]\non_failure = "run-unconfined"\n')
    with no_pinfoldd():
        job = Job("grep ^0: /proc/self/cgroup; exit 4", node="node1").wait()
    set_site("node1", "")
    print(job.output(), job.shown()["Exit_status"])
    assert "batch.slice" not in job.output() and job.shown()["Exit_status"] == 4


def test_the_environment_is_the_same_with_the_hook(monkeypatch):
    """MoM splits the variables in a hook's environment at commas."""
    odd = """a,b "c" 'd' \\e f=g é"""
    monkeypatch.setenv("ODD", odd)
    job = Job("""printf '%s' "$ODD" """, "-V", node="node1").wait()
    assert job.output() == odd


def test_a_job_that_lives_when_the_hook_is_switched_off_is_ended_by_hand():
    job = Job(WAITS.format(4726), node="node1")
    job.wait_file(f"{job.id}.runs")
    openpbs.qmgr("set hook pinfold enabled = false")
    wait_until(lambda: not openpbs.has_hook("node1"), "MoM of node1 has heard of it")
    (job.home / f"{job.id}.go").touch()
    job.wait()
    assert job.shown()["Exit_status"] == 3 and ask("node1", "live_jobs")[job.key]["state"] == "ending"
    run("pinfold", "end", job.key)
    assert job.receipt()["leftover_commands"] == ["sleep 4726"] and not processes_with("sleep\x004726")
    openpbs.qmgr("set hook pinfold enabled = true")
    for node in NODES:
        wait_until(lambda: openpbs.has_hook(node), f"MoM of {node} has the hook")


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


def test_what_a_task_leaves_on_a_sister_host_is_gone():
    select = "select=1:ncpus=1:vnode=node1+1:ncpus=1:vnode=node2"
    job = Job("/opt/pbs/bin/pbsdsh -n 1 -- /home/alice/leave 4714\nexit 0", "-l", select).wait()
    assert job.receipt("node2")["leftover_commands"] == ["sleep 4714"], job.receipt("node2")
    assert "sleep 4714" not in on("node2", "ps", "-eo", "args").stdout


def test_an_array_has_a_unit_for_each_task():
    job = Job("echo $PBS_ARRAY_INDEX; exit $PBS_ARRAY_INDEX", "-J", "0-3", "-o", "/home/alice/", node="node1")
    shown = wait_until(lambda: (found := job.shown())["job_state"] == "F" and found, "the array is over", 180)
    assert shown["array_state_count"].startswith("Queued:0 Running:0"), shown
    keys = [f"pbs.{job.id.replace('[]', f'[{index}]')}" for index in range(4)]
    assert [outcome(ask("node1", "receipts", key)[0]) for key in keys] == [("exited", index, None) for index in range(4)]


def test_a_job_that_is_run_again_has_two_receipts_and_nothing_of_its_first_run():
    job = Job("echo run >>$HOME/$PBS_JOBID.runs; [ $(wc -l <$HOME/$PBS_JOBID.runs) -gt 1 ] && exit 5; $HOME/leave 4715; sleep 1000", node="node1")
    wait_until(lambda: processes_with("sleep\x004715"), "its daemon lives")
    pbs("qrerun", job.id)
    job.wait()
    assert not processes_with("sleep\x004715")
    assert [outcome(receipt)[:2] for receipt in ask("node1", "receipts", job.key)][0] == ("exited", 5)
    assert len(ask("node1", "receipts", job.key)) == 2


def test_a_suspended_job_stands_still_with_its_daemons():
    job = Job("setsid sh -c 'while :; do :; done' & touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    pbs("qsig", "-s", "suspend", job.id)
    job.wait_state("S")
    wait_until(lambda: ask("node1", "live_jobs")[job.key]["state"] == "suspended", "frozen")
    pbs("qsig", "-s", "resume", job.id)
    job.wait_state("R")
    wait_until(lambda: ask("node1", "live_jobs")[job.key]["state"] == "running", "thawed")
    job.delete()
    job.wait()


def test_attach_takes_a_session_into_the_job():
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    run("systemd-run", "--quiet", "--unit=stray", "--uid=alice", "sleep", "4717")
    pid = int(run("systemctl", "show", "-P", "MainPID", "stray").stdout)
    pbs("pbs_attach", "-j", job.id, "-p", str(pid), user="alice")
    assert f"/batch-{job.key}.slice/" in Path(f"/proc/{pid}/cgroup").read_text()
    job.delete()
    job.wait()
    assert not processes_with("sleep\x004717")


def test_usage_is_of_all_processes_and_limits_are_what_pbs_allots(unenforced):
    job = Job("setsid sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; touch $HOME/$PBS_JOBID.runs; sleep 1000",
              "-l", "select=1:ncpus=2:mem=300mb:vnode=node1", "-l", "walltime=00:10:00")
    job.wait_file(f"{job.id}.runs")
    limits = json.loads(run("pinfold", "limits", job.key, "--json").stdout)["limits"]
    assert limits["memory_max"] == 300 << 20 and limits["batch_run_time_max"] == 600 * 1000000
    pbs("qalter", "-l", "walltime=00:20:00", job.id)
    wait_until(lambda: json.loads(run("pinfold", "limits", job.key, "--json").stdout)["limits"]["batch_run_time_max"] == 1200 * 1000000,
               "the hook's period has brought the new walltime", 5 * openpbs.PERIOD)
    job.delete()
    job.wait()
    receipt = job.receipt()
    used = job.shown()["resources_used"]
    print(used)
    hours, minutes, seconds = map(int, used["cput"].split(":"))
    assert hours * 3600 + minutes * 60 + seconds == (receipt["cpu_user"] + receipt["cpu_system"]) // 1000000


def limits(job, node="node1"):
    return json.loads(on(node, "pinfold", "limits", job.key, "--json").stdout)["limits"]


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
    # The server learns of the start some time after the job has started.
    wait_until(lambda: pbs("pbs_release_nodes", "-j", job.id, "second", check=False).returncode == 0, "the vnode is given back")
    wait_until(lambda: limits(job, "node2")["memory_max"] == 150 << 20, "the smaller share")
    print(job.shown()["exec_vnode"], [openpbs.events(node, "execjob_resize") for node in NODES])
    assert limits(job)["memory_max"] == 100 << 20
    job.delete()
    job.wait()


def test_pmem_is_of_each_cpu_and_exclhost_is_the_whole_node(unenforced):
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", "-l", "select=1:ncpus=2:vnode=node1", "-l", "place=exclhost", "-l", "pmem=100mb")
    job.wait_file(f"{job.id}.runs")
    assert limits(job)["memory_max"] == 200 << 20
    assert json.loads(run("pinfold", "status", job.key, "--json").stdout)["job"]["exclusive"]
    job.delete()
    job.wait()


def test_memory_and_swap_are_what_vmem_says(unenforced):
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", "-l", "select=1:ncpus=1:mem=300mb:vmem=500mb:vnode=node1")
    job.wait_file(f"{job.id}.runs")
    print(job.shown()["exec_vnode"], {name: value for name, value in limits(job).items() if value is not None})
    assert (limits(job)["memory_max"], limits(job)["memory_swap_max"]) == (300 << 20, 200 << 20)
    job.delete()
    job.wait()


class Interactive(Job):
    def __init__(self, node):
        self.terminal = Terminal("runuser", "-u", "alice", "--", f"{openpbs.PREFIX}/bin/qsub", "-I", "-l", f"select=1:ncpus=1:vnode={node}",
                                 cwd="/home/alice")
        self.terminal.read_until(" ready")
        [self.id] = re.findall("qsub: job ([^ ]+) ready", self.terminal.seen)
        self.key = f"pbs.{self.id}"


@pytest.mark.parametrize("node", NODES)
def test_an_interactive_job_is_in_its_scope_and_leaves_nothing(node):
    job = Interactive(node)
    job.terminal.type("tty; grep ^0: /proc/self/cgroup; sleep 4721 & kill %1; wait; $HOME/leave 4720; echo typed-$((40 + 2))")
    job.terminal.read_until("typed-42")
    unit = run("systemd-escape", job.key).stdout.strip()
    assert "/dev/pts/" in job.terminal.seen and f"/batch-{unit}.slice/job-{unit}.scope" in job.terminal.seen, job.terminal.seen
    job.terminal.type("exit 3")
    job.terminal.status()
    job.wait()
    receipt = job.receipt()
    print(job.terminal.seen, job.shown()["Exit_status"], outcome(receipt))
    assert receipt["leftover_commands"] == ["sleep 4720"]
    assert outcome(receipt) == ("exited", job.shown()["Exit_status"], None)


def test_an_interactive_job_that_is_deleted_leaves_nothing():
    job = Interactive("node1")
    job.terminal.type("$HOME/leave 4722; echo typed-$((40 + 2))")
    job.terminal.read_until("typed-42")
    job.delete()
    job.terminal.status()
    job.wait()
    print(job.terminal.seen, job.shown()["Exit_status"], outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert not processes_with("sleep\x004722")


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


def test_fifty_jobs_while_the_daemon_is_restarted():
    jobs = [Job(f"$HOME/leave 4718; sleep 3; exit {index % 4}") for index in range(50)]
    restarts = 0
    while any(job.state() != "F" for job in jobs):
        for node in NODES:
            on(node, "systemctl", "restart", "pinfoldd")
        restarts += 1
    wrong = [(job.id, job.shown()["Exit_status"], outcome(job.receipt())) for index, job in enumerate(jobs)
             if job.shown()["Exit_status"] != index % 4 or outcome(job.receipt()) != ("exited", index % 4, None)]
    runs = [job.shown()["run_count"] for job in jobs]
    print(f"{restarts} restarts of pinfoldd on each node; run_count {runs}")
    assert not wrong, wrong
    assert not held(jobs)
    assert not any("sleep 4718" in on(node, "ps", "-eo", "args").stdout for node in NODES)


RECORD = Path("/tmp/openpbs-calls")


def real_calls():
    def of(script, **how):
        return recorded(RECORD, lambda: real_job(Job(f"{RUNS}\n{script}", node="node1"), **how), '"end"')
    with openpbs.hook("record", "execjob_begin,execjob_launch,execjob_epilogue,execjob_end", recorder.HOOK.format(file=RECORD), order=1):
        return {**{script: of(script) for script, _, _ in ENDS}, DELETED: of("sleep 1000", deleted=True),
                WITH_A_TASK: of(f"{openpbs.PREFIX}/bin/pbsdsh /bin/true\nexit 3")}


def stand_in_calls(folder):
    hook = folder / "record.py"
    hook.write_text(recorder.HOOK.format(file=RECORD))
    it = mom.Mom(folder / "pbs", hook=str(hook))
    numbers = iter(range(1, 100))

    def of(script, deleted=False, task=False):
        def run_job():
            job = mom.make_job(f"{next(numbers)}.stand-in", "(node1:ncpus=1)", ["node1"])
            assert it.begin(job).accepted
            child = it.script(job, f"HOME=/home/alice\ntouch $HOME/$PBS_JOBID.runs\n{script}")
            wait_until(Path("/home/alice", f"{job['id']}.runs").exists, "the job runs")
            if deleted:
                it.terminate(child)
            if task:
                it.launch(job, "/bin/true").wait(60)
                Path("/home/alice", f"{job['id']}.go").touch()
            assert it.epilogue(job, child).accepted and it.end(job).accepted
        return recorded(RECORD, run_job, '"end"')
    return {**{script: of(script) for script, _, _ in ENDS}, DELETED: of("sleep 1000", deleted=True),
            WITH_A_TASK: of("until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3", task=True)}


def test_the_stand_in_has_the_events_that_mom_has():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        differs = compare(real_calls(), stand_in_calls(Path(folder)))
    assert not differs, differs


def test_no_hook_has_failed():
    """This is the last test, because it checks MoM's log of all earlier tests."""
    for node in NODES:
        faults = [line for line in openpbs.mom_log(node) if re.search(r"Traceback|unhandled exception|pinfold: .*Error:", line)]
        assert not faults, faults
