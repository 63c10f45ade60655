# SPDX-License-Identifier: LGPL-2.1-or-later
"""A node that was taken over disturbs no other node. PostgreSQL lets each session choose its settings, and lets each role choose the settings with which
the sessions of the role begin. All nodes share one role."""

import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from conftest import BUILD, SCHEMA, put_statement, receipt, usec
from postgres_server import LOGIN_HOST
from ship_node import new_node, wait_until

HUGE = 2**63 - 1
TEN_WEEKS_AGO = datetime.now(timezone.utc) - timedelta(weeks=10)
BOUNDS = """SELECT count(*) FROM pg_class WHERE relname ~ '^(receipt|profile)_[0-9]{4}w[0-9]{2}$'
            AND pg_get_expr(relpartbound, oid) !~ $$FROM \\('[-0-9]{10} 00:00:00\\+00'\\) TO \\('[-0-9]{10} 00:00:00\\+00'\\)$$"""


@pytest.fixture(name="roles")
def roles_with_settings(archive):
    """Removes the settings of the role after the test, because roles belong to the whole server."""
    yield archive
    archive.sql("ALTER ROLE pinfold_node RESET ALL; ALTER ROLE pinfold_node IN DATABASE pinfold RESET ALL; ALTER ROLE pinfold_node PASSWORD NULL")
    archive.make()


@pytest.mark.parametrize("settings", ["TimeZone = 'Asia/Kolkata'; SET DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'; SET DateStyle = 'German'",
                                      "DateStyle = 'Postgres, MDY'; SET TimeZone = 'Asia/Kolkata'"])
def test_the_settings_of_a_session_do_not_move_the_bounds_of_partitions(roles, settings):
    """The short name of Asia/Kolkata is the name of two time zones. A partition with wrong bounds would overlap the next one, and then no node could
    send any more."""
    for weeks, sequence in ((0, 1), (1, 3), (-1, 5)):
        roles.put([receipt(sequence, ended=usec(TEN_WEEKS_AGO + timedelta(weeks=weeks)))], first=sequence)
        roles.sql(f"SET {settings}; " + put_statement([receipt(sequence + 1)]), node="node1")
    assert roles.sql(BOUNDS) == "0"
    assert roles.put([receipt(1, "node2")], node="node2") == 1


@pytest.mark.parametrize("setting", [
    "SET local_preload_libraries = 'x'", "IN DATABASE pinfold SET local_preload_libraries = 'x'", "SET default_tablespace = 'pg_global'",
    "SET statement_timeout = 1", "SET idle_session_timeout = 1", "SET default_transaction_read_only = on",
    "SET default_transaction_isolation = 'serializable'", "SET search_path = 'x'", "SET role = 'pinfold_owner'",
    "SET session_authorization = 'pinfold_reader'", "SET client_encoding = 'SQL_ASCII'", "SET standard_conforming_strings = off",
    "SET restrict_nonsystem_relation_kind = 'view'",
])
def test_the_settings_of_the_role_disturb_no_other_node(roles, setting):
    # A week of the past needs a partition, so the next put makes one.
    roles.put([receipt(1, "node2", ended=usec(TEN_WEEKS_AGO))], node="node2")
    roles.sql(f"ALTER ROLE CURRENT_USER {setting}", node="node2")
    with new_node(roles) as node:
        node.run_job()
        node.start()
        wait_until(lambda: node.archived("node = 'node1'") == node.receipts(), f"the receipt: {node.lines()}")
        assert node.lines() == []
    assert roles.sql(BOUNDS) == "0"


def test_the_administrator_learns_of_the_settings_and_removes_them(roles):
    def admin(action, status):
        done = subprocess.run([BUILD / "src/archive/archive-admin", "archive", action, f"--host={roles.server.directory}",
                               f"--port={roles.server.port}", f"--sql={SCHEMA}"], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, done
        return done.stderr

    roles.put([receipt(1, "node2")], node="node2")
    assert admin("status", 0) == ""
    roles.sql("ALTER ROLE CURRENT_USER SET local_preload_libraries = 'x'", node="node2")
    roles.sql("ALTER ROLE pinfold_node IN DATABASE pinfold SET search_path = E'\x1b[31m'; ALTER ROLE pinfold_node PASSWORD 'x'")
    message = admin("status", 1)
    assert "the role pinfold_node has the setting local_preload_libraries=x, which does not come from pinfold" in message
    assert "search_path=" in message and "\x1b" not in message and message.count("\n") == 2, message
    assert "run: pinfold archive upgrade" in message
    admin("upgrade", 0)
    assert admin("status", 0) == ""
    assert roles.sql("SELECT count(*) FROM pg_authid WHERE rolname = 'pinfold_node' AND rolpassword IS NOT NULL") == "0"
    assert roles.sql("SHOW default_transaction_read_only", login=LOGIN_HOST) == "on"


def test_no_node_makes_the_status_overflow(roles):
    """Two open transactions of one node do not see each other, so put() cannot refuse the sum of both."""
    with roles.session(node="node2") as first, roles.session(node="node2") as second:
        assert first.run("BEGIN; " + put_statement([receipt(1, "node2")], node="node2", epoch="a", newest=HUGE))
        assert second.run("BEGIN; " + put_statement([receipt(2, "node2")], first=1, node="node2", epoch="b", newest=HUGE))
        assert first.run("COMMIT;") and second.run("COMMIT;")
    roles.put([receipt(1, "node2", id="c")], node="node2", epoch="c")
    assert roles.status("node2")["gaps"] == HUGE
