# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the warning that a job gets before it reaches its run time limit. The tests in tests/vm cover the warning that a job gets before its memory
limit."""

import os
import re
import signal
import subprocess

import pytest

from jobs import as_alice, batch_script, finish, journal, run, start_job, wait_for_entries, wait_running, wait_until
from test_stop_line import hanging_file_server, hanging_reader

NODE = re.escape(os.uname().nodename)
WARNING = rf"pinfold: job {{key}} on {NODE} reaches its run time limit of (\w+) in [\w ]+ \([0-9T:-]+Z\)\. {{who}} the job at the limit\.\n"
PINFOLD, BATCH_SYSTEM = "pinfold stops", "The batch system ends"


def test_of_a_warning_with_a_signal():
    script = "trap 'echo warned; exit 7' USR1; echo ready; while :; do sleep 0.1; done"
    job = start_job("warned.1", "bash", "-c", script, options=["--run-time-max", "1h", "--run-time-warning-signal", "USR1"])
    assert job.stdout.readline() == "ready\n"
    run("pinfold", "limits", "warned.1", "--run-time-warning", "59min 59s 999ms")
    status, out, err = finish(job)
    assert (status, out) == (7, "warned\n"), "the job has saved its state and has ended by itself"
    line = re.fullmatch(WARNING.format(key="warned.1", who=PINFOLD), "".join(part for part in err.splitlines(True) if "User defined" not in part))
    assert line and line[1] == "1h", err
    [entry] = wait_for_entries("warned.1", "limit-near")
    assert entry["PINFOLD_LIMIT"] == "run_time_max"


def test_of_a_warning_and_of_the_end():
    options = ["--run-time-max", "10s", "--run-time-warning", "9s"]
    status, _, err = finish(start_job("warned.2", "sleep", "1000", options=options))
    assert status == -15
    warning, end = err.splitlines(True)
    assert re.fullmatch(WARNING.format(key="warned.2", who=PINFOLD), warning)
    assert " was stopped: it reached its run time limit of 10s. It ran for " in end


def test_pinfoldd_warns_of_the_batch_systems_limit_but_leaves_the_end_to_the_batch_system():
    # pinfoldd does not warn of a limit that is already over. The warning is due 5 s before the limit, so the machine can be busy for a while.
    options = ["--batch-run-time-max", "6s", "--run-time-max", "1h", "--run-time-warning", "5s"]
    status, out, err = finish(start_job("warned.5", "sh", "-c", "sleep 7; echo beyond the limit", options=options))
    assert (status, out) == (0, "beyond the limit\n")
    line = re.fullmatch(WARNING.format(key="warned.5", who=BATCH_SYSTEM), err)
    assert line and line[1] == "6s", err
    [entry] = wait_for_entries("warned.5", "limit-near")
    assert entry["PINFOLD_LIMIT"] == "batch_run_time_max"


def test_a_restarted_pinfoldd_keeps_the_warning():
    options = ["--run-time-max", "1h", "--run-time-warning", "59min 50s", "--run-time-warning-signal", "USR1"]
    job = start_job("warned.3", "sleep", "1000", options=options)
    wait_running("warned.3")
    run("systemctl", "restart", "pinfoldd")
    assert finish(job)[0] == -signal.SIGUSR1
    assert len(wait_for_entries("warned.3", "limit-near")) == 1


def test_users_choose_their_own_warning():
    run("pinfold", "open", "warned.4", "--uid", "alice", "--run-time-max", "1h")
    job = batch_script("warned.4", "alice")
    run(*as_alice("pinfold", "limits", "warned.4", "--run-time-warning", "30min", "--run-time-warning-signal", "USR1"))
    denied = run(*as_alice("pinfold", "limits", "warned.4", "--run-time-max", "2h"), check=False)
    assert denied.returncode != 0
    run("pinfold", "stop", "warned.4")
    finish(job)


@pytest.mark.parametrize("output", [hanging_reader, hanging_file_server])
def test_an_output_that_hangs_delays_neither_the_job_nor_others(output):
    with output() as stderr:
        job = start_job("warned.6", "sh", "-c", "echo ready; read line; exit 7", options=["--run-time-max", "1h"], stderr=stderr,
                        stdin=subprocess.PIPE)
        try:
            assert job.stdout.readline() == "ready\n"
            warned = len(journal("warned.6", "limit-near"))
            run("pinfold", "limits", "warned.6", "--run-time-warning", "59min 59s 999ms")
            wait_until(lambda: len(journal("warned.6", "limit-near")) == warned + 1, "the warning")
            assert finish(start_job("warned.next", "true")) == (0, "", ""), "other jobs do not wait"
            job.stdin.close()
            assert job.wait(timeout=60) == 7, "the job goes on"
        finally:
            job.kill()
            job.wait()
