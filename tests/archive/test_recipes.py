# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the commands that docs/archive.md describes, such as the commands that make a backup, a standby server or certificates."""

import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from conftest import put_statement, receipt
from postgres_server import LOGIN_HOST, SITE, TOP, Authority, PostgresServer, free_port, psql_command

PAGE = (TOP / "docs/archive.md").read_text()
DEADLINE = 120.0
# The query returns every setting that gives a role rights in the database.
RIGHTS = """
SELECT 'database', datacl::text FROM pg_database WHERE datname = current_database()
UNION ALL SELECT 'schema ' || nspname, nspacl::text FROM pg_namespace WHERE nspname IN ('public', 'pinfold')
UNION ALL SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'pinfold'::regnamespace AND relkind IN ('r', 'p', 'v')
UNION ALL SELECT oid::regprocedure::text, proacl::text FROM pg_proc WHERE pronamespace = 'pinfold'::regnamespace OR proname ~ '^(lo_|pg_terminate|pg_cancel)'
UNION ALL SELECT 'default ' || defaclobjtype::text, defaclacl::text FROM pg_default_acl
UNION ALL SELECT 'role ' || rolname, rolcanlogin || ' ' || rolsuper || ' ' || coalesce(rolconfig::text, '') FROM pg_roles WHERE rolname ~ '^pinfold_'
ORDER BY 1, 2
"""


def commands(heading):
    """Returns the shell commands in the section `heading` of the page."""
    section = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)[1]
    blocks = re.findall(r"^( *)```sh\n(.*?)^ *```", section, re.M | re.S)
    assert blocks, f"the section {heading} has no commands"
    return [line.removeprefix(indent) for indent, block in blocks for line in block.splitlines()]


def run(server, lines, directory):
    """Runs shell commands as an administrator would run them on the server's host. The commands use `directory` in place of /var/backups."""
    environment = {**os.environ, "PGHOST": str(server.directory), "PGPORT": str(server.port), "PGUSER": "postgres",
                   "PATH": f"{server.bin}:{os.environ['PATH']}"}
    script = "\n".join(["set -euo pipefail", *lines]).replace("/var/backups", str(directory))
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def wait_until(holds, what):
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end, f"not within {DEADLINE} s: {what}"
        select.select([], [], [], 0.05)


@pytest.fixture
def directory():
    """Makes a directory with a short path. The server's user can enter the directory."""
    with tempfile.TemporaryDirectory(prefix="pinfold-recipe-") as path:
        Path(path).chmod(0o755)
        yield Path(path)


@pytest.fixture
def servers(directory):
    """Gives the test a server that has an archive, and a new server that has no archive. The two servers trust the same certificate
    authority."""
    for name in ("old", "new"):
        (directory / name).mkdir()
    with PostgresServer(directory / "old") as old, PostgresServer(directory / "new") as new:
        old.psql("CREATE DATABASE pinfold TEMPLATE template0 ENCODING 'UTF8'", database="postgres")
        old.psql((TOP / "src/archive/sql/0001.sql").read_text(), "--single-transaction")
        new.authority = old.authority
        new.use_certificate("server")
        new.stop()
        new.start()
        yield old, new


def put(server, first, last, node="node1", check=True):
    answer = server.psql(put_statement([receipt(sequence, node=node) for sequence in range(first, last + 1)], node=node), node=node, check=check)
    return int(answer.split("|")[0]) if check else answer


def position(server, node="node1"):
    return int(server.psql(f"SELECT pinfold.position('{node}', '{receipt(1)['epoch']}')", node=node))


def sequences(server, node="node1"):
    return server.psql(f"SELECT string_agg(sequence::text, ' ' ORDER BY sequence) FROM pinfold.receipt WHERE node = '{node}'", login=LOGIN_HOST)


def numbers(first, last):
    return " ".join(map(str, range(first, last + 1)))


def backup_and_restore(old, new, directory, between=lambda: None):
    backup, restore = commands("Back up and restore")[:2], commands("Back up and restore")[2:]
    assert "pg_dump" in backup[1] and "pg_restore" in restore[1]
    run(old, backup, directory)
    between()
    run(new, restore, directory)


def test_an_archive_that_is_restored_from_a_backup_gets_the_later_receipts_again(servers, directory):
    old, new = servers
    put(old, 1, 10)
    rights = old.psql(RIGHTS)
    backup_and_restore(old, new, directory, between=lambda: put(old, 11, 20))
    old.stop()
    assert position(new) == 10 and sequences(new) == numbers(1, 10)
    assert new.psql(RIGHTS) == rights and "pinfold_node=" in rights
    assert put(new, 11, 25) == 25
    assert sequences(new) == numbers(1, 25) and new.psql("SELECT gaps, unsent FROM pinfold.status") == "0|0"


