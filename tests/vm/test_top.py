# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold top` on a kernel with all controllers. The tests check what `pinfold top` shows about memory, limits, disks and CPU time."""

import json

import pytest

from jobs import expect_nothing_left, finish, run, start_job, wait_until

MIB = 1024 * 1024

WORK = """
held = bytearray(b"x" * (64 * 1024 * 1024))
with open("/var/tmp/pinfold-top", "wb") as file:
    file.write(held)
    file.flush()
    import os
    os.fsync(file.fileno())
os.unlink("/var/tmp/pinfold-top")
print("ready", flush=True)
while True:
    pass
"""


def looks():
    """Returns the rows of the job at the start of `pinfold top` and 3 s later."""
    lines = run("pinfold", "top", "--json", "-n", 2, "-d", 3).stdout
    first, end = json.JSONDecoder().raw_decode(lines)
    [since_start], [row] = first["jobs"], json.loads(lines[end:])["jobs"]
    return since_start, row


def uses_its_quota():
    """Returns the row of the job if the job used its whole quota. The job is an endless loop. If a virtual CPU stands still on a busy host, the
    kernel counts this time as CPU time of the job. If the job exceeds its quota because a virtual CPU stood still, the kernel stops the job for
    several seconds."""
    _, row = looks()
    return row if row["cpu_percent"] == pytest.approx(20, rel=0.3) else None


def test_limits_and_what_is_used_of_them():
    job = start_job("top.all", "/usr/bin/python3", "-c", WORK, options=["--memory-max=256M", "--cpu-quota=20%", "--allowed-cpus=1"])
    assert job.stdout.readline() == "ready\n"
    since_start, row = looks()
    assert row["memory_max"] == 256 * MIB
    assert 64 * MIB <= row["memory_in_use"] <= row["memory_current"] and row["page_cache"] is not None
    assert row["memory_in_use"] <= row["memory_need"] <= row["memory_peak"]
    assert 64 * MIB <= row["memory_current"] <= row["memory_peak"] <= 256 * MIB
    assert since_start["io_write_rate"] > 0 and row["io_write_rate"] is not None
    assert row["tasks_current"] == 1
    row = wait_until(uses_its_quota, "20 % of a CPU", 300)
    assert row["cpu_percent_of_allowed"] == pytest.approx(row["cpu_percent"] / 0.2)
    run("pinfold", "stop", "--grace", "0", "top.all")
    finish(job)
    page = run("pinfold", "why", "top.all").stdout
    assert "core-walltime (0.2 CPUs)" in page and "slowed down by its quota for" in page and "% of 256M\n" in page
    expect_nothing_left()
