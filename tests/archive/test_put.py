# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sometimes a node sends the same receipt several times. The archive must store each receipt exactly once."""

import json
import subprocess
from datetime import datetime, timezone

import pytest

from conftest import EPOCH, put_statement, receipt, usec


def lot(first, last, node="node1"):
    return [receipt(sequence, node) for sequence in range(first, last + 1)]


def test_a_lot_that_comes_twice_is_stored_once(archive):
    receipts = lot(1, 20)
    assert archive.put(receipts) == 20
    assert archive.put(receipts) == 20
    assert archive.count() == 20
    assert archive.position() == 20
    assert archive.count("gap") == 0


def test_a_lot_whose_answer_was_lost_is_stored_once(archive):
    receipts = lot(1, 500)
    with archive.start_put(receipts) as sender:
        archive.server.kill_9()
        sender.communicate()
    archive.server.start()
    assert archive.position() in (0, 500)
    assert archive.put(receipts) == 500
    archive.server.kill_9()
    archive.server.start()
    assert archive.position() == 500
    assert archive.put(receipts) == 500
    assert archive.count() == archive.count(where=f"epoch = '{EPOCH}' AND sequence BETWEEN 1 AND 500") == 500


def test_a_lot_must_follow_the_position(archive):
    archive.put(lot(1, 3))
    error = archive.refused(lot(5, 6))
    assert "22023" in error and "begins with the sequence 5" in error and "only up to 3" in error
    assert archive.position() == 3
    assert archive.put(lot(2, 6)) == 6
    assert archive.count() == 6


def test_an_unknown_history_has_the_position_0(archive):
    assert archive.position() == 0
    assert "22023" in archive.refused(lot(2, 2))


@pytest.mark.parametrize("wrong", [
    {"first": 0, "last": 1}, {"first": 1, "last": -1}, {"first": 1, "last": 9223372036854775807}, {"epoch": ""}, {"epoch": "e" * 65},
    {"epoch": None}, {"boot": "b" * 65}, {"node_time": "'infinity'"}, {"node_time": "NULL"}, {"newest": "NULL"},
])
def test_what_is_not_a_lot_is_refused(archive, wrong):
    assert "this is not a lot" in archive.refused([receipt(1)], **wrong)
    assert archive.count("node") == 0


def test_a_lot_has_at_most_1000_receipts(archive):
    assert "1001 receipts" in archive.refused(["{}"] * 1001, first=1, last=1001)
    assert archive.put(lot(1, 1000)) == 1000


def test_gaps_are_noted_exactly(archive):
    archive.put(lot(1, 2))
    # The node no longer has the receipts 3 to 9, 12 and 15.
    archive.put([receipt(sequence) for sequence in (10, 11, 13, 14)], first=3, last=15)
    gaps = archive.rows("SELECT first, last FROM pinfold.gap ORDER BY first")
    assert gaps == [{"first": 3, "last": 9}, {"first": 12, "last": 12}, {"first": 15, "last": 15}]
    assert archive.position() == 15
    assert archive.status()["gaps"] == 9
    assert archive.rows(put_statement([receipt(16)]).replace("SELECT *", "SELECT missing").rstrip(";"), node="node1") == [{"missing": 9}]


def test_a_lot_that_is_a_gap_altogether(archive):
    assert archive.put([], first=1, last=10**15) == 10**15
    assert archive.rows("SELECT first, last FROM pinfold.gap") == [{"first": 1, "last": 10**15}]


def test_an_empty_lot_is_a_sign_of_life(archive):
    archive.put(lot(1, 2))
    before = archive.status()
    assert archive.put([], first=3, last=2, newest=7, node_time="now() + interval '90 s'") == 2
    after = archive.status()
    assert after["seen"] > before["seen"]
    assert after["complete"] == before["complete"]
    assert (after["unsent"], after["gaps"]) == (5, 0)
    assert after["clock_off"].startswith("00:01:")
    assert archive.put(lot(3, 7)) == 7
    assert archive.status()["complete"] > before["complete"]


def test_a_history_that_was_replaced(archive):
    archive.put(lot(1, 5), newest=8)
    assert archive.put([receipt(1, id="other")], epoch="new") == 1
    assert archive.position(epoch="new") == 1 and archive.position() == 5
    status = archive.status()
    assert (status["epoch"], status["position"], status["replaced_histories"]) == ("new", 1, 1)
    assert status["gaps"] == 3, "the receipts 6 to 8 were lost with the old history"
    assert archive.count() == 6


def test_an_older_copy_of_the_history(archive):
    archive.put(lot(1, 8))
    assert archive.put([], first=9, last=8, newest=8) == 8
    assert archive.status()["restored"] is None
    archive.put([receipt(4)], newest=8)  # a late report has changed receipt 4, so the node sends the receipt again
    assert archive.status()["restored"] is None
    archive.put([], first=6, last=5, newest=5)
    restored = archive.status()["restored"]
    assert restored is not None and archive.status()["seen"] == restored
    archive.put([receipt(6, id="of-the-copy")])
    assert archive.status()["restored"] == restored, "the time at which it began"
    assert archive.count(where="sequence = 6") == 2


def test_a_history_whose_receipts_were_all_removed_is_no_older_copy(archive):
    archive.put(lot(1, 8), newest=12)
    archive.put([], first=9, last=8, newest=8)
    assert archive.status()["restored"] is None


