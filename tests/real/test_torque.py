# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pinfold's programs under a real Torque on two hosts. The tests check how a job runs, and what remains after the job's end."""

import os
import signal
from pathlib import Path

import pytest

import torque
from jobs import live_jobs, processes_with, run, text_of, wait_until
from nodes import NODES, on
from torque import Interactive, Job, alive
from two_hosts import CLEANS_UP, ENDS, failed_jobs, identity, outcome

PBSDSH = f"{torque.PREFIX}/bin/pbsdsh"
MORE_ENDS = [
    ("exit 1", 1, ("exited", 1, None)),
    ("kill -TERM $$", 128 + 15, ("exited", 128 + 15, None)),
    ("kill -SEGV $$", 128 + 11, ("exited", 128 + 11, None)),
    ("exit 137", 137, ("exited", 137, None)),
]


def test_the_job_of_the_page_shows_its_scope():
    """Runs the job of the section "Verify" in docs/schedulers/torque.md."""
    command = f"echo 'cat /proc/self/cgroup' | {torque.PREFIX}/bin/qsub"
    job = torque.Submitted(run("runuser", "-u", "alice", "--", "sh", "-c", command, cwd="/home/alice").stdout.strip()).wait()
    [said] = Path("/home/alice").glob(f"STDIN.o{job.id.partition('.')[0]}")
    print(said.read_text(), outcome(job.receipt()))
    assert said.read_text().endswith(f"/batch-{job.unit()}.slice/job-{job.unit()}.scope\n")
    starter = f"jobstarter;{torque.PROGRAMS}/torque-job-starter"
    for node in NODES:
        print(node, [line for line in torque.mom_log(node) if starter in line], torque.doctor(node))
        assert any(starter in line for line in torque.mom_log(node))
        assert {state for state, _ in torque.doctor(node).values()} == {"ok"} and len(torque.doctor(node)) == 6


@pytest.mark.parametrize("script, status, expected", ENDS + MORE_ENDS)
def test_the_exit_status_is_the_same_in_torque_and_in_the_receipt(script, status, expected):
    job = Job(script, nodes="node1").wait()
    seen = f"{job.status()} in Torque, receipt {outcome(job.receipt())}"
    print(seen)
    assert (job.status(), outcome(job.receipt())) == (status, expected), seen
    assert (job.key in failed_jobs()) == (script != "exit 0")
    assert job.key not in failed_jobs("--unknown")


def test_a_shell_that_does_not_exist():
    job = Job("exit 0", "-S", "/no/such/shell", nodes="node1").wait()
    print(job.output(), job.status(), outcome(job.receipt()))
    assert (job.status(), outcome(job.receipt())) == (127, ("exited", 127, None))
    assert job.output().startswith("torque-job-starter: ") and "/no/such/shell" in job.output()


def test_a_job_runs_in_its_scope_and_leaves_nothing():
    job = Job("grep ^0: /proc/self/cgroup; grep ^0: /proc/$PPID/cgroup; $HOME/leave 4713; exit 3").wait()
    lines = job.output().splitlines()
    print(lines, job.receipt()["leftover_commands"])
    assert all(f"/batch-{job.unit()}.slice/job-{job.unit()}.scope" in line for line in lines), lines
    assert outcome(job.receipt()) == ("exited", 3, None)
    assert job.receipt()["leftover_commands"] == ["sleep 4713"]
    assert not alive("sleep 4713")


