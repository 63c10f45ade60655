# SPDX-License-Identifier: LGPL-2.1-or-later
"""When pinfold-run ends, a batch system believes that all processes of the job have ended. pinfold-run must not end while a process of the job
exists. When no process of the job exists, a signal must end pinfold-run, even if pinfoldd, the bus or the disk has a fault."""

import contextlib
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from calls import AT_THE_SOCKET, COMMANDS, answered, pace, timed
from jobs import (busy, daemon_ready, expect_nothing_left, finish, let_end, live_jobs, main_pid, processes_with, read_journal, receipts,
                  run, start_job, stopped, systemd_stopped, wait_running, wait_until)
from sick import LIB, bus_stands_still, draining, full, small_lib

CONFIG = Path("/etc/pinfold/pinfold.toml")
# If the leader of a job is a shell with the script LEAVES, the leader starts a process, and leaves the process behind. When the leader's standard
# input ends, the leader exits with status 3.
LEAVES = "setsid sleep {} >/dev/null 2>&1 & read line; exit 3"
SOON = 1.0  # on a machine that is not busy, pinfold-run ends within this number of seconds, and usually within half a second


def pinfoldd_stands_still():
    run("systemctl", "start", "pinfoldd")
    return stopped(main_pid())


@contextlib.contextmanager
def pinfoldd_masked():
    run("systemctl", "mask", "--runtime", "--now", "pinfoldd.service")
    try:
        yield
    finally:
        run("systemctl", "unmask", "--runtime", "pinfoldd.service")
        run("systemctl", "reset-failed", "pinfoldd.socket", "pinfoldd.service", check=False)
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")


@pytest.fixture(scope="module", autouse=True)
def own_disk():
    with small_lib():
        yield


@contextlib.contextmanager
def lib_full():
    """The history's disk is full, and pinfoldd has noticed that the disk is full. Each wrapper waits for its receipt until history.patience (30 s) is
    over."""
    with full(LIB):
        first = start_job("slot.first", "true")
        wait_until(draining, "no jobs on a full disk")
        yield
    finish(first)
    wait_until(lambda: not draining(), "the node takes jobs again", deadline=60)


# Maps each fault of the node to the calls that pinfoldd must answer in spite of the fault.
CREATION = {pinfoldd_stands_still: [], pinfoldd_masked: [], bus_stands_still: [AT_THE_SOCKET], systemd_stopped: COMMANDS}
BROKEN = CREATION | {lib_full: COMMANDS}


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def end_by_term(job):
    """Returns the exit status of pinfold-run, and the seconds from SIGTERM until pinfold-run has ended. The function does not wait until standard
    error is closed, because pinfoldd keeps its descriptor of the job's standard error open."""
    def end():
        job.send_signal(signal.SIGTERM)
        return job.wait(timeout=20)
    return timed(end)


def expect_soon(seconds):
    assert seconds < SOON * busy()


def working_again():
    daemon_ready()
    wait_until(lambda: live_jobs() == {}, "no job live")
    expect_nothing_left()
    assert finish(start_job("slot.after", "sh", "-c", "exit 4"))[0] == 4


@pytest.mark.parametrize("broken", CREATION, ids=lambda f: f.__name__)
def test_a_wrapper_ends_while_its_job_is_being_created(broken, tmp_path):
    key = f"slot.create.{broken.__name__}"
    with broken():
        job = start_job(key, "touch", tmp_path / "ran")
        wait_until(lambda: children(job.pid), "the process that waits to become the job")
        status, seconds = end_by_term(job)
        assert status == -signal.SIGTERM
        expect_soon(seconds)
    finish(job)
    working_again()
    assert not (tmp_path / "ran").exists()


def test_a_wrapper_is_refused_at_once_while_receipts_cannot_be_written():
    with lib_full():
        (status, _, err), seconds = timed(lambda: finish(start_job("slot.create.lib_full", "true")))
        assert status == 125 and "receipts cannot be written" in err, err
        expect_soon(seconds)
    working_again()


def end_leader(job):
    leader = children(job.pid)[0]  # from now on, the processes that the job leaves behind become children of the test
    let_end(job)
    wait_until(lambda: leader not in children(job.pid), "the leader gone")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda f: f.__name__)
