# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives each test an empty archive. All tests share one real PostgreSQL server."""

import contextlib
import copy
import json
import os
import subprocess
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from postgres_server import LOGIN_HOST, TOP, PostgresServer, psql_command

BUILD = Path(os.environ.get("PINFOLD_BUILD", TOP / "build"))
SCHEMA = TOP / "src/archive/sql"
EPOCH = "5e0c" * 8
EXAMPLE = json.loads((Path(__file__).parent / "receipt.json").read_text())
BEGAN = time.time_ns() // 1000  # microseconds
LONG_AGO = datetime(1970, 1, 1, tzinfo=timezone.utc)


def usec(moment):
    return (moment - LONG_AGO) // timedelta(microseconds=1)


def receipt(sequence, node="node1", **members):
    """Returns the receipt of a job that ended when the tests began. The receipt has every member that pinfoldd writes."""
    made = copy.deepcopy(EXAMPLE)
    made.update({"id": f"{node}-{sequence}", "sequence": sequence, "epoch": EPOCH, "host": node, "key": f"sge.{sequence}",
                 "started": BEGAN - 60_000_000, "ended": BEGAN})
    made.update(members)
    return made


def text(value):
    """Returns the SQL literal of a text or of a number."""
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def profile_array(receipts, profiles):
    """Returns the profiles as an SQL array. `profiles` maps the sequence number of a receipt to the bytes of the receipt's profile."""
    found = [profiles.get(made["sequence"], b"") if isinstance(made, dict) else b"" for made in receipts]
    return "ARRAY[" + ", ".join(f"'\\x{profile.hex()}'" for profile in found) + "]::bytea[]"


def put_statement(receipts, node="node1", first=None, last=None, newest=None, epoch=EPOCH, boot="boot-1", node_time="now()",
                  profiles=None):
    """Returns the SQL statement that sends all the receipts to the archive with one call of pinfold.put(). Each receipt is a dictionary or a text."""
    texts = [made if isinstance(made, str) else json.dumps(made) for made in receipts]
    sequences = [made["sequence"] for made in receipts if isinstance(made, dict)]
    first = min(sequences) if first is None else first
    last = max(sequences) if last is None else last
    return (f"SELECT * FROM pinfold.put({text(node)}, {text(boot)}, {text(epoch)}, {first}, {last}, {last if newest is None else newest}, "
            f"{node_time}, ARRAY[{', '.join(map(text, texts))}]::text[], {profile_array(receipts, profiles or {})});")


class Session:
    """A psql that stays connected."""

    def __init__(self, connection):
        self.psql = subprocess.Popen(psql_command(connection), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, sql):
        """Runs SQL, waits for the answer, and returns whether the SQL succeeded."""
        self.start(sql)
        return self.finish()

    def start(self, sql):
        with contextlib.suppress(BrokenPipeError):  # the server has ended the session, and finish() says so
            self.psql.stdin.write(sql + "\n\\echo done :ERROR\n")
            self.psql.stdin.flush()

    def finish(self):
        while not (line := self.psql.stdout.readline()).startswith("done"):
            if not line:
                return False
        return line.strip() == "done false"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.psql.communicate()


class Archive:
    def __init__(self, server):
        self.server = server
        self.sql = server.psql

    def make(self):
        self.sql("DROP DATABASE IF EXISTS pinfold WITH (FORCE)", database="postgres")
        self.sql("CREATE DATABASE pinfold TEMPLATE template0 ENCODING 'UTF8'", database="postgres")
        self.sql((SCHEMA / "0001.sql").read_text(), "-1")

    def put(self, receipts, node="node1", **lot):
        """Sends all the receipts with one call of pinfold.put(), as the node `node`. Returns the sequence number up to which the archive
        has the node's receipts after the call."""
        return int(self.sql(put_statement(receipts, node=node, **lot), node=node).split("|")[0])

    def refused(self, receipts, certificate="node1", **lot):
        """Makes a call of pinfold.put() that the archive must refuse, and returns the error."""
        return self.error(put_statement(receipts, **lot), node=certificate)

    def error(self, sql, **as_whom):
        result = self.sql(sql, check=False, **as_whom)
        assert result.returncode != 0, result.stdout
        return result.stderr

    def position(self, node="node1", epoch=EPOCH):
        return int(self.sql(f"SELECT pinfold.position({text(node)}, {text(epoch)})", node=node))

    def start_put(self, receipts, node="node1", **lot):
        """Starts a call of pinfold.put() with all the receipts, and does not wait for the answer."""
        process = subprocess.Popen(psql_command(self.server.connection(node=node), "-v", "ON_ERROR_STOP=1"),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write(put_statement(receipts, node=node, **lot))
        process.stdin.close()
        process.stdin = None
        return process

    def session(self, **as_whom):
        return Session(self.server.connection(**as_whom))

    def count(self, table="receipt", where="true"):
        return int(self.sql(f"SELECT count(*) FROM pinfold.{table} WHERE {where}"))

    def rows(self, sql, **as_whom):
        return json.loads(self.sql(f"SELECT coalesce(json_agg(t), '[]') FROM ({sql}) t", **as_whom))

    def status(self, node="node1"):
        return self.rows(f"SELECT * FROM pinfold.status WHERE node = {text(node)}", login=LOGIN_HOST)[0]


@pytest.fixture(scope="session")
def server():
    # The path of a socket may have at most 107 bytes, and the directories that pytest makes have longer names.
    with tempfile.TemporaryDirectory(prefix="pinfold-archive-") as directory, PostgresServer(Path(directory)) as running:
        yield running


@pytest.fixture(scope="module")
def made_once(server):
    """Makes a new database, because the tests of another module may have changed or removed the existing database."""
    made = Archive(server)
    made.make()
    return made


@pytest.fixture
def archive(made_once):
    made_once.sql("DELETE FROM pinfold.receipt; DELETE FROM pinfold.profile; DELETE FROM pinfold.node; DELETE FROM pinfold.gap; DELETE FROM pinfold.rejected")
    return made_once