def test_what_ignores_sigterm_is_gone_after_the_grace():
    job = Job("(trap '' TERM; $HOME/leave 4731); exit 7", nodes="node1").wait()
    print(job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert (job.status(), outcome(job.receipt())) == (7, ("exited", 7, None))
    assert job.receipt()["leftover_commands"] == ["sleep 4731"]
    assert not alive("sleep 4731")


def test_each_receipt_says_whose_job_it_was_and_where_it_ran():
    job = Job("true", "-N", "train", "-A", "physics", "-l", "walltime=600", nodes="node1:ppn=2+node2").wait()
    known = {"job_name": "train", "account": "physics", "queue": "batch", "group": "alice", "submit_directory": "/home/alice",
             "batch_run_time_max": 600 * 10**6}
    assert identity(job.receipt("node1")) == {**known, "slots": 2, "nodes": list(NODES), "node_count": 2}
    assert identity(job.receipt("node2")) == {**known, "slots": 1}


def test_each_part_of_an_array_has_its_unit_and_its_receipt():
    array = Job("grep ^0: /proc/self/cgroup; $HOME/leave 4732; exit $PBS_ARRAYID", "-t", "0-3", nodes="node1")
    number = int(array.id.partition("[")[0])
    parts = [torque.Submitted(array.id.replace("[]", f"[{index}]")) for index in range(4)]
    wait_until(lambda: all(part.receipts("node1") for part in parts), f"the array {array.id} is over", 180)
    for index, part in enumerate(parts):
        part.wait()
        receipt, output = part.receipt("node1"), Path(f"{array.out}-{index}").read_text()
        print(output.strip(), outcome(receipt), receipt["leftover_commands"], identity(receipt))
        assert f"torque.{number}\\x5b{index}\\x5d." in part.unit() and f"/job-{part.unit()}.scope" in output
        assert (outcome(receipt), receipt["leftover_commands"]) == (("exited", index, None), ["sleep 4732"])
        said = identity(receipt)
        assert (said["array_job"], said["array_task"], said["slots"], said["nodes"]) == (number, index, 1, ["node1"])
    assert not alive("sleep 4732")


def test_jobs_that_depend_on_another_job():
    if torque.version() == "6.1-dev":
        pytest.skip("pbs_server of the branch 6.1-dev stops answering after qsub -W depend=")
    first = Job("until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3", nodes="node1")
    after = {kind: Job("$HOME/leave 4739", "-W", f"depend={kind}:{first.id}", nodes="node1") for kind in ("afternotok", "afterany", "afterok")}
    (first.home / f"{first.id}.go").touch()
    first.wait()
    seen = {kind: (job.wait().status(), [outcome(receipt) for receipt in job.receipts("node1")]) for kind, job in after.items()}
    print(seen)
    assert seen == {"afternotok": (0, [("exited", 0, None)]), "afterany": (0, [("exited", 0, None)]), "afterok": (256 + 15, [])}
    assert not alive("sleep 4739")


@pytest.mark.parametrize("how", ["qdel"] * 9 + ["walltime"])
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


SPENDS = "while :; do :; done"


@pytest.mark.parametrize("asked, script, status", [(None, "sleep 1000", 256 + 15), ("walltime=5", "sleep 1000", -11), ("cput=3", SPENDS, -12)])
def test_pbs_mom_ends_a_job_and_what_it_left_is_gone(asked, script, status):
    """Every 45 s, pbs_mom compares the times of jobs with the limits of these jobs. The jobs of this test have no time limit in pinfold."""
    job = Job(f"$HOME/leave 4733; touch $HOME/$PBS_JOBID.runs; {script}", *(["-l", asked] if asked else []), nodes="node1")
    job.wait_file(f"{job.id}.runs")
    assert job.limits().get("run_time_max") is None
    if not asked:
        job.delete()
    job.wait()
    receipt = job.receipt()
    print(asked, job.status(), outcome(receipt), receipt["leftover_commands"], receipt["batch_run_time_max"])
    assert job.status() == status
    assert receipt["leftover_commands"] == ["sleep 4733"]
    assert not alive("sleep 4733")


def test_a_job_on_two_hosts_has_its_tasks_in_scopes_and_no_status_on_the_sister():
    job = Job(f"{PBSDSH} /bin/sh -c 'hostname; grep ^0: /proc/self/cgroup'\nexit 3", nodes="node1+node2").wait()
    print(job.output(), job.receipt("node1"), job.receipt("node2"))
    lines = job.output().splitlines()
    assert {"node1", "node2"} <= set(lines), lines
    assert sum(f"batch-{job.unit()}.slice/" in line for line in lines) == 2, lines
    assert outcome(job.receipt("node1")) == ("exited", 3, None) and job.receipt("node1")["leftovers"] == 0
    assert job.receipt("node2")["exit_status"] is None and job.receipt("node2")["leftovers"] == 0
    assert job.status() == 3 and job.key in failed_jobs()


def test_what_a_task_leaves_on_a_sister_host_is_gone():
    job = Job(f"{PBSDSH} -n 1 /home/alice/leave 4714\nexit 0", nodes="node1+node2").wait()
    print(job.output(), job.receipt("node2"))
    assert job.receipt("node2")["leftover_commands"] == ["sleep 4714"], job.receipt("node2")
    assert not alive("sleep 4714")


def test_tasks_on_one_host_have_their_own_scopes_and_statuses():
    job = Job(f"{PBSDSH} /bin/sh -c 'grep ^0: /proc/self/cgroup; exit 5'\n{PBSDSH} -n 0 /no/such/program\n{PBSDSH} -n 0 $HOME/leave 4734\n"
              f"{torque.PREFIX}/bin/pbs_track -j $PBS_JOBID -- /bin/grep ^0: /proc/self/cgroup", nodes="node1:ppn=2").wait()
    print(job.output(), job.status(), job.receipt()["leftover_commands"])
    lines = job.output().splitlines()
    scopes = [line.rpartition(f"job-{job.unit()}")[2] for line in lines if line.startswith("0::")]
    assert sorted(scopes) == ["-1.scope", "-2.scope", ".scope"], lines
    assert sorted(line.rpartition(" ")[2] for line in lines if "exit status" in line) == ["127", "5", "5"], lines
    assert job.receipt()["leftover_commands"] == ["sleep 4734"]
    assert not alive("sleep 4734")


def test_a_job_that_is_run_again_has_two_receipts_and_nothing_of_its_first_run():
    job = Job("echo run >>$HOME/$PBS_JOBID.runs; [ $(wc -l <$HOME/$PBS_JOBID.runs) -gt 1 ] && exit 5; $HOME/leave 4715; sleep 1000",
              nodes="node1")
    wait_until(lambda: processes_with("sleep\x004715"), "its daemon lives")
    torque.torque("qrerun", job.id)
    job.wait()
    assert not processes_with("sleep\x004715")
    print(job.status(), [outcome(receipt) for receipt in job.receipts()])
    assert len(job.receipts()) == 2 and outcome(job.receipt()) == ("exited", 5, None)


def state_of(command):
    """Returns the letter by which the kernel shows the state of a process. Exactly one process must have the command `command`."""
    [pid] = processes_with(command)
    return text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]


