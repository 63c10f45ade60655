# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares each figure in a receipt with a figure that the test measures without cgroups. wait4() reports the CPU time of the job's processes. The
tests choose how much memory a job uses, and how many disk transfers the job makes.

The start of a process uses CPU time before the job's program runs. Only a part of this CPU time appears in the job's cgroup. The job's program first
reports two CPU times: the time of its process, and the time of its cgroup. From the time that wait4() reports, the tests subtract the reported time
of the process. From the CPU time in the receipt, the tests subtract the reported time of the cgroup.

The kernel reports the end of a process some microseconds before the process leaves its CPU. The kernel reports that a cgroup is empty while the last
process of the cgroup is still on a CPU. The kernel counts the last time slice of a process only after it has reported the process's end. On real
CPUs, the CPU time in each receipt of a job of 50 ms was wrong by at most 0.2 %. Under software emulation, the host may interrupt a virtual CPU while
a process ends. If the host interrupts the virtual CPU, the kernel sometimes reports the process's end too early: the kernel has not yet counted some
milliseconds of CPU time. If a few milliseconds matter to a test, pinfoldd, the tests and the job run on one CPU. With one CPU, the kernel has usually
counted the last time slice when pinfoldd and the tests read the CPU times. For some figures, the tests use the median of several runs."""

import contextlib
import ctypes
import os
import signal
import statistics
import subprocess
from pathlib import Path

import pytest

from jobs import BATCH, SPENDER, expect_nothing_left, main_pid, receipts, run, start_job, text_of, wait_until

MIB = 1024 * 1024
ROW = int(os.environ.get("PINFOLD_BATCH_JOBS", "80"))
PR_SET_CHILD_SUBREAPER = 36
MODES = {"supervise": [], "exec": ["--exec"]}
in_both_modes = pytest.mark.parametrize("mode", MODES)


@pytest.fixture(scope="module", autouse=True)
def subreaper():
    """Makes the tests the parent of all processes that a job leaves behind, so that wait4() reports the CPU time of these processes."""
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1) == 0
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0)


@pytest.fixture
def one_cpu():
    """Moves pinfoldd and the tests to one CPU. The fixture gives the test an option that moves the job to the CPU of pinfoldd."""
    def move(cpus):
        for pid in (0, main_pid()):
            os.sched_setaffinity(pid, cpus)
    everywhere = os.sched_getaffinity(0)
    move({0})
    yield ["--allowed-cpus=0"]
    move(everywhere)


def slice_of(key):
    return BATCH / f"batch-{key}.slice"


def processes_of(key):
    return [int(pid) for file in slice_of(key).rglob("cgroup.procs") for pid in text_of(file).split()]


def spend(key, *words, mode="exec", options=(), **popen):
    return start_job(key, SPENDER, f"since={slice_of(key) / 'cpu.stat'}", *words, options=[*MODES[mode], *options], **popen)


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
    if mode == "supervise":  # pinfold-run also reaps; the move to its own slice may have given pinfold-run all CPUs again
        os.sched_setaffinity(job.pid, os.sched_getaffinity(0))
    kill(key)
    supervisor = cpu_of_supervisor(job) if mode == "supervise" else 0
    measured = reap(job) - supervisor - own
    receipt = receipt_of(key)
    counted = receipt["cpu_user"] + receipt["cpu_system"] - charged
    print(f"{key}: {measured} us by wait4, {counted - measured:+} us in the receipt")
    return receipt, measured, counted


def expect_close(counted, measured):
    assert abs(counted - measured) <= 0.02 * measured, f"receipt: {counted} us, wait4: {measured} us"


@in_both_modes
@pytest.mark.parametrize("part", ["processes", "threads"])
def test_ten_seconds_of_cpu(part, mode):
    key = f"cpu.{mode}.{part}"
    _, measured, counted = finished(key, spend(key, f"{part}=4", "user=2000", "system=500", mode=mode), mode)
    assert measured >= 10e6
    expect_close(counted, measured)


def test_a_minute_of_cpu():
    _, measured, counted = finished("cpu.minute", spend("cpu.minute", "processes=2", "threads=2", "user=10000", "system=5000"), "exec")
    assert measured >= 60e6
    expect_close(counted, measured)


def expect_mostly_close(runs):
    """Each element of `runs` is a result of finished()."""
    differences = [counted / measured - 1 for _, measured, counted in runs]
    assert abs(statistics.median(differences)) <= 0.02, differences


@in_both_modes
@pytest.mark.parametrize("kind", ["user", "system"])
@pytest.mark.parametrize("length, times", [(50, 15), (1000, 3)])
def test_a_second_of_cpu_or_less(length, times, kind, mode, one_cpu):
    """The receipt includes the CPU time that a job used after the kernel's last tick. 2 % of 50 ms is 1 ms, and the test allows no larger
    error."""
    runs = [finished(key, spend(key, f"{kind}={length}", mode=mode, options=one_cpu), mode)
            for key in series(f"cpu.{mode}.{kind}{length}", times)]
    assert all(measured >= length * 1000 for _, measured, _ in runs)
    expect_mostly_close(runs)
    if length == 1000:  # the kernel estimates this split from its ticks
        assert all(receipt[f"cpu_{kind}"] >= 0.8 * measured for receipt, measured, _ in runs)


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


@in_both_modes
@in_all_ways
@pytest.mark.parametrize("length, times", [(50, 7), (1000, 3)])
def test_cpu_of_what_sigkill_ended(length, times, way, mode, one_cpu):
    then, kill = KILLS[way]
    words = ["processes=2", f"user={length // 2}", f"then={then}"]
    runs = [finished(key, spend(key, *words, mode=mode, options=[*one_cpu, "--kill-grace=0s"]), mode, kill)
            for key in series(f"killed.{mode}.{way}{length}", times)]
    assert all(measured >= length * 1000 for _, measured, _ in runs)
    expect_mostly_close(runs)


def finished_with_two_tasks(key, one_cpu):
    """Runs a job, and makes a further process the second task of the job. Returns the same values as finished()."""
    first = spend(key, "user=500", "memory=32", "then=stay", options=one_cpu)
    own, charged = read_done(first)
    second = subprocess.Popen([SPENDER, "wait", f"since={slice_of(key) / 'cpu.stat'}", "user=500", "memory=64", "then=stay"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    run("pinfold", "adopt", key, second.pid)
    second.stdin.write("go\n")
    second.stdin.flush()
    own_of_second, _ = read_done(second)
    kill_each(key)
    measured = reap(first, second) - own - own_of_second
    receipt = receipt_of(key)
    return receipt, measured, receipt["cpu_user"] + receipt["cpu_system"] - charged


def test_cpu_and_memory_of_two_tasks_add_up(one_cpu):
    """The kernel and spender read the CPU time one after the other. On a busy host, the emulated machine can stop for a moment between two reads, so
    the test compares the median of three jobs."""
    runs = [finished_with_two_tasks(key, one_cpu) for key in series("two.tasks", 3)]
    expect_mostly_close(runs)
    base = base_of("two.base")
    for receipt, _, _ in runs:
        expect_peak(receipt, 96 * MIB, base)
        assert receipt["tasks_peak"] == 2
    expect_nothing_left()


def base_of(key):
    """Returns how many bytes of memory a job needs if its program allocates no memory."""
    job = spend(key)
    finished(key, job, "exec")
    return receipt_of(key)["memory_peak"]


def expect_peak(receipt, held, base):
    over = receipt["memory_peak"] - base - held
    assert abs(over) <= max(MIB, 0.02 * held), f"held {held}, peak {receipt['memory_peak']}, of which its own {base}"


@in_both_modes
@pytest.mark.parametrize("mebibytes", [16, 64, 200])
def test_memory_peak(mebibytes, mode):
    key = f"memory.{mode}.{mebibytes}"
    receipt, *_ = finished(key, spend(key, f"memory={mebibytes}", mode=mode), mode)
    expect_peak(receipt, mebibytes * MIB, base_of(f"base.{mode}.{mebibytes}"))


@in_all_ways
def test_memory_peak_of_what_sigkill_ended(way):
    then, kill = KILLS[way]
    options = ["--kill-grace=0s"]
    base, *_ = finished(f"base.{way}", spend(f"base.{way}", "processes=2", f"then={then}", options=options), "exec", kill)
    key = f"memory.{way}"
    receipt, *_ = finished(key, spend(key, "processes=2", "memory=50", f"then={then}", options=options), "exec", kill)
    expect_peak(receipt, 100 * MIB, base["memory_peak"])


BLOCK = 64 * 1024
WRITTEN, READ = 320 * BLOCK, 192 * BLOCK


@pytest.fixture
def raw_disk():
    """Yields the path of a block device without a file system. The data of the block device is in memory, and not on a disk."""
    backing = Path("/dev/shm/disk")
    backing.write_bytes(bytes(WRITTEN))
    disk = run("losetup", "--find", "--show", backing).stdout.strip()
    yield disk
    run("losetup", "--detach", disk)
    backing.unlink()


@pytest.fixture
def written_file():
    """All blocks of the file are on the disk already, so a write to the file changes only the file's contents and time stamp. A kernel thread of the
    file system writes the time stamp to the disk."""
    path = Path("/var/tmp/written")
    with path.open("wb") as file:
        file.write(b"x" * WRITTEN)
        file.flush()
        os.fsync(file.fileno())
    yield path
    path.unlink()


def transfers(key, target, then="exit", kill=lambda key: None):
    finished(f"{key}.warm", spend(f"{key}.warm"), "exec")  # brings the program into the page cache before the next run
    receipt, *_ = finished(key, spend(key, f"write={target}:{WRITTEN}", f"read={target}:{READ}", f"then={then}"), "exec", kill)
    return receipt


def test_bytes_and_operations_of_a_raw_disk(raw_disk):
    receipt = transfers("io.raw", raw_disk)
    assert (receipt["io_written"], receipt["io_read"]) == (WRITTEN, READ)
    assert receipt["io_reads"] == READ // BLOCK
    assert receipt["io_writes"] - WRITTEN // BLOCK in (0, 1), "a flush may count as one, of no bytes"


def test_bytes_of_a_file(written_file):
    receipt = transfers("io.file", written_file)
    assert (receipt["io_written"], receipt["io_read"]) == (WRITTEN, READ)


@pytest.mark.parametrize("way", ["each", "pinfold"])
def test_bytes_of_what_sigkill_ended(raw_disk, way):
    receipt = transfers(f"io.killed.{way}", raw_disk, *KILLS[way])
    assert (receipt["io_written"], receipt["io_read"]) == (WRITTEN, READ)


@in_both_modes
def test_short_jobs_in_a_row(mode, count=ROW):
    keys = series(f"row.{mode}", count)
    for key in keys:
        run("pinfold-run", "--job", key, *MODES[mode], "--", "true")
    row = wait_until(lambda: of_row(mode, count), f"{count} receipts", 60)
    assert sorted(receipt["key"] for receipt in row) == sorted(keys)
    for receipt in row:
        assert receipt["wall"] > 0
        assert all(receipt[name] is not None for name in ("cpu_user", "cpu_system", "memory_peak", "tasks_peak")), receipt
        assert receipt["memory_peak"] > 0 and receipt["cpu_user"] + receipt["cpu_system"] > 0 and receipt["tasks_peak"] == 1
    expect_nothing_left()


def of_row(mode, count):
    row = [receipt for receipt in receipts() if receipt["key"].startswith(f"row.{mode}.")]
    return row if len(row) >= count else None
