# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the CPUs, memory nodes and GPUs that pinfoldd gives to one job. Tests which part of the node is available to jobs. The machine has two
sockets of two cores, and each core has two hyper-threads. Memory node 0 has the CPUs 0-3, and memory node 1 has the CPUs 4-7."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import BATCH, daemon_ready, expect_nothing_left, finish, main_pid, receipts, run, start_job, wait_until

MIB = 1024 * 1024
MODES = [[], ["--exec"]]

WHERE = """
import os, signal
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(status["Cpus_allowed_list"].strip(), status["Mems_allowed_list"].strip(), os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
signal.pause()
"""


@pytest.fixture
def configure():
    file = Path("/etc/pinfold/pinfold.toml.d/allocation.toml")

    def write(text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        run("systemctl", "reload", "pinfoldd")
    yield write
    file.unlink(missing_ok=True)
    run("systemctl", "reload", "pinfoldd")


def start(key, *options):
    """Starts a job. Returns the job, and the CPUs and memory nodes that the job's process has printed."""
    job = start_job(key, "/usr/bin/python3", "-c", WHERE, options=options)
    return job, job.stdout.readline().split()


def end(*jobs):
    for job in jobs:
        job.send_signal(signal.SIGKILL if job.args[3] == "--exec" else signal.SIGTERM)
        finish(job)
    expect_nothing_left()


@pytest.mark.parametrize("mode", MODES, ids=["supervise", "exec"])
def test_a_job_runs_on_its_own_cores_and_their_memory(mode):
    first, where = start("alloc.1", *mode, "--cpus=1")
    assert where[:2] == ["0-1", "0"], "a core is never divided"
    second, where = start("alloc.2", *mode, "--cpus=4")
    assert where[:2] == ["4-7", "1"], "one memory node, not two halves"
    refused = run("pinfold-run", "--job", "alloc.3", "--cpus=4", "--", "true", check=False)
    assert refused.returncode == 125
    assert "4 CPUs requested, but only 2 of 8 are free now" in refused.stderr
    assert "CPUs 4-7" in run("pinfold", "status", "alloc.2").stdout

    before = main_pid()
    os.kill(before, signal.SIGKILL)
    daemon_ready(other_than=before)
    third, where = start("alloc.3", *mode, "--cpus=2")
    assert where[:2] == ["2-3", "0"], "what the others have outlives pinfoldd"
    assert (BATCH / "batch-alloc.3.slice/cpuset.cpus.effective").read_text().strip() == "2-3"
    end(first, second, third)
    assert receipts("alloc.2")[0]["allocated_cpus"] == "4-7"
    assert receipts("alloc.2")[0]["allowed_memory_nodes"] == "1"


def test_what_the_batch_system_chose():
    job, where = start("alloc.given", "--cpu-list=1,6")
    assert where[:2] == ["1,6", "0-1"]
    refused = run("pinfold-run", "--cpu-list=6-8", "--", "true", check=False)
    assert refused.returncode == 125 and "CPUs 8 do not exist" in refused.stderr
    end(job)


def test_an_exclusive_job_has_the_node_for_itself():
    job, where = start("alloc.all", "--exclusive")
    assert where[:2] == ["0-7", "0-1"]
    refused = run("pinfold-run", "--", "true", check=False)
    assert refused.returncode == 125 and "an exclusive job has the node for itself: job 'alloc.all'" in refused.stderr
    end(job)
    run("pinfold-run", "--", "true")


@pytest.mark.parametrize("policy, cpus, reserved", [("share", "0-3", "4-7"), ("idle", "0,2", "4,6")])
def test_hyper_threads(configure, policy, cpus, reserved):
    configure(f'[allocation]\nhyper_threads = "{policy}"\n')
    first, where = start("alloc.first", "--cpus=2")
    assert where[0] == cpus
    second, where = start("alloc.second", "--cpus=2")
    assert where[0] == reserved
    end(first, second)


OPENS = """
import errno, os, sys
for device in sys.argv[1:]:
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_NONBLOCK))
        print("open", end=" ")
    except OSError as error:
        print(errno.errorcode[error.errno], end=" ")
print(os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("ROCR_VISIBLE_DEVICES"))
"""


def openable():
    """Returns three devices of this machine that stand in for GPUs. The function skips devices that every job is allowed to open, such as
    /dev/null."""
    found = []
    for name in ("kmsg", "loop-control", "rtc0", "hwrng", "vda", "mem", "port", "snapshot", "input/event0"):
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
            found.append(f"/dev/{name}")
        except OSError:
            pass
    assert len(found) >= 3, found
    return found[:3]


@pytest.mark.parametrize("mode", MODES, ids=["supervise", "exec"])
def test_a_job_opens_its_own_gpus_alone(configure, mode):
    gpu0, gpu1, common = openable()
    configure(f'[gpus]\ndevices = ["{gpu0}", "{gpu1}"]\ncommon = ["{common}"]\n')

    def opened(key, *options):
        job = start_job(key, "/usr/bin/python3", "-c", OPENS, gpu0, gpu1, common, "/dev/null", options=[*mode, *options])
        status, out, err = finish(job)
        assert status == 0, err
        return out.split()

    assert opened("gpu.none") == ["EPERM", "EPERM", "EPERM", "open", "None", "None"]
    assert opened("gpu.one", "--gpus=1") == ["open", "EPERM", "open", "open", "0", "0"]
    assert opened("gpu.given", "--gpu-list=1") == ["EPERM", "open", "open", "open", "0", "0"]
    holder, where = start("gpu.holder", *mode, "--gpus=1")
    assert where[2] == "0"
    assert opened("gpu.other", "--gpus=1") == ["EPERM", "open", "open", "open", "0", "0"]
    refused = run("pinfold-run", "--gpus=2", "--", "true", check=False)
    assert refused.returncode == 125 and "2 GPUs requested, but only 1 are free now" in refused.stderr
    end(holder)
    assert receipts("gpu.other")[0]["allocated_gpus"] == "1"


def batch(file):
    return (BATCH / file).read_text().strip()


def test_batch_slice_gets_what_is_not_reserved(configure):
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    job, where = start("share.1", "--tasks-max=10")
    configure('[node]\nreserve_memory = "512M"\nreserve_cpus = 1\n')
    wait_until(lambda: batch("memory.max") == str((total - 512 * MIB) // 4096 * 4096), "the node's share")
    wait_until(lambda: batch("cpuset.cpus.effective") == "2-7", "the CPUs' share")
    assert Path(f"/proc/{os.getpid()}/cgroup").read_text().find("batch.slice") == -1
    other, where = start("share.2", "--cpus=2")
    assert where[0] == "2-3"
    seen = json.loads(run("pinfold", "status", "--json").stdout)["resources"]
    assert seen["cpus"] == {"total": 8, "kept": 2, "given": 2, "free": 4, "unlimited_jobs": 1}
    assert (seen["memory"]["total"], seen["memory"]["kept"]) == (total, total - int(batch("memory.max")))
    refused = run("pinfold-run", "--allowed-cpus=0", "--", "true", check=False)
    assert "CPUs 0 are not all available: jobs on this node may use 2-7" in refused.stderr

    before = main_pid()
    run("systemctl", "restart", "pinfoldd")
    daemon_ready(other_than=before)
    assert batch("memory.max") != "max"
    configure("")
    wait_until(lambda: batch("memory.max") == "max", "no reserve, no limit")
    wait_until(lambda: batch("cpuset.cpus.effective") == "0-7", "no reserve, all CPUs")
    end(job, other)


HOLD_CACHE = """
import signal, sys
path = sys.argv[1]
with open(path, "wb") as out:
    for _ in range(64):
        out.write(b"x" * 1024 * 1024)
import os
os.sync()
with open(path, "rb") as again:
    while again.read(1024 * 1024):
        pass
print("cached", flush=True)
signal.pause()
"""

# Allocates 16 MiB for each line that it receives.
EAT = """
import sys
held = []
for line in sys.stdin:
    held.append(bytearray(b"x" * 16 * 1024 * 1024))
    print("eaten", flush=True)
"""


def cached(key):
    lines = (BATCH / f"batch-{key}.slice/memory.stat").read_text().splitlines()
    return int(dict(line.split() for line in lines)["file"])


@pytest.fixture
def plain_lru():
    """Turns off the kernel's multi-generational LRU, which is the default in Debian 13 and reclaims protected memory, too."""
    switch = Path("/sys/kernel/mm/lru_gen/enabled")
    if not switch.exists():
        yield
        return
    before = switch.read_text()
    switch.write_text("n")
    yield
    switch.write_text(before)


def test_memory_low_protects_from_the_rest_of_the_node(plain_lru):
    jobs = []
    for key, options in (("low.kept", ["--memory-low=80M"]), ("low.lost", [])):
        job = start_job(key, "/usr/bin/python3", "-c", HOLD_CACHE, f"/var/tmp/{key}", options=options)
        assert job.stdout.readline() == "cached\n"
        jobs.append(job)
    assert batch("memory.low") == str(80 * MIB), "the kernel protects no more below a cgroup than the cgroup itself has"
    assert cached("low.kept") >= 64 * MIB and cached("low.lost") >= 64 * MIB
    # The process `eater` runs outside of all jobs. The process `eater` fills the node's memory until the kernel reclaims memory that is not
    # protected.
    eater = subprocess.Popen(["systemd-run", "--pipe", "-q", "-p", "MemorySwapMax=0", "/usr/bin/python3", "-c", EAT],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while cached("low.lost") >= 32 * MIB:
        eater.stdin.write("more\n")
        eater.stdin.flush()
        assert eater.stdout.readline() == "eaten\n", "the node is full, and the unprotected cache is still there"
    assert cached("low.kept") >= 60 * MIB
    eater.stdin.close()
    assert eater.wait(timeout=60) == 0
    end(*jobs)
    wait_until(lambda: not BATCH.exists() or batch("memory.low") == "0", "no job, no protection")
