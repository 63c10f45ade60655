# SPDX-License-Identifier: LGPL-2.1-or-later
"""The history's disk is slow, full, read-only or damaged. Jobs must still start and end, and pinfoldd must not lose a receipt."""

import contextlib
import os
import select
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from calls import answered, pace
from jobs import (HISTORY, busy, expect_nothing_left, finish, let_end, live_jobs, live_rows, preloaded, processes_with, read_journal, receipts,
                  run, start_job, wait_running, wait_until)
from sick import LIB, draining, full, small_lib, start_pinfoldd, stop_pinfoldd

KEPT = Path("/run/pinfold/receipts")
SLOW = Path("/run/pinfold-test-slow")
SITE = Path("/etc/pinfold/pinfold.toml.d/60-storage.toml")
LATE = 0.05  # a slow disk must not delay the start of a job or an answer of pinfoldd by more than this number of seconds
ON_TIME = 1.0  # the most seconds by which a job may exceed its time limit or grace time


def events(name, since):
    return read_journal("-o", "cat", "--since", f"@{since}", f"PINFOLD_EVENT={name}").splitlines()


@pytest.fixture
def patience():
    SITE.parent.mkdir(parents=True, exist_ok=True)
    SITE.write_text('[history]\npatience = "2s"\n')
    run("systemctl", "restart", "pinfoldd")
    yield
    SITE.unlink()
    run("systemctl", "restart", "pinfoldd")


@pytest.fixture
def small_disk(patience):
    with small_lib():
        yield


@pytest.mark.usefixtures("small_disk")
def test_a_full_disk(in_time):
    since = time.time()
    assert finish(start_job("full.0", "true"))[0] == 0
    running = [start_job(f"full.{n}", "sh", "-c", "read line; exit 7", stdin=subprocess.PIPE) for n in range(1, 9)]
    wait_until(lambda: len(live_jobs()) == 8, "eight jobs")
    started = time.time()
    with full(LIB):
        ending = time.time()
        for job in running:
            let_end(job)
        ends = [finish(job, timeout=60) for job in running]
        ended = time.time()
        assert {end[0] for end in ends} == {7}
        assert all("is not written yet" in end[2] and "full" in end[2] for end in ends), ends
        assert live_jobs() == {} and draining()
        expect_nothing_left()
        refused = run("pinfold-run", "--job", "full.9", "--", "true", check=False)
        assert refused.returncode == 125 and "receipts cannot be written" in refused.stderr
        assert "receipts cannot be written" in run("pinfold", "status").stdout
        in_time(answered())
        run("systemctl", "restart", "pinfoldd")
        wait_until(draining, "it is so after a restart, too")
        assert len(list(KEPT.iterdir())) == 8
        in_time(answered())

    wait_until(lambda: not draining(), "the node takes jobs again", deadline=60)
    kept = {receipt["key"]: receipt for receipt in receipts() if receipt["key"].startswith("full.")}
    assert sorted(kept) == [f"full.{n}" for n in range(9)]
    # pinfoldd must not mistake the time at which it writes a receipt for the end of the job.
    for receipt in (kept[f"full.{n}"] for n in range(1, 9)):
        assert since < receipt["started"] / 1e6 < started < ending < receipt["ended"] / 1e6 < ended, receipt
        assert abs(receipt["wall"] - (receipt["ended"] - receipt["started"])) < 100_000 and receipt["exit_status"] == 7, receipt
    assert list(KEPT.iterdir()) == []
    assert finish(start_job("full.9", "true"))[0] == 0
    wait_until(lambda: events("history-works", since), "the line about the history in the journal")
    assert len(events("history-failing", since)) == 2 and len(events("history-works", since)) == 1, "one line for each pinfoldd"


