# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service pinfold-archive shows each user the receipts that the user may see."""

import os
import signal
import ssl
import subprocess
import time

import pytest

from archive_service import ALICE, AUDITOR, BOB, MINUTE, NOW, answer, closed, configuration, job, starter
from conftest import BUILD, Archive

EVIL = "x' OR true; DROP TABLE pinfold.receipt; -- $1 %s \\ \" é"

NODE1 = [
    job(1, "node1", ALICE, 9, key="slurm.1", job_name=EVIL),
    job(2, "node1", BOB, 8, key="slurm.2", labels={"kind": EVIL}),
    job(3, "node1", ALICE, 7, key="sge.3", result="timeout", exit_status=None, exit_signal=15, leftovers=2, leftover_commands=[EVIL]),
    job(4, "node1", ALICE, 6, key=EVIL),
]
NODE2 = [
    job(1, "node2", ALICE, 5, key="slurm.5", exit_status=None),
    job(2, "node2", BOB, 4, key="slurmx.6", labels={"kind": "other"}, host="node1"),
    job(3, "node2", ALICE, 3, key="slurm.7", exit_status=1, host="node2.example.org"),
]


@pytest.fixture(scope="module")
def site(server):
    made = Archive(server)
    made.make()
    made.put(NODE1, node="node1")
    made.put(NODE2, node="node2")
    return made


@pytest.fixture(name="start")
def service_starter():
    with starter() as start:
        yield start


@pytest.fixture
def service(start, site):
    return start(configuration(site.server))


ALL = ["slurm.7", "slurmx.6", "slurm.5", EVIL, "sge.3", "slurm.2", "slurm.1"]
OF_ALICE = ["slurm.7", "slurm.5", EVIL, "sge.3", "slurm.1"]


def test_users_see_their_own_receipts_and_auditors_all(service):
    assert service.keys({}, ALICE) == OF_ALICE
    assert service.keys({}, BOB) == ["slurmx.6", "slurm.2"]
    assert service.keys({}, AUDITOR) == service.keys({}) == ALL


def test_a_node_cannot_write_the_name_of_another_host_into_a_receipt(service):
    hosts = {receipt["key"]: receipt["host"] for receipt in service.receipts({})}
    assert hosts["slurmx.6"] == "node2", "the name in the certificate of the node"
    assert hosts["slurm.7"] == "node2.example.org" and hosts["slurm.1"] == "node1"


def test_no_filter_shows_a_receipt_of_another_user(service):
    for wanted in [{"uid": BOB}, {"key": "slurm.2"}, {"label": "kind"}, {"all_hosts_of": "slurm.2"}, {"key": "slurm.2' OR uid > 0 --"}]:
        assert service.keys(wanted, ALICE) == []
    assert service.keys({"uid": ALICE}, ALICE) == OF_ALICE


@pytest.mark.parametrize("wanted, keys", [
    ({"key": "slurm.5"}, ["slurm.5"]),
    ({"uid": BOB}, ["slurmx.6", "slurm.2"]),
    ({"since": NOW - 5 * MINUTE}, ["slurm.7", "slurmx.6", "slurm.5"]),
    ({"until": NOW - 8 * MINUTE}, ["slurm.1"]),
    ({"until": NOW - 8 * MINUTE + 1}, ["slurm.2", "slurm.1"]),
    ({"since": NOW - 8 * MINUTE, "until": NOW - 6 * MINUTE}, ["sge.3", "slurm.2"]),
    ({"since": 2**63 - 1}, []),
    ({"limit": 2}, ["slurm.7", "slurmx.6"]),
    ({"result": "timeout"}, ["sge.3"]),
    ({"scheduler": "slurm"}, ["slurm.7", "slurm.5", "slurm.2", "slurm.1"]),
    ({"leftovers": True}, ["sge.3"]),
    ({"failed": True}, ["slurm.7", "sge.3"]),
    ({"unknown": True}, ["slurm.5"]),
    ({"failed": True, "unknown": True}, ["slurm.7", "slurm.5", "sge.3"]),
    ({"failed": False}, ALL),
    ({"label": "kind"}, ["slurmx.6", "slurm.2"]),
    ({"label": "kind=other"}, ["slurmx.6"]),
    ({"label": f"kind={EVIL}"}, ["slurm.2"]),
    ({"key": EVIL}, [EVIL]),
])
def test_each_filter(service, wanted, keys):
    assert service.keys(wanted) == keys


def test_texts_come_back_as_they_are(service, site):
    receipts = {found["key"]: found for found in service.receipts({})}
    assert receipts["slurm.1"]["job_name"] == EVIL
    assert receipts["slurm.2"]["labels"] == {"kind": EVIL}
    assert receipts["sge.3"]["leftover_commands"] == [EVIL]
    assert site.count() == len(ALL)


