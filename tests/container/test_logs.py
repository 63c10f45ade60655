# SPDX-License-Identifier: LGPL-2.1-or-later
"""`pinfold logs`: the journal's entries about a job, and nobody else's."""

import json
import os
import subprocess

from jobs import as_alice, finish, run, start_job, wait_until

FORGE = "printf 'MESSAGE=forged\\nPINFOLD_JOB=logs.1\\nUNIT=job-logs.1.scope\\n' | logger --journald"


def logs(*words, **options):
    run("journalctl", "--sync")
    return run("pinfold", "logs", *words, **options)


def entries(*words):
    return [json.loads(line) for line in logs("logs.1", "--json", *words).stdout.splitlines()]


def test_entries_of_pinfoldd_of_systemd_and_of_the_jobs_own_processes():
    job = start_job("logs.1", "systemd-cat", "-t", "own", "sh", "-c", "echo of the job; sleep 1000 & exec sleep 1000")
    other = start_job("logs.10", "systemd-cat", "-t", "own", "sh", "-c", "echo of another; exec sleep 1000")
    wait_until(lambda: [entry for entry in entries() if entry["MESSAGE"] == "of the job"], "the job's own entry")
    run(*as_alice("sh", "-c", FORGE))
    follow = subprocess.Popen(["pinfold", "logs", "-f", "--json", "-n", "0", "logs.1"], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: os.readlink(f"/proc/{follow.pid}/exe").endswith("/journalctl"), "it follows")
    try:
        run("pinfold", "stop", "logs.1", "logs.10")
        finish(job)
        finish(other)
        while json.loads(follow.stdout.readline()).get("PINFOLD_EVENT") != "job-ended":
            pass
    finally:
        follow.kill()
        follow.communicate()
    told = entries()
    assert {entry.get("PINFOLD_EVENT") for entry in told} >= {"job-ended"}
    assert [entry for entry in told if entry.get("_PID") == "1" and entry.get("UNIT") == "job-logs.1.scope"], "systemd's"
    assert {entry["MESSAGE"] for entry in told}.isdisjoint({"forged", "of another"})
    forged = run("journalctl", "-o", "cat", "--no-pager", "PINFOLD_JOB=logs.1", "MESSAGE=forged").stdout
    assert forged == "forged\n", "else there was nothing to leave out"
    assert [entry["__CURSOR"] for entry in entries("-n", "2")] == [entry["__CURSOR"] for entry in told[-2:]]
    page = logs("job-logs.1.scope", "--no-pager").stdout
    assert "own[" in page and "of the job" in page and "logs.10" not in page


def test_a_key_that_is_none():
    done = logs("Logs.1", check=False)
    assert done.returncode == 2 and "Logs.1" in done.stderr
