# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pinfold's programs under a real Torque on two hosts, and also the assumptions behind the tests with a stand-in for pbs_mom
(tests/container/test_torque.py)."""

import contextlib
import json
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

import recorder
import torque
import torque_mom
from jobs import processes_with, read_journal, run, wait_until
from nodes import NODES, ask, on, set_site
from stand_in import DELETED, RUNS, WITH_A_TASK, compare, real_job, recorded
from torque import Job
from two_hosts import CLEANS_UP, ENDS, drain, failed_jobs, identity, outcome, undrain


@pytest.fixture(scope="module")
def batch_system():
    torque.start()
    yield torque
    torque.keep_logs()


def alive(command):
    return [node for node in NODES if command in on(node, "ps", "-eo", "args").stdout]


@pytest.mark.parametrize("script, status, expected", ENDS)
def test_the_exit_status_is_the_same_in_torque_and_in_the_receipt(script, status, expected):
    job = Job(script, nodes="node1").wait()
    seen = f"{job.status()} in Torque, receipt {outcome(job.receipt())}"
    print(seen)
    assert (job.status(), outcome(job.receipt())) == (status, expected), seen
    assert (job.key in failed_jobs()) == (script != "exit 0")
    assert job.key not in failed_jobs("--unknown")


def test_a_job_runs_in_its_scope_and_leaves_nothing():
    job = Job("grep ^0: /proc/self/cgroup; grep ^0: /proc/$PPID/cgroup; $HOME/leave 4713; exit 3").wait()
    unit = run("systemd-escape", job.key).stdout.strip()
    lines = job.output().splitlines()
    print(lines, job.receipt()["leftover_commands"])
    assert all(f"/batch-{unit}.slice/job-{unit}.scope" in line for line in lines), lines
    assert outcome(job.receipt()) == ("exited", 3, None)
    assert job.receipt()["leftover_commands"] == ["sleep 4713"]
    assert not alive("sleep 4713")


def test_each_receipt_says_whose_job_it_was_and_where_it_ran():
    job = Job("true", "-N", "train", "-A", "physics", "-l", "walltime=600", nodes="node1:ppn=2+node2").wait()
    known = {"job_name": "train", "account": "physics", "queue": "batch", "group": "alice", "submit_directory": "/home/alice",
             "batch_run_time_max": 600 * 10**6}
    assert identity(job.receipt("node1")) == {**known, "slots": 2, "nodes": list(NODES), "node_count": 2}
    assert identity(job.receipt("node2")) == {**known, "slots": 1}


def test_the_receipt_of_an_array_jobs_part_names_its_array():
    array = Job("true", "-t", "3-4", nodes="node1")
    number = int(array.id.partition("[")[0])
    for index in (3, 4):
        key = array.key.replace("[]", f"[{index}]")
        wait_until(lambda: ask("node1", "receipts", key), f"the receipt of {key}", 180)
        said = identity(ask("node1", "receipts", key)[0])
        assert (said["array_job"], said["array_task"], said["slots"], said["nodes"]) == (number, index, 1, ["node1"])


@pytest.mark.parametrize("how", ["qdel", "qdel", "qdel", "walltime"])
def test_a_job_that_pbs_mom_ends_is_signalled_once(how):
    job = Job(CLEANS_UP, *(["-l", "walltime=5"] if how == "walltime" else []), nodes="node1")
    job.wait_file(f"{job.id}.runs")
    if how == "qdel":
        job.delete()
    job.wait()
    receipt = job.receipt()
    print(job.output(), job.status(), outcome(receipt), receipt["leftover_commands"])
    assert job.output().splitlines().count("got term") <= 1
    assert receipt["leftovers"] == 0, receipt["leftover_commands"]
    assert receipt["result"] == "signaled" and receipt["exit_signal"] in (signal.SIGTERM, signal.SIGKILL)


@pytest.fixture
def users_scripts():
    """Writes each script that pbs_mom runs as the user. Each of the scripts leaves behind a daemon with its own number."""
    folder = Path(torque.HOME, "mom_priv")
    scripts = [folder / "prologue.user", folder / "epilogue.user", Path("/home/alice/prologue"), Path("/home/alice/epilogue")]
    for number, script in enumerate(scripts, 4721):
        script.write_text(f"#!/bin/sh\nid -un\ngrep ^0: /proc/self/cgroup\n/home/alice/leave {number}\n")
        script.chmod(0o755)
    run("chown", "alice:alice", *scripts[2:])
    yield
    for script in scripts:
        script.unlink()


def test_what_the_users_prologues_and_epilogues_leave_ends_with_the_job(users_scripts):
    job = Job("ps -eo args | grep '^sleep 47'; exit 3", "-l", "prologue=/home/alice/prologue,epilogue=/home/alice/epilogue",
              nodes="node1").wait()
    print(job.output(), job.receipt(), run("pinfold", "logs", job.key).stdout)
    assert {"sleep 4721", "sleep 4723"} <= set(job.output().splitlines()), "those of the prologues run while the job does"
    assert not processes_with("sleep\x0047")
    assert outcome(job.receipt()) == ("exited", 3, None)


def wait_back(node):
    """pbs_server sends no jobs for five minutes to a node that has refused three jobs in a row, even if the node takes jobs again."""
    torque.wait_state(node, "free", 400)


def held(jobs):
    return [job.id for job in jobs if job.state() == "H" or job.shown().get("Hold_Types", "n") != "n"]


def sent_back():
    """Returns the prologue's messages about refused jobs. The prologue does not run for jobs that pbs_mom itself refuses. start_count also
    includes the jobs that pbs_mom refuses: one for each scheduler cycle until pbs_mom's next status, up to 45 s later."""
    return [line for line in read_journal("-o", "cat", "-t", "torque-prologue").splitlines() if "goes back to the queue" in line]


