# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests Grid Engine on a kernel with all controllers. A job cannot use more resources than it asked for. If the kernel kills the job, the
job's shepherd lives on. The tests in tests/cluster use Grid Engine with pinfold's wrapper."""

import signal
from pathlib import Path

import pytest

import grid_engine
from grid_engine import Job
from jobs import BATCH, ESCAPIST, expect_nothing_left, journal, receipts, run, wait_until

MIB = 1024 * 1024
AFTER_JOB = "100 : assumedly after job"
KILLED = (AFTER_JOB, "137")
# In a slave task, the program qrsh_starter records how the command ended. If qrsh_starter is killed before it has recorded how the command
# ended, the task's shepherd reports STARTER_KILLED.
STARTER_KILLED = (AFTER_JOB, "129")
NODE = "node1"
HOG = "dd if=/dev/zero of=/dev/null bs=400M"  # dd uses as much memory as the size of its buffer
# LIMIT is in MiB. A shepherd of a slave task uses 40 MiB. The kernel kills dd, because dd uses more memory than the shepherd.
LIMIT = 192


@pytest.fixture(scope="module", autouse=True)
def cell():
    grid_engine.start(NODE)
    # Grid Engine does not search for processes that have left the process group, so nobody but pinfold ends them. With KEEP_ACTIVE, Grid
    # Engine keeps the files that a shepherd wrote.
    grid_engine.configure(shepherd_cmd=grid_engine.PINFOLD, execd_params="KEEP_ACTIVE=true,ENABLE_ADDGRP_KILL=false",
                          epilog="/usr/bin/touch /home/$job_owner/$job_id.epilogue")
    yield
    run("systemctl", "stop", "gridengine-exec", "gridengine-master")


def receipt(job):
    found = receipts(job.key())
    assert len(found) == 1, found
    return found[0]


def expect_reported(job, *statuses):
    """Checks that the shepherds were not killed together with the job, and that they have reported `statuses`. After the processes of the job have
    been killed, the shepherd of the batch script runs the epilogue."""
    spools = [file.parent for file in Path(grid_engine.SPOOL, NODE, "active_jobs", f"{job.id}.1").rglob("exit_status")]
    for spool in spools:
        assert not (spool / "error").read_text().startswith("pinfold: "), "which is for a shepherd that was killed"
    usages = [grid_engine.settings((spool / "usage").read_text().replace("=", " ")) for spool in spools]
    assert sorted(usage["exit_status"] for usage in usages) == sorted(statuses)
    assert (job.home / f"{job.id}.epilogue").exists()


def outcome(account):
    """Returns the numbers that qacct shows as `failed` and `exit_status`, without the words that qacct adds to the numbers."""
    return account["failed"], account["exit_status"].split()[0]


def expect_memory_verdict(job, output):
    found = receipt(job)
    assert (found["result"], found["oom_cause"], found["oom_victim_name"]) == ("out-of-memory", "own-limit", "dd")
    assert (found["oom_limit"], found["exit_signal"]) == (LIMIT * MIB, signal.SIGKILL)
    [line] = [line for line in output.splitlines() if line.startswith("Cgroup memory limit exceeded: Killed process")]
    assert f"Killed process {found['oom_victim']} (dd)" in line and f"limit {LIMIT}M" in line
    return found


def test_a_grandchild_in_another_session_over_the_jobs_memory():
    job = Job(f"(setsid {HOG}; true) & sleep 1000", "-l", f"h_rss={LIMIT}M", node=NODE, errors="/home/alice/$JOB_ID.errors").wait(300)
    expect_memory_verdict(job, (job.home / f"{job.id}.errors").read_text())
    assert job.output() == ""
    expect_reported(job, "137")
    assert outcome(job.account()) == KILLED
    expect_nothing_left()


def test_a_slave_task_over_the_jobs_memory():
    job = Job(f"qrsh -inherit {NODE} {HOG}; sleep 1000", "-pe", "mpi", "2", "-l", f"h_rss={LIMIT}M", node=NODE).wait(300)
    assert expect_memory_verdict(job, job.output())["tasks"] == 2
    outcomes = sorted(outcome(account) for account in job.accounts(2))
    assert outcomes in ([KILLED, KILLED], [STARTER_KILLED, KILLED])
    expect_reported(job, *(status for _, status in outcomes))
    expect_nothing_left()


def test_what_a_parallel_job_may_use_and_its_stop():
    job = Job(f"{ESCAPIST} set-sid; grep Cpus_allowed_list /proc/self/status; sleep 1000", "-pe", "smp", "3", "-l", "h_vmem=256M",
              "-binding", "linear:1", node=NODE)
    assert job.wait_output("Cpus_allowed_list:") == ["0-1"], "one core with both its threads"
    used = {name: (BATCH / f"batch-{job.key()}.slice" / name).read_text().strip()
            for name in ("memory.max", "cpu.weight", "cpuset.cpus.effective")}
    assert used == {"memory.max": str(3 * 256 * MIB), "cpu.weight": "300", "cpuset.cpus.effective": "0-1"}
    supervisor = Path("/proc", job.supervisor(), "cgroup")
    wait_until(lambda: supervisor.read_text() == "0::/pinfold.slice\n", "the supervisor out of sge_execd's cgroup")

    run("pinfold", "stop", "--grace=30s", "--wait", job.key())
    expect_reported(job.wait(300), "143")
    found = receipt(job)
    assert (found["result"], found["exit_signal"]) == ("stopped", signal.SIGTERM)
    assert outcome(job.account()) == (AFTER_JOB, "143")
    [line] = [line for line in job.output().splitlines() if line.startswith("pinfold: ")]
    assert line.startswith(f"pinfold: job {job.key()} on ") and " was stopped on request of user root. It ran for " in line
    assert [entry["MESSAGE"] for entry in journal(job.key()) if int(entry["PRIORITY"]) <= 4] == []
    expect_nothing_left()
