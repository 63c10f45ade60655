# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that a node under an attacker's control cannot disturb other nodes. In PostgreSQL, each session can choose its settings, and each role can
choose the settings for its future sessions. All nodes share one role."""

import contextlib
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

from conftest import BUILD, SCHEMA, put_statement, receipt, usec
from postgres_server import LOGIN_HOST
from ship_node import new_node, wait_until

NOW = datetime.now(timezone.utc)
HUGE = 2**63 - 1
MOST_OF_CERTIFICATE = 8
BOUNDS = """SELECT count(*) FROM pg_class WHERE relname ~ '^(receipt|profile)_[0-9]{4}w[0-9]{2}$'
            AND pg_get_expr(relpartbound, oid) !~ $$FROM \\('[-0-9]{10} 00:00:00\\+00'\\) TO \\('[-0-9]{10} 00:00:00\\+00'\\)$$"""


@pytest.fixture(name="roles")
def roles_with_settings(archive):
    """Removes the settings of the role after the test, because roles belong to the whole server."""
    yield archive
    archive.sql("ALTER ROLE pinfold_node RESET ALL; ALTER ROLE pinfold_node IN DATABASE pinfold RESET ALL; ALTER ROLE pinfold_node PASSWORD NULL; "
                "ALTER ROLE pinfold_node CONNECTION LIMIT -1")
    archive.make()


def admin(archive, action, status):
    """Runs `pinfold archive` and returns what it writes to stderr."""
    done = subprocess.run([BUILD / "src/archive/archive-admin", "archive", action, f"--host={archive.server.directory}",
                           f"--port={archive.server.port}", f"--sql={SCHEMA}"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done
    return done.stderr


@pytest.mark.parametrize("settings", ["TimeZone = 'Asia/Kolkata'; SET DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'; SET DateStyle = 'German'",
                                      "DateStyle = 'Postgres, MDY'; SET TimeZone = 'Asia/Kolkata'"])
def test_the_settings_of_a_session_do_not_move_the_bounds_of_partitions(roles, settings):
    """The short name of the time zone Asia/Kolkata is also the short name of other time zones. A partition with wrong bounds would overlap the
    next partition. If two partitions overlapped, no node could send receipts any more. An administrator may choose any settings for a session."""
    for weeks in (10, 11, 9):
        roles.sql(f"SET {settings}; SELECT pinfold.make_partition(now() + interval '{weeks} weeks')")
        roles.sql(f"SET {settings}; " + put_statement([receipt(weeks, ended=usec(NOW + timedelta(weeks=weeks)))], first=1), node="node1")
    roles.sql(f"SET {settings}; SELECT pinfold.prune('90 days')")
    assert roles.sql(BOUNDS) == "0" and roles.count("receipt_default") == 0
    assert roles.put([receipt(1, "node2")], node="node2") == 1


@pytest.mark.parametrize("setting", [
    "SET local_preload_libraries = 'x'", "IN DATABASE pinfold SET local_preload_libraries = 'x'", "SET default_tablespace = 'pg_global'",
    "SET statement_timeout = 1", "SET idle_session_timeout = 1", "SET default_transaction_read_only = on",
    "SET default_transaction_isolation = 'serializable'", "SET search_path = 'x'", "SET role = 'pinfold_owner'",
    "SET session_authorization = 'pinfold_reader'", "SET client_encoding = 'SQL_ASCII'", "SET standard_conforming_strings = off",
    "SET restrict_nonsystem_relation_kind = 'view'",
])
def test_the_settings_of_the_role_disturb_no_other_node(roles, setting):
    roles.sql(f"ALTER ROLE CURRENT_USER {setting}", node="node2")
    with new_node(roles) as node:
        node.run_job()
        node.start()
        wait_until(lambda: node.archived("node = 'node1'") == node.receipts(), f"the receipt: {node.lines()}")
        assert node.lines() == []


def test_the_administrator_learns_of_the_settings_and_removes_them(roles):
    roles.put([receipt(1, "node2")], node="node2")
    assert admin(roles, "status", 0) == ""
    roles.sql("ALTER ROLE CURRENT_USER SET local_preload_libraries = 'x'", node="node2")
    roles.sql("ALTER ROLE pinfold_node IN DATABASE pinfold SET search_path = E'\x1b[31m'; ALTER ROLE pinfold_node PASSWORD 'x'")
    message = admin(roles, "status", 1)
    assert "the role pinfold_node has a setting that pinfold did not make: local_preload_libraries=x." in message
    assert "search_path=" in message and "\x1b" not in message and message.count("\n") == 2, message
    assert "run: pinfold archive upgrade" in message
    admin(roles, "upgrade", 0)
    assert admin(roles, "status", 0) == ""
    assert roles.sql("SELECT count(*) FROM pg_authid WHERE rolname = 'pinfold_node' AND rolpassword IS NOT NULL") == "0"
    assert roles.sql("SHOW default_transaction_read_only", login=LOGIN_HOST) == "on"


def test_no_node_makes_the_status_overflow(roles):
    """A transaction cannot read the number of missing receipts that another open transaction has stored. If two transactions are
    open, put() does not notice that the sum of all missing receipts is too large."""
    with roles.session(node="node2") as first, roles.session(node="node2") as second:
        assert first.run("BEGIN; " + put_statement([receipt(1, "node2")], node="node2", epoch="a", newest=HUGE))
        assert second.run("BEGIN; " + put_statement([receipt(2, "node2")], first=1, node="node2", epoch="b", newest=HUGE))
        assert first.run("COMMIT;") and second.run("COMMIT;")
    roles.put([receipt(1, "node2", id="c")], node="node2", epoch="c")
    assert roles.status("node2")["gaps"] == HUGE
    admin(roles, "status", 1)


def test_no_node_takes_the_connections_of_login_nodes(roles):
    admin(roles, "upgrade", 0)
    most = int(roles.sql("SELECT rolconnlimit FROM pg_roles WHERE rolname = 'pinfold_node'"))
    assert 0 < most == int(roles.sql("SHOW max_connections")) * 4 // 5
    with contextlib.ExitStack() as held:
        sessions = [held.enter_context(roles.session(node="node2")) for _ in range(most)]
        assert all(session.run("SELECT 1;") for session in sessions)
        assert "too many connections for role" in roles.error("SELECT 1", node="node1")
        assert roles.sql("SELECT 1", login=LOGIN_HOST) == "1"


def test_a_put_ends_the_sessions_of_a_certificate_that_has_too_many(roles):
    with contextlib.ExitStack() as held:
        sessions = []
        for node in ["node3"] + ["node2"] * (MOST_OF_CERTIFICATE + 20):
            sessions.append(held.enter_context(roles.session(node=node)))
            assert sessions[-1].run("SELECT 1;")  # wait for an answer, so that the sessions begin in the order of the list
        other = sessions.pop(0)
        roles.put([receipt(1)])
        assert [session.run("SELECT 1;") for session in sessions] == [False] * 20 + [True] * MOST_OF_CERTIFICATE
        assert other.run("SELECT 1;")


def test_no_node_holds_up_the_others(roles):
    """node2 and node1 add receipts to the same partitions. The transaction of node2 stays open while node1 sends."""
    sent = [receipt(1, "node2", ended=usec(NOW - timedelta(weeks=33))), receipt(2, "node2", ended=0), receipt(3, "node2")]
    with roles.session(node="node2") as session:
        assert session.run("BEGIN; " + put_statement(sent, node="node2"))
        ten_seconds = "SET statement_timeout = '10s'; "
        roles.sql(ten_seconds + put_statement([receipt(1), receipt(2, ended=0), receipt(3, ended=usec(NOW - timedelta(weeks=33)))]), node="node1")
        assert roles.sql(ten_seconds + "SELECT count(*) FROM pinfold.receipt", login=LOGIN_HOST) == "3"


@pytest.mark.parametrize("sessions", [1, MOST_OF_CERTIFICATE])
def test_no_node_prevents_the_removal_of_old_receipts(roles, sessions):
    """Each session waits for a lock that `prune` holds. If `prune` gives up the lock, one of the waiting sessions gets the lock."""
    with contextlib.ExitStack() as held:
        held_open = held.enter_context(roles.session(node="node2"))
        assert held_open.run("BEGIN; " + put_statement([receipt(1, "node2")], node="node2"))
        prune = held.enter_context(roles.session())
        prune.start("SELECT pinfold.prune('300 days');")
        for number in range(2, sessions + 1):
            held.enter_context(roles.session(node="node2")).start(f"BEGIN; {put_statement([receipt(number, 'node2', id='x')], first=1, node='node2')}")
        assert prune.finish()
        assert not held_open.run("SELECT 1;")


def test_a_put_ends_the_sessions_that_are_idle(roles):
    """put() ends sessions that have been idle for a minute. In this test, put() ends idle sessions at once, so that the test does not wait
    for a minute."""
    body = roles.sql("SELECT pg_get_functiondef('pinfold.end_stuck_sessions'::regproc)")
    roles.sql(body.replace("'60 s'", "'0 s'"))
    with roles.session(node="node2") as idle:
        assert idle.run("SELECT 1;")
        roles.put([receipt(1)])
        assert not idle.run("SELECT 1;")
