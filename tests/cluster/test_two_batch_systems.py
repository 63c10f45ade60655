# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grid Engine and Slurm run jobs on one node at the same time, while pinfoldd stops and starts repeatedly."""

import itertools

import pytest

import grid_engine
import slurm
from grid_engine import Job
from jobs import ESCAPIST, daemon_ready, expect_nothing_left, live_jobs, main_pid, processes_with, receipts, run, wait_until
from nodes import set_site

JOBS = 40  # of each
# Each Slurm job has a memory limit. A container cannot enforce the limit, because it does not have a memory controller.
SITE = '[jobs]\nunenforced_limits = "warn"\n'
MARK = "8801"


@pytest.fixture(scope="module", autouse=True)
def both(cell):
    set_site("node1", SITE)
    grid_engine.configure(shepherd_cmd=grid_engine.PINFOLD)
    slurm.start()
    yield
    slurm.cancel_all()
    run("systemctl", "stop", "slurmd", "slurmctld")


def script(number):
    """Returns a script that leaves a daemon behind, takes some time, and exits with a status that depends on `number`."""
    return f"{ESCAPIST} set-sid {MARK}; sleep 0.{number % 10}; exit {number % 7}"


def restart():
    before = main_pid()
    run("systemctl", "restart", "pinfoldd")
    daemon_ready(before)


def kill():
    before = main_pid()
    run("systemctl", "kill", "--signal=KILL", "pinfoldd")
    daemon_ready(before)


def test_every_job_of_both_has_its_one_receipt():
    cell, cluster = [], []
    for number in range(JOBS):
        cell.append(Job(script(number), node="node1"))
        cluster.append(slurm.submit(script(number)))
        if number % 5 == 4:
            (kill if number % 2 else restart)()
    disturbances = itertools.cycle([kill, restart])

    def over():
        next(disturbances)()
        return not any(job.state() for job in cell) and run("squeue", "--noheader").stdout == ""
    wait_until(over, "the end of all jobs", 180)

    assert not processes_with(MARK)
    expect_nothing_left()
    statuses = {f"sge.{job.id}": number % 7 for number, job in enumerate(cell)}
    statuses |= {f"slurm.{job}": number % 7 for number, job in enumerate(cluster)}
    found = [receipt for receipt in receipts() if receipt["key"] in statuses]
    assert sorted(receipt["key"] for receipt in found) == sorted(statuses), "one each"
    assert {receipt["key"]: receipt["exit_status"] for receipt in found} == statuses
    # If Grid Engine's shepherd kills the processes of a job before pinfoldd does, the job's receipt has no leftovers.
    assert {receipt["leftovers"] for receipt in found if receipt["key"].startswith("slurm.")} == {1}
    for number, (job, slurms) in enumerate(zip(cell, cluster)):
        assert job.account()["exit_status"].split()[0] == str(number % 7)
        assert slurm.completed(slurms)["JobState"] == ("COMPLETED" if number % 7 == 0 else "FAILED")
    assert {job.account()["failed"].split()[0] for job in cell} == {"0"}


def test_each_sees_only_its_own():
    ours = Job("sleep 1000", node="node1")
    theirs = slurm.submit("sleep 1000")
    wait_until(lambda: {f"sge.{ours.id}", f"slurm.{theirs}"} <= set(live_jobs()), "both running")
    ours.delete()
    ours.wait()
    assert set(live_jobs()) == {f"slurm.{theirs}"}
    run("scancel", theirs)
    slurm.wait_state(theirs, "CANCELLED")
    expect_nothing_left()