def test_a_drained_node_is_down_with_the_reason_and_the_others_take_its_jobs():
    drain("node1")
    jobs = [Job("sleep 1") for _ in range(20)]
    for job in jobs:
        job.wait()
    starts = [job.starts() for job in jobs]
    print("on", sorted(job.node() for job in jobs), "start_count", starts)
    assert {job.node() for job in jobs} == {"node2"}
    assert not sent_back()
    assert not held(jobs)
    torque.wait_down("node1", "new disk")
    undrain("node1")
    wait_back("node1")
    assert "new disk" not in torque.torque("pbsnodes", "-l", "-n").stdout
    assert outcome(Job("exit 0", nodes="node1").wait().receipt("node1")) == ("exited", 0, None)


def test_jobs_that_wait_for_a_drained_node_run_when_it_is_back():
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


def mask_pinfoldd():
    run("systemctl", "mask", "--runtime", "--now", "pinfoldd.socket", "pinfoldd")


def unmask_pinfoldd():
    run("systemctl", "unmask", "--runtime", "pinfoldd.socket", "pinfoldd")
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


def test_without_the_daemon_a_job_waits_and_then_runs():
    mask_pinfoldd()
    try:
        job = Job("exit 3", nodes="node1")
        torque.wait_down("node1", "not reachable")
        wait_until(lambda: job.state() == "Q", "it waits")
        before = job.starts()
    finally:
        unmask_pinfoldd()
    job.wait()
    print("start_count", before, job.starts())
    assert outcome(job.receipt("node1")) == ("exited", 3, None)
    assert not sent_back()


def test_a_job_on_two_hosts_has_its_tasks_in_scopes_and_no_status_on_the_sister():
    job = Job(f"{torque.PREFIX}/bin/pbsdsh /bin/sh -c 'hostname; grep ^0: /proc/self/cgroup'\nexit 3", nodes="node1+node2").wait()
    print(job.output(), job.receipt("node1"), job.receipt("node2"))
    lines = job.output().splitlines()
    assert {"node1", "node2"} <= set(lines), lines
    unit = run("systemd-escape", job.key).stdout.strip()
    assert sum(f"batch-{unit}.slice/" in line for line in lines) == 2, lines
    assert outcome(job.receipt("node1")) == ("exited", 3, None) and job.receipt("node1")["leftovers"] == 0
    assert job.receipt("node2")["exit_status"] is None and job.receipt("node2")["leftovers"] == 0
    assert job.status() == 3 and job.key in failed_jobs()


def test_what_a_task_leaves_on_a_sister_host_is_gone():
    job = Job(f"{torque.PREFIX}/bin/pbsdsh -n 1 /home/alice/leave 4714\nexit 0", nodes="node1+node2").wait()
    print(job.output(), job.receipt("node2"))
    assert job.receipt("node2")["leftover_commands"] == ["sleep 4714"], job.receipt("node2")
    assert not alive("sleep 4714")


def test_an_array_has_a_unit_for_each_task():
    job = Job("exit $PBS_ARRAYID", "-t", "0-3", nodes="node1")
    keys = [f"torque.{job.id.replace('[]', f'[{index}]')}" for index in range(4)]
    wait_until(lambda: all(ask("node1", "receipts", key) for key in keys), f"the array {job.id} is over", 180)
    assert [outcome(ask("node1", "receipts", key)[0]) for key in keys] == [("exited", index, None) for index in range(4)]


