# SPDX-License-Identifier: LGPL-2.1-or-later
"""The history's disk is slow, full, read-only or damaged. Jobs must still start and end, and no receipt may be lost."""

import contextlib
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from jobs import expect_nothing_left, finish, live_jobs, preloaded, read_journal, receipts, run, start_job, wait_until

LIB = Path("/var/lib/pinfold")
KEPT = Path("/run/pinfold/receipts")
SLOW = Path("/run/pinfold-test-slow")
SITE = Path("/etc/pinfold/pinfold.toml.d/60-storage.toml")


def stop():
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")


def start():
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


def draining():
    done = run("busctl", "get-property", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Draining", check=False)
    return done.stdout.strip() == "b true"


def events(name, since):
    return read_journal("-o", "cat", "--since", f"@{since}", f"PINFOLD_EVENT={name}").splitlines()


@pytest.fixture
def patience():
    """Sets history.patience to two seconds."""
    SITE.parent.mkdir(parents=True, exist_ok=True)
    SITE.write_text('[history]\npatience = "2s"\n')
    run("systemctl", "restart", "pinfoldd")
    yield
    SITE.unlink()
    run("systemctl", "restart", "pinfoldd")


@pytest.fixture
def small_disk(patience):
    """Gives the history its own file system of 1 MiB."""
    stop()
    run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", LIB)
    start()
    yield LIB
    stop()
    run("umount", "-l", LIB)
    start()


def fill(directory):
    with open(directory / "fill", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def test_a_full_disk(small_disk):
    since = time.time()
    assert finish(start_job("full.0", "true"))[0] == 0
    running = [start_job(f"full.{n}", "sh", "-c", "sleep 1; exit 7") for n in range(1, 9)]
    wait_until(lambda: len(live_jobs()) == 8, "eight jobs")
    fill(small_disk)
    ends = [finish(job, timeout=60) for job in running]
    assert {end[0] for end in ends} == {7}
    assert all("is not written yet" in end[2] and "full" in end[2] for end in ends), ends
    assert live_jobs() == {} and draining()
    expect_nothing_left()
    refused = run("pinfold-run", "--job", "full.9", "--", "true", check=False)
    assert refused.returncode == 125 and "receipts cannot be written" in refused.stderr
    assert "receipts cannot be written" in run("pinfold", "status").stdout
    run("systemctl", "restart", "pinfoldd")
    wait_until(draining, "it is so after a restart, too")
    assert len(list(KEPT.iterdir())) == 8

    (small_disk / "fill").unlink()
    wait_until(lambda: not draining(), "the node takes jobs again", deadline=60)
    kept = {receipt["key"]: receipt for receipt in receipts() if receipt["key"].startswith("full.")}
    assert sorted(kept) == [f"full.{n}" for n in range(9)]
    assert all(900_000 < kept[f"full.{n}"]["wall"] < 15_000_000 and kept[f"full.{n}"]["exit_status"] == 7 for n in range(1, 9))
    assert list(KEPT.iterdir()) == []
    assert finish(start_job("full.9", "true"))[0] == 0
    assert len(events("history-failing", since)) == 2 and len(events("history-works", since)) == 1, "one line for each pinfoldd"


def test_a_read_only_disk(small_disk):
    stop()
    run("mount", "-o", "remount,ro", LIB)
    # After an error of a disk, the kernel makes the file system read-only and leaves the mount writable. pinfoldd has a copy of the mount.
    run("mount", "-o", "remount,bind,rw", LIB)
    start()
    wait_until(draining, "no jobs on a read-only disk")
    run("mount", "-o", "remount,rw", LIB)
    wait_until(lambda: not draining(), "the node takes jobs again", deadline=60)
    assert finish(start_job("rw.1", "true"))[0] == 0
    assert [receipt["key"] for receipt in receipts("rw.1")] == ["rw.1"]


def test_random_bytes_for_a_history(small_disk):
    stop()
    for file in LIB.glob("history.db*"):
        file.unlink()
    (LIB / "history.db").write_bytes(Path("/dev/urandom").open("rb").read(20_000))
    start()
    assert finish(start_job("random.1", "true"))[0] == 0
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


def live_rows(file):
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return [row[0] for row in database.execute("SELECT key FROM live")]


def test_a_history_that_is_damaged_while_pinfoldd_runs(small_disk):
    since = time.time()
    assert finish(start_job("damage.0", "true"))[0] == 0
    history = small_disk / "history.db"
    longer = start_job("damage.1", "sleep", "1000")
    ends = start_job("damage.2", "sh", "-c", "setsid sleep 1000 & read -r line; exit 3", stdin=subprocess.PIPE)
    wait_until(lambda: sorted(live_rows(history)) == ["damage.1", "damage.2"], "both jobs are in the history")
    scribble(history)
    _, err = ends.communicate("go on\n", timeout=60)
    assert (ends.returncode, "not written" in err) == (3, False), err
    stored = receipts()
    assert [(receipt["key"], receipt["exit_status"], receipt["leftovers"]) for receipt in stored] == [("damage.2", 3, 1)]
    moved = [file.name for file in small_disk.glob("history.db.damaged-*Z")]
    assert len(moved) == 1 and len(events("history-damaged", since)) == 1
    assert moved[0] in events("history-damaged", since)[0]
    wait_until(lambda: live_rows(history) == ["damage.1"], "a power cut would not lose the job that still runs")
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


def median_start(name):
    """Starts jobs that continue to run, and returns the median of the seconds from the start of pinfold-run to the command's first line."""
    took, jobs = [], []
    for n in range(15):
        begun = time.monotonic()
        jobs.append(start_job(f"{name}.{n}", "sh", "-c", "echo; exec sleep 1000"))
        jobs[-1].stdout.readline()
        took.append(time.monotonic() - begun)
    for n, job in enumerate(jobs):
        run("pinfold", "stop", f"{name}.{n}")
    return sorted(took)[7], jobs


def test_a_disk_that_takes_ten_seconds(slow_disk):
    usual, jobs = median_start("usual")
    for job in jobs:
        finish(job)
    limited = start_job("slow.limited", "sleep", "1000", options=["--run-time-max", "4s"])
    wait_until(lambda: live_jobs().get("slow.limited", {}).get("state") == "running", "running")
    slow_disk.write_text("10000")
    begun = time.monotonic()
    first = start_job("slow.first", "sh", "-c", "setsid sleep 1000 & exit 3")
    wait_until(lambda: live_jobs().get("slow.first", {}).get("state") == "accounting", "its receipt is being written")
    took, jobs = median_start("slow")
    listed = []
    for _ in range(20):
        before = time.monotonic()
        run("pinfold", "list")
        listed.append(time.monotonic() - before)
    wait_until(lambda: live_jobs()["slow.limited"]["state"] == "accounting", "its time is over")
    over = time.monotonic() - begun
    assert live_jobs()["slow.first"]["state"] == "accounting" and over < 9, "all of it in one fsync"
    assert took < usual + 0.05, (usual, took)
    assert sorted(listed)[10] < 0.3, listed
    slow_disk.unlink()
    assert finish(first)[0] == 3
    assert finish(limited)[0] == -15
    for job in jobs:
        finish(job)
    stored = {receipt["key"]: receipt for receipt in receipts()}
    assert stored["slow.limited"]["result"] == "timeout" and 3_900_000 < stored["slow.limited"]["wall"] < 6_000_000
    assert stored["slow.first"]["wall"] < 4_000_000
    expect_nothing_left()
