# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts jobs that use a chosen amount of CPU time, memory or disk transfers. The functions compare the CPU time in a job's receipt with the CPU time
that wait4() reports, because wait4() does not use cgroups.

The start of a process uses CPU time before the job's program runs. Only a part of this CPU time appears in the job's cgroup. The job's program first
reports two CPU times: the time of its process, and the time of its cgroup. From the time that wait4() reports, the functions subtract the reported
time of the process. From the CPU time in the receipt, the functions subtract the reported time of the cgroup.

The kernel reports the end of a process some microseconds before the process leaves its CPU. The kernel reports that a cgroup is empty while the last
process of the cgroup is still on a CPU. The kernel counts the last time slice of a process only after it has reported the process's end. On real
CPUs, the CPU time in each receipt of a job of 50 ms was wrong by at most 0.2 %. If another program interrupts a CPU while a process ends on this CPU,
the kernel sometimes reports the process's end too early: the kernel has not yet counted some milliseconds of CPU time. So the tests of short jobs use
the median of several jobs."""

import contextlib
import ctypes
import os
import signal
import statistics
from pathlib import Path

import pytest

from jobs import BATCH, SPENDER, receipts, run, start_job, text_of, wait_until

PR_SET_CHILD_SUBREAPER = 36
MODES = {"supervise": [], "exec": ["--exec"]}
in_both_modes = pytest.mark.parametrize("mode", MODES)


@pytest.fixture(scope="module", autouse=True)
def subreaper():
    """Makes the tests the parent of all processes that a job leaves behind, so that wait4() reports the CPU time of these processes."""
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1) == 0
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0)


def slice_of(key):
    return BATCH / f"batch-{key}.slice"


def processes_of(key):
    return [int(pid) for file in slice_of(key).rglob("cgroup.procs") for pid in text_of(file).split()]


def spend(key, *words, mode="exec", options=()):
    return start_job(key, SPENDER, f"since={slice_of(key) / 'cpu.stat'}", *words, options=[*MODES[mode], *options])


def read_done(job):
    """Returns two CPU times in microseconds from the program's first report: the time of the program, and the time of its cgroup."""
    word, own, charged = job.stdout.readline().split()
    assert word == "begun"
    assert job.stdout.readline() == "done\n"
    return int(own), int(charged)


def cpu_of_supervisor(job):
    """Waits for the end of a pinfold-run. Returns the CPU time of pinfold-run in microseconds, without the CPU time of its children. Call
    cpu_of_supervisor() before you reap the pinfold-run."""
    wait_until(lambda: os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG), "pinfold-run's end", 120)
    return int(Path(f"/proc/{job.pid}/schedstat").read_text().split()[0]) // 1000


def reap(*jobs):
    """Waits for the jobs. Waits until all children of the tests have ended. Returns the CPU time of the children and of their own children,
    in microseconds."""
    used = 0

    def one():
        nonlocal used
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        used += round((usage.ru_utime + usage.ru_stime) * 1e6) if pid else 0
        return False
    wait_until(one, "every process gone", 120)
    for job in jobs:
        job.returncode = 0  # reap() has already waited for the process
        for pipe in filter(None, (job.stdin, job.stdout, job.stderr)):
            pipe.close()
    return used


def receipt_of(key):
    [receipt] = wait_until(lambda: receipts(key), f"the receipt of {key}")
    return receipt


def finished(key, job, mode, kill=lambda key: None):
    """Returns the receipt and two CPU times in microseconds: the time that wait4() reports, and the time in the receipt. The two CPU times do not
    include the CPU time that the process used before the program's first report."""
    own, charged = read_done(job)
    kill(key)
    supervisor = cpu_of_supervisor(job) if mode == "supervise" else 0
    measured = reap(job) - supervisor - own
    receipt = receipt_of(key)
    counted = receipt["cpu_user"] + receipt["cpu_system"] - charged
    print(f"{key}: {measured} us by wait4, {counted - measured:+} us in the receipt")
    return receipt, measured, counted


def expect_close(counted, measured):
    assert abs(counted - measured) <= 0.02 * measured, f"receipt: {counted} us, wait4: {measured} us"


def expect_mostly_close(runs):
    """Each element of `runs` is a result of finished()."""
    differences = [counted / measured - 1 for _, measured, counted in runs]
    assert abs(statistics.median(differences)) <= 0.02, differences


def series(key, count):
    return [f"{key}.{number}" for number in range(count)]


def kill_each(key):
    for pid in processes_of(key):
        with contextlib.suppress(ProcessLookupError):  # pinfoldd kills the other processes when the leader has ended
            os.kill(pid, signal.SIGKILL)


def kill_by_pinfold(key):
    run("pinfold", "kill", "-s", "KILL", key)


KILLS = {"each": ("stay", kill_each), "pinfold": ("stay", kill_by_pinfold), "leftovers": ("leave", lambda key: None)}
in_all_ways = pytest.mark.parametrize("way", KILLS)
