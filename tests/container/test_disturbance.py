# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests crashes, restarts and upgrades of pinfoldd, restarts of the bus, and reloads and reexecs of systemd. The tests cause each disturbance at
every stage of a single job, and while many jobs run. A disturbance must not send a signal to a job, lose data, or count something twice."""

import contextlib
import json
import os
import signal
import subprocess
import threading

import pytest

from jobs import (ESCAPIST, busy, daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, receipts, run, start_job, wait_running,
                  wait_until)

# Until its standard input ends, the job prints a line for every signal that it gets. When the input has ended, the job exits with status 5.
WITNESS = """
import os, signal, sys
for s in range(1, 65):
    if s not in (9, 19, 17) and not 32 <= s <= 33:
        signal.signal(s, lambda n, f: os.write(1, b"signal %d\\n" % n))
os.write(1, b"here\\n")
while True:
    try:
        if not os.read(0, 1): break
    except InterruptedError: pass
sys.exit(5)
"""


def kill_daemon():
    pid = main_pid()
    if pid:
        with contextlib.suppress(ProcessLookupError):  # the process may have ended already, and systemd may not know it yet
            os.kill(pid, signal.SIGKILL)


def restart_daemon():
    run("systemctl", "restart", "pinfoldd")


def upgrade():
    """Acts like an upgrade of pinfold's package: replaces the program by rename, and then does a daemon-reload and a restart."""
    run("cp", "/usr/libexec/pinfoldd", "/usr/libexec/pinfoldd.new")
    os.rename("/usr/libexec/pinfoldd.new", "/usr/libexec/pinfoldd")
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", "pinfoldd")


def restart_bus():
    run("systemctl", "reset-failed", "dbus.service", check=False)  # systemd limits the starts of a service, and this is the third start within a second
    run("systemctl", "restart", "dbus.service")


def reload_systemd():
    run("systemctl", "daemon-reload", check=False)


def reexec_systemd():
    run("systemctl", "daemon-reexec", check=False)


@pytest.fixture(scope="module", autouse=True)
def logind_on_the_bus():
    """Restarts systemd-logind at the end. systemd-logind 257 does not connect again to a bus that has been restarted, and then it starts no user
    manager."""
    yield
    run("systemctl", "reset-failed", "systemd-logind", check=False)
    run("systemctl", "restart", "systemd-logind")


ROUNDS = 15
DISTURBANCES = [kill_daemon, restart_daemon, upgrade, restart_bus, reload_systemd, reexec_systemd]


@pytest.mark.parametrize("disturb", DISTURBANCES, ids=lambda f: f.__name__)
def test_running_jobs_do_not_notice(disturb):
    name = disturb.__name__.replace("_", "")
    jobs = {}
    for number, options in enumerate([[], ["--exec"], []]):
        key = f"quiet.{name}.{number}"
        jobs[key] = start_job(key, "/usr/bin/python3", "-c", WITNESS, options=options, stdin=subprocess.PIPE)
    for job in jobs.values():
        assert job.stdout.readline() == "here\n"
    for _ in range(3):
        disturb()
        daemon_ready()
        wait_until(lambda: jobs.keys() <= live_jobs().keys(), "all jobs known again")
    for key, job in jobs.items():
        status, out, err = communicate(job)
        assert (status, out) == (5, ""), f"{key}: {err}"
        wait_until(lambda: receipts(key), "receipt")
        assert [r["result"] for r in receipts(key)] == ["exited"]
        assert receipts(key)[0]["leftovers"] == 0
    expect_nothing_left()


def communicate(job):
    out, err = job.communicate("", timeout=90)
    return job.returncode, out, err


