# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests Slurm's own daemons with pinfold's plugin. No process survives its job, no matter how the job ends. Slurm sees the same exit codes
as without pinfold. The first tests show which processes survive without pinfold."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

import slurm
from jobs import (ESCAPIST, daemon_ready, drained, expect_nothing_left, live_jobs, processes_with, receipts, run, wait_for_entries, wait_running,
                  wait_until)
from nodes import NODES, ask, on, set_site

CONFIG = Path("/etc/pinfold/pinfold.toml.d/slurm.toml")
EPILOGS = Path("/etc/slurm/epilog.d")

# Each Slurm job has a memory limit. A container cannot enforce the limit, because it does not have a memory controller.
WARN = '[jobs]\nunenforced_limits = "warn"\n'


def configure(text):
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(text)
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()


def kill_all(pids):
    """A process may already have ended, for example a short-lived child of slurmstepd."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def leaving(way, mark):
    """Returns a script line that leaves a process behind. The process already exists when the script continues with the next line. The line runs
    `escapist`, which exits with status 3."""
    return f"{ESCAPIST} {way} {mark}"


def output(number):
    return Path(f"/tmp/slurm-{number}.out").read_text()


@pytest.fixture(scope="module")
def cluster():
    configure(WARN)
    slurm.start()


@pytest.fixture(autouse=True)
def nothing_for_the_next_test():
    yield
    slurm.cancel_all()


@pytest.fixture
def patient():
    """Sets a long grace time, so that a test can look at a process that ignores SIGTERM."""
    configure(WARN + 'kill_grace = "10s"\n')
    yield
    configure(WARN)


@pytest.fixture
def epilogs():
    """Slurm runs the programs of this directory at the end of a job."""
    EPILOGS.mkdir()
    yield EPILOGS
    slurm.start()


@pytest.fixture
def outage():
    """Gives a test a function that stops pinfoldd. After the test, the fixture starts pinfoldd again."""
    yield lambda: run("systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
    configure(WARN)
    run("systemctl", "start", "pinfoldd.socket")
    slurm.cancel_all()


# Without pinfold

@pytest.mark.parametrize("tracking", ["pgid", "linuxproc"])
def test_alone_a_daemon_outlives_its_job(tracking):
    slurm.start(pinfold=False, ProctrackType=f"proctrack/{tracking}")
    number = slurm.submit(leaving("double-fork", 7101))
    slurm.wait_state(number, "FAILED")
    slurm.wait_idle()
    left = processes_with("7101")
    assert len(left) == 1 and "slurmd.service" in str(left), "the next job would run beside it"
    kill_all(left)


def test_alone_a_job_outlives_its_slurmstepd():
    slurm.start(pinfold=False)
    number = slurm.submit("sleep 7102 & sleep 7102")
    wait_until(lambda: len(processes_with("sleep\0007102")) == 2, "the job running")
    kill_all(processes_with(f"slurmstepd: [{number}.batch]"))
    run("scancel", number)
    slurm.wait_state(number, "CANCELLED")
    slurm.wait_idle()
    left = processes_with("sleep\0007102")
    assert len(left) == 2
    kill_all(left)


# Batch jobs

def test_what_a_job_leaves_is_killed_named_and_in_the_receipt(cluster):
    number = slurm.submit(f"{leaving('set-sid', 7201)}; {leaving('ignores-term', 7201)}; exit 5")
    job = slurm.wait_state(number, "FAILED")
    assert job["ExitCode"] == "5:0" and slurm.completed(number)["JobState"] == "FAILED"
    assert not processes_with("7201"), "Slurm hears of the end when nothing is left"
    [receipt] = receipts(f"slurm.{number}")
    assert (receipt["exit_status"], receipt["result"], receipt["uid"], receipt["leftovers"]) == (5, "exited", 1000, 2)
    [leftover] = wait_for_entries(f"slurm.{number}", "leftovers")
    assert leftover["MESSAGE"] == f"rogue process(es) found for task slurm.{number}"
    assert f"{ESCAPIST} set-sid 7201" in receipt["leftover_commands"]
    expect_nothing_left()


def test_a_daemon_that_changes_its_pid_all_the_time(cluster):
    number = slurm.submit(f"{ESCAPIST} storm")
    assert slurm.wait_state(number, "FAILED")["ExitCode"] == "3:0"
    assert not processes_with(ESCAPIST)
    expect_nothing_left()


def test_scancel_leaves_no_process_and_no_cgroup(cluster):
    number = slurm.submit(f"trap : TERM; {leaving('set-sid', 7202)}; sleep 7202; sleep 7202")
    wait_until(lambda: len(processes_with("7202")) == 2, "the job running")
    run("scancel", number)
    slurm.wait_state(number, "CANCELLED")
    slurm.wait_idle()
    assert not processes_with("7202")
    expect_nothing_left()


def test_a_signal_that_ends_the_script(cluster):
    number = slurm.submit("kill -s INT $$")
    job = slurm.wait_state(number, "FAILED")
    assert job["ExitCode"] == "0:2"
    [receipt] = receipts(f"slurm.{number}")
    assert (receipt["result"], receipt["exit_signal"]) == ("signaled", 2)


def test_memory_is_what_slurm_has_given(cluster):
    number = slurm.submit("sleep 7203", "--mem=48M")
    wait_running(f"slurm.{number}")
    shown = json.loads(run("pinfold", "status", f"slurm.{number}", "--json").stdout)
    assert shown["job"]["limits"]["memory_max"] == 48 << 20, shown


def test_a_requeued_job_has_a_receipt_for_each_run(cluster):
    number = slurm.submit("sleep 7204")
    wait_running(f"slurm.{number}")
    run("scontrol", "requeue", number)
    wait_until(lambda: len(receipts(f"slurm.{number}")) == 1 and not processes_with("sleep\0007204"), "the first run over")
    slurm.wait_state(number, "PENDING")
    revoked = int(time.time())
    wait_until(lambda: int(time.time()) > revoked, "another second: slurmd lets no run begin in that in which it ended the last")
    slurm.start_now(number, "RUNNING")
    wait_running(f"slurm.{number}")
    run("scancel", number)
    wait_until(lambda: len(receipts(f"slurm.{number}")) == 2, "both runs' receipts")
    expect_nothing_left()


def test_an_array_has_a_job_for_each_element(cluster):
    first = slurm.submit(leaving("set-sid", 7205) + " >&2; echo $SLURM_JOB_ID; exit $SLURM_ARRAY_TASK_ID", "--array=0-3", "--output=/tmp/array-%A_%a",
                         "--error=/dev/null")
    outputs = [Path(f"/tmp/array-{first}_{index}") for index in range(4)]
    wait_until(lambda: all(path.exists() and path.read_text() for path in outputs), "all elements")
    for index, path in enumerate(outputs):
        key = f"slurm.{path.read_text().strip()}"
        wait_until(lambda key=key: receipts(key), f"receipt of {key}")
        [receipt] = receipts(key)
        assert (receipt["exit_status"], receipt["leftovers"]) == (index, 1)
        assert (receipt["array_job"], receipt["array_task"], receipt["run"]) == (first, index, 0)
        assert receipt["queue"] and receipt["node_count"] == len(receipt["nodes"]) == 1 and receipt["submit_directory"] == os.getcwd()
    expect_nothing_left()


def test_a_hundred_jobs_a_receipt_each(cluster):
    first = slurm.submit(leaving("set-sid", 7206), "--array=1-100", "--output=/dev/null")

    def over():
        listed = run("squeue", "--noheader", "--array", "--job", first, check=False)
        return listed.stdout == ""
    wait_until(over, "all of them over", 600)
    found = [receipt for receipt in receipts() if receipt["key"].startswith("slurm.") and int(receipt["key"].split(".")[1]) >= first]
    assert len(found) == len({receipt["key"] for receipt in found}) == 100
    # If a hundred jobs end at once, some processes can get SIGKILL before pinfoldd has read their command lines. pinfoldd still knows the name of a
    # process whose command line it has not read.
    assert {tuple(receipt["leftover_commands"]) for receipt in found} <= {(leaving("set-sid", 7206),), ("[escapist]",)}
    assert not processes_with("7206")
    expect_nothing_left()


def test_slurmd_restarts_while_a_job_runs(cluster):
    number = slurm.submit(leaving("set-sid", 7207) + "; until [ -e /tmp/go ]; do sleep 0.1; done; exit 4")
    wait_running(f"slurm.{number}")
    run("systemctl", "restart", "slurmd")
    wait_until(lambda: slurm.node_state() in ("ALLOCATED", "MIXED"), "slurmd back")
    assert f"slurm.{number}" in live_jobs()
    Path("/tmp/go").touch()
    assert slurm.wait_state(number, "FAILED")["ExitCode"] == "4:0"
    [receipt] = receipts(f"slurm.{number}")
    assert (receipt["exit_status"], receipt["leftovers"]) == (4, 1)
    expect_nothing_left()


def test_pinfoldd_restarts_while_a_job_runs(cluster):
    number = slurm.submit(leaving("set-sid", 7208) + "; until [ -e /tmp/go2 ]; do sleep 0.1; done; exit 5")
    wait_running(f"slurm.{number}")
    run("systemctl", "restart", "pinfoldd")
    Path("/tmp/go2").touch()
    assert slurm.wait_state(number, "FAILED")["ExitCode"] == "5:0"
    assert receipts(f"slurm.{number}")[0]["exit_status"] == 5
    expect_nothing_left()


def test_a_killed_slurmstepd_takes_its_job_along(cluster):
    number = slurm.submit(leaving("set-sid", 7209) + "; sleep 7209")
    wait_running(f"slurm.{number}")
    kill_all(processes_with(f"slurmstepd: [{number}.batch]"))
    wait_until(lambda: receipts(f"slurm.{number}"), "the job's end")
    assert receipts(f"slurm.{number}")[0]["result"] == "supervisor-lost"
    assert not processes_with("7209")
    run("scancel", number)
    slurm.wait_idle()
    expect_nothing_left()


def test_the_node_waits_for_a_job_whose_slurmstepd_was_killed(cluster, patient):
    number = slurm.submit(f"{leaving('ignores-term', 7210)}; sleep 7210")
    wait_running(f"slurm.{number}")
    wait_until(lambda: len(processes_with("7210")) == 2, "the job running")
    kill_all(processes_with(f"slurmstepd: [{number}.batch]"))
    wait_until(lambda: len(processes_with("7210")) == 1, "SIGTERM")
    run("scancel", number)
    slurm.wait_idle()
    assert not processes_with("7210"), "Slurm may give the node to the next job"
    expect_nothing_left()


def test_a_warning_is_in_the_standard_error_of_the_batch_script(cluster):
    number = slurm.submit("sleep 7212", "--output=/dev/null", "--error=/tmp/warned-%j")
    key, told = f"slurm.{number}", Path(f"/tmp/warned-{number}")
    wait_until(lambda: processes_with("sleep\0007212"), "the batch script running")
    run("pinfold", "limits", key, "--run-time-max", "1h", "--run-time-warning", "59min 59s 999ms")
    wait_until(lambda: told.read_text().endswith("\n"), "the warning")
    assert told.read_text().startswith(f"pinfold: job {key} on {os.uname().nodename} reaches its run time limit of 1h in ")
    run("pinfold", "stop", key)
    slurm.wait_idle()
    lines = told.read_text().splitlines()
    assert len([line for line in lines if "reaches its run time limit" in line]) == 1, lines
    assert len([line for line in lines if "was stopped on request of user root" in line]) == 1, lines
    assert "gets no warnings" not in slurm.LOG.read_text()
    expect_nothing_left()


def test_a_task_of_srun_and_its_batch_script_share_no_warning(cluster):
    number = slurm.submit("srun --error=/tmp/step-%j sleep 7213", "--output=/dev/null", "--error=/tmp/script-%j")
    key, script, step = f"slurm.{number}", Path(f"/tmp/script-{number}"), Path(f"/tmp/step-{number}")
    # slurmstepd runs the program by its full path, so the first word of the program's command line ends with /sleep. The command line of srun also
    # contains the words "sleep 7213". The start of srun is not the right event for this wait, because srun opens the step's file later.
    wait_until(lambda: any(command.split(b"\0")[0].endswith(b"/sleep") for command, _ in processes_with("sleep\0007213").values()), "the step running")
    run("pinfold", "limits", key, "--run-time-max", "1h", "--run-time-warning", "59min 59s 999ms")
    wait_until(lambda: "reaches its run time limit" in script.read_text(), "the warning")
    assert "pinfold" not in step.read_text()


# The following tests check what a receipt says about a Slurm job.

def facts(receipt):
    return {name: receipt[name] for name in ("job_name", "account", "queue", "group", "submit_host", "nodes", "node_count", "run", "slots")}


def test_the_receipt_of_a_batch_job_says_whose_it_is(cluster):
    number = slurm.submit("srun true", "--job-name=train", "--account=physics")
    slurm.wait_state(number, "COMPLETED")
    [receipt] = receipts(f"slurm.{number}")
    assert facts(receipt) == {"job_name": "train", "account": "physics", "queue": "batch", "group": "alice", "submit_host": "node1",
                              "nodes": ["node1"], "node_count": 1, "run": 0, "slots": 1}


def test_the_receipt_of_srun_alone_says_whose_it_is(cluster):
    forged = {**os.environ, "SLURM_JOB_PARTITION": "forged", "SLURM_JOB_ACCOUNT": "forged"}
    done = run("runuser", "-u", "alice", "--", "srun", "--chdir=/tmp", "-n2", "--job-name=train", "--account=physics",
               "sh", "-c", "echo $SLURM_JOB_ID", env=forged)
    [number] = set(done.stdout.split())
    slurm.wait_idle()
    [receipt] = receipts(f"slurm.{number}")
    assert facts(receipt) == {"job_name": "train", "account": "physics", "queue": "batch", "group": "alice", "submit_host": "node1",
                              "nodes": ["node1"], "node_count": 1, "run": 0, "slots": 2}


@pytest.fixture
def two_nodes(cluster):
    set_site("node2", WARN)
    slurm.add_node("node2")
    yield
    on("node2", "systemctl", "stop", "slurmd")
    slurm.start()


@pytest.mark.skipif("node2" not in NODES, reason="this box has only one node")
def test_the_receipts_of_both_nodes_say_whose_the_job_is(two_nodes):
    number = slurm.submit("srun true; exit 3", "--nodes=2", "--job-name=train", "--account=physics")
    slurm.wait_state(number, "FAILED")
    key = f"slurm.{number}"
    wait_until(lambda: ask("node2", "receipts", key), "the receipt of node2")
    for [receipt] in (receipts(key), ask("node2", "receipts", key)):
        assert facts(receipt) == {"job_name": "train", "account": "physics", "queue": "batch", "group": "alice", "submit_host": "node1",
                                  "nodes": ["node1", "node2"], "node_count": 2, "run": 0, "slots": 1}
        assert receipt["exit_status"] == 3, receipt["host"]


# The following tests check the environment variables that contain the limits.

def variables_in(text):
    return dict(line.split("=", 1) for line in text.splitlines() if line.startswith(("PINFOLD_", "OMP_NUM_THREADS=")))


def test_the_batch_script_and_its_steps_know_the_limits_of_the_job(cluster):
    number = slurm.submit("env; echo next; unset PINFOLD_JOB PINFOLD_CPUS PINFOLD_MEMORY_MAX; srun -n1 env", "--mem=48M", "--ntasks=3")
    slurm.wait_state(number, "COMPLETED")
    script, step = (variables_in(part) for part in output(number).split("next\n"))
    assert script == step == {"PINFOLD_JOB": f"slurm.{number}", "PINFOLD_CPUS": "3", "PINFOLD_MEMORY_MAX": str(48 << 20)}


def test_a_task_of_srun_alone_knows_the_limits_of_the_job(cluster):
    done = run("runuser", "-u", "alice", "--", "srun", "--chdir=/tmp", "-n2", "--mem=32M", "sh", "-c", "echo JOB=$SLURM_JOB_ID; env | grep ^PINFOLD_")
    lines = done.stdout.splitlines()
    [number] = {line.removeprefix("JOB=") for line in lines if line.startswith("JOB=")}
    assert sorted(line for line in lines if line.startswith("PINFOLD_")) == sorted(
        2 * [f"PINFOLD_JOB=slurm.{number}", "PINFOLD_CPUS=2", f"PINFOLD_MEMORY_MAX={32 << 20}"])


def test_no_variable_of_another_job_survives(cluster, outage):
    inner = "sbatch --parsable --chdir=/tmp --output=/tmp/inner-%j --mem=16M --wrap env"
    number = slurm.submit(f"export PINFOLD_TASKS_MAX=9 PINFOLD_END_TIME=9; {inner}", "--mem=48M")
    slurm.wait_state(number, "COMPLETED")
    submitted = int(output(number))
    slurm.wait_state(submitted, "COMPLETED")
    told = variables_in(Path(f"/tmp/inner-{submitted}").read_text())
    assert told == {"PINFOLD_JOB": f"slurm.{submitted}", "PINFOLD_CPUS": "1", "PINFOLD_MEMORY_MAX": str(16 << 20)}
    configure(WARN + 'on_failure = "run-unconfined"\n')
    outage()
    foreign = {**os.environ, "PINFOLD_JOB": "slurm.1", "PINFOLD_MEMORY_MAX": "9"}
    number = slurm.submit("env", env=foreign)
    slurm.wait_state(number, "COMPLETED")
    assert variables_in(output(number)) == {}, "the job has no scope, so nobody knows its limits"


def test_a_value_that_the_user_has_chosen_stays(cluster):
    number = slurm.submit("env", env={**os.environ, "PINFOLD_MEMORY_MAX": "mine"})
    slurm.wait_state(number, "COMPLETED")
    assert variables_in(output(number)) == {"PINFOLD_JOB": f"slurm.{number}", "PINFOLD_CPUS": "1", "PINFOLD_MEMORY_MAX": "mine"}


# Steps

def test_steps_are_further_tasks_of_the_job(cluster):
    number = slurm.submit("srun -n3 sh -c 'cat /proc/self/cgroup | tail -n1; " + leaving("set-sid", 7301) + " >/dev/null; true'; srun -n1 true; exit 6", "--ntasks=3")
    slurm.wait_state(number, "FAILED")
    [receipt] = receipts(f"slurm.{number}")
    assert (receipt["tasks"], receipt["exit_status"]) == (5, 6)
    scopes = sorted(line.rsplit("/")[-1] for line in output(number).splitlines() if line.startswith("0::"))
    assert scopes == [f"job-slurm.{number}-{task}.scope" for task in (1, 2, 3)]
    assert not processes_with("7301")
    expect_nothing_left()


def test_a_step_does_not_wait_for_who_holds_its_output(cluster):
    """Without pinfold, Slurm waits five minutes for a process that holds the output of a step open."""
    held = "setsid sh -c \"touch /tmp/held; exec sleep 7302\" & until [ -e /tmp/held ]; do sleep 0.1; done; echo said"
    number = slurm.submit(f"srun -n1 sh -c '{held}'; exit 7")
    slurm.wait_state(number, "FAILED")
    assert receipts(f"slurm.{number}")[0]["exit_status"] == 7
    assert "said\n" in output(number)
    assert not processes_with("7302")


def test_srun_without_a_batch_script(cluster):
    done = run("runuser", "-u", "alice", "--", "srun", "--chdir=/tmp", "-n2", "sh", "-c",
               "echo $SLURM_JOB_ID; " + leaving("set-sid", 7303) + "; exit 8", check=False)
    assert done.returncode == 8, done.stderr
    number = int(done.stdout.split()[0])
    wait_until(lambda: receipts(f"slurm.{number}"), "receipt")
    [receipt] = receipts(f"slurm.{number}")
    assert (receipt["tasks"], receipt["exit_status"], receipt["uid"]) == (2, 8, 1000)
    slurm.wait_idle()
    assert not processes_with("7303")
    expect_nothing_left()


def test_srun_with_a_terminal(cluster):
    script = "tty; tail -n1 /proc/self/cgroup; echo $SLURM_JOB_ID; " + leaving("set-sid", 7304)
    done = run("runuser", "-u", "alice", "--", "script", "--quiet", "--command", f"srun --chdir=/tmp --pty sh -c '{script}; exit 0'", "/dev/null")
    terminal, cgroup, number = done.stdout.split()[:3]
    assert "/dev/pts/" in terminal and cgroup.endswith(f"job-slurm.{number}-1.scope")
    wait_until(lambda: receipts(f"slurm.{number}"), "receipt")
    assert not processes_with("7304")
    expect_nothing_left()


# The epilogue

def test_a_job_without_a_batch_script_ends_when_slurm_says_so(cluster):
    """If a job has no task for a certain time (jobs.linger), pinfoldd normally ends the job. In this test, the job lives until Slurm ends the job."""
    granted = run("runuser", "-u", "alice", "--", "salloc", "--chdir=/tmp", "--no-shell", "--immediate=60")
    number = int(granted.stderr.split("job allocation ")[1].split()[0])
    run("runuser", "-u", "alice", "--", "srun", f"--jobid={number}", "--chdir=/tmp", "true")
    assert f"slurm.{number}" in live_jobs() and not receipts(f"slurm.{number}")
    run("scancel", number)
    slurm.wait_idle()
    assert f"slurm.{number}" not in live_jobs() and receipts(f"slurm.{number}")[0]["tasks"] == 1
    expect_nothing_left()


def test_the_sites_own_epilogue_runs_too(cluster, epilogs):
    (epilogs / "pinfold").symlink_to(slurm.EPILOGUE)
    (epilogs / "site").write_text("#!/bin/sh\ntouch /tmp/sites-epilogue\n")
    (epilogs / "site").chmod(0o755)
    slurm.start(Epilog=epilogs / "*")
    done = run("runuser", "-u", "alice", "--", "srun", "--chdir=/tmp", "sh", "-c", "echo $SLURM_JOB_ID; exit 9", check=False)
    slurm.wait_idle()
    [receipt] = receipts(f"slurm.{done.stdout.strip()}")
    assert receipt["exit_status"] == 9 and Path("/tmp/sites-epilogue").exists()


def test_the_epilogue_knows_its_caller():
    alone = run("env", "--unset=SLURM_JOB_ID", slurm.EPILOGUE, check=False)
    assert alone.returncode == 1 and "SLURM_JOB_ID is not the number of a job" in alone.stderr
    assert run("env", "SLURM_JOB_ID=123456", slurm.EPILOGUE).stderr == "", "a job that pinfold does not know is over"


# Without pinfoldd

def test_no_job_starts_without_pinfoldd_and_the_node_is_drained(cluster, outage):
    outage()
    number = slurm.submit("touch /tmp/ran-without", "--output=/tmp/refused")
    wait_until(lambda: "DRAIN" in slurm.node_state(), "the node drained")
    slurm.wait_state(number, "PENDING")
    assert not Path("/tmp/ran-without").exists() and slurm.job(number)["Restarts"] == "1"
    assert f"pinfold: job {number} does not run without a scope: pinfoldd is not" in Path("/tmp/refused").read_text()
    assert f"slurm-epilogue: slurm.{number}: pinfoldd is not" in slurm.LOG.read_text()
    run("systemctl", "start", "pinfoldd.socket")
    slurm.put_back()
    slurm.start_now(number, "COMPLETED")
    assert receipts(f"slurm.{number}") and Path("/tmp/ran-without").exists()


def test_a_drained_node_requeues_batch_jobs_and_refuses_steps(cluster):
    live = slurm.submit("until [ -e /tmp/go5 ]; do sleep 0.1; done; srun true; exit 4")
    wait_running(f"slurm.{live}")
    with drained():
        number = slurm.submit("touch /tmp/ran-drained", "--output=/tmp/refused-drained")
        wait_until(lambda: slurm.job(number)["Restarts"] == "1", "the job requeued")
        slurm.wait_state(number, "PENDING")
        assert "does not run without a scope: this node takes no jobs for now" in Path("/tmp/refused-drained").read_text()
        step = run("runuser", "-u", "alice", "--", "srun", "--chdir=/tmp", "touch", "/tmp/ran-drained", check=False)
        assert step.returncode != 0 and not Path("/tmp/ran-drained").exists()
        Path("/tmp/go5").touch()
        assert slurm.wait_state(live, "FAILED")["ExitCode"] == "4:0", "it went on, with a step that came after the drain"
        slurm.wait_idle()  # to Slurm, the node is a node as any
    slurm.start_now(number, "COMPLETED")
    assert Path("/tmp/ran-drained").exists()


def test_a_job_that_must_not_be_requeued_fails(cluster, outage):
    outage()
    number = slurm.submit("touch /tmp/ran-without-3", "--no-requeue", "--output=/tmp/refused-3")
    assert slurm.wait_state(number, "FAILED")["ExitCode"] == "0:9"
    assert "is not requeued" in Path("/tmp/refused-3").read_text() and not Path("/tmp/ran-without-3").exists()


def test_a_step_that_can_not_be_contained_does_not_run(cluster, outage):
    outage()
    done = run("runuser", "-u", "alice", "--", "srun", "--chdir=/tmp", "-n2", "touch", "/tmp/ran-without-4", check=False)
    assert done.returncode != 0 and not Path("/tmp/ran-without-4").exists()


def test_an_outage_at_the_end_drains_the_node_until_it_is_known_to_be_empty(cluster, outage):
    number = slurm.submit(leaving("set-sid", 7401) + "; until [ -e /tmp/go3 ]; do sleep 0.1; done; exit 5")
    wait_running(f"slurm.{number}")
    outage()
    Path("/tmp/go3").touch()
    job = slurm.wait_state(number, "FAILED")
    assert job["ExitCode"] == "5:0", "Slurm hears its own"
    wait_until(lambda: "DRAIN" in slurm.node_state(), "the node drained")
    assert processes_with("7401")
    run("systemctl", "start", "pinfoldd")
    expect_nothing_left()
    assert not processes_with("7401") and receipts(f"slurm.{number}")[0]["leftovers"] == 1


def test_a_site_may_let_jobs_run_unconfined(cluster, outage):
    configure(WARN + 'on_failure = "run-unconfined"\n')
    outage()
    number = slurm.submit("tail -n1 /proc/self/cgroup; exit 2")
    slurm.wait_state(number, "FAILED")
    assert "slurmd.service" in output(number)
    assert slurm.node_state() == "IDLE"
    wait_for_entries(f"slurm.{number}", "run-unconfined")
