# SPDX-License-Identifier: LGPL-2.1-or-later
"""While jobs start, run and end, the tests break or use up something that pinfoldd needs. In spite of the fault, the jobs must end on time, and all
callers must get their answers. At the end, each job must have a receipt with the times at which the job really began and ended. If the variable
PINFOLD_SICK_FULL is set, the tests make systemd and the bus hang for more than a minute."""

import contextlib
import os
import pwd
import re
import resource
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import calls
from calls import AT_THE_SOCKET, answered
from jobs import (expect_nothing_left, finish, let_end, live_jobs, main_pid, preloaded, processes_with, read_journal, receipts, run, site,
                  start_job, stopped, systemd_stopped, wait_running, wait_until)
from sick import bus_stands_still

FULL = "PINFOLD_SICK_FULL" in os.environ
GRACE = 1.0
LANES = 8
LATE = 5.0  # the delay in seconds that the tests allow, because the machine may be busy
COMMANDS = [*calls.COMMANDS, ("pinfold", "why", "asked.1")]


@pytest.fixture(scope="module", autouse=True)
def job_of_alice():
    run("pinfold", "open", "asked.1", "--uid", pwd.getpwnam("alice").pw_uid)
    run("pinfold", "end", "asked.1")


def microseconds():
    return time.time_ns() // 1000


def expect_receipts(spans):
    """Checks that each job has one receipt. The times in the receipt must be between the start and the end that the test has measured. pinfoldd may
    notice the end of a job a moment later than the test."""
    found = [receipt for receipt in receipts() if receipt["key"] in spans]
    assert sorted(receipt["key"] for receipt in found) == sorted(spans)
    wrong = [receipt for receipt in found
             if not spans[receipt["key"]][0] <= receipt["started"] <= receipt["ended"] <= spans[receipt["key"]][1] + LATE * 1_000_000]
    assert wrong == []
    return {receipt["key"]: receipt for receipt in found}


def burst(name, number, seconds=0):
    """Runs `number` jobs, at most LANES of them at the same time. While the jobs run, the function calls pinfoldd repeatedly. The function continues
    with the calls for at least `seconds` seconds. Returns the times at which each job began and ended, and the time that each call took."""
    over = time.monotonic() + seconds

    def one(key):
        begun = microseconds()
        status, _, err = finish(start_job(key, "true"))
        assert (status, err) == (0, "")
        return key, (begun, microseconds())

    with ThreadPoolExecutor(LANES) as lanes:
        jobs = [lanes.submit(one, f"{name}.{n}") for n in range(number)]
        took = answered(COMMANDS, lambda: not wait(jobs, timeout=0.3).not_done and time.monotonic() > over)
        return dict(job.result() for job in jobs), took


def told(name):
    """Counts the journal's lines about starts and ends of the given jobs, and the lines that pinfoldd has lost. Returns the two numbers."""
    lines = read_journal("-b", "-o", "cat", "_SYSTEMD_UNIT=pinfoldd.service").splitlines()
    lost = sum(int(line.split()[0]) for line in lines if line.endswith("messages were lost, because the journal did not accept any"))
    return sum(re.match(rf"job {name}\.\d+ (started|ended)", line) is not None for line in lines), lost


@contextlib.contextmanager
def no_watchdogs():
    """systemd would kill a journald that has not reported for three minutes."""
    run("systemctl", "service-watchdogs", "no")
    try:
        yield
    finally:
        run("systemctl", "service-watchdogs", "yes")


def test_journald_that_stands_still(in_time, record_property):
    # The queue of journald's socket has room for a few hundred messages. net.unix.max_dgram_qlen limits the number of messages, and the socket's
    # buffer limits their size.
    begun = time.monotonic()
    number, seconds = (2000, 120) if FULL else (300, 0)
    with no_watchdogs(), stopped(main_pid("systemd-journald")):
        spans, took = burst("quiet", number, seconds)
    record_property("jobs", f"{number} in {time.monotonic() - begun:.0f} s")
    print(f"{number} jobs in {time.monotonic() - begun:.0f} s")
    in_time(took)
    expect_nothing_left()
    expect_receipts(spans)
    wait_until(lambda: sum(told("quiet")) == 2 * number, "each start and each end told of or counted as lost")


def leaves(key, number, status=0):
    """Starts a job that ends when its standard input ends. The job leaves the process `sleep` behind."""
    job = start_job(key, "sh", "-c", f"setsid sleep {number} <&- >&- 2>&- & read _; exit {status}", stdin=subprocess.PIPE)
    wait_running(key)
    return job


