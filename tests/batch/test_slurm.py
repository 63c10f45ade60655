# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests Slurm on a kernel with all controllers. The kernel enforces Slurm's memory limit. A job runs only on the CPUs to which Slurm has
bound the job. pinfold does not touch jobs in Slurm's own cgroups. The tests in tests/cluster use Slurm's daemons with pinfold's plugin."""

import re
from pathlib import Path

import pytest

import slurm
from jobs import daemon_ready, expect_nothing_left, receipts, run, wait_until

CONFIG = Path("/etc/pinfold/pinfold.toml.d/slurm.toml")
NODE = "node1 Sockets=1 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1000 State=UNKNOWN"


def start(**settings):
    slurm.start(cgroup_plugin="autodetect", **{"NodeName": NODE, "DefMemPerCPU": "100", **settings})


def output(number):
    return Path(f"/tmp/slurm-{number}.out").read_text()


@pytest.fixture(scope="module", autouse=True)
def no_slurm_left():
    yield
    run("systemctl", "stop", "slurmd", "slurmctld", "munge")


def test_the_memory_asked_for_binds_and_the_job_hears_of_it():
    start()
    number = slurm.submit("exec python3 -c 'held = b\"x\" * (200 << 20)'", "--mem=64M")
    slurm.wait_state(number, "FAILED", 300)
    [receipt] = receipts(f"slurm.{number}")
    assert receipt["result"] == "out-of-memory"
    # A thread of pinfoldd writes the line. The thread can be slower than the end of the job.
    wait_until(lambda: "Cgroup memory limit exceeded" in output(number), "the line in the job's output")
    assert output(number).count("Cgroup memory limit exceeded") == 1, output(number)
    expect_nothing_left()


def test_slurms_binding_to_cpus_outlives_the_move_to_the_scope():
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text('[defaults]\nallowed_cpus = "0-3"\n')  # because of the limit, the process moves to a different cpuset
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()
    try:
        start(TaskPlugin="task/affinity")
        number = slurm.submit("srun --cpu-bind=cores grep Cpus_allowed_list /proc/self/status; tail -n1 /proc/self/cgroup")
        slurm.wait_state(number, "COMPLETED", 300)
        [allowed] = re.findall(r"Cpus_allowed_list:\s+(\S+)", output(number))
        assert allowed in ("0-1", "2-3") and f"job-slurm.{number}.scope" in output(number)
    finally:
        CONFIG.unlink()
        run("systemctl", "restart", "pinfoldd")


def test_where_slurm_has_cgroups_pinfold_keeps_its_hands_off():
    start(ProctrackType="proctrack/cgroup", TaskPlugin="task/cgroup")
    number = slurm.submit("tail -n1 /proc/self/cgroup")
    slurm.wait_state(number, "COMPLETED", 300)
    assert "slurmstepd.scope" in output(number)
    assert not receipts(f"slurm.{number}")
    assert f"pinfold: Slurm uses cgroups of its own for job {number}, so pinfold leaves the job alone" in slurm.LOG.read_text()
