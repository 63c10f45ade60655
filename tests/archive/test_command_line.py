# SPDX-License-Identifier: LGPL-2.1-or-later
"""On a login node, `pinfold` asks the archive. The answer contains only what the user of `pinfold` may see."""

import json

import pytest

from archive_service import ALICE, AUDITOR, BOB, configuration, job, starter
from conftest import Archive
from postgres_server import LOGIN_HOST


@pytest.fixture(scope="module")
def site(server):
    made = Archive(server)
    made.make()
    made.put([job(1, "node1", ALICE, 9, key="slurm.1"), job(2, "node1", BOB, 8, key="slurm.2", exit_status=3)])
    made.put([job(1, "node2", ALICE, 7, key="sge.7")], node="node2")
    return made


@pytest.fixture
def login(site):
    with starter() as start:
        yield start(configuration(site.server) + "ask = true\n")


def keys(output):
    return [receipt["key"] for receipt in json.loads(output)["receipts"]]


def test_history_lists_the_receipts_of_all_nodes(login):
    assert keys(login.pinfold("history", "--json", uid=ALICE)) == ["sge.7", "slurm.1"]
    assert keys(login.pinfold("history", "--json", uid=BOB)) == ["slurm.2"]
    assert keys(login.pinfold("history", "--json", uid=AUDITOR)) == ["sge.7", "slurm.2", "slurm.1"]
    assert keys(login.pinfold("history", "--json", "--failed", uid=AUDITOR)) == ["slurm.2"]
    assert keys(login.pinfold("history", "--json", "--user", "bob", uid=ALICE)) == []


def test_why_explains_a_job_of_another_node(login):
    assert "node2" in login.pinfold("why", "sge.7", uid=ALICE)
    assert "sge.7" in login.pinfold("why", "7", uid=ALICE), "the id without the batch system"
    message = login.pinfold("why", "slurm.2", uid=ALICE, status=4)
    assert "slurm.2" in message and "archive" in message
    assert login.pinfold("why", "slurm.3", uid=ALICE, status=4) == message.replace("slurm.2", "slurm.3"), "it tells that the job exists"


def test_report_shows_the_jobs_of_the_user(login):
    page = login.pinfold("report", uid=ALICE)
    assert "sge.7" in page and "slurm.1" in page and "slurm.2" not in page
    assert "sge.7" in login.pinfold("report", "sge.7", uid=ALICE)


def test_sequences_belong_to_one_node(login):
    assert "ask pinfoldd on the node itself" in login.pinfold("history", "--after", "1", uid=ALICE, status=2)


def test_an_archive_that_is_down_is_an_error(login, site):
    site.server.stop()
    try:
        for words in (["history"], ["why", "sge.7"], ["why", "7"], ["report"], ["report", "sge.7"]):
            message = login.pinfold(*words, uid=ALICE, status=6)
            assert "the archive of receipts is not reachable" in message and "check that PostgreSQL runs" in message, message
        message = login.pinfold("report", "--site", status=6)
        assert "the archive of receipts is not reachable" in message and "check that PostgreSQL runs" in message, message
    finally:
        site.server.start()


def test_the_certificate_of_the_login_node_has_expired(site):
    """The command tells the user what is wrong, and the journal tells the administrator."""
    certificate, key = site.server.authority.issue(LOGIN_HOST, file="login-expired", days=-1)
    files = f'certificate = "{certificate}"\nkey = "{key}"\nca = "{site.server.authority.certificate}"\n'
    with starter() as start:
        login = start(configuration(site.server, "localhost") + files + "ask = true\n")
        for words in (["history"], ["why", "sge.7"], ["report"]):
            message = login.pinfold(*words, uid=ALICE, status=6)
            assert f"the certificate '{certificate}' has expired" in message and "get a new certificate from your site's CA" in message, message
        assert f"the certificate '{certificate}' has expired" in login.pinfold("report", "--site", status=6)
        journal = (login.directory / "log").read_text().splitlines()
        assert len(journal) == 1 and journal[0].startswith("<3>") and f"the certificate '{certificate}' has expired" in journal[0], journal


def test_a_service_that_is_down_is_an_error(login):
    login.stop()
    message = login.pinfold("history", uid=ALICE, status=6)
    assert "systemctl status pinfold-archive.socket" in message


def test_a_configuration_that_cannot_be_read(login):
    file = login.directory / "etc/pinfold/pinfold.toml"
    file.chmod(0o600)
    assert "archive.ask" in login.pinfold("history", uid=ALICE, status=1)
    # A host without the socket of the archive's service is not a login node. On a host that is not a login node, `pinfold history` asks pinfoldd for
    # the receipts.
    login.path.unlink()
    assert "pinfoldd is not reachable" in login.pinfold("history", uid=ALICE, status=6)


def test_a_receipt_of_a_newer_version_hides_no_other(login, site):
    site.put([job(2, "node2", ALICE, 6, key="sge.8", result="vanished")], node="node2")
    done = login.run_pinfold("history", "--json", uid=ALICE)
    assert keys(done.stdout) == ["sge.7", "slurm.1"]
    assert "the output lacks 1 receipt of the archive" in done.stderr