def test_a_wrapper_ends_when_nobody_is_left(broken):
    key = f"slot.end.{broken.__name__}"
    job = start_job(key, "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)
    wait_running(key)
    with broken():
        end_leader(job)
        with pytest.raises(subprocess.TimeoutExpired):
            job.wait(timeout=0.5)  # without a signal, pinfold-run waits for pinfoldd
        status, seconds = end_by_term(job)
        assert status == 3
        expect_soon(seconds)
    finish(job)
    wait_until(lambda: receipts(key), "receipt", deadline=60)
    working_again()


@pytest.mark.parametrize("broken", BROKEN, ids=lambda f: f.__name__)
def test_a_wrapper_stays_while_somebody_is_left(broken, in_time):
    key = f"slot.stay.{broken.__name__}"
    # The leftover ignores SIGTERM. A running pinfoldd kills the leftover when the grace time is over. The grace time is an hour, so the leftover
    # lives until the test ends the leftover.
    job = start_job(key, "sh", "-c", "trap '' TERM; " + LEAVES.format(7301), options=("--kill-grace", "1h"), stdin=subprocess.PIPE)
    wait_running(key)
    with broken():
        end_leader(job)
        job.send_signal(signal.SIGTERM)
        if BROKEN[broken]:
            in_time(answered(BROKEN[broken]))
        with pytest.raises(subprocess.TimeoutExpired):
            job.wait(timeout=2)
        with pace() as seconds:
            begun = time.monotonic()
            for leftover in processes_with("sleep\x007301"):
                os.kill(leftover, signal.SIGKILL)
            assert job.wait(timeout=20) == 3 and not processes_with("sleep\x007301")
            ended = time.monotonic()
        expect_soon(seconds(begun, ended))
    finish(job)
    wait_until(lambda: receipts(key), "receipt", deadline=60)
    working_again()


def test_leftovers_are_killed_and_the_wrapper_sees_it_while_the_bus_stands_still():
    """To send SIGTERM, pinfoldd needs PID 1 and the bus. cgroup.kill needs neither the bus nor PID 1."""
    job = start_job("slot.kill", "sh", "-c", LEAVES.format(7304), stdin=subprocess.PIPE)
    wait_running("slot.kill")
    leftover = os.pidfd_open(*wait_until(lambda: processes_with("sleep\x007304"), "the one who will be left"))
    with contextlib.closing(os.fdopen(leftover)) as left, bus_stands_still():
        end_leader(job)
        job.send_signal(signal.SIGTERM)
        status = job.wait(timeout=20)
        assert select.select([left], [], [], 0)[0], "the wrapper has gone, and the leftover has not"
        assert status == 3
    finish(job)
    receipt = wait_until(lambda: receipts("slot.kill"), "receipt", deadline=60)[0]
    assert (receipt["exit_status"], receipt["leftovers"]) == (3, 1)
    working_again()


def starts():
    return run("systemctl", "show", "-P", "ExecMainStartTimestampMonotonic", "pinfoldd").stdout


def read_until(stream, text):
    seen = ""
    while text not in seen:
        line = stream.readline()
        assert line, seen
        seen += line
    return seen


def test_leftovers_keep_the_slot_while_pinfoldd_refuses_to_start():
    job = start_job("slot.refused", "sh", "-c", LEAVES.format(7302), stdin=subprocess.PIPE)
    wait_running("slot.refused")
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text("[jobs\n")
    try:
        run("systemctl", "restart", "pinfoldd", check=False)
        assert run("systemctl", "show", "-P", "ExecMainStatus", "pinfoldd").stdout == "78\n"
        before = starts()
        end_leader(job)
        wait_until(lambda: starts() != before, "pinfold-run has asked")
        refused = start_job("slot.refused.too", "true")
        status, _, err = finish(refused)
        assert status == 125 and "pinfold.toml:1:" in err and "systemctl restart pinfoldd" in err, err
        job.send_signal(signal.SIGTERM)
        said = read_until(job.stderr, "may not be over yet")
        assert "pinfold.toml:1:" in said and "systemctl restart pinfoldd" in said, said
        assert job.poll() is None and processes_with("sleep\x007302")
        count = read_journal("-u", "pinfoldd", "-o", "cat", "--since", "-20s").count("pinfold.toml:1:")
        assert 1 <= count <= 10, "a start each 6.4 s, each with two lines"
    finally:
        CONFIG.unlink()
    status, _, err = finish(job)  # only the wrapper's request starts pinfoldd again
    assert status == 3 and not processes_with("sleep\x007302"), err
    receipt = receipts("slot.refused")[0]
    assert (receipt["result"], receipt["exit_status"], receipt["leftovers"]) == ("exited", 3, 1)
    working_again()


def test_a_full_run(in_time, tmp_path):
    """systemd needs space in /run for the file of a new unit. pinfoldd needs space in /run for the record of a new job."""
    ends = start_job("slot.full", "sh", "-c", LEAVES.format(7303), stdin=subprocess.PIPE)
    lives = start_job("slot.full.lives", "sh", "-c", "read line; exit 4", stdin=subprocess.PIPE)
    wait_running("slot.full")
    wait_running("slot.full.lives")
    begun = time.time()
    with full("/run") as fill_again:
        run("systemctl", "restart", "pinfoldd")
        in_time(answered())
        fill_again()
        refused = run("pinfold-run", "--job", "slot.full.new", "--", "touch", tmp_path / "ran", check=False, timeout=10)
        fill_again()
        opened = run("pinfold", "open", "slot.full.opened", "--uid", "0", check=False, timeout=10)
        fill_again()
        added = run("pinfold-run", "--job", "slot.full.lives", "--task", "--", "touch", tmp_path / "ran", check=False, timeout=10)
        assert (refused.returncode, opened.returncode, added.returncode) == (125, 1, 125)
        for done in (refused, opened, added):
            assert "/run/pinfold/jobs" in done.stderr and "No space left on device" in done.stderr, done
        end_leader(ends)
        status, _, err = finish(ends)
        over = time.time()
        assert status == 3 and not processes_with("sleep\x007303"), err
    let_end(lives)
    assert finish(lives)[0] == 4
    working_again()
    assert not (tmp_path / "ran").exists()
    found = {receipt["key"]: receipt for receipt in receipts() if receipt["key"].startswith("slot.full")}
    ended = {key: (receipt["exit_status"], receipt["leftovers"]) for key, receipt in found.items()}
    assert ended == {"slot.full": (3, 1), "slot.full.lives": (4, 0)}
    assert begun < found["slot.full"]["ended"] / 1e6 < over < found["slot.full.lives"]["ended"] / 1e6


def test_closed_standard_streams():
    """Starts pinfold-run without standard streams, like a daemon that has closed all its descriptors."""
    script = "pinfold-run --job slot.closed -- sh -c 'ls -l /proc/$$/fd >/tmp/slot.closed 2>&1' <&- >&- 2>&-"
    Path("/tmp/slot.closed").unlink(missing_ok=True)
    assert run("sh", "-c", script, check=False, timeout=30).returncode == 0
    assert receipts("slot.closed")[0]["exit_status"] == 0
    listed = Path("/tmp/slot.closed").read_text()
    assert "null" not in listed and "pipe" not in listed and "socket" not in listed, listed
