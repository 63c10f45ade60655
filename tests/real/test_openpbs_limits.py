# SPDX-License-Identifier: LGPL-2.1-or-later
"""Under a real OpenPBS, the tests check the limits of jobs, and what happens if SIGKILL cannot end a process. The tests need a virtual machine,
because it has all controllers."""

import re
import signal
from pathlib import Path

import pytest

import openpbs
from frozen import frozen  # noqa: F401
from jobs import BATCH, processes_with, run, wait_until
from nodes import set_site
from openpbs import Job, vnode
from two_hosts import outcome

MIB = 1 << 20

# The command allocates the given number of MiB, and keeps the memory until the test lets the job end.
HOLDS = """/usr/bin/python3 -c "
import os, time
held = [b'x' * (1 << 20) for _ in range({})]
name = os.environ['HOME'] + '/' + os.environ['PBS_JOBID']
open(name + '.runs', 'w').close()
while not os.path.exists(name + '.go'): time.sleep(0.1)"
echo over"""

# The command writes a file of the given number of MiB, which the kernel keeps in memory. The command needs little address space, because it does not
# map the file. MoM limits each process's address space to vmem (RLIMIT_AS). MoM ends a job if the sum of its processes' address spaces is larger
# than vmem.
FILLS = "dd if=/dev/zero of=/dev/shm/filled bs=1M count={}; echo over"


def in_slice(job, file):
    return (BATCH / f"batch-{job.key}.slice" / file).read_text().strip()


def let_go(job):
    (job.home / f"{job.id}.go").touch()
    return job.wait()


def was_killed_for_memory(job):
    receipt, shown = job.receipt(), job.shown()
    print(job.output(), shown["Exit_status"], shown["resources_used"], receipt["result"], receipt["oom_line"])
    assert (receipt["result"], receipt["oom_cause"]) == ("out-of-memory", "own-limit")
    assert shown["Exit_status"] == 256 + signal.SIGKILL and "over" not in job.output().splitlines()
    assert receipt["oom_line"] in job.output().splitlines()
    return receipt, shown


