# SPDX-License-Identifier: LGPL-2.1-or-later
"""The profile of a job says what the job used over time. The archive gets the profile together with the job's receipt. Every user who may
see the receipt may also see the profile."""

import json
import struct
from datetime import datetime, timedelta, timezone

import pytest
from schemas import expect_document

from archive_service import ALICE, AUDITOR, BOB, configuration, job, starter
from conftest import LONG_AGO, Archive, receipt, usec

NOW = datetime.now(timezone.utc)
POINTS = 4
MEASURES = 7


def profile(code):
    """Returns a profile of four points. Each point covers ten seconds. In each point, every measure has the encoded value `code`
    (src/model/profile.cpp)."""
    pair = struct.pack("<I", code | code << 12)[:3]
    return struct.pack("<BBI", 1, POINTS, 0) + struct.pack("<I", 10_000) * POINTS + pair * (POINTS * MEASURES)


FIRST, SECOND = profile(0x780), profile(0x640)


def stored(archive):
    return {row["id"]: bytes.fromhex(row["hex"]) for row in archive.rows("SELECT id, encode(body, 'hex') AS hex FROM pinfold.profile")}


# A node sends profiles ------------------------------------------------------------------------------------------------------------


def test_a_profile_that_comes_twice_is_stored_once(archive):
    receipts = [receipt(1), receipt(2), receipt(3)]
    for _ in range(2):
        assert archive.put(receipts, profiles={1: FIRST, 3: SECOND}) == 3
    assert stored(archive) == {"node1-1": FIRST, "node1-3": SECOND}
    assert archive.count() == 3


def test_an_amended_receipt_keeps_its_profile(archive):
    late = receipt(1, exit_status=None)
    archive.put([late], profiles={1: FIRST})
    late["exit_status"] = 3
    archive.put([late])
    archive.put([late], profiles={1: SECOND})
    assert archive.rows("SELECT exit_status FROM pinfold.receipt") == [{"exit_status": 3}]
    assert stored(archive) == {"node1-1": FIRST}


def test_a_profile_may_come_later_than_its_receipt(archive):
    archive.put([receipt(1)])
    assert stored(archive) == {}
    archive.put([receipt(1)], profiles={1: FIRST})
    assert stored(archive) == {"node1-1": FIRST}


def test_a_lot_with_a_profile_that_is_too_large_is_refused(archive):
    assert "this is not a lot" in archive.refused([receipt(1)], profiles={1: b"x" * 4097})
    assert archive.count() == archive.count("profile") == 0
    assert archive.put([receipt(1)], profiles={1: b"x" * 4096}) == 1


@pytest.mark.parametrize("profiles", ["'{}'", "ARRAY[NULL]::bytea[]", "ARRAY['', '']::bytea[]", "NULL"])
def test_each_receipt_has_one_entry_for_its_profile(archive, profiles):
    text = json.dumps(receipt(1)).replace("'", "''")
    error = archive.error(f"SELECT * FROM pinfold.put('node1', 'boot', 'e', 1, 1, 1, now(), ARRAY['{text}'], {profiles})", node="node1")
    assert "22023" in error and "this is not a lot" in error
    assert archive.count() == 0


def test_a_receipt_that_is_rejected_leaves_no_profile(archive):
    archive.put([receipt(1), receipt(2, job_name="a\\u0000b".encode().decode("unicode_escape")), receipt(3)],
                profiles={1: FIRST, 2: FIRST, 3: SECOND})
    assert archive.count("rejected") == 1
    assert stored(archive) == {"node1-1": FIRST, "node1-3": SECOND}


def test_profiles_move_and_go_with_their_receipts(archive):
    old = NOW - timedelta(days=100)
    part = old.strftime("profile_%Gw%V")
    later = NOW + timedelta(days=100)
    assert archive.count(part) == 0
    ends = [old, NOW, LONG_AGO, later]
    archive.put([receipt(n + 1, ended=usec(end)) for n, end in enumerate(ends)], profiles={n + 1: FIRST for n in range(4)})
    assert archive.count(part) == 1 and archive.count("profile_default") == 2
    archive.sql(f"SELECT pinfold.make_partition('{later.isoformat()}')")
    assert archive.count("profile_default") == archive.count(later.strftime("profile_%Gw%V")) == 1
    archive.sql("UPDATE pinfold.receipt SET received = now() - interval '99 days' WHERE sequence = 3")
    assert archive.sql("SELECT pinfold.prune('90 days')") == "2"
    assert sorted(stored(archive)) == ["node1-2", "node1-4"]
    assert archive.sql(f"SELECT to_regclass('pinfold.{part}') IS NULL") == "t"
    archive.make()


# A user asks for them -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", name="site")
def filled_site(server):
    made = Archive(server)
    made.make()
    of_node1 = [job(1, "node1", ALICE, 9, key="slurm.1"), job(2, "node1", BOB, 8, key="slurm.2", profile="00"),
                job(3, "node1", ALICE, 7, key="slurm.3", user="alice", exit_status=3), job(4, "node1", ALICE, 6, key="slurm.4"),
                job(5, "node1", ALICE, 5, key="slurm.5", profile="01")]
    made.put(of_node1, profiles={1: FIRST, 2: FIRST, 3: FIRST, 4: b"\x01\xff no profile"})
    made.put([job(1, "node2", ALICE, 7, key="slurm.3", user="alice"), job(2, "node2", ALICE, 6, key="slurm.4")], node="node2",
             profiles={1: SECOND, 2: SECOND})
    return made