def test_a_restored_archive_notes_what_no_node_has_any_more(servers, directory):
    old, new = servers
    put(old, 1, 10)
    backup_and_restore(old, new, directory)
    lot = put_statement([receipt(sequence) for sequence in (13, 14)], first=11, last=14)
    assert new.psql(lot, node="node1").split("|")[0] == "14"
    assert new.psql("SELECT first, last FROM pinfold.gap") == "11|12"


def reasons(server):
    """Returns (node, gaps, restored) of each node in the status of the archive."""
    return [tuple(row.split("|")) for row in server.psql("SELECT node, gaps, restored IS NOT NULL FROM pinfold.status").splitlines()]


def test_what_the_administrator_accepts_is_no_longer_missing(servers, directory):
    server, _ = servers
    names, gone, expected, *lost = commands("Nodes that are missing or gone, and receipts that you do not expect")
    # The node had removed four receipts before it joined the archive.
    server.psql(put_statement([receipt(sequence) for sequence in range(5, 11)], first=1), node="node1")
    put(server, 1, 3, node="node77")
    server.psql(put_statement([receipt(2, node="node2")], node="node2", epoch="e1", first=1, newest=9), node="node2")
    server.psql(put_statement([], node="node2", epoch="e2", first=1, last=0, newest=0), node="node2")
    server.psql(put_statement([], node="node1", first=11, last=10, newest=8), node="node1")
    assert reasons(server) == [("node1", "4", "t"), ("node2", "8", "f"), ("node77", "0", "f")]
    environment = {**os.environ, "PGHOST": str(server.directory), "PGPORT": str(server.port), "PGUSER": "postgres"}
    shown = subprocess.run(["bash", "-c", names], env=environment, stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    assert shown.split() == ["node1", "node2", "node77"]
    run(server, [gone], directory)
    assert reasons(server) == [("node1", "4", "t"), ("node2", "8", "f")]
    run(server, [expected], directory)
    assert reasons(server) == [("node1", "0", "t"), ("node2", "7", "f")]
    run(server, lost, directory)
    assert reasons(server) == [("node1", "0", "f"), ("node2", "0", "f")]
    assert sequences(server, "node77") == numbers(1, 3) and sequences(server) == numbers(5, 10)
    assert put(server, 11, 12) == 12
    assert put(server, 1, 4, node="node77") == 4, "if the node comes back, it sends all its receipts again"
    assert sequences(server, "node77") == numbers(1, 4)
    assert [row[:2] for row in reasons(server)] == [("node1", "0"), ("node2", "0"), ("node77", "0")]


def test_moving_the_archive_loses_no_receipt(servers, directory):
    old, new = servers
    shut_out, let_in = commands("Move the archive to another server")
    put(old, 1, 10)
    # A node stays connected while the archive moves to another server. The process `waiting` opens a database session as node2, and keeps the
    # session open. The session ends when the server ends it, or after DEADLINE seconds.
    waiting = subprocess.Popen(psql_command(old.connection(node="node2"), "-c", f"SELECT pg_sleep({DEADLINE})"), stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    wait_until(lambda: old.psql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'pinfold_node'") == "1", "the session of node2")
    run(old, [shut_out], directory)
    assert waiting.wait(DEADLINE) != 0 and "terminating connection" in waiting.stderr.read()
    waiting.stderr.close()
    refused = put(old, 11, 12, check=False)
    assert refused.returncode != 0 and "not permitted to log in" in refused.stderr
    backup_and_restore(old, new, directory)
    assert "not permitted to log in" in put(new, 11, 12, check=False).stderr, "the old server may still be in use"
    run(new, [let_in], directory)
    assert put(new, 11, 12) == 12 and sequences(new) == numbers(1, 12)
    assert sequences(old) == numbers(1, 10)


def test_a_standby_takes_the_place_of_a_lost_server(servers, directory):
    old, new = servers
    new.stop()
    put(old, 1, 10)
    old.psql("CREATE ROLE replicator LOGIN REPLICATION", database="postgres")
    (old.data / "pg_hba.conf").write_text("local replication replicator trust\n" + (old.data / "pg_hba.conf").read_text())
    old.psql("SELECT pg_reload_conf()", database="postgres")
    shutil.rmtree(new.data)
    [copy] = commands("A standby server")
    copy = copy.replace("/var/lib/postgresql/15/main", str(new.data)).replace("--host=archive1.example.org", "")
    run(old, [" ".join(new._as_user()) + " " + copy], directory)
    new.configure()
    new.start()
    put(old, 11, 15)
    wait_until(lambda: sequences(new) == numbers(1, 15), "the receipts on the standby")
    assert "read-only" in put(new, 16, 16, check=False).stderr
    old.kill_9()
    run(new, [" ".join(new._as_user()) + f" pg_ctl promote -w -D {new.data}"], directory)
    assert put(new, 16, 20) == 20 and sequences(new) == numbers(1, 20)


def test_the_commands_for_certificates_make_certificates_that_the_archive_takes(servers, directory):
    old, _ = servers
    authority, *host = commands("Certificates")
    made = directory / "made"
    made.mkdir()
    (made / "hosts.txt").write_text("localhost\nnode7\n")
    run(old, [f"cd {made}", authority, *host], directory)
    shutil.copy(made / "localhost.crt", made / "server.crt")
    shutil.copy(made / "localhost.key", made / "server.key")
    for file in made.glob("*.key"):
        file.chmod(0o600)
    old.authority = Authority.__new__(Authority)
    old.authority.directory, old.authority.certificate = made, made / "ca.crt"
    old.use_certificate("server")
    old.stop()
    old.start()
    assert put(old, 1, 3, node="node7") == 3


def rsyslog_conf(file, replace):
    text = (SITE / file).read_text()
    for old, new in replace.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


class Rsyslog:
    def __init__(self, directory, name, configuration):
        self.directory = directory / name
        self.directory.mkdir()
        self.file = self.directory / "rsyslog.conf"
        self.file.write_text(f'global(workDirectory="{self.directory}")\n{configuration}')
        self.process = None

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(["rsyslogd", "-n", "-f", self.file, "-i", self.directory / "pid"], stdout=log, stderr=log)
        return self

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE)


@pytest.mark.skipif(not shutil.which("rsyslogd") or not any(Path("/usr/lib").glob("*/rsyslog/omrelp.so")),
                    reason="install Debian's packages rsyslog and rsyslog-relp")
def test_rsyslog_brings_each_receipt_to_the_server_also_after_a_side_was_down(directory):
    authority = Authority(directory / "ca")
    for name in ("logs.example.org", "node1.example.org"):
        authority.issue(name)
    port, source = free_port(), directory / "receipts.jsonl"
    files = lambda name: {f"/etc/pinfold/archive/{kind}": str(authority.directory / file) for kind, file in
                          [("ca.crt", "ca.crt"), (f"{name[0]}.crt", f"{name[1]}.crt"), (f"{name[0]}.key", f"{name[1]}.key")]}
    server = Rsyslog(directory, "server", rsyslog_conf("rsyslog-server.conf", {
        'port="2514"': f'port="{port}"', "/var/log/pinfold-receipts": str(directory / "central"), **files(("server", "logs.example.org"))})).start()
    node = Rsyslog(directory, "node", rsyslog_conf("rsyslog-node.conf", {
        "/var/log/pinfold-receipts/receipts.jsonl": str(source), 'target="logs.example.org" port="2514"': f'target="127.0.0.1" port="{port}"',
        'resumeInterval="10"': 'resumeInterval="1"', **files(("node", "node1.example.org"))})).start()
    lines = []

    def write(*texts):
        with open(source, "a", encoding="utf-8") as file:
            for text in texts:
                lines.append(json.dumps({**receipt(len(lines) + 1), "job_name": text}, ensure_ascii=False, separators=(",", ":")))
                file.write(lines[-1] + "\n")

    def arrived():
        return [line for file in (directory / "central").rglob("*.jsonl") for line in file.read_text().split("\n")[:-1]]

    def has_all():
        return sorted(set(arrived())) == sorted(lines)

    def write_until_all_arrived():
        """The function continues to write receipts, because rsyslog may send several receipts before it notices that a connection is broken."""
        end = time.monotonic() + DEADLINE
        write("when the server is up again")
        while not has_all():
            assert time.monotonic() < end, f"not within {DEADLINE} s: the receipts of the time without a server"
            select.select([], [], [], 1)
            write("when the server is up again")
    try:
        write("first", "Ü \\ \" % $ \u2028", "x" * 100_000)
        wait_until(has_all, "the first receipts")
        server.stop()
        write("while the server is down")
        server.start()
        write_until_all_arrived()
        node.stop()
        write("while rsyslog does not run on the node")
        node.start()
        wait_until(has_all, "the receipt of the time without rsyslog")
    finally:
        node.stop()
        server.stop()
    assert len({json.loads(line)["job_name"] for line in lines}) == 6


def test_the_command_for_rsyslogs_files_finds_missing_receipts(directory):
    [search] = commands("A site without PostgreSQL")
    (directory / "2026-11-27").mkdir()
    for node, present in (("node1", [1, 2, 2, 3, 10, 9]), ("node2", [4, 5])):
        (directory / "2026-11-27" / f"{node}.jsonl").write_text("".join(json.dumps(receipt(sequence, node=node)) + "\n" for sequence in present))
    found = subprocess.run(["bash", "-c", search.replace("/var/log/pinfold-receipts", str(directory))], check=True, capture_output=True, text=True)
    assert found.stdout == "node1 lacks 4 to 8\n" and found.stderr == ""
