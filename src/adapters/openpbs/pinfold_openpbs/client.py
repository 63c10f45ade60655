# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program pinfold to ask pinfoldd, because the interpreter of a hook has no module for D-Bus."""

import json
import os
import re
import socket
import stat
import subprocess
import time

from .failure import TIMED_OUT, UNREACHABLE, Failure
from .processes import run

PINFOLD = "@bindir@/pinfold"
POLICY_FILE = "/run/pinfold/on-failure"
JOURNAL = "/run/systemd/journal/socket"
RUN_UNCONFINED = "c7022423c2614349afc3df64d57013d2"  # src/base/message_ids.hpp has the same message id

# BUDGET is the longest time that the hook uses for an event, in seconds. docs/schedulers/openpbs.md tells the administrator to
# set the hook's alarm to 90 s. If the hook runs for more than 90 s, MoM kills the hook and counts an error.
BUDGET = 80
STARTED = time.monotonic()


def key_of(job_id):
    return "pbs.%s" % job_id


def pinfold(*arguments, output=None):
    """Runs pinfold, and returns the output of pinfold. `output` is a descriptor that pinfold inherits, or None."""
    left = BUDGET - (time.monotonic() - STARTED)
    if left <= 0:
        raise Failure("the hook's time limit has passed", TIMED_OUT)
    try:
        status, out, err = run([PINFOLD, *arguments], left, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                               pass_fds=[] if output is None else [output])
    except subprocess.TimeoutExpired:
        raise Failure("pinfold %s did not answer within %d s" % (arguments[0], left), TIMED_OUT)
    except OSError as error:
        raise Failure("%s: %s" % (PINFOLD, error.strerror), UNREACHABLE)
    if status != 0:
        words = err.decode(errors="replace").strip().replace("pinfold: ", "", 1).replace("\n", "; ")
        raise Failure(words[:500] or "pinfold %s ended with %d" % (arguments[0], status), status)
    return out


def pinfold_json(*arguments, output=None):
    return json.loads(pinfold(*arguments, "--json", output=output))


def may_run_unconfined(key, failure):
    """Returns true if the job is allowed to run without a scope. may_run_unconfined() and pinfold-run use the same rules
    (src/socket_client/failure_policy.cpp). A job that pinfoldd refused never runs without a scope. The journal gets a warning about each
    job that runs without a scope."""
    if not failure.outage or not site_allows_unconfined():
        return False
    warn_in_journal(key, str(failure))
    return True


def site_allows_unconfined():
    try:
        descriptor = os.open(POLICY_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as policy:
        status = os.fstat(descriptor)
        return (stat.S_ISREG(status.st_mode) and status.st_uid == 0 and not status.st_mode & 0o022
                and policy.read(32) == b"run-unconfined\n")


def warn_in_journal(key, message):
    fields = {"MESSAGE": "job %s runs unconfined: %s" % (key, message), "PRIORITY": "4", "SYSLOG_IDENTIFIER": "pinfold-openpbs",
              "MESSAGE_ID": RUN_UNCONFINED, "PINFOLD_EVENT": "run-unconfined", "PINFOLD_JOB": key}
    text = "".join("%s=%s\n" % (name, re.sub("[^ -~]", "?", value)) for name, value in fields.items())
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
        try:
            journal.sendto(text.encode(), JOURNAL)
        except OSError:
            pass  # give_up() has written the failure to MoM's log
