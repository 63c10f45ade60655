# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service finds the newest run of a job, and the receipts of this run from all hosts."""

import pytest

from archive_service import ALICE, AUDITOR, BOB, DAY, MINUTE, NOW, configuration, job, starter


@pytest.fixture(name="start")
def service_starter():
    with starter() as start:
        yield start


def test_the_newest_run_of_a_job_on_all_hosts(start, archive):
    old = {"key": "sge.9", "run": 0, "ended": NOW - 40 * DAY}
    archive.put([job(1, "node1", ALICE, 0, **old), job(2, "node1", ALICE, 60, key="sge.9", run=0), job(3, "node1", ALICE, 9, key="sge.9", run=1),
              job(4, "node1", ALICE, 9, key="manual.1"), job(5, "node1", ALICE, 9, key="sge.9", run=1, cluster="other", ended=NOW - 20 * MINUTE)])
    # The clocks of hosts differ. On one host, a job may begin later or end earlier than on another host.
    archive.put([job(1, "node2", ALICE, 0, **old), job(2, "node2", ALICE, 30, key="sge.9", run=1), job(3, "node2", ALICE, 8, key="manual.1"),
              job(4, "node2", BOB, 8, key="sge.9", run=1)], node="node2")
    # node3 went down during the first run of the job sge.9. node3 came back long after the second run of this job.
    archive.put([job(1, "node3", ALICE, 1, key="sge.9", run=0, result="node-lost", started=NOW - 60 * MINUTE)], node="node3")
    service = start(configuration(archive.server))

    def hosts(wanted, uid):
        return [(found["host"], found["run"]) for found in service.receipts({"all_hosts_of": wanted}, uid)]
    assert hosts("sge.9", ALICE) == [("node1", 1), ("node2", 1)]
    assert hosts("sge.9", AUDITOR) == [("node2", 1)], "the newest job with this key is Bob's"
    assert hosts("manual.1", ALICE) == [("node2", 0)], "node1 has given the key to another job"
    assert hosts("sge.10", ALICE) == []
    # Grid Engine reuses the numbers of jobs. If a receipt is 40 days older than another receipt with the same number, the two receipts describe
    # different jobs.
    archive.sql("DELETE FROM pinfold.receipt WHERE run = 1")
    assert hosts("sge.9", ALICE) == [("node3", 0), ("node1", 0)]
    archive.sql("DELETE FROM pinfold.receipt WHERE ended > now() - interval '10 days'")
    assert hosts("sge.9", ALICE) == [("node2", 0), ("node1", 0)]


def test_an_archive_without_tables(start, archive):
    archive.sql("DROP TABLE pinfold.receipt")
    error = start(configuration(archive.server)).error({})
    assert error["code"] == "Internal" and "pinfold.receipt" in error["message"]
