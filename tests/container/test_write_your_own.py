# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the examples of docs/schedulers/write-your-own.md. The tests use the examples as an author of a batch system would use them."""

import json
import os
import signal
from pathlib import Path

import pytest

from jobs import daemon_ready, expect_nothing_left, processes_with, receipts, run, site

EXAMPLES = "/usr/share/doc/pinfold/examples/write-your-own"
SCHEDULERS = {"cpp": ["/usr/libexec/pinfold-tests/scheduler"], "python": ["/usr/bin/python3", f"{EXAMPLES}/scheduler.py"],
              "shell": ["/bin/sh", f"{EXAMPLES}/scheduler.sh"]}
every = pytest.mark.parametrize("language", SCHEDULERS)


def schedule(language, key, *command):
    return run(*SCHEDULERS[language], key, "alice", *command, check=False)


@pytest.fixture(autouse=True)
def limits_as_this_node_can():
    """In some containers, the memory controller is missing."""
    with site('[jobs]\nunenforced_limits = "warn"\n'):
        yield


@every
def test_a_job_that_leaves_a_daemon_behind(language):
    key = f"own.{language}"
    done = schedule(language, key, "sh", "-c", "grep ^0: /proc/self/cgroup; id -un; setsid sleep 1234.7 & exit 3")
    where, user = done.stdout.split()
    assert (done.returncode, user) == (3, "alice"), done.stderr
    assert f"/batch-own.{language}.slice/job-own.{language}.scope" in where
    assert not processes_with("sleep\x001234.7")
    [receipt] = receipts(key)
    assert (receipt["leftovers"], receipt["memory_max"]) == (1, 256 << 20)
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 3)
    expect_nothing_left()


ENDINGS = {"true": ("exited", 0, None), "exit 3": ("exited", 3, None), "kill -KILL $$": ("signaled", None, signal.SIGKILL)}


@every
def test_each_receipt_says_how_its_job_ended(language):
    """The jobs are so short that pinfoldd notices the end of a leader before the batch system can report the end. PINFOLD_OWN_RUNS is the number of
    jobs of each kind."""
    wrong = []
    for number in range(int(os.environ.get("PINFOLD_OWN_RUNS", "5"))):
        for script, expected in ENDINGS.items():
            key = f"own.{language}-{number}-{expected[1]}"
            schedule(language, key, "sh", "-c", script)
            [receipt] = receipts(key)
            told = receipt["result"], receipt["exit_status"], receipt["exit_signal"]
            if told != expected:
                wrong.append((key, told))
    assert wrong == []


@every
@pytest.mark.parametrize("arguments", [[], ["own.1"], ["own.1", "alice"], ["own.1", "nobody-here", "true"]])
def test_wrong_arguments_are_told_and_are_no_reason_to_requeue(language, arguments):
    done = run(*SCHEDULERS[language], *arguments, check=False)
    assert done.returncode in (1, 2) and done.stderr and "Traceback" not in done.stderr


CLIENT = """import json, os, subprocess, sys
from pinfold import Pinfold
client = Pinfold()
slice = client.open_job("own.client", 1000, linger=2**64 - 1, tasks_max=100)
child = subprocess.Popen(["sleep", "1000"])
number, scope = client.add_task("own.client", child.pid)
limits = client.set_limits("own.client", tasks_max=50)
where = open(f"/proc/{child.pid}/cgroup").read()
receipt = client.end_job("own.client", exit_status=7)
print(json.dumps([slice, number, scope, limits["tasks_max"], where, receipt["exit_status"], receipt["leftovers"], child.wait()]))
"""


def test_the_installed_module_opens_a_job_with_a_task():
    job_slice, number, scope, limit, where, status, leftovers, end = json.loads(run("/usr/bin/python3", "-c", CLIENT).stdout)
    assert (job_slice, number, scope, limit) == ("batch-own.client.slice", 1, "job-own.client-1.scope", 50)
    assert f"/batch-own.client.slice/{scope}\n" in where
    assert (status, leftovers) == (7, 1) and end < 0
    expect_nothing_left()


@every
def test_a_job_that_a_signal_ends(language):
    assert schedule(language, f"own.signal-{language}", "sh", "-c", "kill -KILL $$").returncode == 128 + signal.SIGKILL
    assert len(receipts(f"own.signal-{language}")) == 1
    expect_nothing_left()


@every
def test_a_refusal_requeues(language):
    done = schedule(language, "own.no/key", "touch", "/tmp/must-not-run")
    assert done.returncode == 99 and "key" in done.stderr
    assert not Path("/tmp/must-not-run").exists()


@every
def test_without_the_daemon_it_is_requeued(language):
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    run("systemctl", "mask", "--runtime", "pinfoldd")
    try:
        done = schedule(language, "own.later", "touch", "/tmp/must-not-run")
    finally:
        run("systemctl", "unmask", "--runtime", "pinfoldd")
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
        daemon_ready()
    assert done.returncode == 99
    assert not Path("/tmp/must-not-run").exists()
    expect_nothing_left()