def no_more(*numbers):
    """Waits until the process `sleep NUMBER` has ended for each of the numbers. Returns the monotonic time after the wait."""
    wait_until(lambda: not any(processes_with(f"sleep\0{number}") for number in numbers), f"the end of {numbers}", deadline=30)
    return time.monotonic()


def test_no_inotify_watches(in_time):
    used_up = Path("/run/pinfold-test-nowatches")
    with preloaded("nowatches.so", NOWATCHES_FILE=used_up), site(f'[jobs]\nkill_grace = "{GRACE:.0f}s"\n'):
        first = microseconds()
        watched = leaves("watched.1", 7401)
        used_up.touch()
        try:
            unwatched = [leaves(f"unwatched.{n}", 7402 + n) for n in range(4)]
            begun = time.monotonic()
            for job in (watched, *unwatched[:2]):
                let_end(job)
            assert no_more(7401, 7402, 7403) < begun + GRACE + LATE
            for job in (watched, *unwatched[:2]):
                assert finish(job)[0] == 0
            assert time.monotonic() < begun + GRACE + 2 * LATE
            spans, took = burst("short", 20)
            in_time(took)
        finally:
            used_up.unlink()
        # As soon as the kernel gives pinfoldd inotify watches again, pinfoldd begins to watch the jobs that do not have a watch yet.
        for job in unwatched[2:]:
            let_end(job)
            assert finish(job)[0] == 0
        left = ["watched.1", *(f"unwatched.{n}" for n in range(4))]
        found = expect_receipts(spans | {key: (first, microseconds()) for key in left})
        assert all(found[key]["leftovers"] == 1 for key in left)
        expect_nothing_left()
    said = read_journal("-b", "-o", "cat", "_SYSTEMD_UNIT=pinfoldd.service")
    assert "the kernel has no inotify watches left" in said


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def at_most(descriptors):
    pid = main_pid()
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (descriptors, hard))
    try:
        yield pid
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))


def open_files():
    return len(list(Path(f"/proc/{main_pid()}/fd").iterdir()))


