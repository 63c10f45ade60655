# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares each figure in a receipt with a figure that the test measures without cgroups. wait4() reports the CPU time of the job's processes. The
tests choose how much memory a job uses, and how many disk transfers the job makes. `tests/container/test_cpu_time.py` measures the CPU time of
short jobs, because the host often interrupts the emulated machine for longer than a short job runs."""

import os
import subprocess
from pathlib import Path

import pytest

from jobs import SPENDER, expect_nothing_left, main_pid, receipts, run, wait_until
from spending import (
    KILLS,
    MODES,
    expect_close,
    expect_mostly_close,
    finished,
    in_all_ways,
    in_both_modes,
    kill_each,
    read_done,
    reap,
    receipt_of,
    series,
    slice_of,
    spend,
    subreaper,  # noqa: F401
)

MIB = 1024 * 1024
ROW = int(os.environ.get("PINFOLD_BATCH_JOBS", "40"))


@pytest.fixture
def one_cpu():
    """Moves pinfoldd and the tests to one CPU. The fixture gives the test an option that moves the job to the CPU of pinfoldd. With one CPU, the kernel
    has usually counted the last time slice of a process when pinfoldd and the tests read the CPU times."""
    def move(cpus):
        for pid in (0, main_pid()):
            os.sched_setaffinity(pid, cpus)
    everywhere = os.sched_getaffinity(0)
    move({0})
    yield ["--allowed-cpus=0"]
    move(everywhere)


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
