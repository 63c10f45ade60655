# SPDX-License-Identifier: LGPL-2.1-or-later
"""`pinfold logs KEY` prints exactly those entries of the journal that concern the job KEY."""

import json
import re
import subprocess
import time

from jobs import as_alice, descriptors, finish, journal, main_pid, run, start_job, stopped, wait_running, wait_until

FORGE = "printf 'MESSAGE=forged\\nPINFOLD_JOB=logs.1\\nUNIT=job-logs.1.scope\\n' | logger --journald"


def logs(*words, **options):
    run("journalctl", "--sync")
    return run("pinfold", "logs", *words, **options)


def entries(*words):
    return [json.loads(line) for line in logs("logs.1", "--json", *words).stdout.splitlines()]


def cursors(*words):
    return [entry["__CURSOR"] for entry in entries(*words)]


def test_entries_of_pinfoldd_of_systemd_and_of_the_jobs_own_processes():
    job = start_job("logs.1", "systemd-cat", "-t", "own", "sh", "-c", "echo of the job; sleep 1000 & exec sleep 1000")
    other = start_job("logs.10", "systemd-cat", "-t", "own", "sh", "-c", "echo of another; exec sleep 1000")
    wait_until(lambda: [entry for entry in entries() if entry["MESSAGE"] == "of the job"], "the job's own entry")
    run(*as_alice("sh", "-c", FORGE))
    follow = subprocess.Popen(["pinfold", "logs", "-f", "--json", "-n", "0", "logs.1"], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: "anon_inode:inotify" in descriptors(follow.pid), "it follows")
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
    # After the job's end, systemd may write more lines about the job's units.
    wait_until(lambda: cursors("-n", "2") == cursors()[-2:], "the last two entries")
    page = logs("job-logs.1.scope", "--no-pager")
    assert "own[" in page.stdout and "of the job" in page.stdout and "logs.10" not in page.stdout and page.stderr == ""


def test_the_form_is_journalctls():
    job = start_job("logs.2", "systemd-cat", "-t", "own", "sh", "-c", "printf 'a\\tb\\n'; exec sleep 1000")
    asked = "PINFOLD_JOB=logs.2", "_UID=0", "+", "UNIT=batch-logs.2.slice", "UNIT=job-logs.2.scope", "_PID=1", "+", "_SYSTEMD_SLICE=batch-logs.2.slice"
    wait_until(lambda: "a        b\n" in logs("logs.2").stdout, "the job's own entry")
    with stopped(main_pid("systemd-journald")):  # journald stores the messages later than it gets them
        run("pinfold", "stop", "--wait", "logs.2")
        ended = int(time.time())
        wait_until(lambda: int(time.time()) > ended, "a later second than that of the messages")
    finish(job)

    def journalctl(*words):
        # systemd 257 writes the time zone with a colon. systemd 252 and pinfold write the time zone without a colon.
        return re.sub(r"^([\dT:-]+[+-]\d\d):(\d\d) ", r"\1\2 ", run("journalctl", "-o", *words, *asked).stdout, flags=re.M)

    def keys(documents):
        # systemd 257 has added the sequence numbers of the entries to the output.
        return [{key for key in json.loads(line) if not key.startswith("__SEQNUM")} for line in documents.splitlines()]

    # After the job's end, systemd may write more lines about the job's units. The test repeats the comparison until both commands print the same
    # lines.
    wait_until(lambda: logs("logs.2").stdout == journalctl("short-iso"), "both print the same")
    wait_until(lambda: logs("logs.2", "-n", "2").stdout == journalctl("short-iso", "-n", "2"), "both print the same last lines")
    wait_until(lambda: keys(logs("logs.2", "--json").stdout) == keys(journalctl("json", "--all")), "both print the same fields")


def test_a_user_sees_own_entries_only_and_is_told_so():
    job = start_job("logs.3", "sleep", "1000")
    wait_running("logs.3")
    wait_until(lambda: journal("logs.3"), "the journal has an entry of pinfoldd about the job")
    assert "pinfoldd[" in run("pinfold", "status", "logs.3").stdout
    done = run(*as_alice("pinfold", "logs", "logs.3"))
    assert done.stdout == "" and "only entries of your own processes" in done.stderr and "no entry about job logs.3" in done.stderr
    page = " ".join(run(*as_alice("pinfold", "status", "logs.3")).stdout.split())
    assert "Of the journal, only entries of your own processes are shown: root and the members of the groups systemd-journal and adm may" in page
    assert "Of the journal" not in run("pinfold", "status", "logs.3").stdout, "root may read all entries"
    run("pinfold", "stop", "logs.3")
    finish(job)


def test_a_key_that_is_none():
    done = logs("Logs.1", check=False)
    assert done.returncode == 2 and "Logs.1" in done.stderr
