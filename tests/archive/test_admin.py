# SPDX-License-Identifier: LGPL-2.1-or-later
"""`pinfold archive` makes, upgrades, checks and prunes the archive, and says what to do about certificates."""

import json
import shutil
import subprocess
from datetime import datetime, timedelta, timezone

import pytest
import schemas

from conftest import BUILD, SCHEMA, receipt, usec
from postgres_server import LOGIN_HOST, Authority

COMPLETE, NOT_COMPLETE, DENIED, UNREACHABLE, CONFIG = 0, 1, 5, 6, 1


@pytest.fixture
def admin(archive):
    """Runs `pinfold archive`. Without --host, the command uses the server's socket. With `said=True`, the function returns the standard
    error instead of the standard output."""
    server = archive.server

    def run(*words, sql=SCHEMA, status=0, said=False):
        done = subprocess.run([BUILD / "src/archive/archive-admin", "archive", *map(str, words), f"--sql={sql}", f"--port={server.port}",
                               *([] if any(str(word).startswith("--host") for word in words) else [f"--host={server.directory}"])],
                              capture_output=True, text=True, timeout=60, check=False, env={"PATH": "/usr/bin:/bin", "TZ": "UTC"})
        assert done.returncode == status, done
        return done.stdout if status in (COMPLETE, NOT_COMPLETE) and done.stdout and not said else done.stderr

    return run


@pytest.fixture
def over_tls(archive, admin):
    """Asks for the archive's status over TLS, with a certificate. Returns the error."""
    def run(status, certificate=LOGIN_HOST, host="localhost", ca=None, user="pinfold_reader"):
        files = archive.server.certificate(certificate) if isinstance(certificate, str) else certificate
        return admin("status", f"--host={host}", f"--user={user}", f"--certificate={files[0]}", f"--key={files[1]}",
                     f"--ca={ca or archive.server.authority.certificate}", status=status)

    return run


def test_init_makes_what_nodes_and_login_hosts_need(archive, admin):
    archive.sql("DROP DATABASE pinfold WITH (FORCE)", database="postgres")
    assert admin("init") == "The tables of the archive now have version 1.\n"
    assert archive.put([receipt(1)]) == 1
    assert archive.sql("SELECT key FROM pinfold.receipt", login=LOGIN_HOST) == "sge.1"
    assert admin("init") == admin("upgrade") == "The tables of the archive already have version 1.\n"
    assert archive.count() == 1


def test_a_server_keeps_the_roles_of_an_earlier_archive(archive, admin):
    admin("init", "--database=second")
    archive.sql("DROP DATABASE second", database="postgres")


def test_upgrades(archive, admin, tmp_path):
    archive.put([receipt(1)])
    shutil.copy(SCHEMA / "0001.sql", tmp_path)
    (tmp_path / "0002.sql").write_text("ALTER TABLE pinfold.receipt ADD COLUMN more text;\nINSERT INTO pinfold.schema_version VALUES (2);\n")
    (tmp_path / "0003.sql").write_text("ALTER TABLE pinfold.receipt ADD COLUMN even_more text;\nSELECT 1/0;\n")
    error = admin("upgrade", sql=tmp_path, status=1)
    assert "version 3 of the tables: PostgreSQL says: division by zero" in error
    columns = archive.sql("SELECT attname FROM pg_attribute WHERE attrelid = 'pinfold.receipt'::regclass AND attname LIKE '%more'")
    assert columns == "more", "an upgrade that fails changes nothing"
    assert archive.put([receipt(2)]) == 2
    (tmp_path / "0003.sql").unlink()
    assert "already have version 2" in admin("upgrade", sql=tmp_path)
    assert "install a newer pinfold-archive" in admin("upgrade", status=CONFIG)
    assert archive.count() == 2
    archive.make()


def test_a_directory_without_sql(admin, tmp_path):
    assert f"cannot read '{tmp_path}/0001.sql'" in admin("init", sql=tmp_path, status=CONFIG)


def test_status_of_an_empty_archive(admin):
    assert "no node has sent receipts yet" in admin("status", status=NOT_COMPLETE)


