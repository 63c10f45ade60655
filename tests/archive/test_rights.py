# SPDX-License-Identifier: LGPL-2.1-or-later
"""The archive lets a node send only the node's own receipts. The archive lets a login host only read."""

import pytest

from conftest import EPOCH, put_statement, receipt
from postgres_server import LOGIN_HOST, Authority

DENIED = "42501"


def test_a_node_speaks_only_for_itself(archive):
    error = archive.refused([receipt(1)], certificate="node2", node="node1")
    assert "28000" in error and "'node1'" in error and "'node2'" in error
    assert "28000" in archive.error(f"SELECT pinfold.position('node1', '{EPOCH}')", node="node2")
    assert archive.count() == archive.count("node") == 0


def test_without_a_certificate_not_even_the_superuser_sends_receipts(archive):
    error = archive.error(put_statement([receipt(1)]))
    assert "28000" in error and "'none'" in error


@pytest.mark.parametrize("statement", [
    "SELECT * FROM pinfold.receipt",
    "SELECT * FROM pinfold.receipt_default",
    "SELECT * FROM pinfold.profile",
    "SELECT * FROM pinfold.profile_default",
    "DELETE FROM pinfold.profile",
    "SELECT * FROM pinfold.node",
    "SELECT * FROM pinfold.status",
    "SELECT * FROM pinfold.gap",
    "SELECT * FROM pinfold.rejected",
    "SELECT * FROM pinfold.schema_version FOR UPDATE",
    "INSERT INTO pinfold.node (node, epoch) VALUES ('node9', 'e')",
    "UPDATE pinfold.node SET position = 0",
    "DELETE FROM pinfold.receipt",
    "TRUNCATE pinfold.receipt",
    "DROP TABLE pinfold.receipt",
    "BEGIN; LOCK TABLE pinfold.receipt_default",
    "CREATE TABLE pinfold.mine (n int)",
    "CREATE TABLE public.mine (n int)",
    "CREATE TEMP TABLE mine (n int)",
    "CREATE SCHEMA mine",
    "SET ROLE pinfold_owner",
    "SELECT pinfold.prune('1 day')",
    "SELECT pinfold.make_partition(now())",
    "SELECT pinfold.make_partitions(now())",
    "SELECT pinfold.lock_tables()",
    "SELECT pinfold.missing('node1', 'e')",
    "SELECT pinfold.store('node1', 'e', 1, 1, '{}', '{}')",
    "SELECT pinfold.note_gaps('node1', 'e', 1, 1, '{}')",
    "SELECT pinfold.check_caller('node1')",
    "SELECT pinfold.end_stuck_sessions('0')",
    "SELECT pinfold.ssl_client_serial()",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'pinfold_node'",
    "SELECT pg_cancel_backend(1)",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('/etc/passwd')",
])
def test_what_a_node_may_not_do(archive, statement):
    archive.put([receipt(1)])
    assert DENIED in archive.error(statement, node="node1")


def test_a_node_calls_no_other_function_of_the_archive(archive):
    callable_ = archive.sql("""SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'pinfold'::regnamespace
                               AND has_function_privilege('pinfold_node', p.oid, 'EXECUTE') ORDER BY 1""")
    assert callable_.split() == ["position", "put"]
    assert archive.sql("""SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'pinfold'::regnamespace AND c.relkind IN ('r', 'p', 'v')
                          AND has_any_column_privilege('pinfold_node', c.oid, 'SELECT, INSERT, UPDATE')""") == "0"


@pytest.mark.parametrize("statement", [
    "INSERT INTO pinfold.gap VALUES ('node1', 'e', 1, 1)",
    "DELETE FROM pinfold.receipt",
    "SELECT pinfold.prune('1 day')",
    "SELECT pinfold.position('node1', 'e')",
    "SELECT * FROM pinfold.put('node1', 'b', 'e', 1, 0, 0, now(), '{}', '{}')",
    "CREATE TEMP TABLE mine (n int)",
])
def test_what_a_login_host_may_not_do(archive, statement):
    assert DENIED in archive.error("SET default_transaction_read_only = off; " + statement, login=LOGIN_HOST)
    assert "25006" in archive.error("INSERT INTO pinfold.gap VALUES ('node1', 'e', 1, 1)", login=LOGIN_HOST)


def test_a_login_host_reads_everything(archive):
    archive.put([receipt(1)])
    for table in ("receipt", "profile", "node", "status", "gap", "rejected", "schema_version"):
        archive.sql(f"SELECT * FROM pinfold.{table}", login=LOGIN_HOST)
    assert archive.sql("SELECT key FROM pinfold.receipt", login=LOGIN_HOST) == "sge.1"


def test_a_node_cannot_hold_locks_for_ever(archive):
    """A node that an attacker controls begins a transaction, and never ends it."""
    with archive.session(node="node1") as held:
        assert held.run("SET idle_in_transaction_session_timeout = 0; BEGIN; " + put_statement([receipt(1)]))
        archive.put([], node="node2", first=1, last=0)
        assert held.run("SELECT 1;"), "a lot may take some seconds"
        assert archive.sql("SET ROLE pinfold_owner; SELECT pinfold.end_stuck_sessions('0')") == "1"
        assert not held.run("SELECT 1;")
    assert archive.count() == 0


def test_only_listed_login_hosts_read(archive):
    assert "certificate authentication failed" in archive.error("SELECT 1", node="node1", user="pinfold_reader")
    assert "no pg_hba.conf entry" in archive.error("SELECT 1", node="node1", user="postgres")
    assert "no pg_hba.conf entry" in archive.error("SELECT 1", node="node1", database="postgres")


def test_a_certificate_of_another_ca(archive, tmp_path):
    files = Authority(tmp_path, "other").issue("node1")
    assert "alert unknown ca" in archive.error("SELECT 1", node="node1", files=files)
