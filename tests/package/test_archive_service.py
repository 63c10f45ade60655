# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the service of the package pinfold-archive. systemd starts the service in its sandbox, and the service uses the box's user database."""

import json
import pwd
import shutil
import subprocess
from pathlib import Path

import debs
import pytest

from jobs import run, wait_until

SERVER = Path("/var/lib/pinfold-test-server")
CONFIGURATION = Path("/etc/pinfold/pinfold.toml.d/login.toml")
RECEIPT = json.loads((Path(__file__).parents[1] / "archive/receipt.json").read_text())


def as_postgres(*command):
    return run("runuser", "-u", "postgres", "--", *command, cwd="/")


def sql(statement):
    return as_postgres("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", SERVER, "-d", "pinfold", "-c", statement)


def insert(number, user):
    """Only a node with a certificate may call put()."""
    uid = pwd.getpwnam(user).pw_uid
    body = json.dumps({**RECEIPT, "id": str(number), "key": f"sge.{number}", "uid": uid}).replace("'", "''")
    sql("INSERT INTO pinfold.receipt (node, epoch, sequence, id, key, uid, started, ended, result, outcome, body) VALUES "
        f"('node1', 'e', {number}, '{number}', 'sge.{number}', {uid}, now(), now(), 'exited', 'succeeded', '{body}')")


@pytest.fixture(scope="module", autouse=True)
def login_node():
    debs.install("pinfold", "pinfold-archive")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    SERVER.mkdir()
    shutil.chown(SERVER, "postgres")
    as_postgres(programs / "initdb", "-D", SERVER / "data", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync")
    as_postgres(programs / "pg_ctl", "-D", SERVER / "data", "-w", "-l", SERVER / "log", "-o",
                f"-c listen_addresses= -c unix_socket_directories={SERVER} -c fsync=off", "start")
    SERVER.chmod(0o755)
    as_postgres("pinfold", "archive", "init", "--host", SERVER)
    insert(1, "alice")
    insert(2, "bob")
    CONFIGURATION.write_text(f'[archive]\nserver = "{SERVER}"\nask = true\n')
    yield
    CONFIGURATION.unlink()
    as_postgres(programs / "pg_ctl", "-D", SERVER / "data", "-m", "immediate", "stop")
    shutil.rmtree(SERVER)


def keys(user):
    return [receipt["key"] for receipt in json.loads(run("runuser", "-u", user, "--", "pinfold", "history", "--json").stdout)["receipts"]]


def state(unit, name):
    return run("systemctl", "show", f"--property={name}", "--value", unit).stdout.strip()


def test_the_service_is_off_until_the_site_enables_it():
    assert run("systemctl", "is-enabled", "pinfold-archive.socket", check=False).stdout.strip() == "disabled"
    refused = run("runuser", "-u", "alice", "--", "pinfold", "history", check=False)
    assert refused.returncode == 6 and "systemctl status pinfold-archive.socket" in refused.stderr


def test_users_see_their_own_receipts_and_auditors_all():
    run("usermod", "--append", "--groups", "pinfold-audit", "carol")
    run("systemctl", "enable", "--now", "pinfold-archive.socket")
    assert state("pinfold-archive.service", "ActiveState") == "inactive"
    assert keys("alice") == ["sge.1"]
    assert keys("bob") == ["sge.2"]
    assert sorted(keys("carol")) == sorted(keys("root")) == ["sge.1", "sge.2"]
    assert "sge.1" in run("runuser", "-u", "alice", "--", "pinfold", "why", "1").stdout
    pid = state("pinfold-archive.service", "MainPID")
    status = Path(f"/proc/{pid}/status").read_text()
    assert f"Uid:\t{pwd.getpwnam('pinfold-archive').pw_uid}\t" in status and "CapEff:\t0000000000000000" in status


def test_an_upgrade_starts_the_service_again():
    before = state("pinfold-archive.service", "MainPID")
    debs.install("pinfold-archive")
    wait_until(lambda: state("pinfold-archive.service", "MainPID") not in ("0", before), "a new service", deadline=60)
    assert keys("alice") == ["sge.1"]


def test_a_removal_closes_the_socket():
    debs.dpkg("--purge", "pinfold-archive")
    assert not Path("/run/pinfold/archive.sock").exists()
    assert subprocess.run(["systemctl", "is-active", "--quiet", "pinfold-archive.socket"], check=False).returncode != 0
    debs.install("pinfold-archive")