@pytest.mark.parametrize("request_line, code", [
    (b"what?\n", "InvalidArgument"),
    (b"\n", "InvalidArgument"),
    (b"\xff\xfe\n", "InvalidArgument"),
    (b'{"filter": {"uid": "0"}}\n', "InvalidArgument"),
    (b'{"filter": {"sql": "x"}}\n', "InvalidArgument"),
    (b'{"filter": {"after": 7}}\n', "InvalidArgument"),
    (b'{"filter": {"key": "a\\u0000b"}}\n', "InvalidArgument"),
    (b"[" * 16_000 + b"\n", "InvalidArgument"),
    (b"x" * 16_384, "InvalidArgument"),
])
def test_what_is_not_a_request_gets_an_error(service, request_line, code):
    assert service.error(request_line)["code"] == code
    assert service.keys({"limit": 1}) == ["slurm.7"]


def test_a_request_may_come_in_parts(service):
    with service.connect() as connection:
        for byte in b'{"filter": {"limit": 1}}\n':
            connection.send(bytes([byte]))
        assert len(answer(connection)[0]) == 1


def test_a_client_that_sends_nothing_is_closed(service):
    begun = time.monotonic()
    with service.connect(ALICE) as connection:
        closed(connection, within=60)
        assert time.monotonic() - begun > 4


def test_the_service_exits_when_it_is_idle(start, site):
    service = start(configuration(site.server))
    service.end()
    # The socket is still open, and a connection starts the service again, as with systemd.
    for _ in range(2):
        with service.send({}) as connection:
            service.start("--exit-idle-time", "1s")
            assert len(answer(connection)[0]) == len(ALL)
        assert service.process.wait(20) == 0


def test_the_archive_over_tls(start, site):
    certificate, key = site.server.certificate("login1.example.org")
    files = f'certificate = "{certificate}"\nkey = "{key}"\nca = "{site.server.authority.certificate}"\n'
    assert start(configuration(site.server, "localhost") + files).keys({}, BOB) == ["slurmx.6", "slurm.2"]


def test_when_the_certificate_of_the_host_expires(site, tmp_path):
    certificate, key = site.server.certificate("login1.example.org")
    (tmp_path / "etc/pinfold").mkdir(parents=True)
    file = tmp_path / "etc/pinfold/pinfold.toml"
    ask = [BUILD / "src/archive_service/pinfold-archive", "--root", tmp_path, "--print-expiry"]
    file.write_text(configuration(site.server, "localhost") + f'certificate = "{certificate}"\nkey = "{key}"\n')
    printed = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    end = subprocess.run(["openssl", "x509", "-in", certificate, "-noout", "-enddate"], capture_output=True, text=True, check=True).stdout
    assert int(printed) == ssl.cert_time_to_seconds(end.removeprefix("notAfter=").strip())
    file.write_text(configuration(site.server, "localhost") + f'certificate = "{key}"\n')
    failed = subprocess.run(ask, capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (1, "") and "is not a certificate in the format PEM" in failed.stderr



# The database --------------------------------------------------------------------------------------------------------------------


def test_the_database_is_down_and_comes_back(service, site):
    assert len(service.receipts({})) == len(ALL)
    site.server.stop()
    try:
        times = []
        for _ in range(3):
            begun = time.monotonic()
            error = service.error({}, ALICE)
            times.append(time.monotonic() - begun)
            assert error["code"] == "Unreachable" and str(site.server.directory) in error["message"], error
            assert "check that PostgreSQL runs" in error["message"]
        assert sorted(times)[1] < 3, f"the machine was perhaps busy during one of the answers, but not during two: {times}"
    finally:
        site.server.start()
    deadline = time.monotonic() + 30
    while "error" in (last := service.ask({})[1]):
        assert time.monotonic() < deadline, last
    assert len(service.receipts({})) == len(ALL)
    log = (service.directory / "log").read_text()
    assert log.count("is not reachable") == 1, "the service repeats itself in the journal"


def test_a_database_that_does_not_answer(service, site):
    """If the server vanishes from the network, its connections to the service stay open."""
    assert len(service.receipts({})) == len(ALL)
    backends = site.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'pinfold-archive'").split()
    stopped = [site.server.process.pid, *map(int, backends)]

    def longest_wait():
        waiting = [(service.send({}, uid), time.monotonic()) for uid in (ALICE, BOB, AUDITOR) for _ in range(5)]
        times = []
        for connection, begun in waiting:
            receipts, last = answer(connection)
            assert receipts == [] and last["error"]["code"] == "Unreachable", last
            assert "did not answer in time" in last["error"]["message"]
            times.append(time.monotonic() - begun)
            connection.close()
        return max(times)

    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        # The users ask again after a slow answer, because the machine was perhaps busy.
        assert any(longest_wait() < 4 for _ in range(3))
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("text, what", [
    ("", "names no server"),
    ("[archive]\nserver = 7\n", "pinfold.toml:2:"),
])
def test_a_configuration_without_an_archive(start, text, what):
    service = start(text)
    service.end()  # the service exits after a second without a request, so the request comes first
    with service.send({}, ALICE) as connection:
        service.start()
        receipts, last = answer(connection)
    assert receipts == [] and last["error"]["code"] == "Unreachable" and what in last["error"]["message"]
    assert service.process.wait(20) == 0, "the next question must find the corrected configuration"
