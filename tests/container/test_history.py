# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how a user finds receipts by the contents of the receipts. Tests the limits of the history."""

import json
import shutil
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs import ESCAPIST, HISTORY, finish, live_rows, read_journal, receipts, run, start_job, wait_for_journal, wait_running, wait_until
from old_history import OLD_SCHEMA

DROP_IN = Path("/run/systemd/system/pinfoldd.service.d/impatient.conf")
TWO_DAYS = 2 * 86_400_000_000


def found(*options):
    """Returns the keys, oldest first."""
    return [receipt["key"] for receipt in json.loads(run("pinfold", "history", "--json", "-n", "10000", *options).stdout)["receipts"]][::-1]


def test_filters():
    assert finish(start_job("kind.good", "true"))[0] == 0
    assert finish(start_job("kind.bad", "false"))[0] == 1
    assert finish(start_job("kind.slow", "sleep", "1000", options=["--run-time-max", "200ms", "--kill-grace", "1min"]))[0] == -15
    assert finish(start_job("kind.messy", ESCAPIST, "set-sid"))[0] == 3
    stopped = start_job("other.stopped", "sleep", "1000")
    wait_running("other.stopped")
    run("pinfold", "stop", "--wait", "other.stopped")
    finish(stopped)
    kind = ["--scheduler", "kind"]
    assert found(*kind) == ["kind.good", "kind.bad", "kind.slow", "kind.messy"]
    assert found(*kind, "--failed") == ["kind.bad", "kind.slow", "kind.messy"]
    assert found(*kind, "--leftovers") == ["kind.messy"]
    assert found(*kind, "--result", "timeout") == ["kind.slow"]
    assert found(*kind, "--result", "exited", "--failed") == ["kind.bad", "kind.messy"]
    assert found("--scheduler", "other", "--result", "stopped", "-u", "root") == ["other.stopped"]
    assert found(*kind, "--result", "lost") == []
    table = run("pinfold", "history", *kind, "--failed", "--no-legend").stdout.splitlines()
    assert len(table) == 3


def test_filters_that_do_not_exist():
    for options, words in ((["--result", "crashed"], ["crashed", "out-of-memory"]), (["--scheduler", "sge.1"], ["sge.1"])):
        done = run("pinfold", "history", *options, check=False)
        assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr


def whole_job():
    """Runs a short job, and returns the seconds until pinfoldd has stored the receipt. If the machine is busy or the disk is slow, pinfoldd takes
    longer to write receipts, and takes longer to write the rows of live jobs."""
    begun = time.monotonic()
    assert finish(start_job("known.short", "true"))[0] == 0
    return time.monotonic() - begun


def test_the_history_knows_a_job_a_second_after_its_start():
    """If the history has a row for a live job, the job gets a receipt even after a power cut. The tests in tests/reboot include real power cuts."""
    usual = whole_job()
    jobs, took = {}, {}
    for key in (f"known.{number}" for number in range(5)):
        jobs[key] = start_job(key, "sh", "-c", "echo here; exec sleep 1000")
        assert jobs[key].stdout.readline() == "here\n"
        began = time.monotonic()
        wait_until(lambda key=key: key in live_rows(), f"the row of {key}")
        took[key] = time.monotonic() - began
    assert max(took.values()) < 1 + max(usual, whole_job()), took
    for key, job in jobs.items():
        run("pinfold", "stop", key)
        finish(job)


def vacuum(*options):
    return json.loads(run("pinfold", "vacuum", "--json", *options).stdout)


def removals():
    lines = read_journal("-o", "json", "PINFOLD_EVENT=history-vacuumed").splitlines()
    return [json.loads(line) for line in lines]


def by_user():
    """Returns the keys of each user, oldest first."""
    keys = {}
    for receipt in json.loads(run("pinfold", "history", "--json", "-n", "10000").stdout)["receipts"][::-1]:
        keys.setdefault(receipt["uid"], []).append(receipt["key"])
    return keys


