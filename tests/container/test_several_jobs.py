# SPDX-License-Identifier: LGPL-2.1-or-later
"""If the user names several jobs and a command fails for one job, the command still continues with the next job. The command prints an error for each
job for which the command fails. The command exits with the status of its first failure."""

import json
import re
import time

from jobs import as_alice, batch_script, finish, live_jobs, receipts, run, start_job, wait_running, wait_until

KEYS = ("several.1", "several.2", "several.3")
STUBBORN = ("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1000 & wait; done")


def started(*command, keys=KEYS, **more):
    jobs = [start_job(key, *command, **more) for key in keys]
    for key in keys:
        wait_running(key)
    return jobs


def ended(jobs):
    return [finish(job)[0] for job in jobs]


def test_all_are_done_and_the_first_failure_is_the_status():
    jobs = started("sleep", "1000")
    done = run("pinfold", "stop", "several.1", "several.nobody", "job-several.2.scope", "several.3", check=False)
    assert done.returncode == 4 and done.stdout == ""
    assert done.stderr.startswith("pinfold: several.nobody: ") and done.stderr.count("\n") == 1
    assert ended(jobs) == [-15, -15, -15]
    assert [receipts(key, 1)[0]["result"] for key in KEYS] == ["stopped"] * 3


def test_the_first_of_two_failures_counts_and_a_refusal_keeps_nobody_back():
    run("pinfold", "open", "several.2", "--uid", "alice")
    own = batch_script("several.2", "alice")
    others = start_job("several.1", "sleep", "1000")
    wait_running("several.1")
    refused = run(*as_alice("pinfold", "kill", "-9", "several.1", "several.nobody", "several.2"), check=False)
    assert refused.returncode == 5, "the first failure is that the job is root's"
    assert [line.split(": ")[1] for line in refused.stderr.splitlines()] == ["several.1", "several.nobody"]
    assert finish(own)[0] == -9 and live_jobs()["several.1"]["state"] == "running"
    run("pinfold", "stop", "several.1")
    finish(others)


def test_grace_times_run_side_by_side():
    jobs = started(*STUBBORN)
    assert [job.stdout.readline() for job in jobs] == ["ready\n"] * 3
    begun = time.monotonic()
    run("pinfold", "stop", "--wait", "--grace", "20s", *KEYS)
    assert 20 <= time.monotonic() - begun < 40, "one grace time, and not three"
    assert live_jobs() == {}
    assert ended(jobs) == [-9, -9, -9]


def test_what_is_waited_for_has_one_time_limit():
    jobs = started("sleep", "1000", keys=KEYS[:2])
    over = start_job("several.3", "true")
    assert finish(over)[0] == 0

    def told():
        """When the time is up, `pinfold` waits 100 ms for the answer about each further job. On a busy machine, pinfoldd can need longer."""
        begun = time.monotonic()
        done = run("pinfold", "wait", "--json", "--timeout", "2s", *KEYS, check=False)
        assert done.returncode == 124 and time.monotonic() - begun < 60
        return None if "several.3 was not over after 2s, but is over now" in done.stderr else done
    done = wait_until(told, "an answer about the third job in time")
    assert [line.split(": ")[1:3] for line in done.stderr.splitlines()] == [
        [key, f"job {key} is still running after 2s"] for key in KEYS[:2]], "with the time limit that the user has given"
    assert json.loads(done.stdout)["receipt"]["key"] == "several.3", "one that is over already is told also when the time is up"
    run("pinfold", "stop", *KEYS[:2])
    run("pinfold", "wait", *KEYS)
    assert ended(jobs) == [-15, -15]


def test_pages_limits_and_freezing():
    jobs = started("sleep", "1000", keys=KEYS[:2])
    shown = run("pinfold", "show", "-p", "key,state", *KEYS[:2]).stdout
    assert shown == "key=several.1\nstate=running\n\nkey=several.2\nstate=running\n"
    run("pinfold", "suspend", *KEYS[:2])
    wait_until(lambda: [job["state"] for job in live_jobs().values()] == ["suspended"] * 2, "both suspended")
    run("pinfold", "resume", *KEYS[:2])
    limits = run("pinfold", "limits", "--run-time-max", "1h", *KEYS[:2]).stdout.split("\n\n")
    assert [text.splitlines()[0] for text in limits] == ["Job several.1", "Job several.2"]
    tables = run("pinfold", "ps", *KEYS[:2]).stdout.split("\n\n")
    assert [text.splitlines()[0] for text in tables] == ["Job several.1", "Job several.2"]
    assert all("sleep 1000" in text for text in tables)
    documents = run("pinfold", "limits", "--json", *KEYS[:2]).stdout.replace("}\n{", "}\0{").split("\0")
    assert [json.loads(text)["limits"]["run_time_max"] for text in documents] == [3_600_000_000] * 2
    run("pinfold", "stop", "--wait", *KEYS[:2])
    assert ended(jobs) == [-15, -15]
    pages = run("pinfold", "why", *KEYS[:2]).stdout
    assert pages.startswith("Job several.1 of user root is over.") and "\n\nJob several.2 of user root is over." in pages
    both = run("pinfold", "status", *KEYS[:2], check=False)
    # If a job ran longer than a second, `pinfold why` draws a curve of the job's use. `pinfold status` never draws a curve.
    receipts_only = re.sub(r"\nWhat the job used over .*\n(?:  .*\n)+", "", pages)
    assert (both.returncode, both.stdout, both.stderr) == (3, receipts_only, "")
