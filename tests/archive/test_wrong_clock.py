# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clock of a node is wrong by a day. The archive keeps the node's receipts, and users find the receipts on a login node. pinfold says that the
clock is wrong."""

import json
import subprocess
import time
from datetime import datetime, timezone

import pytest

from archive_service import ALICE, BOB, configuration, starter
from conftest import BEGAN, BUILD, receipt, usec
from ship_node import NODE, new_node, wait_until

DAY = 86_400
MINUTES = 15 * 60  # each test takes less time than MINUTES


def login_node(archive, start):
    return start(configuration(archive.server) + "ask = true\n")


def moment(seconds_from_now):
    return datetime.fromtimestamp(time.time() + seconds_from_now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def keys(login, *words):
    return [receipt["key"] for receipt in json.loads(login.pinfold("history", "--json", *words))["receipts"]]


@pytest.mark.parametrize("seconds", [DAY, -DAY])
def test_the_clock_of_a_node_is_wrong_by_a_day(archive, seconds):
    """pinfoldd and pinfold-ship read a clock that is wrong by a day. OpenSSL calls time(2), and the test lets time(2) return the right time. If
    OpenSSL read a clock that is a day behind, OpenSSL would reject the tests' new certificates as not yet valid."""
    begun = usec(datetime.now(timezone.utc))
    wrong = {"LD_PRELOAD": str(BUILD / "tests/wrongclock.so"), "WRONGCLOCK_SECONDS": str(seconds)}
    with new_node(archive) as node, starter() as start:
        node.run_job()
        node.world.stop_daemon()
        node.world.environment.update(wrong)
        node.world.daemon = node.world.start_daemon()
        node.run_jobs(2)
        node.start()
        node.arrives()

        times = {row["key"]: (row["started"], row["ended"]) for row in archive.rows(
            "SELECT key, (extract(epoch FROM started) * 1000000)::bigint AS started, (extract(epoch FROM ended) * 1000000)::bigint AS ended "
            "FROM pinfold.receipt")}
        for key, off in (("sge.1", 0), ("sge.2", seconds), ("sge.3", seconds)):
            assert times[key] == pytest.approx((begun + off * 1_000_000,) * 2, abs=MINUTES * 1_000_000), key

        login = login_node(archive, start)
        assert keys(login) == (["sge.3", "sge.2", "sge.1"] if seconds > 0 else ["sge.1", "sge.3", "sge.2"])
        assert keys(login, "--since", moment(seconds - MINUTES), "--until", moment(seconds + MINUTES)) == ["sge.3", "sge.2"]
        assert keys(login, "--since", moment(-MINUTES), "--until", moment(MINUTES)) == ["sge.1"]
        for key in ("sge.1", "sge.2", "sge.3"):
            assert NODE in login.pinfold("why", key) and key in login.pinfold("report", key)

        wait_until(lambda: "pinfold_ship_clock_offset_seconds" in node.figures(), "the difference of the clocks")
        assert node.figures()["pinfold_ship_clock_offset_seconds"] == pytest.approx(seconds, abs=20)
        status = subprocess.run([BUILD / "src/archive/archive-admin", "archive", "status", "--json", f"--host={archive.server.directory}",
                                 f"--port={archive.server.port}"], capture_output=True, text=True, timeout=60, check=True)
        assert json.loads(status.stdout)["nodes"][0]["clock_off"] == pytest.approx(seconds * 1_000_000, abs=20_000_000)


FROM_1970 = {"sge.1": 0, "sge.2": 1, "sge.3": usec(datetime(1970, 1, 5, tzinfo=timezone.utc))}
NOW_AND_BEFORE = {"sge.4": BEGAN - 3600_000_000, "sge.5": BEGAN}
FUTURE = {"sge.6": BEGAN + 366 * DAY * 1_000_000, "sge.7": usec(datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc)),
          "sge.8": 2**63, "sge.9": 2**64 - 1}


@pytest.fixture(name="odd")
def login_with_odd_receipts(archive):
    """Alice has jobs that ended in 1970 and jobs that ended recently. In the receipts of Alice's other jobs, the end is in the far future. Bob has
    one job, which ended recently."""
    ends = {**FROM_1970, **NOW_AND_BEFORE, **FUTURE}
    archive.put([receipt(sequence, key=key, uid=ALICE, started=max(ended - 60_000_000, 0), ended=ended)
                 for sequence, (key, ended) in enumerate(ends.items(), 1)])
    archive.put([receipt(1, "node2", key="slurm.1", uid=BOB, started=BEGAN - 60_000_000)], node="node2")
    with starter() as start:
        yield login_node(archive, start)


def of(login, *words, uid=ALICE):
    return [found["key"] for found in json.loads(login.pinfold("history", "--json", *words, uid=uid))["receipts"]]


@pytest.mark.parametrize("key", [*FROM_1970, *NOW_AND_BEFORE, *FUTURE])
def test_a_user_finds_each_receipt_by_its_key(odd, key):
    for command in ("why", "report"):
        page = odd.pinfold(command, key, uid=ALICE)
        assert key in page and "node1" in page, command
    assert of(odd, "--job", key) == [key]


@pytest.mark.parametrize("options, found", [
    (["--until", "1970-02-01"], FROM_1970),
    (["--since", "1970-01-05T00:00:00Z", "--until", "1970-01-05T00:00:01Z"], ["sge.3"]),
    (["--until", moment(MINUTES)], [*FROM_1970, *NOW_AND_BEFORE]),
    (["--since", moment(-2 * 3600), "--until", moment(MINUTES)], NOW_AND_BEFORE),
    (["--since", moment(MINUTES)], FUTURE),
    (["--since", "9999-12-31T00:00:00Z"], ["sge.7", "sge.8", "sge.9"]),
])
def test_a_user_finds_receipts_by_their_time(odd, options, found):
    assert of(odd, *options) == [*reversed(found)]
    page = odd.pinfold("report", *options, uid=ALICE)
    assert {key for key in [*FROM_1970, *NOW_AND_BEFORE, *FUTURE, "slurm.1"] if f"{key}<" in page} == set(found)


def test_receipts_from_the_future_hide_only_receipts_of_the_same_user(odd):
    """A list of the newest receipts begins with the receipts whose end is in the future (docs/archive.md). The option `--until now` leaves out all
    receipts whose end is in the future. A list with only N receipts shows the first N receipts of the whole list."""
    everything = [*reversed([*FROM_1970, *NOW_AND_BEFORE, *FUTURE])]
    assert of(odd) == everything
    for number in range(1, len(everything) + 1):
        assert of(odd, "-n", str(number)) == everything[:number]
    assert of(odd, "-n", "2", "--until", moment(MINUTES)) == ["sge.5", "sge.4"]
    assert of(odd, "-n", "2", uid=BOB) == ["slurm.1"]


def test_pages_of_receipts_from_the_future_are_complete(archive):
    """If the end time in a receipt is after the year 9999, the archive stores the last day of the year 9999 as the end time. The service reads at
    most 200 receipts at once."""
    archive.put([receipt(sequence, uid=ALICE, ended=2**64 - sequence) for sequence in range(1, 601)])
    with starter() as start:
        assert sorted(of(login_node(archive, start), "-n", "1000"), key=lambda key: int(key[4:])) == [f"sge.{n}" for n in range(1, 601)]