def test_vacuum_leaves_the_newest_of_each_user():
    earlier = len(removals())
    with ThreadPoolExecutor(8) as pool:
        jobs = pool.map(lambda number: finish(start_job(f"row.{number}", "true", options=["--exec"]))[0], range(300))
        assert set(jobs) == {0}
    # With --exec, nobody waits for the receipt.
    wait_until(lambda: sum(key.startswith("row.") for key in found()) == 300, "all receipts")
    first = [receipt["key"] for receipt in receipts() if receipt["key"].startswith("row.")][::-1][:100]
    with sqlite3.connect(HISTORY) as db:
        db.executemany(f"UPDATE receipts SET ended = ended - {TWO_DAYS} WHERE key = ?", [(key,) for key in first])
    db.close()
    before = found()
    assert before[:100] == first

    assert vacuum()["removed"] == 0, "within the configured limits"
    assert vacuum("--max-age", "1d")["removed"] == 100
    kept = found()
    assert kept == before[100:]

    theirs = by_user()
    size = vacuum("--max-age", "infinity")["bytes"]
    done = vacuum("--max-size", size * 2 // 3)
    assert 0 < done["removed"] < len(kept) and done["bytes"] <= size * 2 // 3
    left = by_user()
    assert sum(map(len, left.values())) == len(kept) - done["removed"]
    assert all(keys == theirs[uid][-len(keys):] for uid, keys in left.items())
    assert len(left[0]) < len(theirs[0]), "root has the most"
    assert all(len(left[uid]) == len(keys) for uid, keys in theirs.items() if len(keys) <= len(left[0])), "a user who has fewer loses none"
    said = wait_until(lambda: len(entries := removals()[earlier:]) >= 2 and entries, "the entries about the removed receipts")
    assert [int(entry["PINFOLD_REMOVED"]) for entry in said] == [100, done["removed"]]
    assert said[0]["PINFOLD_BY_UID"] == "0" and "MESSAGE_ID" in said[0]

    said = run("pinfold", "vacuum", "--max-age", "0").stdout
    assert said.startswith(f"{len(kept) - done['removed']} receipts removed; the remaining receipts take ") and found() == []


def test_vacuum_refuses_a_short_age_without_a_unit():
    before = len(receipts())
    done = run("pinfold", "vacuum", "--max-age", "30", check=False)
    assert done.returncode == 2 and "'30' without a unit means 30 seconds: write 30s, 30h or 30d" in done.stderr
    assert len(receipts()) == before


def test_users_may_not_vacuum():
    done = subprocess.run(["setpriv", "--reuid=bob", "--regid=bob", "--init-groups", "pinfold", "vacuum"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 5 and "only root and pinfold-admin may remove receipts" in done.stderr


# MANY adds 200,000 receipts, whose conversion takes longer than the start time-out of impatient_unit(). The time-out is long enough to start a
# program on a busy machine.
MANY = """
WITH RECURSIVE copies(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM copies WHERE n < 200000)
INSERT INTO receipts (id, key, uid, ended, receipt)
SELECT 'old' || n, 'old.' || n, 0, n, json_set(?, '$.id', 'old' || n) FROM copies
"""


@pytest.fixture
def impatient_unit():
    """Stops pinfoldd when the history contains one receipt. At its next start, pinfoldd must be ready within three seconds."""
    finish(start_job("old.first", "true"))
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text("[Service]\nTimeoutStartSec=3s\nRestart=no\n")
    run("systemctl", "daemon-reload")
    yield
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    shutil.rmtree(HISTORY.parent)
    DROP_IN.unlink()
    run("systemctl", "daemon-reload")
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


def test_a_long_migration_is_no_failed_start(impatient_unit):
    with sqlite3.connect(HISTORY) as new:
        receipt = new.execute("SELECT receipt FROM receipts LIMIT 1").fetchone()
    new.close()
    for file in HISTORY.parent.iterdir():
        file.unlink()
    with sqlite3.connect(HISTORY) as old:
        old.executescript(OLD_SCHEMA)
        old.execute(MANY, receipt)
    old.close()
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    wait_for_journal("converting the receipts of an older pinfold", "-u", "pinfoldd", "-o", "cat")
    assert len(receipts()) == 10000


def test_the_names_of_leftovers_fill_no_history():
    """A user chooses the names of leftovers. Long names must not fill the history, which has the receipts of all users."""
    job = start_job("big.names", "bash", "-c", "for i in $(seq 50); do (trap '' TERM; exec -a \"$(printf %4096s | tr ' ' '\"')\" sleep 8111) & done;"
                    " until [ $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -cx '811[1]') -ge 50 ]; do :; done; exit 0")
    assert finish(job)[0] == 0
    receipt, = receipts("big.names")
    assert receipt["leftovers"] == len(receipt["leftover_commands"]) == 50
    # On a busy machine, pinfoldd cannot read some command lines in time. If pinfoldd cannot read a command line, it stores the short name of the
    # process. The leftovers ignore SIGTERM, because SIGTERM can come before pinfoldd has read any command line. For one job, pinfoldd stores at most
    # 8 KiB of command lines. To keep this limit, pinfoldd may shorten each command line.
    read = [command for command in receipt["leftover_commands"] if not "[sleep]".startswith(command.rstrip("…"))]
    assert read and {character for command in read for character in command} <= set('"…'), [command[:20] for command in read]
    assert sum(map(len, read)) <= 8192
    with sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True) as history:
        size, = history.execute("SELECT length(receipt) FROM receipts WHERE key = 'big.names'").fetchone()
    history.close()
    assert size < 24 << 10
