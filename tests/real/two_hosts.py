# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests in this file run under each real batch system on two hosts."""

import json
from contextlib import contextmanager
from pathlib import Path

from nodes import NODES, on

LEAVE = """#!/bin/sh
setsid sleep "$1" </dev/null >/dev/null 2>&1 &
until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.1; done
"""

CLEANS_UP = """trap 'echo got term; sleep 4; echo cleaned up; exit 9' TERM
touch $HOME/$PBS_JOBID.runs
while :; do sleep 0.2; done"""

# Each entry of ENDS has a job's script, the job's exit status in the batch system, and the result of outcome() for the job's receipt.
ENDS = [
    ("exit 0", 0, ("exited", 0, None)),
    ("exit 3", 3, ("exited", 3, None)),
    ("exit 255", 255, ("exited", 255, None)),
    ("kill -9 $$", 128 + 9, ("exited", 128 + 9, None)),  # a signal ends the child of the login shell, and the login shell exits with 128 + 9
    ("kill -9 $PPID", 256 + 9, ("signaled", None, 9)),
]


def put_leave():
    """Writes the program `leave SECONDS` into alice's home. MoM itself kills all processes in the session of an ended script or task. The program
    starts a daemon in a new session, so that MoM does not kill the daemon."""
    leave = Path("/home/alice/leave")
    leave.write_text(LEAVE)
    leave.chmod(0o755)


def outcome(receipt):
    return receipt["result"], receipt["exit_status"], receipt["exit_signal"]


def identity(receipt):
    """Returns the receipt's entries about the job's origin, but leaves out entries without a value."""
    names = ("job_name", "account", "queue", "project", "group", "submit_host", "submit_directory", "array_job", "array_task", "run", "slots",
             "nodes", "node_count", "batch_run_time_max")
    return {name: receipt[name] for name in names if receipt[name] not in (None, [])}


def failed_jobs(option="--failed"):
    return {receipt["key"] for node in NODES
            for receipt in json.loads(on(node, "pinfold", "history", option, "--json", "-n", 10000).stdout)["receipts"]}


def drain(node):
    on(node, "pinfold", "drain", "--reason", "new disk")


def undrain(node):
    on(node, "pinfold", "undrain")


@contextmanager
def drained(node):
    drain(node)
    try:
        yield
    finally:
        undrain(node)


@contextmanager
def no_pinfoldd(node="node1"):
    """Stops pinfoldd. Until the `with` block ends, systemd and D-Bus cannot start pinfoldd."""
    units = ("pinfoldd.socket", "pinfoldd")
    on(node, "systemctl", "mask", "--runtime", "--now", *units)
    try:
        yield
    finally:
        on(node, "systemctl", "unmask", "--runtime", *units)
        on(node, "systemctl", "start", *units)