def test_an_exit_that_was_reported_later(archive):
    late = receipt(1, exit_status=None)
    archive.put([late])
    assert archive.rows("SELECT outcome, exit_status FROM pinfold.receipt") == [{"outcome": "unknown", "exit_status": None}]
    late["exit_status"] = 3
    archive.put([late])
    stored = archive.rows("SELECT outcome, exit_status, body->'exit_status' AS body FROM pinfold.receipt")
    assert stored == [{"outcome": "failed", "exit_status": 3, "body": 3}]
    # If the archive already knows the exit status of a job, another report does not change the exit status.
    archive.put([{**late, "exit_status": 0}])
    archive.put([{**late, "exit_status": None}])
    assert archive.rows("SELECT exit_status FROM pinfold.receipt") == [{"exit_status": 3}]


@pytest.mark.parametrize("members, outcome", [
    ({"result": "exited", "exit_status": 0}, "succeeded"),
    ({"result": "exited", "exit_status": 1}, "failed"),
    ({"result": "exited", "exit_status": None}, "unknown"),
    ({"result": "signaled", "exit_status": None, "exit_signal": 9}, "failed"),
    ({"result": "node-lost", "exit_status": None}, "failed"),
    ({"result": "stopped", "exit_status": 0}, "failed"),
])
def test_outcomes(archive, members, outcome):
    archive.put([receipt(1, **members)])
    assert archive.rows("SELECT outcome FROM pinfold.receipt") == [{"outcome": outcome}]


def test_columns_and_the_whole_receipt(archive):
    ended = datetime(2026, 11, 20, 10, 0, 0, 123457, tzinfo=timezone.utc)
    made = receipt(1, cluster="main", run=2, ended=usec(ended), memory_max=2**64 - 1, cpu_quota=2**64 - 1, allocated_cpus="0-3,8,10-11",
                   unkillable_processes=3)
    archive.put([made])
    row = archive.rows("SELECT * FROM pinfold.receipt")[0]
    body = row["body"]
    assert body == {name: value for name, value in made.items() if value is not None}
    assert datetime.fromisoformat(row["ended"]) == ended
    expected = {"node": "node1", "epoch": EPOCH, "sequence": 1, "id": made["id"], "cluster": "main", "key": "sge.1", "run": 2, "uid": 1000,
                "owner": "anna", "account": "physics", "queue": "long", "project": "p1234", "host": "node1", "wall_us": made["wall"],
                "cpu_us": made["cpu_user"] + made["cpu_system"], "memory_peak": made["memory_peak"], "memory_need": made["memory_need"],
                "memory_max": None, "cpus_us": 7_000_000, "labels": {"stage": "prepare"}, "tasks": 1, "leftovers": 0, "leftover_cpu_us": 0, "oom_cause": None,
                "unkillable_processes": 3}
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize("asked, cpus_us", [
    ({"cpu_quota": 1_500_000, "allocated_cpus": "0-3"}, 1_500_000),
    ({"cpu_quota": None, "allocated_cpus": "5"}, 1_000_000),
    ({"cpu_quota": None, "allocated_cpus": None, "slots": 3}, 3_000_000),
    ({"cpu_quota": None, "allocated_cpus": None, "slots": None}, None),
    ({"cpu_quota": None, "allocated_cpus": "all", "slots": None}, None),
])
def test_the_cpus_that_a_job_asked_for(archive, asked, cpus_us):
    archive.put([receipt(1, **asked)])
    assert archive.rows("SELECT cpus_us FROM pinfold.receipt") == [{"cpus_us": cpus_us}]


def test_sql_in_a_text_is_text(archive):
    evil = "x'); DROP TABLE pinfold.receipt; --\\ $1 %I {}"
    archive.put([receipt(1, job_name=evil, key=evil, account=evil, labels={"a": evil})])
    row = archive.rows("SELECT key, account, body->>'job_name' AS job_name, labels FROM pinfold.receipt")[0]
    assert row == {"key": evil, "account": evil, "job_name": evil, "labels": {"a": evil}}


def test_one_node_sends_over_two_connections(archive):
    for round_ in range(5):
        receipts = lot(1 + 100 * round_, 100 + 100 * round_)
        senders = [archive.start_put(receipts) for _ in range(4)]
        for sender in senders:
            _, errors = sender.communicate()
            assert sender.returncode == 0, errors
        assert archive.position() == archive.count() == 100 * (round_ + 1)
    assert archive.count("gap") == archive.count("rejected") == 0


def test_a_backup_that_was_restored_gets_the_lots_again(archive):
    archive.put(lot(1, 10))
    dump = subprocess.run([archive.server.bin / "pg_dump", "-C", "-d", archive.server.connection()], check=True, capture_output=True,
                          text=True).stdout
    archive.put(lot(11, 20))
    archive.sql("DROP DATABASE pinfold WITH (FORCE)", database="postgres")
    archive.sql(dump, database="postgres")
    assert archive.position() == archive.count() == 10
    assert "22023" in archive.refused(lot(21, 30))
    archive.put(lot(11, 30))
    assert archive.position() == archive.count() == 30
    assert archive.count("gap") == 0
    assert "42501" in archive.error("SELECT * FROM pinfold.receipt", node="node1"), "the backup has the rights, too"


def test_the_example_is_a_receipt_of_pinfold():
    members = set(json.loads(put_statement([receipt(1)]).split("ARRAY['")[1].rsplit("']", 1)[0]))
    assert {"id", "key", "uid", "started", "ended", "wall", "result", "tasks", "leftovers", "leftover_cpu", "leftover_commands"} <= members
