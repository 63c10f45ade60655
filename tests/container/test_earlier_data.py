# SPDX-License-Identifier: LGPL-2.1-or-later
"""While jobs run, replaces the data of pinfoldd by data that earlier versions of pinfold stored, and starts pinfoldd."""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from earlier import live_job, make_history
from jobs import (
    RECORDS, daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, read_journal, receipts, run, site, start_job, wait_running, wait_until,
)

HISTORY = Path("/var/lib/pinfold/history.db")
MILLION = 1_000_000
LIVE = 20
CONVERTED = "converting the receipts of an older pinfold"

# Each receipt contains the JSON members that every version of pinfold has written. The statement FILL adds receipts that are smaller than real
# receipts, because pinfoldd converts small receipts faster than large receipts. Between the ends of two successive jobs, one second passed. All users
# have the same number of receipts.
FILL = """
WITH RECURSIVE copies(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM copies WHERE n < ?1 - 1)
INSERT INTO receipts (id, key, uid, ended, receipt, kind)
SELECT printf('%032x', n), 'old.' || n, 1000 + n % 50, ?2 + n * 1000000,
 '{"id":"' || printf('%032x', n) || '","key":"old.' || n || '","uid":' || (1000 + n % 50) || ',"started":' || (?2 + n * 1000000 - 7000000)
 || ',"ended":' || (?2 + n * 1000000) || ',"wall":7000000,"result":"exited","tasks":1,"exit_status":' || (n % 2)
 || ',"leftovers":0,"leftover_cpu":0,"leftover_commands":[],"cpu_user":4000000,"cpu_system":1000000}', 1 + n % 2
FROM copies
"""