def test_status_names_the_nodes_that_are_not_complete(archive, admin):
    for node in ("node1", "node2", "node77", "node812", "node9"):
        archive.put([receipt(1, node)], node=node, newest=3 if node == "node9" else 1)
    page = admin("status", status=NOT_COMPLETE)
    assert page.startswith("5 nodes: complete up to 20") and " except node9 (2 receipts not sent yet)\n" in page
    archive.put([receipt(sequence, "node9") for sequence in (2, 3)], node="node9")
    page = admin("status", "--utc")
    assert page.startswith("5 nodes: complete up to 20") and page.count("\n") == 1 and "except" not in page

    archive.put([], node="node812", first=2, last=4)
    archive.sql("UPDATE pinfold.node SET seen = '2026-01-05 09:40Z', complete = '2026-01-05 09:40Z' WHERE node = 'node77'")
    page = admin("status", "--utc", status=NOT_COMPLETE)
    assert "except node77 (silent since 2026-01-05T09:40:00Z) and node812 (3 receipts missing)\n" in page
    table = page.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in table] == ["NODE", "node77", "node812"]

    document = json.loads(admin("status", "--json", status=NOT_COMPLETE))
    schemas.expect_document(document, "archive-status")
    assert document["complete"] is False
    nodes = {entry["node"]: entry for entry in document["nodes"]}
    assert [node for node, entry in nodes.items() if not entry["complete"]] == ["node77", "node812"]
    assert nodes["node812"]["missing"] == 3
    assert nodes["node77"]["seen"] == usec(datetime(2026, 1, 5, 9, 40, tzinfo=timezone.utc))
    assert nodes["node77"]["restored"] is None
    archive.put([], node="node1", first=1, last=0, newest=0)
    assert "node1 (an older copy of its history restored at 20" in admin("status", "--utc", status=NOT_COMPLETE).replace("\n", " ")
    archive.sql("UPDATE pinfold.node SET seen = now() - interval '1 h', restored = NULL")
    assert "5 nodes: the archive is not complete: node1 (silent since" in admin("status", status=NOT_COMPLETE)


def test_status_says_that_nothing_calls_prune_any_more(archive, admin):
    archive.put([receipt(1)])
    assert admin("status", said=True) == ""
    now = datetime.now(timezone.utc)
    for weeks in (3, 2, 0):
        week = (now + timedelta(weeks=weeks)).strftime("%Gw%V")
        archive.sql(f"DROP TABLE pinfold.receipt_{week}, pinfold.profile_{week}")
        told = admin("status", "--utc", status=COMPLETE if weeks == 3 else NOT_COMPLETE, said=True)
        monday = datetime.strptime(week + "1", "%Gw%V%u")
        assert told == "" if weeks == 3 else f"no table for the week that begins at {monday:%Y-%m-%dT%H:%M:%S}Z" in told
    archive.put([receipt(2, ended=usec(now))])
    assert archive.count("receipt_default") == 1
    assert "run: pinfold archive prune --older-than 400d\n" in told
    admin("prune", "--older-than=400d")
    assert archive.count("receipt_default") == 0
    assert admin("status", said=True) == ""


def test_status_with_a_certificate(archive, over_tls):
    archive.put([receipt(1)])
    assert "1 node: complete up to" in over_tls(COMPLETE)


@pytest.mark.parametrize("setting", ["statement_timeout = 1", "default_transaction_isolation = 'serializable'", "search_path = nothing",
                                     "default_transaction_read_only = on", "TimeZone = 'Asia/Tokyo'", "IntervalStyle = 'iso_8601'"])
def test_one_host_cannot_change_the_settings_of_the_others(archive, over_tls, setting):
    archive.put([receipt(1)])
    before = over_tls(COMPLETE)
    archive.sql(f"SET default_transaction_read_only = off; ALTER ROLE CURRENT_USER SET {setting}", login=LOGIN_HOST)
    try:
        made_by_pinfold = setting == "default_transaction_read_only = on"
        assert over_tls(COMPLETE if made_by_pinfold else NOT_COMPLETE) == before
    finally:
        archive.sql("ALTER ROLE pinfold_reader RESET ALL; ALTER ROLE pinfold_reader SET default_transaction_read_only = on")


def test_prune(archive, admin):
    old = datetime.now(timezone.utc) - timedelta(days=500)
    archive.sql(f"SELECT pinfold.make_partition('{old.isoformat()}')")
    archive.put([receipt(1, ended=usec(old)), receipt(2)])
    assert "needs --older-than" in admin("prune", status=2)
    assert "no other action" in admin("status", "--older-than=400d", status=2)
    assert "from 1d on" in admin("prune", "--older-than=23h", status=2)
    assert admin("prune", "--older-than=400d") == "1 receipt removed\n"
    assert archive.count() == 1
    archive.make()


