# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how pinfold measures the memory need of jobs. The kernel of the node must count memory. The memory need of a job includes shared memory, but
not page cache."""

import json
import os
import re
import subprocess
from itertools import accumulate
from pathlib import Path

from jobs import expect_nothing_left, finish, receipts, run, start_job, wait_for_entries, wait_until

MIB = 1024 * 1024
CONFIG = Path("/etc/pinfold/pinfold.toml.d/profile.toml")

# Reads a file that is three times as large as the memory limit.
READER = """
import os, time
with open("/var/tmp/pinfold-need", "wb") as file:
    for _ in range(192):
        file.write(bytes(1 << 20))
with open("/var/tmp/pinfold-need", "rb") as file:
    end = time.monotonic() + 6
    while time.monotonic() < end:
        file.seek(0)
        while file.read(1 << 20):
            pass
os.unlink("/var/tmp/pinfold-need")
"""

SHARER = """
import os, sys
with open("/dev/shm/pinfold-need", "wb") as file:
    for _ in range(40):
        file.write(b"x" * (1 << 20))
print("full", flush=True)
sys.stdin.readline()
os.unlink("/dev/shm/pinfold-need")
"""

# The memory of this program grows by 10 MiB each second. The program measures its anonymous memory again and again, and adds up the products of
# memory and time. At the end, the program prints a time and a sum for each measurement.
LEAK = """
import json, time
def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))
held, area, areas, begin = [], 0, [], time.monotonic()
last, before = begin, anonymous()
for step in range(1, 161):
    held.append(b"x" * (10 << 18))
    time.sleep(max(0, begin + step / 4 - time.monotonic()))
    now, memory = time.monotonic(), anonymous()
    area += (now - last) * (before + memory) / 2
    areas.append((time.time(), area))
    last, before = now, memory
print(json.dumps(areas), flush=True)
"""


def python(program):
    return ["/usr/bin/python3", "-c", program]


def plot(key):
    return json.loads(run("pinfold", "plot", "--json", key).stdout)


def test_page_cache_is_not_needed():
    job = start_job("need.reader", *python(READER), options=["--memory-max=64M"])
    assert finish(job)[0] == 0
    [receipt] = receipts("need.reader")
    assert receipt["memory_peak"] > 60 * MIB, "the page cache filled the job's memory"
    assert 2 * MIB < receipt["memory_need"] < 24 * MIB
    page = run("pinfold", "why", "need.reader").stdout
    assert f"{receipt['memory_need'] / (64 * MIB):.2%} of 64M" in page and "at the peak with page cache" in page
    assert max(plot("need.reader")["cache"]["max"]) > 30 * MIB
    expect_nothing_left()


def test_shared_memory_is_needed():
    job = start_job("need.sharer", *python(SHARER), options=["--memory-max=256M"], stdin=subprocess.PIPE)
    assert job.stdout.readline() == "full\n"
    usage = json.loads(run("pinfold", "status", "--json", "need.sharer").stdout)["job"]["usage"]
    assert usage["memory_shmem"] >= 40 * MIB and usage["memory_need"] >= 40 * MIB
    job.stdin.write("go\n")
    assert finish(job)[0] == 0
    [receipt] = receipts("need.sharer")
    assert 40 * MIB <= receipt["memory_need"] <= 80 * MIB
    expect_nothing_left()


def test_a_leak_is_a_ramp_with_its_true_area():
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text('[profile]\ninterval = "5s"\n')
    try:
        run("pinfold", "reload")
        job = start_job("need.leak", *python(LEAK), options=["--memory-max=1G"])
        status, out, _ = finish(job)
    finally:
        CONFIG.unlink()
        run("pinfold", "reload")
    assert status == 0
    [receipt] = receipts("need.leak")
    profile = plot("need.leak")
    seconds = [length / 1e6 for length in profile["lengths"]]
    assert len(seconds) <= 120
    assert abs(sum(seconds) - receipt["wall"] / 1e6) < 0.1
    memory = profile["anon"]["mean"]
    areas = [(time - receipt["started"] / 1e6, area) for time, area in json.loads(out)]
    # The job measures its own memory. After the last measurement by the job, an emulated machine can need seconds to free the memory. While the
    # kernel frees the job's memory, pinfoldd can measure the job several times. The test ignores what pinfoldd measured after the last
    # measurement by the job.
    looks = [end for end in accumulate(seconds) if end <= areas[-1][0]]
    grown = memory[:len(looks)]
    assert len(grown) >= 8 and grown == sorted(grown), "it grows from each look to the next"
    area = sum(mean * length for mean, length in zip(grown, seconds))
    truth = next(area for time, area in areas if time >= looks[-1])
    assert abs(area - truth) <= 0.05 * truth, (area, truth, profile)
    expect_nothing_left()


# Quickly allocates nine tenths of the limit of 64 MiB, and stays below the limit.
NEAR = """
import sys
held = b"x" * (59 << 20)
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_job_near_its_memory_limit_is_told_once():
    job = start_job("need.near", *python(NEAR), options=["--memory-max=64M"], stdin=subprocess.PIPE)
    assert job.stdout.readline() == "held\n"
    line = job.stderr.readline()  # pinfoldd measures a new job after 1, 2, 4, 8 and 16 s
    words = rf"pinfold: job need\.near on {os.uname().nodename} needs [\d.]+M of memory, 9\d% of its limit of 64M \([\dT:-]+Z\)\. .*kills the job\.\n"
    assert re.fullmatch(words, line), line
    [entry] = wait_for_entries("need.near", "limit-near")
    assert entry["PINFOLD_LIMIT"] == "memory_max"
    looks = len(plot("need.near")["anon"]["max"])
    wait_until(lambda: len(plot("need.near")["anon"]["max"]) > looks, "one more look")
    assert job.communicate("\n")[1] == "", "one line, and only once"
    assert job.returncode == 0
    expect_nothing_left()
