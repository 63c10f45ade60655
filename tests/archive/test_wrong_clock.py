# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clock of a node is wrong by a day. The archive keeps the receipts, users find them on a login node, and pinfold says that the clock is wrong."""

import json
import subprocess
import time
from datetime import datetime, timezone

import pytest

from archive_service import configuration, starter
from conftest import BEGAN, BUILD
from ship_node import NODE, new_node, wait_until

DAY = 86_400
MINUTES = 15 * 60  # longer than the tests of this directory take


def login_node(archive, start):
    return start(configuration(archive.server) + "ask = true\n")


def moment(seconds_from_now):
    return datetime.fromtimestamp(time.time() + seconds_from_now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def keys(login, *words):
    return [receipt["key"] for receipt in json.loads(login.pinfold("history", "--json", *words))["receipts"]]


@pytest.mark.parametrize("seconds", [DAY, -DAY])
def test_the_clock_of_a_node_is_wrong_by_a_day(archive, seconds):
    """pinfoldd and pinfold-ship read the wrong clock. OpenSSL calls time(2), which is right here, because the certificates of the tests are so young
    that they are not valid yet for a clock that is behind."""
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
            assert times[key] == pytest.approx((BEGAN + off * 1_000_000,) * 2, abs=MINUTES * 1_000_000), key

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
