# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a thousand jobs with ends of all kinds. When all jobs are over, the node must be in the same state as before the first job. The history
must have one receipt of each job."""

import collections
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from jobs import (ESCAPIST, expect_nothing_left, finish, live_jobs, processes_with, read_journal, receipts, run, start_job, wait_running,
                  wait_until)

JOBS = 1000
AT_ONCE = 16


def exits_zero(key):
    assert finish(start_job(key, "true"))[0] == 0
    return "exited", 0, None, 0


def exits_nonzero(key):
    assert finish(start_job(key, "sh", "-c", "exit 42"))[0] == 42
    return "exited", 42, None, 0


def killed(key):
    assert finish(start_job(key, "sh", "-c", "kill -SEGV $$"))[0] == -signal.SIGSEGV
    return "signaled", None, int(signal.SIGSEGV), 0


def stop_request(key):
    process = start_job(key, "sleep", "1000")
    wait_running(key)
    run("pinfold", "stop", key)
    assert finish(process)[0] == -signal.SIGTERM
    return "stopped", None, int(signal.SIGTERM), 0


def time_limit(key):
    assert finish(start_job(key, "sleep", "1000", options=["--run-time-max", "200ms"]))[0] == -signal.SIGTERM
    return "timeout", None, int(signal.SIGTERM), 0


def leaves_a_daemon(key):
    assert finish(start_job(key, ESCAPIST, "set-sid"))[0] == 3
    return "exited", 3, None, 1


def in_place(key):
    assert finish(start_job(key, "true", options=["--exec"]))[0] == 0
    return "exited", "any", None, 0


ENDINGS = [exits_zero, exits_nonzero, killed, stop_request, time_limit, leaves_a_daemon, in_place]


def test_a_thousand_jobs():
    def one(number):
        key = f"many.{number}"
        return key, ENDINGS[number % len(ENDINGS)](key)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        expected = dict(pool.map(one, range(JOBS)))
    expect_nothing_left()
    assert processes_with("escapist") == {}

    found = [receipt for receipt in receipts() if receipt["key"].startswith("many.")]
    assert collections.Counter(receipt["key"] for receipt in found) == {key: 1 for key in expected}
    for receipt in found:
        result, status, sig, leftovers = expected[receipt["key"]]
        assert receipt["result"] == result, receipt
        if status != "any":
            assert receipt["exit_status"] == status, receipt
        assert receipt["exit_signal"] == sig, receipt
        assert receipt["leftovers"] == leftovers, receipt


def test_failed_units_are_none():
    out = subprocess.run(["systemctl", "--failed", "--no-legend", "--plain"], capture_output=True, text=True, timeout=60).stdout
    assert [line for line in out.splitlines() if "job-" in line or "batch-" in line or "pinfold" in line] == []


def test_a_thousand_ends_at_once():
    """PID 1 has one match rule on the bus for each systemd job that pinfoldd waits for. The bus allows each connection 512 match rules. If PID 1
    reaches this limit, PID 1 disconnects from the bus."""
    jobs = [subprocess.Popen(["pinfold-run", "--job", f"flock.{number}", "--exec", "--", "sleep", "1000"], stdin=subprocess.DEVNULL)
            for number in range(JOBS)]
    wait_until(lambda: sum(job["state"] == "running" for job in live_jobs().values()) == JOBS, "all running", deadline=120)
    for job in jobs:
        job.kill()
    for job in jobs:
        assert job.wait() == -signal.SIGKILL
    wait_until(lambda: not live_jobs(), "all over", deadline=120)
    expect_nothing_left()
    assert run("busctl", "get-property", "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "Version")
    assert "match rules" not in read_journal("-b", "-o", "cat", "_COMM=dbus-daemon")
