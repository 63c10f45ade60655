# SPDX-License-Identifier: LGPL-2.1-or-later
"""Upgrades the packages to a newer version while jobs run."""

import contextlib
import itertools
import os
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import debs
import pytest

import slurm
from earlier import make_history
from jobs import daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, receipts, run, site, start_job, wait_until
from logins import open_job, open_ssh, ssh, sshd, where

HISTORY = Path("/var/lib/pinfold/history.db")
PACKAGES = ("pinfold", "libpam-pinfold", "pinfold-slurm")


def start(key):
    """Starts a job that ends with status 3 when its standard input ends. finish() closes this input."""
    return start_job(key, "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)


def running(keys):
    wait_until(lambda: {key for key, job in live_jobs().items() if job["state"] == "running"} >= set(keys), "the jobs run")


@pytest.fixture
def older():
    debs.purge()
    debs.install(*PACKAGES, of=debs.older)
    assert debs.installed() == dict.fromkeys(PACKAGES, debs.OLDER)


def test_no_job_is_lost_by_an_upgrade(older):
    former = main_pid()
    live = {f"upgrade.{number}": start(f"upgrade.{number}") for number in range(50)}
    running(live)
    ended = {}
    ending = iter(live)
    with ThreadPoolExecutor(1) as executor:
        upgrade = executor.submit(debs.install, *PACKAGES)
        for number in itertools.count():
            if upgrade.done():
                break
            key = next(ending, None)
            if key:
                ended[key] = finish(live[key])[0]
            short = f"upgrade.short.{number}"
            ended[short] = finish(start(short))[0]
        upgrade.result()
    assert number > 1, "no job has started and ended meanwhile"
    daemon_ready(other_than=former)
    assert set(debs.installed()) == set(PACKAGES) and debs.OLDER not in debs.installed().values()
    ended |= {key: finish(process)[0] for key, process in live.items() if key not in ended}
    assert ended == dict.fromkeys(ended, 3)
    found = {key: [(receipt["result"], receipt["exit_status"]) for receipt in receipts(key)] for key in ended}
    assert found == dict.fromkeys(ended, [("exited", 3)])
    expect_nothing_left()


def test_the_history_of_an_earlier_version_is_converted(older):
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    for file in HISTORY.parent.glob("history*"):
        file.unlink()
    with contextlib.closing(sqlite3.connect(HISTORY)) as db:
        make_history(db, 4)
    debs.install(*PACKAGES)
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    assert {"sge.1", "slurm.6", "pbs.10"} <= {receipt["key"] for receipt in receipts()}
    assert finish(start("convert.1"))[0] == 3
    assert len(receipts("convert.1")) == 1
    with contextlib.closing(sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA user_version").fetchall() == [(5,)]


@pytest.fixture
def cluster(older):
    """Starts Slurm with pinfold's plugin and epilogue. A container has no memory controller, but each Slurm job has a memory limit."""
    with site('[jobs]\nunenforced_limits = "warn"\n'):
        slurm.start()
        yield
        slurm.cancel_all()
        run("systemctl", "stop", "slurmd", "slurmctld", "munge")


def test_no_job_of_slurm_is_lost_by_an_upgrade(cluster):
    directory = Path("/run/upgrade-of-slurm")
    directory.mkdir()

    def submit(name):
        """Submits a job that ends with status 3 when end(name) is called."""
        os.mkfifo(directory / name)
        return slurm.submit(f"read line <{directory / name}; exit 3", "--output=/dev/null")

    def end(name):
        def reader():
            with contextlib.suppress(OSError):  # the job has not opened the pipe yet
                return os.open(directory / name, os.O_WRONLY | os.O_NONBLOCK)
        os.close(wait_until(reader, f"{name} reads"))

    live = {f"live.{number}": submit(f"live.{number}") for number in range(50)}
    running(f"slurm.{job}" for job in live.values())
    former = main_pid()
    jobs = list(live.values())
    ending = iter(live)
    with ThreadPoolExecutor(1) as executor:
        begun = time.time()
        upgrade = executor.submit(debs.install, *PACKAGES)
        for number in itertools.count():
            if upgrade.done():
                break
            name = next(ending, None)
            if name:
                end(name)
            jobs.append(submit(f"short.{number}"))
            end(f"short.{number}")
        upgrade.result()
        over = time.time()
    daemon_ready(other_than=former)
    assert debs.OLDER not in debs.installed().values()
    for name in ending:
        end(name)
    for job in jobs:
        ended = slurm.wait_state(job, "FAILED")
        assert (ended["ExitCode"], ended["Restarts"]) == ("3:0", "0")
    found = {job: receipts(f"slurm.{job}") for job in jobs}
    assert {job: [(receipt["result"], receipt["exit_status"]) for receipt in ones] for job, ones in found.items()} == dict.fromkeys(jobs, [("exited", 3)])
    assert any(begun * 1e6 < receipt["started"] < receipt["ended"] < over * 1e6 for [receipt] in found.values()), "none has run meanwhile"
    slurm.wait_idle()
    expect_nothing_left()


def test_logins_go_on_during_an_upgrade(older):
    with sshd():
        open_job("pbs.1")

        def log_in():
            cgroup = where(ssh("alice", "cat /proc/self/cgroup").stdout)
            assert "/batch-pbs.1.slice/job-pbs.1-" in cgroup
            assert ssh("bob", "true", check=False).returncode == 255, "bob has no job here"

        sessions = [open_ssh("alice", "echo up; read line; echo $line; cat") for _ in range(5)]
        assert [session.stdout.readline() for session in sessions] == ["up\n"] * 5
        former = main_pid()
        with ThreadPoolExecutor(1) as executor:
            upgrade = executor.submit(debs.install, *PACKAGES)
            for number in itertools.count():
                log_in()
                if upgrade.done():
                    break
            upgrade.result()
        assert number > 1, "nobody has logged in meanwhile"
        daemon_ready(other_than=former)
        log_in()
        for session in sessions:
            session.stdin.write("still here\n")
            session.stdin.flush()
            assert session.stdout.readline() == "still here\n"
        run("pinfold", "end", "pbs.1")
        assert all(finish(session)[0] != 0 for session in sessions), "a login ends with its job"
        [receipt] = receipts("pbs.1")
        assert receipt["tasks"] == len(sessions) + number + 2
        assert ssh("alice", "true", check=False).returncode == 255
        expect_nothing_left()


def test_the_socket_stays_open_during_an_upgrade(older):
    opened = run("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "pinfoldd.socket").stdout
    debs.install(*PACKAGES)
    assert run("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "pinfoldd.socket").stdout == opened


def test_dpkg_finds_every_file_as_the_newer_version_packaged_it(older):
    debs.install(*PACKAGES)
    assert debs.dpkg("--verify", *PACKAGES).stdout == ""


def test_a_site_that_stopped_pinfoldd_for_good_keeps_it_so(older):
    run("systemctl", "disable", "--now", "pinfoldd.socket", "pinfoldd.service")
    debs.install(*PACKAGES)
    units = ["pinfoldd.service", "pinfoldd.socket"]
    assert run("systemctl", "is-active", *units, check=False).stdout.split() == ["inactive", "inactive"]
    assert run("systemctl", "is-enabled", *units, check=False).stdout.split() == ["disabled", "disabled"]


def test_the_way_back_to_a_version_with_the_same_formats(older):
    debs.install(*PACKAGES)
    job = start("back.1")
    running(["back.1"])
    former = main_pid()
    debs.install(*PACKAGES, of=debs.older)
    daemon_ready(other_than=former)
    assert finish(job)[0] == 3
    assert [receipt["exit_status"] for receipt in receipts("back.1")] == [3]