@pytest.mark.usefixtures("small_disk")
def test_a_read_only_disk(in_time):
    begun = time.time()
    job = start_job("ro.1", "sh", "-c", "read line; exit 6", stdin=subprocess.PIPE)
    wait_running("ro.1")
    started = time.time()
    stop_pinfoldd()
    run("mount", "-o", "remount,ro", LIB)
    # When a disk has an error, the kernel makes the file system read-only, and does not change the flags of the mount. pinfoldd's sandbox has its own
    # copy of the mount.
    run("mount", "-o", "remount,bind,rw", LIB)
    start_pinfoldd()
    wait_until(draining, "no jobs on a read-only disk")
    in_time(answered())
    ending = time.time()
    let_end(job)
    status, _, err = finish(job)
    assert status == 6 and "is not written yet" in err, err
    ended = time.time()
    in_time(answered())
    run("mount", "-o", "remount,rw", LIB)
    wait_until(lambda: not draining(), "the node takes jobs again", deadline=60)
    [receipt] = receipts("ro.1")
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 6)
    assert begun < receipt["started"] / 1e6 < started < ending < receipt["ended"] / 1e6 < ended
    assert abs(receipt["wall"] - (receipt["ended"] - receipt["started"])) < 100_000
    assert finish(start_job("rw.1", "true"))[0] == 0
    assert [receipt["key"] for receipt in receipts("rw.1")] == ["rw.1"]


@pytest.mark.usefixtures("small_disk")
def test_random_bytes_for_a_history(in_time):
    stop_pinfoldd()
    for file in LIB.glob("history.db*"):
        file.unlink()
    (LIB / "history.db").write_bytes(Path("/dev/urandom").open("rb").read(20_000))
    start_pinfoldd()
    assert finish(start_job("random.1", "true"))[0] == 0
    in_time(answered())
    assert [receipt["key"] for receipt in receipts()] == ["random.1"]
    assert len(list(LIB.glob("history.db.damaged-*Z"))) == 1
    assert "history.damaged" in run("pinfold", "doctor", check=False).stdout


