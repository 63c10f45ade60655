# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what the commands print for receipts that earlier versions of pinfold stored."""

import contextlib
import json
import sqlite3
import subprocess

import pytest
from earlier import make_history
from schemas import expect_document

from conftest import BUILD, wait_until

ENDS = {
    "sge.1": "It exited with status 0.",
    "sge.2": "It exited with status 3.",
    "user.3": "It was ended by SIGSEGV (Segmentation fault).",
    "pbs.4": "It was stopped at its run time limit of 300ms, and was ended by SIGTERM (Terminated).",
    "sge.5": "It exited with status 0.",
    "slurm.6": "It was stopped on request of user root, and was ended by SIGTERM (Terminated).",
    "sge.7": "The job's supervisor, pinfold-run, was killed; pinfold then stopped the job's remaining processes.",
    "torque.8": "It ended; its exit status was not reported to pinfold.",
    "sge.9": "It ended; its exit status was not reported to pinfold.",
    "pbs.10": "It was killed because it needed more memory than its limit of 1G; the kernel chose python3 (process 4711, 1020M resident).",
}
# In schema 2, the history had no rows for live jobs. Jobs that ran when the node went down got no receipts.
LOST = {2: set(), 4: {"sge.11", "user.12"}}
NOT_KNOWN = ("host", "boot_id", "cluster", "version", "slots", "memory_need", "memory_peak", "memory_peak_shmem", "job_name", "account", "queue")


def pinfold(world, *words, status=0):
    done = subprocess.run([BUILD / "src/cli/pinfold", *words], env=world.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=[2, 4])
def earlier(world, request):
    world.configure('[history]\nmax_age = "infinity"\n')  # the stored receipts have fixed dates
    world.stop_daemon()
    directory = world.root / "var/lib/pinfold"
    for file in directory.iterdir():
        file.unlink()
    with contextlib.closing(sqlite3.connect(directory / "history.db")) as db:
        make_history(db, request.param)
        world.stored = {key: json.loads(text) for key, text in db.execute("SELECT key, receipt FROM receipts ORDER BY number")}
    world.lost = LOST[request.param]
    world.daemon = world.start_daemon()
    # pinfoldd can connect to the bus before it writes the receipts of the lost jobs.
    wait_until(lambda: world.lost <= {receipt["key"] for receipt in json.loads(pinfold(world, "history", "--json"))["receipts"]},
               "the receipts of the lost jobs")
    return world


@pytest.mark.parametrize("key", ENDS)
def test_why(earlier, key):
    page = pinfold(earlier, "why", key)
    assert ENDS[key] in " ".join(page.splitlines()[0:3]), page
    labels = {line.split()[0] for line in page.splitlines() if line.startswith("  ") and line.split()}
    assert {"started", "ended", "memory"} <= labels and not labels & {"host", "account", "labels"}, page
    assert ("  left behind  2 processes, CPU 0, stopped by pinfold:\n    sleep 4242\n    sleep 4243\n" if key == "sge.5"
            else "  left behind  nothing\n") in page
    assert "pinfold does not know how much the job needed" in page, "the node had no memory controller, so pinfold did not see what the job needed"


def test_history(earlier):
    document = json.loads(pinfold(earlier, "history", "--json"))
    expect_document(document, "history")
    found = {receipt["key"]: receipt for receipt in document["receipts"]}
    assert {key for key in found if found[key]["result"] == "node-lost"} == earlier.lost
    assert set(found) == set(ENDS) | earlier.lost
    for key, stored in earlier.stored.items():
        assert {name: found[key][name] for name in stored} == stored, "every member is as it was stored"
        assert [name for name in NOT_KNOWN if found[key][name] is not None] == []
        assert (found[key]["task_list"], found[key]["labels"]) == ([], {})
    assert [found[key]["sequence"] for key in earlier.stored] == list(range(1, len(ENDS) + 1))
    table = {line.split()[1]: line.split() for line in pinfold(earlier, "history", "--no-legend").splitlines()}
    assert [table[key][3:5] for key in ("sge.2", "pbs.4", "torque.8")] == [["exited", "3"], ["timeout", "SIGTERM"], ["exited", "-"]]
    assert {key for key in table if table[key][-1] == "2"} == {"sge.5"}, "the last column is the number of leftovers"
    failed = pinfold(earlier, "history", "--no-legend", "--failed", "--scheduler", "sge", "--until", "2026-11-28")
    assert {line.split()[1] for line in failed.splitlines()} == {"sge.2", "sge.7"} | earlier.lost - {"user.12"}


def test_show(earlier):
    shown = dict(line.split("=", 1) for line in pinfold(earlier, "show", "pbs.10", status=3).splitlines())
    assert (shown["result"], shown["exit_signal"], shown["oom_cause"], shown["oom_victim_name"]) == ("out-of-memory", "9", "own-limit", "python3")
    assert (shown["run_time_max"], shown["memory_peak_anon"]) == ("3600000000", "1070000000")
    assert {shown[name] for name in NOT_KNOWN} == {""}


def test_report(earlier):
    report = earlier.directory / "report.html"
    pinfold(earlier, "report", "-o", report, *ENDS)
    text = report.read_text()
    assert [key for key in ENDS if key not in text] == []
    one = earlier.directory / "one.html"
    pinfold(earlier, "report", "-o", one, "sge.5")
    assert "exited with status 0" in one.read_text() and "sleep 4243" in one.read_text()