def test_descriptors_that_are_nearly_used_up(in_time):
    """When few descriptors are left, pinfoldd uses them for the jobs that exist."""
    with site(f'[jobs]\nkill_grace = "{GRACE:.0f}s"\n'):
        begun = microseconds()
        # pinfoldd reserves a share of its limit of open files. While the jobs run, the test lowers the limit of open files. When the test has lowered
        # the limit, the reserved share is just large enough for six jobs that end at once.
        others = {f"other.{n}": start_job(f"other.{n}", "sleep", "7430") for n in range(20)}
        for key in others:
            wait_running(key)
        jobs = {f"there.{n}": leaves(f"there.{n}", 7410 + n, n) for n in range(6)}
        limited = start_job("limited.1", "sleep", "7419", options=["--run-time-max", "8s"])
        wait_running("limited.1")
        with at_most(open_files() * 5 // 4):
            for call in (["pinfold-run", "--job", "more.1", "--", "true"], ["pinfold", "open", "more.2", "--uid", "0"],
                         ["pinfold-run", "--job", "there.0", "--task", "--", "true"]):
                refused = run(*call, check=False)
                assert refused.returncode in (1, 125) and "raise LimitNOFILE= of pinfoldd.service" in refused.stderr, (call, refused)
            for job in jobs.values():
                let_end(job)
            assert [finish(job)[0] for job in jobs.values()] == list(range(6))
            assert finish(limited)[0] == -signal.SIGTERM
            in_time(answered(COMMANDS))
            for key, job in others.items():
                run("pinfold", "stop", key)
                finish(job)
            assert finish(start_job("more.1", "true"))[0] == 0, "others have gone"
        spans = {key: (begun, microseconds()) for key in [*jobs, "limited.1"]}
        found = expect_receipts(spans)
        for n in range(6):
            receipt = found[f"there.{n}"]
            assert (receipt["result"], receipt["exit_status"], receipt["leftovers"]) == ("exited", n, 1) and receipt["cpu_user"] is not None
        assert found["limited.1"]["result"] == "timeout" and 7_900_000 < found["limited.1"]["wall"] < 8_000_000 + LATE * 1_000_000
        expect_nothing_left()


def test_no_descriptor_at_all(in_time, record_property):
    with site(f'[jobs]\nkill_grace = "{GRACE:.0f}s"\n'):
        begun, since = microseconds(), time.time()
        ends = leaves("ends.1", 7421, 3)
        runs = leaves("runs.1", 7422, 4)
        with at_most(3) as pid:
            let_end(ends)
            no_more(7421)
            gone = microseconds()
            starts = start_job("starts.1", "sh", "-c", "exit 5")
            before = cpu_of(pid)
            with pytest.raises(subprocess.TimeoutExpired):
                starts.wait(timeout=2)
            took = cpu_of(pid) - before
            record_property("cpu", f"{took:.2f} s of pinfoldd in 2 s")
            print(f"cpu: {took:.2f} s of pinfoldd in 2 s")
            assert took < 0.4, "it does not spin"
            in_time(answered(COMMANDS))
        assert finish(starts)[0] == 5 and finish(ends)[0] == 3
        let_end(runs)
        assert finish(runs)[0] == 4
        over = microseconds()
        found = expect_receipts({"ends.1": (begun, gone + LATE * 1_000_000), "starts.1": (gone, over), "runs.1": (begun, over)})
        assert [found[key]["exit_status"] for key in ("runs.1", "starts.1")] == [4, 5]
        assert found["ends.1"]["exit_status"] in (3, None), "pinfoldd waits ten seconds for the word of a supervisor"
        expect_nothing_left()
        said = read_journal("-o", "cat", "--since", f"@{since}", "_SYSTEMD_UNIT=pinfoldd.service")
        assert said.count("wrapper's socket: Too many open files") == 1, said


LIMIT = 6  # the run time limit of a job in seconds; nobody must stop the job before the test has stopped systemd or the bus
STILL = {systemd_stopped: (75 if FULL else 8, COMMANDS), bus_stands_still: (120 if FULL else 8, [AT_THE_SOCKET])}


@pytest.mark.parametrize("stands_still", STILL, ids=lambda f: f.__name__)
def test_nobody_starts_and_stops_units(stands_still, in_time):
    name = stands_still.__name__.split("_")[0]
    seconds, answerable = STILL[stands_still]
    with site(f'[jobs]\nkill_grace = "{GRACE:.0f}s"\n'):
        first = microseconds()
        ending = {f"{name}.{n}": leaves(f"{name}.{n}", 7430 + n, n) for n in range(4)}
        through = leaves(f"{name}.through", 7438, 8)
        limited = start_job(f"{name}.limited", "sh", "-c", "exec sleep 7439", options=["--run-time-max", f"{LIMIT}s"])
        wait_running(f"{name}.limited")
        with stands_still():
            begun = time.monotonic()
            for job in ending.values():
                let_end(job)
            starts = {f"{name}.more.{n}": start_job(f"{name}.more.{n}", "sh", "-c", "exit 9") for n in range(3)}
            assert no_more(7430, 7431, 7432, 7433) < begun + GRACE + LATE
            gone = microseconds()
            assert no_more(7439) < begun + LIMIT + GRACE + LATE
            timed_out = microseconds()
            # To end one job, a batch system need not wait for the receipts of the other jobs.
            let_go = ending[f"{name}.3"]
            let_go.send_signal(signal.SIGTERM)
            assert let_go.wait(timeout=LATE) == 3
            took = answered(answerable, lambda: time.monotonic() > begun + seconds)
            if FULL:
                told = {key: finish(job) for key, job in starts.items()}
                assert all(status == 125 and "systemd did not start" in err for status, _, err in told.values()), told
        well = time.monotonic()
        in_time(took)
        assert [finish(job)[0] for job in ending.values()] == [0, 1, 2, 3]
        assert finish(limited)[0] == -signal.SIGKILL, "SIGTERM goes by way of systemd"
        spans = {key: (first, gone) for key in ending} | {f"{name}.limited": (first, timed_out)}
        if not FULL:
            assert [finish(job)[0] for job in starts.values()] == [9, 9, 9]
            spans |= {key: (first, microseconds()) for key in starts}
        let_end(through)
        assert finish(through)[0] == 8
        print(f"well after {time.monotonic() - well:.2f} s")
        found = expect_receipts(spans | {f"{name}.through": (first, microseconds())})
        assert all(found[f"{name}.{n}"]["exit_status"] == n and found[f"{name}.{n}"]["leftovers"] == 1 for n in range(4))
        assert found[f"{name}.limited"]["result"] == "timeout"
        wait_until(lambda: not live_jobs(), "no job live")
        assert {receipt["key"] for receipt in receipts()}.isdisjoint(starts) or not FULL, "a job that was refused has no receipt"
        expect_nothing_left()
