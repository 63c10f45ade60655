# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what a receipt says about a job's owner and origin. Tests who may set a job's owner and origin, and who may read a job's owner and origin."""

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from jobs import expect_nothing_left, finish, receipts, run, site, start_job, wait_running, wait_until
from names import wait_for_name

AUDITOR, OWNER = "bob", "alice"
HERE = Path(__file__).parent


def as_user(user, *command):
    return subprocess.run(["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)


@pytest.fixture
def auditor():
    """`pinfold reload` waits at most one second for the answer of the group database. So pinfoldd can learn the new members after the reload."""
    assert finish(start_job("audit.probe", "true"))[0] == 0

    def is_auditor():
        return as_user(AUDITOR, "pinfold", "why", "audit.probe").returncode == 0
    run("gpasswd", "--add", AUDITOR, "pinfold-audit")
    run("pinfold", "reload")
    wait_until(is_auditor, "pinfoldd knows the auditor")
    yield
    run("gpasswd", "--delete", AUDITOR, "pinfold-audit")
    run("pinfold", "reload")
    wait_until(lambda: not is_auditor(), "pinfoldd knows that the user is no auditor any more")


def test_a_user_gives_labels_and_nothing_more():
    with site("[jobs]\nallow_user_jobs = true\n"):
        wait_for_name(user=OWNER)
        done = as_user(OWNER, "pinfold-run", "--job", "user.facts", "--label", "project=x <b>", "--label", "n=1", "--", "true")
        assert done.returncode == 0, done.stderr
        [receipt] = receipts("user.facts")
        assert receipt["labels"] == {"project": "x <b>", "n": "1"}
        assert (receipt["user"], receipt["host"], receipt["slots"], receipt["account"]) == (OWNER, os.uname().nodename, None, None)
        assert "labels       n=1, project=x <b>" in run("pinfold", "why", "user.facts").stdout
        refused = as_user(OWNER, "pinfold-run", "--job", "user.facts", "--label", "a=\x1b[2J", "--", "true")
        assert refused.returncode == 125 and "control characters" in refused.stderr
        forge = (f"import os, sys; sys.path.append({str(HERE)!r})\nfrom at_the_socket import Refused, create\n"
                 "try: create('user.forged', os.pidfd_open(os.getpid()), identity={'account': 'physics'}); print('taken')\n"
                 "except Refused as refused: print(refused)\n")
        assert as_user(OWNER, sys.executable, "-c", forge).stdout.strip() == "Denied"
    assert receipts("user.forged") == []
    expect_nothing_left()


def test_an_auditor_reads_about_every_job_and_does_nothing(auditor):
    over = start_job("audit.over", "true", options=["--label", "kind=audit"])
    assert finish(over)[0] == 0
    live = start_job("audit.live", "sleep", "1000")
    wait_running("audit.live")
    found = as_user(AUDITOR, "pinfold", "history", "--label", "kind=audit", "--json=lines")
    assert [json.loads(line)["key"] for line in found.stdout.splitlines()] == ["audit.over"], found.stderr
    assert as_user(AUDITOR, "pinfold", "why", "audit.over").returncode == 0
    assert "sleep 1000" in as_user(AUDITOR, "pinfold", "ps", "audit.live").stdout
    for act in (["stop", "audit.live"], ["kill", "audit.live"], ["end", "audit.live"], ["limits", "audit.live", "--tasks-max", "9"],
                ["suspend", "audit.live"], ["vacuum"], ["drain", "--reason", "x"], ["reload"], ["reconcile"]):
        assert as_user(AUDITOR, "pinfold", *act).returncode == 5, act
    assert live.poll() is None
    run("pinfold", "stop", "--wait", "audit.live")
    finish(live)
    expect_nothing_left()


def test_without_the_group_nobody_reads_about_the_jobs_of_others():
    assert finish(start_job("audit.over", "true"))[0] == 0
    assert as_user(AUDITOR, "pinfold", "why", "audit.over").returncode != 0
    seen = json.loads(as_user(AUDITOR, "pinfold", "history", "--json").stdout)["receipts"]
    assert {receipt["uid"] for receipt in seen} <= {pwd.getpwnam(AUDITOR).pw_uid}