def test_torque_suspends_the_session_and_pinfold_the_whole_job():
    job = Job("$HOME/leave 4735; touch $HOME/$PBS_JOBID.runs; sleep 4736", nodes="node1")
    job.wait_file(f"{job.id}.runs")
    wait_until(lambda: processes_with("sleep\x004736"), "the script sleeps")
    frozen = Path(f"/sys/fs/cgroup/batch.slice/batch-{job.unit()}.slice/cgroup.events")
    for _ in range(2):
        torque.torque("qsig", "-s", "suspend", job.id)
        wait_until(lambda: state_of("sleep\x004736") == "T", "Torque has stopped the session")
        seen = {"in the session": state_of("sleep\x004736"), "outside": state_of("sleep\x004735"), "Torque": job.state(),
                "pinfold": live_jobs()[job.key]["state"]}
        print(seen)
        assert seen == {"in the session": "T", "outside": "S", "Torque": "S", "pinfold": "running"}
        torque.torque("qsig", "-s", "resume", job.id)
        wait_until(lambda: state_of("sleep\x004736") == "S", "the session continues")
    run("pinfold", "suspend", job.key)
    assert live_jobs()[job.key]["state"] == "suspended" and "frozen 1" in text_of(frozen)
    run("pinfold", "resume", job.key)
    torque.torque("qsig", "-s", "suspend", job.id)
    job.delete()
    job.wait()
    print(job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert not alive("sleep 473")
    assert job.receipt()["leftover_commands"] == ["sleep 4735"]


@pytest.mark.parametrize("asked, memory_max", [("nodes=node1:ppn=2,mem=300mb", 300 << 20), ("nodes=node1,mem=3mw", 12 << 20),
                                               ("nodes=node1:ppn=2,pmem=100mb", 200 << 20), ("nodes=node1,vmem=500mb", 500 << 20),
                                               ("nodes=node1:ppn=3,pvmem=100mb", 300 << 20), ("nodes=node1,mem=300mb,vmem=500mb", 300 << 20),
                                               ("nodes=node1,mem=1gb,pmem=100mb", 100 << 20), ("ncpus=2,mem=200mb", 200 << 20)])
def test_limits_are_what_torque_allots(unenforced, asked, memory_max):
    job = Job("ulimit -a; touch $HOME/$PBS_JOBID.runs; exec sleep 1000", "-l", asked)
    job.wait_file(f"{job.id}.runs")
    seen = job.limits()["memory_max"]
    job.delete()
    job.wait()
    print(seen, [line for line in job.output().splitlines() if "data" in line or "memory" in line])
    assert seen == memory_max


def test_an_interactive_job_has_its_scope_and_leaves_nothing():
    job = Interactive().ready()
    job.type("tty; grep ^0: /proc/self/cgroup; $HOME/leave 4717")
    job.terminal.type("sleep 4737")
    wait_until(lambda: processes_with("sleep\x004737"), "the command runs")
    os.write(job.terminal.fd, b"\x03")
    wait_until(lambda: not processes_with("sleep\x004737"), "^C has ended the command")
    job.terminal.type("exit 3")
    job.terminal.status()
    job.wait()
    print(job.terminal.seen, job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert "/dev/pts/" in job.terminal.seen
    assert f"/batch-{job.unit()}.slice/job-{job.unit()}.scope" in job.terminal.seen
    assert (job.status(), outcome(job.receipt())) == (256 + 9, ("signaled", None, 9)), "pbs_mom kills the shell's session"
    assert job.receipt()["leftover_commands"] == ["sleep 4717"]
    assert not alive("sleep 4717")


def test_fifty_jobs_at_once_leave_nothing_and_lose_no_output():
    jobs = [Job("$HOME/leave 4738; seq 20000; exit 3") for _ in range(50)]
    for job in jobs:
        job.wait()
    seen = {(job.status(), job.starts(), len(job.receipts()), outcome(job.receipt()), tuple(job.receipt()["leftover_commands"]),
             len(job.output().splitlines())) for job in jobs}
    print(seen, [sum(job.node() == node for job in jobs) for node in NODES])
    assert seen == {(3, 1, 1, ("exited", 3, None), ("sleep 4738",), 20000)}
    assert not alive("sleep 4738")


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
    assert not any(job.is_held() for job in jobs)
    assert not alive("sleep 4718")
