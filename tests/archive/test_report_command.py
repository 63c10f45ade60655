# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold report --site` on a login node. The service answers with one table for each query. The service answers only users who may
see all receipts."""

import shutil

import pytest

from archive_service import ALICE, AUDITOR, BOB, DAY, NOW, configuration, job, starter
from conftest import Archive
from postgres_server import TOP

QUERIES = TOP / "src/archive/sql/report"
EVIL = "<script>alert(1)</script>"
RECEIPTS = [
    job(1, "node1", ALICE, 60, key="slurm.1", user="alice", account=EVIL, leftovers=2),
    job(2, "node1", BOB, 50, key="slurm.2", user="bob", exit_status=3),
    job(3, "node1", ALICE, 10 * 24 * 60, key="slurm.3", user="alice"),
]


@pytest.fixture(scope="module")
def site(server):
    made = Archive(server)
    made.make()
    made.put(RECEIPTS, node="node1")
    made.put([job(1, "node2", ALICE, 59, key="slurm.1", user="alice", account=EVIL)], node="node2")
    return made


@pytest.fixture
def service(site):
    with starter() as start:
        running = start(configuration(site.server) + "ask = true\n")
        shutil.copytree(QUERIES, running.directory / "usr/share/pinfold/archive/report")
        yield running


def request(since, until=NOW + DAY):
    return f'{{"report": {{"since": {since}, "until": {until}}}}}\n'.encode()


def tables(service, since):
    lines, last = service.ask(request(since), AUDITOR)
    assert last == {"end": True}
    return {line["table"]: line for line in lines}


def test_the_answer_has_one_table_for_each_query(service):
    found = tables(service, NOW - 7 * DAY)
    assert sorted(found) == sorted(file.stem for file in QUERIES.glob("*.sql"))
    causes = found["end_causes"]
    assert causes["columns"] == ["cause", "jobs", "all_rows", "all_jobs"]
    assert causes["rows"] == [["exited with another status", "1", "2", "2"], ["exited with status 0", "1", "2", "2"]]
    assert found["totals"]["rows"][0][:4] == ["2", "3", "2", "2"], "a job on two nodes counts once"
    assert tables(service, NOW - 30 * DAY)["totals"]["rows"][0][:4] == ["3", "4", "2", "2"]


def test_only_those_who_see_all_receipts_get_a_report(service):
    error = service.error(request(NOW - DAY), ALICE)
    assert error["code"] == "Denied" and "pinfold-audit" in error["message"]
    assert service.pinfold("report", "--site", uid=ALICE, status=5).startswith("pinfold: the site report has figures of all users")
    assert service.keys({}, ALICE) == ["slurm.1", "slurm.1", "slurm.3"], "the user still sees the user's own receipts"


def test_the_command_writes_the_page(service):
    page = service.pinfold("report", "--site", uid=AUDITOR)
    assert page.startswith("<!DOCTYPE html>") and "<h1>Site report</h1>" in page
    assert "<td>exited with status 0</td><td class=\"n\">1</td>" in page and "<td>alice</td>" in page
    assert EVIL not in page and "&lt;script&gt;alert(1)" in page
    assert "The archive has all receipts that the nodes have." in page
    assert "slurm.3" not in page and "<td>bob</td>" in service.pinfold("report", "--site", "-S", "-30d", "-E", "now")


def test_a_lack_of_the_queries_or_a_wrong_query_is_an_error_of_the_service(service):
    directory = service.directory / "usr/share/pinfold/archive/report"
    (directory / "zz.sql").write_text("SELECT $1::timestamptz, $2::timestamptz, 1 / 0 AS nothing")
    lines, last = service.ask(request(NOW - DAY), AUDITOR)
    assert last["error"]["code"] == "Internal" and "division by zero" in last["error"]["message"]
    shutil.rmtree(directory)
    error = service.error(request(NOW - DAY), AUDITOR)
    assert error["code"] == "Internal" and "install the package pinfold-archive again" in error["message"]
    assert service.keys({}, BOB) == ["slurm.2"]


def test_a_request_after_a_report_has_the_time_limit_of_a_request(service, site):
    """The service raises the time limit of its connection to the server only for a query of the report."""
    directory = service.directory / "usr/share/pinfold/archive/report"
    (directory / "zz.sql").write_text("SELECT $1::timestamptz, $2::timestamptz, current_setting('statement_timeout') AS time_limit")
    assert tables(service, NOW - DAY)["zz"]["rows"][0][2] == "2min"
    limits = site.rows("SELECT query FROM pg_stat_activity WHERE application_name = 'pinfold-archive' AND query LIKE '%statement_timeout%'")
    assert limits and all("10s" in row["query"] for row in limits)
