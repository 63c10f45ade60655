# SPDX-License-Identifier: LGPL-2.1-or-later
"""Upgrades the packages to a newer version while jobs run."""

import contextlib
import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import threading
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
SCHEMA = 5  # the schema of the history that the newer version writes
ALICE = {"user": "alice", "group": "alice", "extra_groups": []}
PACKAGES = ("pinfold", "libpam-pinfold", "pinfold-slurm")


def start(key):
    """Starts a job that exits with status 3 as soon as the job's standard input is closed. finish() closes this input."""
    return start_job(key, "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)


def running(keys):
    wait_until(lambda: {key for key, job in live_jobs().items() if job["state"] == "running"} >= set(keys), "the jobs run")


def schema_of_history():
    with contextlib.closing(sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def parts(value, names):
    return {name: value[name] for name in names}


@pytest.fixture
def older():
    debs.purge()
    shutil.rmtree(HISTORY.parent, ignore_errors=True)  # the history that removed rpm packages leave behind can be too new for the older version
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
    assert schema_of_history() == SCHEMA


FACTS = ("id", "key", "uid", "started", "ended", "result", "exit_status", "exit_signal", "stopped_by", "leftovers", "leftover_commands", "tasks",
         "kill_grace", "run_time_max")


def test_the_receipts_of_the_older_version_are_shown(older):
    limits = ["--kill-grace", "7s", "--run-time-max", "1h"]
    assert finish(start_job("past.exited", "sh", "-c", "exit 3", options=limits))[0] == 3
    assert finish(start_job("past.signaled", "sh", "-c", "kill -USR1 $$"))[0] != 0
    assert finish(start_job("past.left", "sh", "-c", "setsid sleep 1000 & exit 0"))[0] == 0
    assert finish(start_job("past.late", "sleep", "1000", options=["--run-time-max", "1s"]))[0] != 0
    stopped = start_job("past.stopped", "sleep", "1000")
    running(["past.stopped"])
    run("pinfold", "stop", "past.stopped")
    assert finish(stopped)[0] != 0
    before = {receipt["key"]: parts(receipt, FACTS) for receipt in receipts()}
    assert {key: receipt["result"] for key, receipt in before.items() if key.startswith("past.")} == {
        "past.exited": "exited", "past.signaled": "signaled", "past.left": "exited", "past.late": "timeout", "past.stopped": "stopped"}
    debs.install(*PACKAGES)
    assert {receipt["key"]: parts(receipt, FACTS) for receipt in receipts()} == before
    for key in before:
        assert key in run("pinfold", "history", "-j", key).stdout
        assert key in run("pinfold", "why", key).stdout
    assert "3" in run("pinfold", "why", "past.exited").stdout
    assert {receipt["key"] for receipt in json.loads(run("pinfold", "history", "--json", "--result", "timeout").stdout)["receipts"]} == {"past.late"}
    numbers = [receipt["sequence"] for receipt in receipts()]
    assert len(set(numbers)) == len(before) and None not in numbers
    assert schema_of_history() == SCHEMA
    assert finish(start("present.1"))[0] == 3
    [newest] = receipts("present.1")
    assert newest["sequence"] == max(numbers) + 1


def test_live_jobs_keep_what_the_older_version_has_recorded(older):
    def look(key):
        """Returns what `pinfold list` and `pinfold limits` say about a job."""
        limits = json.loads(run("pinfold", "limits", key, "--json").stdout)["limits"]
        return parts(live_jobs()[key], ("key", "uid", "state", "created")), parts(limits, ("run_time_max", "kill_grace"))

    limited = start_job("kept.limited", "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE,
                        options=["--run-time-max", "1h", "--kill-grace", "7s"])
    still = start("kept.suspended")
    leaver = start_job("kept.leaver", "sh", "-c", "setsid sleep 1000 & read line; exit 3", stdin=subprocess.PIPE)
    run("pinfold", "open", "kept.opened", "--uid", "alice", "--linger", "infinity", "--slots", "4")
    tasks = [start_job("kept.opened", "sh", "-c", "read line; exit 3", options=["--task"], stdin=subprocess.PIPE, **ALICE) for _ in range(2)]
    keys = ["kept.limited", "kept.suspended", "kept.leaver", "kept.opened"]
    running(keys)
    wait_until(lambda: live_jobs()["kept.opened"]["tasks"] == 2, "both tasks run")
    run("pinfold", "suspend", "kept.suspended")
    before = {key: look(key) for key in keys}
    former = main_pid()
    debs.install(*PACKAGES)
    daemon_ready(other_than=former)
    assert {key: look(key) for key in keys} == before
    run("pinfold", "resume", "kept.suspended")
    third = start_job("kept.opened", "true", options=["--task"], **ALICE)
    assert [finish(job)[0] for job in (limited, still, leaver, *tasks, third)] == [3, 3, 3, 3, 3, 0]
    run("pinfold", "end", "kept.opened")
    found = {key: receipts(key) for key in keys}
    assert {key: len(ones) for key, ones in found.items()} == dict.fromkeys(keys, 1)
    assert [found[key][0]["exit_status"] for key in keys] == [3, 3, 3, None]
    assert [found[key][0]["leftovers"] for key in keys] == [0, 0, 1, 0]
    assert found["kept.opened"][0]["tasks"] == 3
    assert found["kept.suspended"][0]["suspended"] > 0
    expect_nothing_left()


def test_jobs_start_and_end_while_only_the_programs_are_new(older):
    """dpkg unpacks all packages before it restarts pinfoldd. Until the restart, the new programs call the old pinfoldd."""
    former = main_pid()
    with debs.unpacked(*PACKAGES):
        facts = ["--job-name", "train", "--account", "physics", "--queue", "long", "--nodes", "node1,node2"]
        run("pinfold", "open", "between.opened", "--uid", "alice", "--linger", "infinity", *facts)
        script = start_job("between.opened", "sh", "-c", "read line; exit 3", options=["--batch"], stdin=subprocess.PIPE, **ALICE)
        labeled = start_job("between.labeled", "sh", "-c", "read line; exit 3", options=["--label", "project=fold"], stdin=subprocess.PIPE)
        over = start_job("between.over", "sh", "-c", "exit 3")
        running(["between.opened", "between.labeled"])
        assert finish(over)[0] == 3
        assert main_pid() == former
    daemon_ready(other_than=former)
    assert [finish(job)[0] for job in (script, labeled)] == [3, 3]
    run("pinfold", "end", "between.opened", "--exit-status", "3")
    for key in ("between.opened", "between.labeled", "between.over"):
        assert [receipt["exit_status"] for receipt in receipts(key)] == [3]
    expect_nothing_left()


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
        """Submits a job that runs until somebody calls end(name). The exit status of the job is 3."""
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


def test_slurm_starts_and_ends_jobs_while_only_the_plugin_is_new(cluster):
    """See test_jobs_start_and_end_while_only_the_programs_are_new. While the old pinfoldd still runs, Slurm loads the new plugin."""
    directory = Path("/run/plugin-of-slurm")
    directory.mkdir()
    for name in ("live", "between"):
        os.mkfifo(directory / name)
    live = slurm.submit(f"read line <{directory}/live; exit 3", "--output=/dev/null")
    running([f"slurm.{live}"])
    former = main_pid()
    with debs.unpacked(*PACKAGES):
        over = slurm.submit("exit 3", "--output=/dev/null")
        between = slurm.submit(f"read line <{directory}/between; exit 3", "--output=/dev/null")
        running([f"slurm.{between}"])
        slurm.wait_state(over, "FAILED")
        assert main_pid() == former
    daemon_ready(other_than=former)
    for name in ("live", "between"):
        (directory / name).write_text("\n")
    for job in (live, over, between):
        ended = slurm.wait_state(job, "FAILED")
        assert (ended["ExitCode"], ended["Restarts"]) == ("3:0", "0")
        assert [(receipt["result"], receipt["exit_status"]) for receipt in receipts(f"slurm.{job}")] == [("exited", 3)]
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
        former, enough = main_pid(), threading.Event()

        def install():
            """On a busy machine, dpkg can be faster than two logins. dpkg then installs the packages again."""
            debs.install(*PACKAGES)
            while not enough.is_set():
                debs.install(*PACKAGES)
        with ThreadPoolExecutor(1) as executor:
            upgrade = executor.submit(install)
            try:
                for number in itertools.count():
                    if number == 2:
                        enough.set()
                    log_in()
                    if upgrade.done():
                        break
            finally:
                enough.set()
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


def test_the_way_back(older):
    """If the older package has the same sources as the newer package, the older pinfoldd takes over the live jobs and the history. The pinfoldd of an
    earlier revision can refuse the jobs and the history. After such a refusal, the test installs the newer package again, and the newer pinfoldd
    takes over the jobs and the history."""
    schema = schema_of_history()
    debs.install(*PACKAGES)
    job = start("back.1")
    running(["back.1"])
    former = main_pid()
    debs.install(*PACKAGES, of=debs.older)
    if schema != SCHEMA:
        def status():
            return run("systemctl", "show", "-P", "StatusText", "pinfoldd").stdout
        wait_until(lambda: "was written by a newer pinfold" in status(), "the older pinfoldd refuses the history")
    if debs.EARLIER_DIRECTORY.exists():
        assert job.poll() is None
        debs.install(*PACKAGES)
    daemon_ready(other_than=former)
    assert finish(job)[0] == 3
    assert [receipt["exit_status"] for receipt in receipts("back.1")] == [3]
