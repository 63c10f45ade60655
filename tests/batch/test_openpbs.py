# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the OpenPBS hook on a kernel with all controllers. The tests check memory limits, the used memory, the line about an out-of-memory
kill in the job's output, and a process that SIGKILL cannot end."""

import re
import signal
from pathlib import Path

import pytest

from jobs import BATCH, expect_nothing_left, live_jobs, receipts, run, site, wait_until
from mom import make_job, mom_of_this_host

MIB = 1024 * 1024
HOG = "held = [b'x' * (1 << 20) for _ in range(200)]\nprint('held')"


@pytest.fixture
def mom():
    with mom_of_this_host() as it:
        yield it


def begin(mom, job):
    answer = mom.begin(job)
    assert answer.accepted, answer
    return job


def in_slice(job, file):
    return (BATCH / f"batch-pbs.{job['id']}.slice" / file).read_text().strip()


def output(mom, job, suffix):
    return mom.spool(job, suffix).read_text()


def output_without_warning(mom, job, suffix):
    """pinfoldd measures a new job after 1, 2, 4, 8 and 16 s. If a growing job is near its memory limit at one of these times, pinfoldd writes a
    warning to the standard error of the job. output_without_warning() leaves out the warning."""
    return re.sub(rf"^pinfold: job pbs\.{re.escape(job['id'])} on \S+ needs \S+ of memory, 9\d% of its limit of .*\n", "", output(mom, job, suffix),
                  count=1, flags=re.M)


def test_the_limits_of_all_chunks_are_in_force_before_the_first_process(mom):
    job = begin(mom, make_job("1.srv", "(node1:ncpus=1:mem=64mb:vmem=64mb)+(node2:ncpus=1:mem=1gb)+(node1:ncpus=2:mem=32768kb:vmem=64mb)",
                              ["node1", "node2", "node1"]))
    assert in_slice(job, "memory.max") == str(96 * MIB)
    assert in_slice(job, "memory.swap.max") == str(32 * MIB)
    assert in_slice(job, "cpu.weight") == "300", "the site's jobs.slots is a weight by default"
    job["exec_vnode"] = "(node1:ncpus=1:mem=80mb)"
    job["exec_host2"] = "node1:15002/0"
    assert mom.event("execjob_resize", job).accepted
    wait_until(lambda: in_slice(job, "memory.max") == str(80 * MIB), "the smaller share")
    assert mom.abort(job).accepted
    expect_nothing_left()


def over_its_memory(mom, job):
    child = mom.launch(job, "/bin/sh", "-c", f'/usr/bin/python3 -c "{HOG}"; echo unreached >&2')
    answer = mom.epilogue(job, child)
    assert answer.accepted and mom.end(job).accepted
    return answer


def test_a_job_over_its_memory_reads_of_it_in_its_own_output(mom):
    job = begin(mom, make_job("2.srv", "(node1:ncpus=1:mem=48mb)", ["node1"]))
    answer = over_its_memory(mom, job)
    [receipt] = receipts("pbs.2.srv")
    assert (receipt["result"], receipt["oom_cause"]) == ("out-of-memory", "own-limit")
    [line] = output_without_warning(mom, job, "ER").splitlines()
    assert re.match(rf"Cgroup memory limit exceeded: Killed process {receipt['oom_victim']} \(python3\), .*limit 48M", line)
    assert any(line in logged for logged in answer.log)
    # The kernel kills python3 first. PID 1 (systemd 252) may send SIGTERM before the kernel kills the other processes of the scope.
    assert job["Exit_status"] in (256 + signal.SIGKILL, 256 + signal.SIGTERM)
    kilobytes = int(re.fullmatch("([0-9]+)kb", answer.job["resources_used"]["mem"]).group(1))
    assert 47 * 1024 <= kilobytes <= 48 * 1024
    expect_nothing_left()


def test_joined_output_and_what_is_no_output(mom):
    joined = begin(mom, dict(make_job("3.srv", "(node1:ncpus=1:mem=48mb)", ["node1"]), Join_Path="oe"))
    over_its_memory(mom, joined)
    assert output(mom, joined, "OU").startswith("Cgroup memory limit exceeded")
    assert output_without_warning(mom, joined, "ER") == ""
    sister = begin(mom, make_job("4.srv", "(node1:ncpus=1:mem=48mb)", ["node1"], primary=False))
    answer = over_its_memory(mom, sister)
    assert output(mom, sister, "ER") == "" and any("Cgroup memory limit exceeded" in line for line in answer.log)
    expect_nothing_left()


def test_root_writes_nothing_where_the_user_points_to(mom, tmp_path):
    job = begin(mom, make_job("5.srv", "(node1:ncpus=1:mem=48mb)", ["node1"]))
    target = tmp_path / "roots-own"
    target.write_text("")
    tmp_path.chmod(0o755)
    child = mom.launch(job, "/bin/sh", "-c", f"rm {mom.spool(job, 'ER')}; ln -s {target} {mom.spool(job, 'ER')}; "
                                             f'exec /usr/bin/python3 -c "{HOG}"')
    answer = mom.epilogue(job, child)
    assert answer.accepted and target.read_text() == ""
    assert any("Cgroup memory limit exceeded" in line for line in answer.log)
    mom.end(job)
    expect_nothing_left()


def test_pmem_is_a_process_times_the_cpus(mom):
    job = begin(mom, make_job("6.srv", "(node1:ncpus=3)", ["node1"], pmem="32mb"))
    assert in_slice(job, "memory.max") == str(96 * MIB)
    mom.abort(job)
    expect_nothing_left()


@pytest.fixture
def soon_unkillable():
    with site('[unkillable]\nafter = "2s"\n'):
        yield


def test_a_node_with_an_unkillable_job_is_offline_until_it_is_gone(mom, frozen, soon_unkillable):
    job = begin(mom, make_job("10.srv", "(node1:ncpus=1)", ["node1"], user="root"))
    child = mom.launch(job, "dd", "if=/dev/zero", f"of={frozen}/file", "bs=4k", "count=1")
    wait_until(lambda: "rwsem" in Path(f"/proc/{child.pid}/wchan").read_text(), "it hangs")
    run("pinfold", "stop", "--grace=0", "pbs.10.srv")
    wait_until(lambda: live_jobs()["pbs.10.srv"]["unkillable_since"], "unkillable")
    assert mom.periodic().accepted
    assert mom.server_vnodes["node1"]["state"] == 1 and "pbs.10.srv" in mom.server_vnodes["node1"]["comment"]
    run("fsfreeze", "--unfreeze", frozen)
    child.wait(60)
    wait_until(lambda: not live_jobs(), "gone")
    assert mom.periodic().accepted
    assert mom.server_vnodes["node1"] == {"state": 0, "comment": None}
    mom.epilogue(job)
    mom.end(job)
    expect_nothing_left()