def test_a_certificate_that_has_expired(archive, over_tls):
    expired = archive.server.authority.issue(LOGIN_HOST, file="expired", days=-1)
    error = over_tls(DENIED, expired)
    assert f"the certificate '{expired[0]}' has expired" in error and "get a new certificate from your site's CA" in error


def test_a_certificate_of_another_ca(over_tls, tmp_path):
    other = Authority(tmp_path, "other").issue(LOGIN_HOST)
    assert f"the server does not know the CA that signed '{other[0]}'" in over_tls(DENIED, other)


def test_a_certificate_of_another_name(over_tls):
    error = over_tls(DENIED, "node1")
    assert "does not let this certificate be the user 'pinfold_reader'" in error and "pg_ident.conf" in error


def test_a_server_of_another_name(over_tls):
    error = over_tls(UNREACHABLE, host="127.0.0.1")
    assert "the server's certificate is for another name than '127.0.0.1'" in error


def test_a_server_of_another_ca(over_tls, tmp_path):
    other = Authority(tmp_path, "other")
    error = over_tls(UNREACHABLE, ca=other.certificate)
    assert "this host does not trust the server's certificate" in error and "openssl s_client -starttls postgres -connect localhost:" in error


def test_a_server_whose_certificate_has_expired(archive, over_tls):
    server = archive.server
    server.authority.issue("localhost", file="server-expired", days=-1)
    server.use_certificate("server-expired")
    server.psql("SELECT pg_reload_conf()")
    try:
        assert "the certificate has expired" in over_tls(UNREACHABLE)
    finally:
        server.use_certificate("server")
        server.psql("SELECT pg_reload_conf()")
    assert "no node has sent" in over_tls(NOT_COMPLETE)


def test_files_that_cannot_be_used(archive, over_tls, tmp_path):
    certificate, key = archive.server.certificate(LOGIN_HOST)
    missing = tmp_path / "missing"
    assert f"the file of the certificate, '{missing}', cannot be read (No such file" in over_tls(CONFIG, (missing, key))
    assert f"the file of the private key, '{missing}', cannot be read" in over_tls(CONFIG, (certificate, missing))
    assert f"the file of the CA's certificate, '{missing}', cannot be read" in over_tls(CONFIG, ca=missing)
    readable = tmp_path / "readable.key"
    shutil.copy(key, readable)
    readable.chmod(0o644)
    assert f"other users can read the private key '{readable}': run chmod 0600" in over_tls(CONFIG, (certificate, readable))
    other_key = archive.server.certificate("node1")[1]
    assert "does not belong to the certificate" in over_tls(CONFIG, (certificate, other_key))
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("nonsense\n")
    nonsense.chmod(0o600)
    assert "must be a certificate in the format PEM" in over_tls(CONFIG, (nonsense, key))
    assert "must be an unencrypted private key" in over_tls(CONFIG, (certificate, nonsense))
    assert "must be the certificate of your site's CA" in over_tls(CONFIG, ca=nonsense)


def test_a_server_that_does_not_run(admin, tmp_path):
    error = admin("status", f"--host={tmp_path}", status=UNREACHABLE)
    assert "check that PostgreSQL runs on this host" in error


def test_a_server_without_tls(archive, over_tls):
    server = archive.server
    server.configure("ssl = off")
    server.psql("SELECT pg_reload_conf()")
    try:
        assert "set ssl = on" in over_tls(UNREACHABLE)
    finally:
        server.configure()
        server.psql("SELECT pg_reload_conf()")


def test_a_user_that_the_server_does_not_know(admin):
    assert "look at pg_hba.conf" in admin("status", "--user=nobody_there", status=DENIED)


def test_a_database_that_does_not_exist(admin):
    assert "pinfold archive init" in admin("status", "--database=nothing_there", status=UNREACHABLE)


def test_a_server_that_does_not_answer(archive, admin):
    """The server's processes are stopped, so a connection gets no answer, and archive-admin gives up at its deadline."""
    archive.server.process.send_signal(19)
    try:
        assert "did not answer in time" in admin("status", status=124)
    finally:
        archive.server.process.send_signal(18)