def scribble(file):
    """Moves all data into the main file of the history, and overwrites all pages except the first."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    with open(file, "r+b") as pages:
        rest = file.stat().st_size - 4096
        pages.seek(4096)
        pages.write(b"\xee" * rest)


@pytest.mark.usefixtures("small_disk")
def test_a_history_that_is_damaged_while_pinfoldd_runs():
    since = time.time()
    assert finish(start_job("damage.0", "true"))[0] == 0
    longer = start_job("damage.1", "sleep", "1000")
    ends = start_job("damage.2", "sh", "-c", "setsid sleep 1000 & read -r line; exit 3", stdin=subprocess.PIPE)
    wait_until(lambda: live_rows() == ["damage.1", "damage.2"], "both jobs are in the history")
    scribble(HISTORY)
    _, err = ends.communicate("go on\n", timeout=60)
    assert (ends.returncode, "not written" in err) == (3, False), err
    stored = receipts()
    assert [(receipt["key"], receipt["exit_status"], receipt["leftovers"]) for receipt in stored] == [("damage.2", 3, 1)]
    moved = [file.name for file in LIB.glob("history.db.damaged-*Z")]
    [told] = wait_until(lambda: events("history-damaged", since), "the line about the damage in the journal")
    assert len(moved) == 1 and moved[0] in told
    wait_until(lambda: live_rows() == ["damage.1"], "a power cut would not lose the job that still runs")
    assert not draining()
    run("pinfold", "stop", "damage.1")
    assert finish(longer)[0] == -15
    assert sorted(receipt["key"] for receipt in receipts()) == ["damage.1", "damage.2"]
    expect_nothing_left()


@pytest.fixture
def slow_disk():
    with preloaded("slowsync.so", SLOWSYNC_FILE=SLOW):
        yield SLOW
        SLOW.unlink(missing_ok=True)


def starts(name):
    """Starts jobs, one after the other, and measures the seconds until each command prints its first line. Stops the jobs. Returns the measured
    seconds, and the pinfold-run processes of the jobs."""
    spans, jobs = [], []
    with pace() as seconds:
        for n in range(15):
            begun = time.monotonic()
            jobs.append(start_job(f"{name}.{n}", "sh", "-c", "echo; exec sleep 1000"))
            jobs[-1].stdout.readline()
            spans.append((begun, time.monotonic()))
    for n, job in enumerate(jobs):
        run("pinfold", "stop", f"{name}.{n}")
    return [seconds(*span) for span in spans], jobs


def lists():
    spans = []
    with pace() as seconds:
        for _ in range(20):
            begun = time.monotonic()
            run("pinfold", "list")
            spans.append((begun, time.monotonic()))
    return [seconds(*span) for span in spans]


def expect_no_delay(usual, slow):
    """Sorts the two lists, and compares the first values, the second values, and so on. A value of `slow` may be at most LATE * busy() seconds
    longer than its counterpart in `usual`."""
    late = [f"{after:.3f} instead of {before:.3f}" for before, after in zip(sorted(usual), sorted(slow)) if after > before + LATE * busy()]
    assert not late, late


def sleep_of(number):
    """Returns a list with the id of the process `sleep NUMBER`. If the job has not executed `sleep` yet, the list is empty."""
    return [pid for pid, (command, _) in processes_with(f"sleep\0{number}").items() if command.startswith(b"sleep")]


def end_of(number):
    """Waits for the end of the process `sleep NUMBER`, and returns the monotonic time of the end."""
    [pid] = sleep_of(number)
    with os.fdopen(os.pidfd_open(pid)) as process:
        assert select.select([process], [], [], 60)[0], f"sleep {number} has not ended"
    return time.monotonic()


def state(key):
    return live_jobs().get(key, {}).get("state")


def test_a_disk_that_takes_ten_seconds(slow_disk):
    usual, jobs = starts("usual")
    usual_lists = lists()
    for job in jobs:
        finish(job)
    first = start_job("slow.first", "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)
    # The leftover ignores SIGTERM, as its parent does.
    graced = start_job("slow.graced", "sh", "-c", "trap '' TERM; setsid sleep 7501 <&- >&- 2>&- & read line; exit 4",
                       options=["--kill-grace", "3s"], stdin=subprocess.PIPE)
    wait_until(lambda: sleep_of(7501), "the process that will be left")
    before = time.monotonic()
    limited = start_job("slow.limited", "sleep", "7502", options=["--run-time-max", "4s"])
    wait_running("slow.limited")
    wait_until(lambda: sleep_of(7502), "the process that reaches its time limit")
    running = time.monotonic()
    # The following steps must end before the first fsync ends. On a busy machine, the steps take longer, so the test makes the delay of each fsync
    # longer, too. The delay of the disk stays below history.patience, which is 30 s.
    seconds = min(10 * busy(), 25)
    slow_disk.write_text(f"{seconds * 1000:.0f}")
    let_end(first)
    wait_until(lambda: state("slow.first") == "accounting", "its receipt is being written")
    with ThreadPoolExecutor() as watchers:
        left, timed = watchers.submit(end_of, 7501), watchers.submit(end_of, 7502)
        begun = time.monotonic()
        let_end(graced)
        wait_until(lambda: state("slow.graced") == "ending", "the grace time")
        ending = time.monotonic()
        slow, jobs = starts("slow")
        slow_lists = lists()
        grace_over, time_over = left.result(), timed.result()
    wait_until(lambda: state("slow.limited") == state("slow.graced") == "accounting", "their receipts are being written")
    assert state("slow.first") == "accounting" and time.monotonic() < begun + seconds - 1, "all of it in one fsync"
    print(f"starts: usual {max(usual):.3f} s, slow {max(slow):.3f} s; lists: usual {max(usual_lists):.3f} s, slow {max(slow_lists):.3f} s; "
          f"grace {grace_over - begun:.2f} s, limit {time_over - before:.2f} s, busy {busy():.2f}")
    expect_no_delay(usual, slow)
    expect_no_delay(usual_lists, slow_lists)
    assert sorted(slow_lists)[10] < LATE * busy(), slow_lists
    assert begun + 3 < grace_over < ending + 3 + ON_TIME * busy()
    assert before + 4 < time_over < running + 4 + ON_TIME * busy()
    slow_disk.unlink()
    assert [finish(job)[0] for job in (first, graced, limited)] == [3, 4, -15]
    for job in jobs:
        finish(job)
    stored = {receipt["key"]: receipt for receipt in receipts()}
    assert stored["slow.limited"]["result"] == "timeout" and 4e6 <= stored["slow.limited"]["wall"] < 4e6 + ON_TIME * busy() * 1e6
    assert (stored["slow.graced"]["exit_status"], stored["slow.graced"]["leftovers"]) == (4, 1)
    assert stored["slow.first"]["ended"] < stored["slow.graced"]["ended"] - 3e6
    expect_nothing_left()