@pytest.mark.parametrize("disturb", DISTURBANCES, ids=lambda f: f.__name__)
def test_at_each_stage_with_jobs_in_flight(disturb):
    """Jobs start and end all the time, while the test repeats the disturbance."""
    name = disturb.__name__.replace("_", "")
    stop = threading.Event()
    results = {}

    def worker(lane):
        number = 0
        while not stop.is_set():
            key = f"flight.{name}.{lane}.{number}"
            kind = (lane + number) % 3
            if kind == 0:
                process = start_job(key, "sh", "-c", "exit 7")
            elif kind == 1:
                process = start_job(key, ESCAPIST, "set-sid")
            else:
                process = start_job(key, "sleep", "0.05")
            results[key] = (kind, *finish(process, timeout=180))
            number += 1

    lanes = [threading.Thread(target=worker, args=(lane,)) for lane in range(4)]
    for lane in lanes:
        lane.start()
    try:
        for _ in range(ROUNDS):
            before = len(results)
            disturb()
            # The next disturbance begins as soon as one more job is over.
            wait_until(lambda: len(results) > before, "a job came through", deadline=90)
    finally:
        stop.set()
        for lane in lanes:
            lane.join()

    daemon_ready()
    failed = {key: result for key, result in results.items() if result[1] != [7, 3, 0][result[0]]}
    assert failed == {}
    expect_nothing_left()
    found = [receipt for receipt in receipts() if receipt["key"].startswith(f"flight.{name}.")]
    assert sorted(receipt["key"] for receipt in found) == sorted(results)
    for receipt in found:
        kind = results[receipt["key"]][0]
        assert receipt["result"] == "exited"
        assert receipt["leftovers"] == (1 if kind == 1 else 0), receipt


def test_a_leader_that_dies_while_the_daemon_is_down():
    job = start_job("down.exec", "/usr/bin/python3", "-c",
                    f"import subprocess, sys; subprocess.run(['{ESCAPIST}', 'set-sid']); sys.stdin.read()",
                    options=["--exec"], stdin=subprocess.PIPE)
    assert job.stdout.readline().startswith("ready ")
    wait_running("down.exec")
    run("systemctl", "stop", "pinfoldd")
    finish_down(job)
    assert run("systemctl", "is-active", "job-down.exec.scope", check=False).stdout.strip() == "active", "the daemon lives on"
    run("systemctl", "start", "pinfoldd")
    wait_until(lambda: receipts("down.exec"), "receipt")
    receipt = receipts("down.exec")[0]
    assert receipt["result"] == "exited"
    assert receipt["leftovers"] == 1
    expect_nothing_left()


def finish_down(job):
    job.communicate("", timeout=30)


def test_a_killed_supervisor_ends_its_job():
    job = start_job("shepherd.killed", "sleep", "1000")
    wait_running("shepherd.killed")
    job.kill()
    job.wait(timeout=10)
    wait_until(lambda: receipts("shepherd.killed"), "receipt")
    assert receipts("shepherd.killed")[0]["result"] == "supervisor-lost"
    expect_nothing_left()


def test_an_admins_systemctl_stop_ends_the_job():
    job = start_job("admin.stop", "sleep", "1000")
    wait_running("admin.stop")
    run("systemctl", "stop", "job-admin.stop.scope")
    status, _, _ = finish(job)
    assert status == -signal.SIGTERM
    assert len(receipts("admin.stop")) == 1
    expect_nothing_left()


def looks_at(key):
    """Returns how often pinfoldd has looked at the job, or 0 if the job does not run yet."""
    plotted = run("pinfold", "plot", "--json", key, check=False)
    return len(json.loads(plotted.stdout)["lengths"]) if plotted.returncode == 0 else 0


def test_an_admins_systemctl_stop_of_the_slice_leaves_the_figures():
    """systemd may remove the counters of a stopped slice before pinfoldd reads them. If systemd has removed the counters, pinfoldd writes the values
    from pinfoldd's last look at the job into the receipt."""
    for number in range(3):
        key = f"admin.slice{number}"
        job = start_job(key, "sh", "-c", "while :; do :; done")
        wait_until(lambda key=key: looks_at(key), "pinfoldd has looked at the job")
        run("systemctl", "stop", f"batch-{key}.slice")
        finish(job)
        wait_until(lambda key=key: receipts(key), "receipt")
        receipt = receipts(key)[0]
        assert receipt["cpu_user"] > 1000 and receipt["cpu_system"] is not None, receipt
    expect_nothing_left()


def test_limits_survive():
    job = start_job("limit.time", "sleep", "1000", options=["--run-time-max", "3s", "--kill-grace", "1min"])
    wait_running("limit.time")
    kill_daemon()
    daemon_ready()
    status, _, _ = finish(job)
    assert status == -signal.SIGTERM
    receipt = receipts("limit.time")[0]
    assert receipt["result"] == "timeout"
    assert 2_900_000 < receipt["wall"] < 6_000_000 * busy()