@pytest.fixture(name="login")
def login_node(site):
    with starter() as start:
        yield start(configuration(site.server) + "ask = true\n")


def test_a_profile_is_visible_to_those_to_whom_its_receipt_is(login):
    def profiles(wanted, uid):
        return {(found["key"], found["host"]): found["profile"] for found in login.receipts({**wanted, "profiles": True}, uid)}
    assert profiles({"key": "slurm.2"}, ALICE) == {}
    assert profiles({"all_hosts_of": "slurm.2"}, ALICE) == {}
    assert profiles({"all_hosts_of": "slurm.2"}, BOB) == profiles({"key": "slurm.2"}, AUDITOR) == {("slurm.2", "node1"): FIRST.hex()}
    assert profiles({"all_hosts_of": "slurm.3"}, ALICE) == {("slurm.3", "node1"): FIRST.hex(), ("slurm.3", "node2"): SECOND.hex()}
    assert profiles({"key": "slurm.5"}, ALICE) == {("slurm.5", "node1"): None}, "what the node wrote into its receipt does not count"
    assert "profile" not in login.receipts({"key": "slurm.1"}, ALICE)[0]


def test_plot_draws_a_job_of_another_node(login):
    charts = login.pinfold("plot", "slurm.1", uid=ALICE)
    assert "memory" in charts and "█" in charts and "Host" not in charts
    found = json.loads(login.pinfold("plot", "--json", "slurm.1", uid=ALICE))
    expect_document(found, "plot")
    assert found["job"] == "slurm.1" and found["lengths"] == [10_000_000] * POINTS and len(set(found["cpu"]["mean"])) == 1
    missing = login.pinfold("plot", "slurm.2", uid=ALICE, status=4)
    assert "slurm.2" in missing and login.pinfold("plot", "slurm.9", uid=ALICE, status=4) == missing.replace("slurm.2", "slurm.9")
    assert "█" in login.pinfold("plot", "slurm.2", uid=AUDITOR)


def test_plot_draws_each_host_of_a_job(login):
    charts = login.pinfold("plot", "slurm.3", uid=ALICE)
    assert charts.index("Host node1, from ") < charts.index("Host node2, from ")
    found = json.loads(login.pinfold("plot", "--json", "slurm.3", uid=ALICE))
    expect_document(found, "plot-hosts")
    assert [host["host"] for host in found["hosts"]] == ["node1", "node2"]
    assert found["hosts"][0]["anon"]["max"] > found["hosts"][1]["anon"]["max"] > [0] * POINTS


def test_a_job_without_a_profile_has_no_charts(login):
    assert login.pinfold("plot", "slurm.5", uid=ALICE).startswith("pinfoldd has not looked at job slurm.5")


def test_a_damaged_profile_is_an_error_and_hides_no_other_host(login):
    done = login.run_pinfold("plot", "slurm.4", uid=ALICE)
    assert done.returncode == 1 and "node1: the profile cannot be read" in done.stderr, done.stderr
    assert "Host node2" in done.stdout and "Host node1" not in done.stdout


def test_why_and_report_have_the_use_over_time(login):
    assert "█" in login.pinfold("why", "slurm.1", uid=ALICE)
    assert "<svg" in login.pinfold("report", "slurm.1", uid=ALICE)
    assert "<svg" in login.pinfold("report", "slurm.3", uid=ALICE), "of the host that ended the job"
    assert "<svg" not in login.pinfold("report", "slurm.5", uid=ALICE)


def properties(text):
    return dict(line.split("=", 1) for line in text.splitlines())


def test_show_has_the_properties_of_a_receipt(login):
    """If the job is over, `pinfold show` exits with status 3, like `pinfold status`."""
    done = login.run_pinfold("show", "slurm.1", uid=ALICE)
    assert done.returncode == 3 and done.stderr == ""
    found = properties(done.stdout)
    assert (found["key"], found["host"], found["uid"], found["exit_status"]) == ("slurm.1", "node1", str(ALICE), "0")
    assert login.run_pinfold("show", "slurm.1", "-p", "host,state", "--value", uid=ALICE).stdout == "node1\n\n"
    shown, why = (json.loads(login.run_pinfold(verb, "--json", "slurm.1", uid=ALICE).stdout) for verb in ("show", "why"))
    assert shown == why
    expect_document(why, "why")
    assert "slurm.2" in login.pinfold("show", "slurm.2", uid=ALICE, status=4)


def test_show_has_each_host_of_a_job(login):
    hosts = login.run_pinfold("show", "slurm.3", uid=ALICE).stdout.split("\n\n")
    assert [(properties(text)["host"], properties(text)["exit_status"]) for text in hosts] == [("node1", "3"), ("node2", "0")]
    shown, why = (json.loads(login.run_pinfold(verb, "--json", "slurm.3", uid=ALICE).stdout) for verb in ("show", "why"))
    assert shown == why and len(shown["receipts"]) == 2
    expect_document(why, "why")


def test_an_archive_that_is_down_is_an_error(login, site):
    site.server.stop()
    try:
        for verb in ("plot", "show"):
            assert "the archive of receipts is not reachable" in login.pinfold(verb, "slurm.1", uid=ALICE, status=6)
    finally:
        site.server.start()