def start_waiting(key):
    """Starts a job that ends with status 3 when its standard input ends. finish() closes this input."""
    return start_job(key, "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)


@pytest.fixture
def own_history():
    """Gives pinfoldd an empty history before and after the test. During the test, the configuration limits neither the age of the receipts nor the
    size of the history."""
    def renew():
        run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
        shutil.rmtree(HISTORY.parent)
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    with site('[history]\nmax_age = "infinity"\nmax_size = "infinity"\n[jobs]\nunenforced_limits = "warn"\n'):
        renew()
        yield
        renew()


def make_million(file):
    """Writes a history of schema 4 with a million receipts."""
    begun = int(time.time() - MILLION - 3600) * 1_000_000
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.executescript("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        make_history(db, 4, rows=False)
        db.execute("INSERT INTO kinds VALUES (1, 'old', 'exited', 1, 0), (2, 'old', 'exited', 0, 0)")
        db.execute(FILL, (MILLION, begun))
        db.execute("PRAGMA journal_mode = WAL")
    return begun


def take_live_rows(file):
    """Copies the rows of the live jobs into the earlier history. A pinfoldd with a history of schema 4 would write the same rows."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("ATTACH ? AS present", (str(HISTORY),))
        db.execute("INSERT INTO live SELECT id, key, uid, started, boot, receipt FROM present.live")
        return db.execute("SELECT count(*) FROM live").fetchone()[0]


def replace_history(file):
    for part in HISTORY.parent.glob("history.db*"):
        if part != file:
            part.unlink()
    file.rename(HISTORY)


def rows(query):
    with contextlib.closing(sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def timed(call):
    begun = time.monotonic()
    value = call()
    return value, time.monotonic() - begun


def test_a_million_receipts_are_converted_while_jobs_run(own_history):
    old = HISTORY.parent / "history.db.old"
    begun, filling = timed(lambda: make_million(old))
    live = {f"mig.{number}": start_waiting(f"mig.{number}") for number in range(LIVE)}
    wait_until(lambda: [job["state"] for job in live_jobs().values()] == ["running"] * LIVE, "the jobs run")
    usual = timed(live_jobs)[1]
    wait_until(lambda: rows("SELECT count(*) FROM live") == [(LIVE,)], "the rows of the live jobs")
    former = main_pid()
    run("systemctl", "stop", "pinfoldd")  # the socket of pinfoldd stays open, as it does during an upgrade
    assert take_live_rows(old) == LIVE
    replace_history(old)

    # While pinfoldd does not run, some jobs end, and other jobs start. The jobs that end and the jobs that start wait until pinfoldd has converted
    # the history.
    ending = {key: live.pop(key) for key in list(live)[:LIVE // 2]}
    starting = {f"mig.new.{number}": start_waiting(f"mig.new.{number}") for number in range(LIVE // 2)}
    with ThreadPoolExecutor(LIVE) as pool:
        ended = dict(zip(ending, pool.map(finish, ending.values()), strict=True))
        daemon_ready(other_than=former)
        listed, answer = timed(live_jobs)
        ended |= dict(zip(starting, pool.map(finish, starting.values()), strict=True))
    assert {key: status for key, (status, _, _) in ended.items()} == dict.fromkeys(ended, 3), ended
    assert set(live) <= set(listed) <= set(live) | set(starting)
    assert answer < 5 + 10 * usual, "list waits for no conversion"
    ended |= {key: finish(process) for key, process in live.items()}
    expect_nothing_left()

    said = read_journal("-u", "pinfoldd", "-o", "cat", f"_PID={main_pid()}")
    assert said.count(CONVERTED) == 1
    assert rows("PRAGMA user_version") == [(5,)]
    assert rows("SELECT count(*), min(number), max(number) FROM receipts WHERE key LIKE 'old.%'") == [(MILLION, 1, MILLION)]
    assert rows("SELECT count(*) FROM live") == [(0,)]
    mine = rows("SELECT key, json_extract(receipt, '$.exit_status') FROM receipts WHERE key LIKE 'mig.%'")
    assert sorted(mine) == sorted((key, 3) for key in ended), "each job has exactly one receipt"
    for number in (0, MILLION // 2 + 1, MILLION - 1):
        receipt, = receipts(f"old.{number}")
        assert (receipt["ended"], receipt["exit_status"], receipt["sequence"]) == (begun + number * 1_000_000, number % 2, number + 1)
        assert f"It exited with status {number % 2}." in run("pinfold", "why", f"old.{number}").stdout
    newest, asking = timed(lambda: receipts(number=100))
    assert len(newest) == 100 and {receipt["key"] for receipt in newest} >= set(ended)
    print(f"filled in {filling:.1f} s; list took {usual:.2f} s before and {answer:.2f} s after, history {asking:.2f} s")


def become_earlier(record, schema):
    """Rewrites the record of a live job in the form of an earlier version. The record keeps the job's id, the boot id and the ids of the
    processes."""
    now = json.loads(record.read_text())
    then = live_job(schema)
    for name in ("id", "boot_id", "key", "uid", "created", "created_boot", "supervisor", "next_task"):
        then[name] = now[name]
    then["tasks"] = [{"number": task["number"], "leader": task["leader"]} for task in now["tasks"]]
    record.write_text(json.dumps(then, separators=(",", ":")) + "\n")


@pytest.mark.parametrize("schema", [2, 4])
def test_the_node_goes_on_with_the_data_of_an_earlier_version(own_history, schema):
    # The leftover ignores SIGTERM, because SIGTERM can come before a busy pinfoldd has read the leftover's command line.
    job = start_job("sge.11", "sh", "-c", "trap '' TERM; sleep 4242 & trap - TERM; read line; exit 3",
                    options=["--tasks-max", "200", "--run-time-max", "1h"], stdin=subprocess.PIPE)
    wait_running("sge.11")
    run("systemctl", "stop", "pinfoldd")
    become_earlier(RECORDS / "sge.11.json", schema)
    for file in HISTORY.parent.iterdir():
        file.unlink()
    with contextlib.closing(sqlite3.connect(HISTORY)) as db:
        make_history(db, schema)
    run("systemctl", "start", "pinfoldd")

    assert [(job["key"], job["state"]) for job in json.loads(run("pinfold", "list", "--json").stdout)["jobs"]] == [("sge.11", "running")]
    shown = dict(line.split("=", 1) for line in run("pinfold", "show", "sge.11").stdout.splitlines())
    assert (shown["tasks_max"], shown["run_time_max"], shown["memory_max"]) == ("200", "3600000000", str(1 << 30))
    assert "sleep 4242" in run("pinfold", "status", "sge.11").stdout
    found = {receipt["key"]: receipt for receipt in receipts()}
    if schema == 4:
        for key in ("sge.11", "user.12"):
            assert found.pop(key)["result"] == "node-lost", "the history had a row of a job of an earlier boot"
    assert set(found) == {"sge.1", "sge.2", "user.3", "pbs.4", "sge.5", "slurm.6", "sge.7", "torque.8", "sge.9", "pbs.10"}

    assert finish(job)[0] == 3
    over = [receipt for receipt in receipts("sge.11") if receipt["result"] == "exited"]
    assert [(receipt["exit_status"], receipt["leftovers"], receipt["leftover_commands"]) for receipt in over] == [(3, 1, ["sleep 4242"])]
    expect_nothing_left()