def test_a_job_over_its_memory_reads_of_it_in_its_own_output():
    receipt, shown = was_killed_for_memory(Job(HOLDS.format(200), "-l", "select=1:ncpus=1:mem=48mb").wait())
    assert re.fullmatch(rf"Cgroup memory limit exceeded: Killed process {receipt['oom_victim']} \(python3\), .*limit 48M.*", receipt["oom_line"])
    kilobytes = int(re.fullmatch("([0-9]+)kb", shown["resources_used"]["mem"]).group(1))
    assert kilobytes == -(-receipt["memory_need"] // 1024) and 40 * 1024 <= kilobytes <= 48 * 1024


@pytest.fixture
def swap():
    file = Path("/swap")
    run("dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=256")
    file.chmod(0o600)
    run("mkswap", file)
    run("swapon", file)
    yield
    run("swapoff", file)
    file.unlink()


@pytest.fixture
def shared_memory():
    yield
    Path("/dev/shm/filled").unlink(missing_ok=True)


def test_vmem_is_memory_and_swap_together(swap, shared_memory):
    asks = ["-l", "select=1:ncpus=1:mem=48mb:vmem=96mb"]
    fits = Job(HOLDS.format(64), *asks)
    fits.wait_file(f"{fits.id}.runs")
    used = {file: int(in_slice(fits, file)) >> 20 for file in ("memory.max", "memory.swap.max", "memory.current", "memory.swap.current")}
    print(used)
    assert (used["memory.max"], used["memory.swap.max"]) == (48, 48) and used["memory.swap.current"] >= 16
    assert outcome(let_go(fits).receipt()) == ("exited", 0, None)
    was_killed_for_memory(Job(FILLS.format(128), *asks).wait())


def test_vmem_alone_is_all_memory(swap, shared_memory):
    was_killed_for_memory(Job(FILLS.format(96), "-l", "select=1:ncpus=1:vmem=64mb").wait())


def test_one_process_gets_no_more_than_vmem_from_mom():
    job = Job(HOLDS.format(96), "-l", "select=1:ncpus=1:vmem=64mb").wait()
    print(job.output(), outcome(job.receipt()))
    assert "MemoryError" in job.output().splitlines()
    assert outcome(job.receipt()) == ("exited", 0, None) and job.receipt()["oom_cause"] is None


@pytest.fixture
def slots():
    yield lambda means: set_site("node1", f'[jobs]\nslots = "{means}"\n')
    set_site("node1", "")


SPINS = """for i in 1 2 3; do while [ ! -e $HOME/$PBS_JOBID.go ]; do :; done & done
touch $HOME/$PBS_JOBID.runs
wait"""


def test_ncpus_is_a_weight_by_default():
    job = Job(HOLDS.format(1), "-l", "select=1:ncpus=3")
    job.wait_file(f"{job.id}.runs")
    assert in_slice(job, "cpu.weight") == "300"
    let_go(job)


def test_ncpus_is_a_quota_where_the_site_says_so(slots):
    slots("quota")
    job = Job(SPINS, "-l", "select=1:ncpus=1")
    job.wait_file(f"{job.id}.runs")
    assert in_slice(job, "cpu.max") == "100000 100000"
    wait_until(lambda: dict(map(str.split, in_slice(job, "cpu.stat").splitlines()))["nr_throttled"] != "0", "three processes are throttled")
    receipt = let_go(job).receipt()
    print(receipt["cpu_user"] + receipt["cpu_system"], "us in", receipt["wall"], "us,", job.shown()["resources_used"])
    assert receipt["cpu_user"] + receipt["cpu_system"] < 1.25 * receipt["wall"]


def test_ncpus_is_cpus_for_the_job_alone_where_the_site_says_so(slots):
    slots("cpus")
    script = "grep Cpus_allowed_list /proc/self/status; " + HOLDS.format(1)
    jobs = [Job(script, "-l", "select=1:ncpus=2") for _ in range(2)]
    for job in jobs:
        job.wait_file(f"{job.id}.runs")
    cpus = [in_slice(job, "cpuset.cpus.effective") for job in jobs]
    print(cpus)
    assert len(set(cpus)) == 2 and all(re.fullmatch("(0-1|2-3|4-5|6-7)", both) for both in cpus), "whole cores"
    for job, both in zip(jobs, cpus):
        assert let_go(job).output().split()[1] == both and job.receipt()["allocated_cpus"] == both


def test_the_limits_are_those_of_the_allotted_share_and_follow_it():
    with openpbs.prune("1:ncpus=2:mem=64mb:vmem=96mb"):
        job = Job(HOLDS.format(1), "-l", "select=2:ncpus=2:mem=64mb:vmem=96mb", "-W", "tolerate_node_failures=job_start")
        job.wait_file(f"{job.id}.runs")
    wait_until(lambda: in_slice(job, "memory.max") == str(64 * MIB), "the smaller share")
    print(job.shown()["exec_vnode"], {file: in_slice(job, file) for file in ("memory.max", "memory.swap.max")})
    assert in_slice(job, "memory.swap.max") == str(32 * MIB)
    let_go(job)


def test_a_vnode_that_an_administrator_has_set_offline_stays_so(frozen):  # noqa: F811
    """While SIGKILL cannot end a process of a job, pinfold sets the vnodes of the host offline. pinfold does not touch a vnode that an administrator
    has set offline."""
    for folder in frozen.parents[1:3]:
        folder.chmod(0o755)  # without this mode, the job's user could not enter pytest's directory
    set_site("node1", '[unkillable]\nafter = "2s"\n')
    with openpbs.second_vnode("node1"):
        openpbs.take_away("second", "mine")
        job = Job(f"exec dd if=/dev/zero of={frozen}/file bs=4k count=1", node="node1")
        [pid] = wait_until(lambda: processes_with(f"of={frozen}/file"), "it runs")
        wait_until(lambda: "rwsem" in Path(f"/proc/{pid}/wchan").read_text(), "it hangs")
        run("pinfold", "stop", "--grace=0", job.key)
        wait_until(lambda: "offline" in vnode("node1")["state"], "node1 is offline", 600)
        print(vnode("node1")["state"], vnode("node1")["comment"], "|", vnode("second")["state"], vnode("second")["comment"])
        assert job.key in vnode("node1")["comment"] and vnode("second")["comment"] == "mine"
        run("fsfreeze", "--unfreeze", frozen)
        openpbs.wait_back("node1")
        assert "comment" not in vnode("node1")
        assert (vnode("second")["state"], vnode("second")["comment"]) == ("offline", "mine")
        job.wait()
    set_site("node1", "")
