# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every process that tries to leave its job ends with the job, and the journal names the process."""

import os
import subprocess

import pytest

from jobs import (ESCAPIST, busy, daemon_ready, expect_nothing_left, finish, receipts, run, start_job, text_of, wait_for_entries,
                  wait_for_journal, wait_running, wait_until)

WAYS = ["set-sid", "double-fork", "daemon", "re-parented", "ignores-term", "stopped", "other-user", "storm"]
ODD_NAMES = {"blanks": "a  b c", "newline": "a\nb", "parenthesis": "x) S 1 1 (y", "terminal": "\x1b[31mred\x07",
             "bytes": b"\xff\xfe\x80".decode(errors="surrogateescape")}


def left_pid(stdout):
    return int(stdout.split("ready ")[1].split()[0])


def gone(pid):
    """Returns true if the process has ended. A process that has ended is still in /proc until PID 1 reaps it, but has no command line any more."""
    return text_of(f"/proc/{pid}/cmdline") == ""


@pytest.mark.parametrize("mode", ["supervise", "exec"])
@pytest.mark.parametrize("way", WAYS)
def test_caught_at_job_end(way, mode):
    key = f"esc.{way.replace('-', '')}.{mode}"
    options = ["--exec"] if mode == "exec" else []
    status, out, err = finish(start_job(key, ESCAPIST, way, options=options))
    assert status == 3, err
    pid = left_pid(out)
    if mode == "exec":
        wait_until(lambda: receipts(key), "receipt")
    assert gone(pid)
    receipt = receipts(key)[0]
    assert receipt["result"] == "exited"
    assert receipt["leftovers"] >= 1
    warning = wait_for_entries(key, "leftovers")
    assert [entry["MESSAGE"] for entry in warning] == [f"rogue process(es) found for task {key}"]
    assert warning[0]["PRIORITY"] == "4"
    named = wait_for_entries(key, "leftover")
    assert any("escapist" in entry["MESSAGE"] for entry in named), named
    if way not in ("storm",):
        assert str(pid) in [entry["PINFOLD_LEFTOVER_PID"] for entry in named]
    if way == "other-user":
        assert "65534" in [entry["PINFOLD_LEFTOVER_UID"] for entry in named]
    expect_nothing_left()


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_named_escaped(name):
    key = f"esc.odd.{name}"
    status, out, _ = finish(start_job(key, ESCAPIST, "named", ODD_NAMES[name]))
    assert status == 3
    assert gone(left_pid(out))
    messages = [entry["MESSAGE"] for entry in wait_for_entries(key, "leftover")]
    assert len(messages) == 1 and messages[0].startswith("leftover: ")
    assert all(ord(c) >= 0x20 and ord(c) != 0x7f for c in messages[0])
    expected = {"blanks": "a  b c", "newline": "a\\x0ab", "parenthesis": "x) S 1 1 (y", "terminal": "\\x1b[31mred\\x07",
                "bytes": "\\xff\\xfe\\x80"}[name]
    assert expected in messages[0]
    why = run("pinfold", "why", key).stdout
    assert expected in why


def test_the_unit_shows_it_in_the_journal():
    finish(start_job("esc.unit", ESCAPIST, "set-sid"))
    wait_for_journal("rogue process(es) found for task esc.unit", "-u", "job-esc.unit.scope")


@pytest.mark.parametrize("mode", ["supervise", "exec"])
def test_threads_after_the_main_threads_end_are_the_job(mode):
    key = f"esc.threads.{mode}"
    job = start_job(key, ESCAPIST, "threads", options=["--exec"] if mode == "exec" else [], stdin=subprocess.PIPE)
    assert job.stdout.readline().startswith("ready ")
    wait_running(key)
    pid = daemon_ready()
    # When pinfoldd answers this call, pinfoldd has already handled the end of the job's main thread.
    wait_running(key)
    assert run("systemctl", "is-active", f"job-{key}.scope").stdout.strip() == "active"
    os.kill(pid, 9)
    daemon_ready(other_than=pid)
    wait_running(key)
    status, _, _ = finish_with(job, "x")
    assert status == 3
    wait_until(lambda: receipts(key), "receipt")
    assert receipts(key)[0]["leftovers"] == 0
    expect_nothing_left()


def finish_with(process, text):
    out, err = process.communicate(text, timeout=60)
    return process.returncode, out, err


def test_a_child_that_heeds_sigterm_is_gone_within_a_second():
    def wall(key, script, leftovers):
        assert finish(start_job(key, "sh", "-c", script))[0] == 0
        [receipt] = receipts(key)
        assert receipt["leftovers"] == leftovers
        return receipt["wall"]

    assert wall("esc.quick", "setsid sleep 1000 & exec sleep 0.1", 1) < wall("esc.usual", "exec sleep 0.1", 0) + 1_000_000 * busy()