def test_a_job_that_is_run_again_has_two_receipts_and_nothing_of_its_first_run():
    job = Job("echo run >>$HOME/$PBS_JOBID.runs; [ $(wc -l <$HOME/$PBS_JOBID.runs) -gt 1 ] && exit 5; $HOME/leave 4715; sleep 1000",
              nodes="node1")
    wait_until(lambda: processes_with("sleep\x004715"), "its daemon lives")
    torque.torque("qrerun", job.id)
    job.wait()
    assert not processes_with("sleep\x004715")
    receipts = ask("node1", "receipts", job.key)
    print(job.status(), [outcome(receipt) for receipt in receipts])
    assert len(receipts) == 2 and outcome(receipts[0]) == ("exited", 5, None)


def test_pbs_mom_is_restarted():
    """The restart uses KillMode=process, as docs/schedulers/torque.md says. If a job ends after the restart, its exit status in Torque is a value of
    Torque's own."""
    job = Job("echo a; touch $HOME/$PBS_JOBID.runs; until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; echo b; $HOME/leave 4716; exit 5",
              nodes="node1")
    job.wait_file(f"{job.id}.runs")
    run("systemctl", "restart", "pbs_mom")
    torque.wait_state("node1", "free")
    (job.home / f"{job.id}.go").touch()
    job.wait()
    print(job.output(), job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert job.output().split() == ["a", "b"]
    assert not processes_with("sleep\x004716")


@contextlib.contextmanager
def mom_config(line):
    """Adds this line to the configuration of node1's pbs_mom for as long as the context lasts."""
    file = Path(torque.HOME, "mom_priv/config")
    text = file.read_text()
    file.write_text(f"{text}{line}\n")
    run("systemctl", "restart", "pbs_mom")
    try:
        yield
    finally:
        file.write_text(text)
        run("systemctl", "restart", "pbs_mom")


def test_a_script_that_is_the_leader_may_clean_up():
    with mom_config("$exec_with_exec true"):
        job = Job(CLEANS_UP, nodes="node1")
        job.wait_file(f"{job.id}.runs")
        torque.torque("qdel", "-W", "20", job.id)
        job.wait()
    print(job.output(), job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    lines = job.output().splitlines()
    assert lines.count("got term") == 1 and lines[-1] == "cleaned up"
    assert outcome(job.receipt()) == ("exited", 9, None) and job.receipt()["leftovers"] == 0


def test_a_privileged_starter():
    with mom_config("$job_starter_run_privileged true"):
        job = Job("id -un; grep ^0: /proc/self/cgroup; $HOME/leave 4719; exit 3", nodes="node1").wait()
    print(job.output(), job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    user, cgroup = job.output().splitlines()
    assert user == "alice" and f"/batch-{run('systemd-escape', job.key).stdout.strip()}.slice/" in cgroup
    assert outcome(job.receipt()) == ("exited", 3, None) and job.receipt()["leftover_commands"] == ["sleep 4719"]


def test_a_site_may_let_jobs_run_unconfined():
    set_site("node1", '[jobs]\non_failure = "run-unconfined"\n')
    mask_pinfoldd()
    try:
        job = Job("grep ^0: /proc/self/cgroup; exit 4", nodes="node1").wait()
    finally:
        unmask_pinfoldd()
        set_site("node1", "")
    print(job.output(), job.status())
    assert "0::/system.slice/pbs_mom.service" in job.output() and job.status() == 4


@pytest.fixture
def unenforced():
    """A container may have no memory controller."""
    set_site("node1", '[jobs]\nunenforced_limits = "warn"\n')
    yield
    set_site("node1", "")


@pytest.mark.parametrize("asked, memory_max", [("nodes=node1:ppn=2,mem=300mb", 300 << 20), ("nodes=node1,mem=3mw", 12 << 20),
                                               ("nodes=node1:ppn=2,pmem=100mb", 200 << 20), ("nodes=node1,vmem=500mb", 500 << 20)])
def test_limits_are_what_torque_allots(unenforced, asked, memory_max):
    job = Job("ulimit -a; touch $HOME/$PBS_JOBID.runs; exec sleep 1000", "-l", asked)
    job.wait_file(f"{job.id}.runs")
    limits = json.loads(run("pinfold", "limits", job.key, "--json").stdout)["limits"]
    job.delete()
    job.wait()
    print([line for line in job.output().splitlines() if "data" in line or "memory" in line])
    assert limits["memory_max"] == memory_max


def test_an_interactive_job_has_its_scope_and_leaves_nothing():
    said_file = Path("/tmp/interactive")
    command = f"runuser -u alice -- {torque.PREFIX}/bin/qsub -I -l nodes=node1"
    with subprocess.Popen(["script", "-qfec", command, said_file], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as terminal:
        wait_until(lambda: said_file.exists() and "ready" in said_file.read_text(), "the job is there")
        terminal.stdin.write("grep ^0: /proc/self/cgroup; /home/alice/leave 4717; exit 0\n")
        terminal.stdin.flush()
        terminal.wait(100)
    said = said_file.read_text()
    print(said)
    number = re.search(r"job (\S+) ready", said).group(1)
    unit = run("systemd-escape", f"torque.{number}").stdout.strip()
    assert f"/batch-{unit}.slice/job-{unit}.scope" in said
    [receipt] = wait_until(lambda: ask("node1", "receipts", f"torque.{number}"), "the job is over")
    assert receipt["leftover_commands"] == ["sleep 4717"]


def test_fifty_jobs_while_the_daemon_is_restarted():
    jobs = [Job(f"$HOME/leave 4718; sleep 3; exit {index % 4}") for index in range(50)]
    restarts = 0
    while any(job.state() != "C" for job in jobs):
        for node in NODES:
            on(node, "systemctl", "restart", "pinfoldd")
        restarts += 1
    wrong = [(job.id, job.status(), outcome(job.receipt())) for index, job in enumerate(jobs)
             if job.status() != index % 4 or outcome(job.receipt()) != ("exited", index % 4, None)]
    print(f"{restarts} restarts of pinfoldd on each node; start_count {[job.starts() for job in jobs]}")
    assert not wrong, wrong
    assert not held(jobs)
    assert not alive("sleep 4718")


def test_the_doctor_is_content():
    for node in NODES:
        findings = json.loads(on(node, "pinfold", "doctor", "--json", check=False).stdout)["findings"]
        seen = {finding["id"]: finding["state"] for finding in findings if finding["id"].startswith("torque.")}
        print(node, seen)
        assert set(seen.values()) == {"ok"} and len(seen) == 6


RECORD = Path("/tmp/torque-calls")


def record_calls(folder, starter):
    """Puts scripts that record their calls in the place of the programs in pbs_mom's directory. Returns the job starter that records."""
    for name in ("prologue", "epilogue"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(recorder.script(RECORD, name, f"{torque.PROGRAMS}/torque-{name}"))
        (folder / name).chmod(0o755)
    starter.write_text(recorder.script(RECORD, "starter", f"{torque.PROGRAMS}/torque-job-starter"))
    starter.chmod(0o755)
    return starter


@contextlib.contextmanager
def recorded_programs():
    folder = Path(torque.HOME, "mom_priv")
    try:
        with mom_config(f"$job_starter {record_calls(folder, Path('/usr/local/bin/record-starter'))}"):
            yield
    finally:
        for name in ("prologue", "epilogue"):
            (folder / name).unlink()
            (folder / name).symlink_to(f"{torque.PROGRAMS}/torque-{name}")


def real_calls():
    def of(script, **how):
        return recorded(RECORD, lambda: real_job(Job(f"{RUNS}\n{script}", nodes="node1"), **how), '"epilogue"')
    with recorded_programs():
        return {**{script: of(script) for script, _, _ in ENDS}, DELETED: of("sleep 1000", deleted=True),
                WITH_A_TASK: of(f"{torque.PREFIX}/bin/pbsdsh /bin/true\nexit 3")}


def stand_in_calls(home):
    mom = torque_mom.Mom(home, "/usr/local/bin/record-stand-in-starter")
    wait_until((home / "mom_priv/jobs").is_dir, "the stand-in is up")
    record_calls(home / "mom_priv", Path("/usr/local/bin/record-stand-in-starter"))
    numbers = iter(range(1, 100))

    def of(script, deleted=False, task=False):
        def job():
            it = {"id": f"{next(numbers)}.stand-in", "user": "alice", "name": "script", "resources": "nodes=1:ppn=1,walltime=01:00:00",
                  "hosts": ["node1"], "ppn": 1, "node": 0, "cookie": "0" * 32, "script": f"#!/bin/sh\n{script}\n",
                  "variables": {"PATH": "/usr/bin:/bin"}}
            started = mom.ask("start", job=it)
            if deleted or task:
                wait_until(Path("/home/alice", f"{it['id']}.runs").exists, "the job runs")
            if deleted:
                mom.ask("kill", session=started["session"], signal=signal.SIGTERM)
            if task:
                mom.ask("wait", pid=mom.ask("spawn", job=it, words=["/bin/true"], environment={}, vnode=0)["pid"])
                Path("/home/alice", f"{it['id']}.go").touch()
            status = mom.ask("wait", pid=started["pid"])["status"]
            assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
        return recorded(RECORD, job, '"epilogue"')
    try:
        return {**{script: of(script) for script, _, _ in ENDS},
                DELETED: of("touch $HOME/$PBS_JOBID.runs; sleep 1000", deleted=True),
                WITH_A_TASK: of("touch $HOME/$PBS_JOBID.runs; until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3", task=True)}
    finally:
        mom.close()


def test_the_stand_in_makes_the_calls_that_pbs_mom_makes():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        differs = compare(real_calls(), stand_in_calls(Path(folder, "torque")))
    assert not differs, differs
