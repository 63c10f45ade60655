# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits, where the kernel has all controllers: they are in the cgroup files, systemd shows them, and they bite."""

import re
from pathlib import Path

import pytest

from jobs import BATCH, expect_nothing_left, finish, receipts, run, start_job, wait_running

MIB = 1024 * 1024

# option, value, cgroup file and what it then says, systemd's property and what it then shows
LIMITS = {
    "memory_max": ("--memory-max=64M", "memory.max", str(64 * MIB), "MemoryMax", str(64 * MIB)),
    "cpu_quota": ("--cpu-quota=30%", "cpu.max", "30000 100000", "CPUQuotaPerSecUSec", "300ms"),
    "cpu_weight": ("--cpu-weight=50", "cpu.weight", "50", "CPUWeight", "50"),
    "allowed_cpus": ("--allowed-cpus=1", "cpuset.cpus", "1", "AllowedCPUs", "1"),
    "tasks_max": ("--tasks-max=20", "pids.max", "20", "TasksMax", "20"),
}

HOG = """
import sys
held = []
for mib in range(int(sys.argv[1])):
    held.append(bytearray(b"x" * 1024 * 1024))
print("held", len(held), flush=True)
"""

FORKS = """
import errno, os, select
children = 0
gate, hold = os.pipe()
while children < 100:
    try:
        if os.fork() == 0:
            os.close(hold)
            select.select([gate], [], [])
            os._exit(0)
    except OSError as error:
        print(errno.errorcode[error.errno], children, flush=True)
        break
    children += 1
"""

SPIN = """
import time
while time.process_time() < 0.5:
    pass
"""


def units_of(key):
    return BATCH / f"batch-{key}.slice", BATCH / f"batch-{key}.slice" / f"job-{key}.scope"


def values(path):
    return dict(line.split() for line in path.read_text().splitlines())


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_in_the_cgroup_and_in_what_systemd_shows(limit):
    option, file, in_file, name, shown = LIMITS[limit]
    key = f"limit.{limit.replace('_', '')}"
    job = start_job(key, "sleep", "1000", options=[option])
    wait_running(key)
    for cgroup in units_of(key):
        assert (cgroup / file).read_text().strip() == in_file
        assert run("systemctl", "show", "-P", name, cgroup.name).stdout.strip() == shown
    run("pinfold", "stop", key)
    finish(job)
    expect_nothing_left()


def test_memory_max_kills_the_hog_and_nobody_else():
    witness = start_job("limit.witness", "sh", "-c", "read word; exit 6", stdin=-1)
    wait_running("limit.witness")
    status, out, err = finish(start_job("limit.hog", "python3", "-c", HOG, "200", options=["--memory-max=64M"]))
    assert (status, out) != (0, "held 200\n")
    assert "held" not in out, err
    receipt = receipts("limit.hog")[0]
    assert receipt["oom_kills"] >= 1
    assert 32 * MIB <= receipt["memory_peak"] <= 64 * MIB
    assert receipt["memory_max"] == 64 * MIB
    witness.stdin.write("go\n")
    assert finish(witness)[0] == 6
    assert receipts("limit.witness")[0]["oom_kills"] == 0
    expect_nothing_left()


def test_a_job_below_its_memory_max_is_left_alone():
    status, out, err = finish(start_job("limit.modest", "python3", "-c", HOG, "20", options=["--memory-max=64M"]))
    assert (status, out) == (0, "held 20\n"), err
    assert receipts("limit.modest")[0]["oom_kills"] == 0


def test_tasks_max_stops_forks():
    status, out, err = finish(start_job("limit.forks", "python3", "-c", FORKS, options=["--tasks-max=20"]))
    assert status == 0, err
    assert out == "EAGAIN 19\n"
    assert receipts("limit.forks")[0]["tasks_peak"] == 20
    expect_nothing_left()


def test_cpu_quota_throttles():
    key = "limit.quota"
    script = f"python3 -c '{SPIN}'; echo spun; read word"
    job = start_job(key, "sh", "-c", script, options=["--cpu-quota=20%"], stdin=-1)
    assert job.stdout.readline() == "spun\n"
    cgroup, _ = units_of(key)
    stat = values(cgroup / "cpu.stat")
    assert int(stat["nr_throttled"]) > 0
    assert int(stat["throttled_usec"]) > 0
    job.stdin.write("go\n")
    assert finish(job)[0] == 0
    receipt = receipts(key)[0]
    used = receipt["cpu_user"] + receipt["cpu_system"]
    assert used >= 500_000
    # A fifth of the wall time, and the period that was running at its end.
    assert used <= receipt["wall"] / 5 + 100_000


@pytest.mark.parametrize("cpu", ["0", "1"])
def test_allowed_cpus_are_the_processes_own(cpu):
    status, out, err = finish(start_job(f"limit.cpus{cpu}", "cat", "/proc/self/status", options=[f"--allowed-cpus={cpu}"]))
    assert status == 0, err
    assert re.search(r"^Cpus_allowed_list:\s*(\S+)$", out, re.M).group(1) == cpu


def test_run_time_max_ends_the_job():
    status, _, err = finish(start_job("limit.time", "sleep", "1000", options=["--run-time-max=2s"]))
    assert status != 0, err
    receipt = receipts("limit.time")[0]
    assert receipt["result"] == "timeout"
    assert receipt["wall"] >= 2_000_000
    assert receipt["run_time_max"] == 2_000_000
    expect_nothing_left()


def test_all_limits_together():
    key = "limit.all"
    job = start_job(key, "sleep", "1000", options=[option for option, *_ in LIMITS.values()])
    wait_running(key)
    for _, file, in_file, _, _ in LIMITS.values():
        for cgroup in units_of(key):
            assert (cgroup / file).read_text().strip() == in_file
    leader = Path(units_of(key)[1] / "cgroup.procs").read_text().split()
    assert len(leader) == 1
    run("pinfold", "stop", key)
    finish(job)
    expect_nothing_left()
