# SPDX-License-Identifier: LGPL-2.1-or-later
"""The archive loses no receipt, even if the clock of the node is wrong or the receipt contains odd values."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from conftest import LONG_AGO, receipt, usec

NOW = datetime.now(timezone.utc)
YEAR_9999 = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc)


def tables(archive):
    return {row["sequence"]: row["table"] for row in archive.rows('SELECT sequence, tableoid::regclass::text AS "table" FROM pinfold.receipt')}


def test_receipts_of_wrong_clocks_are_kept_and_found(archive):
    in_a_year = NOW + timedelta(days=365)
    ends = [0, usec(NOW), usec(in_a_year), usec(YEAR_9999), 2**63, 2**64 - 1]
    archive.put([receipt(sequence, ended=ended) for sequence, ended in enumerate(ends, 1)])
    found = tables(archive)
    assert found.pop(2) == NOW.strftime("pinfold.receipt_%Gw%V")
    assert set(found) == {1, 3, 4, 5, 6} and set(found.values()) == {"pinfold.receipt_default"}
    kept = {row["sequence"]: row for row in archive.rows("SELECT sequence, ended, body->'ended' AS exact FROM pinfold.receipt")}
    assert [kept[sequence]["exact"] for sequence in range(1, 7)] == ends
    assert datetime.fromisoformat(kept[1]["ended"]) == LONG_AGO
    assert datetime.fromisoformat(kept[6]["ended"]).year == 9999
    assert archive.count("rejected") == 0
    # If a node sends the same receipts twice, the archive adds no rows the second time.
    archive.put([receipt(sequence, ended=ended) for sequence, ended in enumerate(ends, 1)])
    assert archive.count() == 6


def test_receipts_of_a_week_move_into_its_partition(archive):
    later = NOW + timedelta(days=100)
    archive.put([receipt(1, ended=usec(later)), receipt(2, ended=0)])
    archive.sql(f"SELECT pinfold.make_partition('{later.isoformat()}')")
    assert tables(archive) == {1: later.strftime("pinfold.receipt_%Gw%V"), 2: "pinfold.receipt_default"}
    assert archive.put([receipt(1, ended=usec(later)), receipt(3, ended=usec(later))], first=1) == 3
    assert archive.count() == 3


POISON = {
    "NUL": (json.dumps(receipt(2, job_name="a\0b")), "22P05"),
    "half a character": (json.dumps(receipt(2, job_name="a\ud800b")), "22P02"),
    "not JSON": ('{"id": "x", "sequence":2, ', "22P02"),
    "more than 1 MiB": (json.dumps(receipt(2, job_name="x" * (1 << 20))), "23514"),
    "more than 1 MiB in the archive": (json.dumps(receipt(2)).replace('"wall": ', '"wall_": [' + ", ".join(["1e131071"] * 9) + '], "wall": '), "23514"),
    "a list": ("[]", "22023"),
    "no end": (json.dumps(receipt(2, ended=None)), "23502"),
    "no id": (json.dumps(receipt(2, id=None)), "23502"),
    "a sequence of another lot": (json.dumps(receipt(9)), "22023"),
    "a number without end": (json.dumps(receipt(2)).replace('"wall": ', '"wall": 1e999999, "wall_": '), "22003"),
    "a depth without end": ('{"sequence": 2, "id": ' + "[" * 100_000 + "]" * 100_000 + "}", "54001"),
    "no room in an index": (json.dumps(receipt(2, key="".join(chr(0x4e00 + (i * 7919) % 20000) for i in range(20000)))), "54000"),
}


@pytest.mark.parametrize("name", POISON)
def test_a_receipt_that_cannot_be_a_row(archive, name):
    poison, why = POISON[name]
    lot = [receipt(1), poison, receipt(3)]
    assert archive.put(lot, first=1, last=3) == 3
    assert archive.put(lot, first=1, last=3) == 3, "the lot comes once more"
    assert [row["sequence"] for row in archive.rows("SELECT sequence FROM pinfold.receipt ORDER BY sequence")] == [1, 3]
    rejected = archive.rows("SELECT why, body FROM pinfold.rejected")
    assert [row["body"] for row in rejected] == [poison]
    assert f"SQLSTATE {why}" in rejected[0]["why"]
    assert archive.status()["rejected"] == 1
    # If the archive rejects a receipt, the archive stores the receipt's text, and searches the text for the receipt's sequence number. If the
    # archive does not find the number 2 in the text, the archive records that receipt 2 is missing.
    assert archive.count("gap") == (1 if name in ("a list", "a sequence of another lot") else 0)


def test_a_label_does_not_forge_a_sequence(archive):
    poison = receipt(2, job_name='a\0"sequence":7,', labels={"sequence": "7"})
    archive.put([receipt(1), {**poison, "sequence": 2}], first=1, last=8)
    assert archive.rows("SELECT first, last FROM pinfold.gap") == [{"first": 3, "last": 8}]


def test_numbers_that_are_too_large_for_a_column(archive):
    largest = 2**64 - 1
    archive.put([receipt(1, wall=largest, cpu_user=largest, cpu_system=largest, memory_peak=largest, tasks=2**32 - 1, leftovers=2**32 - 1,
                         leftover_cpu=largest, run=largest, slots=largest, allocated_cpus=None, memory_max=largest - 1)])
    row = archive.rows("SELECT wall_us, cpu_us, memory_peak, tasks, leftovers, run, cpus_us, memory_max, body FROM pinfold.receipt")[0]
    assert row["body"]["wall"] == row["body"]["cpu_user"] == largest
    assert {row[name] for name in ("wall_us", "cpu_us", "memory_peak", "run", "cpus_us", "memory_max")} == {2**63 - 1}
    assert (row["tasks"], row["leftovers"]) == (2**31 - 1, 2**32 - 1)
    assert archive.count("rejected") == 0


def test_two_receipts_of_one_job_in_one_lot(archive):
    late = receipt(1, exit_status=None)
    archive.put([late, receipt(2), {**late, "exit_status": 0}], first=1, last=2)
    assert archive.rows("SELECT sequence, exit_status FROM pinfold.receipt ORDER BY sequence") == [
        {"sequence": 1, "exit_status": 0}, {"sequence": 2, "exit_status": 0}]
    assert archive.count("rejected") == 0


def test_an_empty_text_in_the_middle(archive):
    assert archive.put([receipt(1), ""], first=1, last=2) == 2
    assert archive.count("rejected") == 1
    assert archive.rows("SELECT first, last FROM pinfold.gap") == [{"first": 2, "last": 2}]
