# SPDX-License-Identifier: LGPL-2.1-or-later
"""The archive keeps receipts in weekly partitions. `prune` makes the partitions of the coming weeks, and removes old partitions."""

from datetime import datetime, timedelta, timezone

from conftest import LONG_AGO, receipt, usec

NOW = datetime.now(timezone.utc)


def partition(moment):
    return moment.strftime("receipt_%Gw%V")


def drop_this_week(archive):
    parts = [partition(moment) for moment in (NOW, NOW + timedelta(days=7))]
    parts += [part.replace("receipt", "profile") for part in parts]
    archive.sql(f"DROP TABLE {', '.join('pinfold.' + part for part in parts)}")


def partitions(archive):
    return archive.sql("SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = 'pinfold.receipt'::regclass").split()


def test_a_new_archive_has_the_partitions_of_a_year_and_of_the_next_weeks(archive):
    archive.put([receipt(1)])
    assert {partition(NOW + timedelta(weeks=weeks)) for weeks in range(-51, 8)} <= set(partitions(archive))
    assert archive.count(partition(NOW)) == 1
    assert archive.sql(f"""SELECT count(*) FROM pg_index WHERE indrelid = 'pinfold.{partition(NOW)}'::regclass AND indisvalid""") == "4"


def test_receipts_of_past_weeks_are_in_their_partitions(archive):
    """An archive that was made today gets the receipts of the last year from the nodes' histories."""
    past = NOW - timedelta(days=150)
    long_past = NOW - timedelta(days=500)
    archive.put([receipt(1, ended=usec(past)), receipt(2, ended=usec(long_past)), receipt(3)])
    assert archive.count(partition(past)) == archive.count("receipt_default") == 1
    archive.sql("SELECT pinfold.prune('600 days')")
    assert partition(long_past) not in partitions(archive)
    assert archive.count() == 3


def test_prune_makes_the_partitions_that_are_missing(archive):
    """Nobody has called `prune` for months, so the receipts of this week are in receipt_default."""
    drop_this_week(archive)
    archive.put([receipt(1)], profiles={1: b"profile"})
    assert archive.count("receipt_default") == archive.count("profile_default") == 1
    assert partition(NOW) not in partitions(archive), "a node makes no table"
    assert archive.sql("SELECT pinfold.prune('400 days')") == "0"
    assert {partition(NOW), partition(NOW + timedelta(days=7))} <= set(partitions(archive))
    assert archive.count(partition(NOW)) == archive.count(partition(NOW).replace("receipt", "profile")) == 1
    assert archive.sql(f"SELECT tableowner FROM pg_tables WHERE tablename = '{partition(NOW)}'") == "pinfold_owner"
    assert archive.put([receipt(2)]) == 2
    assert archive.count(partition(NOW)) == 2


def prune_while_nodes_send(archive, nodes, sequences, older_than):
    """Each node sends its receipts with their profiles in one lot. If a lot takes five seconds because the machine is busy, `prune` ends the session
    of the node. Like pinfold-ship, this function then sends the lot again."""
    lot = lambda node: {"receipts": [receipt(sequence, node) for sequence in sequences], "node": node, "profiles": dict.fromkeys(sequences, b"profile")}
    senders = {node: archive.start_put(**lot(node)) for node in nodes}
    archive.sql(f"SELECT pinfold.prune('{older_than}')")
    for node, sender in senders.items():
        _, errors = sender.communicate()
        if sender.returncode != 0:
            assert "terminating connection due to administrator command" in errors
            assert archive.put(**lot(node)) == sequences[-1]


def test_partitions_are_made_while_many_nodes_send(archive):
    for _ in range(3):
        archive.sql("DELETE FROM pinfold.receipt; DELETE FROM pinfold.profile; DELETE FROM pinfold.node")
        drop_this_week(archive)
        archive.put([receipt(1, "node7")], node="node7")
        prune_while_nodes_send(archive, [f"node{number}" for number in range(1, 7)], range(1, 101), "400 days")
        assert archive.count() == archive.count(partition(NOW)) == 601, "no receipt stays in receipt_default"
        assert archive.count(partition(NOW).replace("receipt", "profile")) == 600
        assert archive.count("rejected") == archive.count("gap") == 0


def test_a_long_report_holds_up_no_lot(archive):
    with archive.session() as report:
        report.run("BEGIN; SELECT count(*) FROM pinfold.receipt;")
        assert archive.put([receipt(1)]) == 1
        assert archive.put([receipt(2, ended=0)]) == 2
        report.run("COMMIT;")


def test_prune(archive):
    old = NOW - timedelta(days=100)
    archive.sql(f"SELECT pinfold.make_partition('{old.isoformat()}')")
    archive.put([receipt(1, ended=usec(old)), receipt(2), receipt(3, ended=0), receipt(4, ended=usec(LONG_AGO + timedelta(days=1))), "{}"],
                first=1, last=5)
    archive.put([receipt(1, node="node2", ended=usec(old))], node="node2")
    archive.sql("UPDATE pinfold.receipt SET received = now() - interval '99 days' WHERE sequence = 4")
    archive.sql("UPDATE pinfold.node SET seen = now() - interval '91 days' WHERE node = 'node2'")
    assert partition(old) in partitions(archive)
    assert archive.sql("SELECT pinfold.prune('90 days')") == "3"
    assert partition(old) not in partitions(archive) and partition(NOW) in partitions(archive)
    assert archive.sql("SELECT sequence FROM pinfold.receipt ORDER BY 1").split() == ["2", "3"]
    assert archive.sql("SELECT node FROM pinfold.node") == "node1"
    assert archive.count("rejected") == archive.count("gap") == 1
    assert archive.sql("SELECT pinfold.prune('90 days')") == "0"
    archive.make()


def test_prune_while_nodes_send_receipts(archive):
    old = NOW - timedelta(days=100)
    for round_ in range(3):
        drop_this_week(archive)
        archive.sql(f"SELECT pinfold.make_partition('{old.isoformat()}')")
        prune_while_nodes_send(archive, ("node1", "node2", "node3", "node4"), range(1 + 100 * round_, 101 + 100 * round_), "90 days")
        assert archive.count() == archive.count("profile") == 400
    assert archive.count("rejected") == 0
    archive.make()


def test_prune_removes_no_week_that_is_partly_younger(archive):
    monday = datetime.fromisocalendar(*(NOW - timedelta(days=70)).isocalendar()[:2], 1).replace(tzinfo=timezone.utc)
    archive.put([receipt(1, ended=usec(monday))])
    archive.sql(f"SELECT pinfold.prune(now() - '{(monday + timedelta(days=6, hours=23)).isoformat()}')")
    assert archive.count() == 1
    archive.make()


def test_prune_refuses_a_time_in_the_future(archive):
    archive.put([receipt(1)])
    assert "22023" in archive.error("SELECT pinfold.prune('0')")
    assert "22023" in archive.error("SELECT pinfold.prune('-1 day')")
    assert archive.count() == 1
