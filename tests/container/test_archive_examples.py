# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the examples in docs/examples/archive under a real systemd, with a real logrotate and Debian's PostgreSQL server."""

import gzip
import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from jobs import receipts, run, wait_for_journal, wait_until

EXAMPLES = Path("/payload/docs/examples/archive")
UNITS = Path("/etc/systemd/system")
LOGS = Path("/var/log/pinfold-receipts")


def install(*names):
    for name in names:
        shutil.copy(EXAMPLES / name, UNITS)
    run("systemctl", "daemon-reload")


def psql(sql):
    return run("runuser", "-u", "postgres", "--", "psql", "-XAtq", "-d", "pinfold", "-c", sql).stdout.strip()


@pytest.fixture(scope="module")
def archive():
    run("systemctl", "start", "postgresql")
    run("runuser", "-u", "postgres", "--", "pinfold", "archive", "init")
    yield
    # The server runs in a unit postgresql@…, which stops only after postgresql.service has stopped. `systemctl stop` waits only for the units that it
    # names, so the fixture names both units.
    run("systemctl", "stop", "postgresql.service", "postgresql@*.service")


def add_receipt(ended):
    """Adds a receipt by SQL, and returns the name of the partition that contains the receipt."""
    psql(f"SELECT pinfold.make_partition('{ended}')")
    psql("INSERT INTO pinfold.receipt (node, epoch, sequence, id, key, uid, started, ended, result, outcome, body) "
         f"VALUES ('node1', 'e', 1, '{ended}', 'sge.1', 0, '{ended}', '{ended}', 'exited', 'succeeded', '{{}}')")
    return psql(f"SELECT tableoid::regclass FROM pinfold.receipt WHERE id = '{ended}'")


def test_the_timer_prunes_the_archive_after_a_night_without_the_server(archive):
    old, new = add_receipt("2020-01-08"), add_receipt(time.strftime("%Y-%m-%d", time.gmtime()))
    assert old == "pinfold.receipt_2020w02" and new != old
    install("pinfold-archive-prune.service", "pinfold-archive-prune.timer")
    timer = "pinfold-archive-prune.timer"
    # The stamp file says that the timer last elapsed two days ago, so the timer has missed the run of one night. The test switches off the timer's
    # random delay, because only a site with many servers needs the delay.
    stamp = Path("/var/lib/systemd/timers") / f"stamp-{timer}"
    stamp.parent.mkdir(parents=True, exist_ok=True)
    run("touch", "-d", "2 days ago", stamp)
    dropin = UNITS / f"{timer}.d" / "now.conf"
    dropin.parent.mkdir()
    dropin.write_text("[Timer]\nRandomizedDelaySec=0\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "enable", "--now", timer)
    try:
        wait_until(lambda: psql(f"SELECT to_regclass('{old}') IS NULL") == "t", "the old partition is gone", 60)
        wait_until(lambda: run("systemctl", "show", "--property=ActiveState", "--value", "pinfold-archive-prune").stdout == "inactive\n", "the end")
        assert psql("SELECT tableoid::regclass FROM pinfold.receipt") == new
        assert run("systemctl", "show", "--property=Result", "--value", "pinfold-archive-prune").stdout == "success\n"
        wait_for_journal("1 receipt removed", "-u", "pinfold-archive-prune", "-o", "cat")
        assert " 03:30:00 " in run("systemctl", "show", "--property=NextElapseUSecRealtime", "--value", timer).stdout, "the next night"
    finally:
        run("systemctl", "disable", "--now", timer)


@pytest.fixture
def collector():
    """Sets up the node as the section "A site without PostgreSQL" of docs/archive.md says."""
    run("useradd", "--system", "--groups", "pinfold-audit", "pinfold-receipts")
    run("systemctl", "reload", "pinfoldd")
    shutil.copy(EXAMPLES / "pinfold-receipts", "/usr/local/lib")
    shutil.copy(EXAMPLES / "pinfold-receipts.logrotate", "/etc/logrotate.d/pinfold-receipts")
    install("pinfold-receipts.service")
    run("systemctl", "enable", "--now", "pinfold-receipts")
    yield
    run("systemctl", "disable", "--now", "pinfold-receipts")


def sequences(found):
    return [receipt["sequence"] for receipt in found if receipt["key"].startswith("lines.")]


def written():
    """Returns the sequence numbers of this test's jobs. The function reads all files, beginning with the oldest file. Each line that ends with a
    line break must be a whole receipt."""
    files = sorted(LOGS.glob("receipts.jsonl*"), key=lambda file: -int((file.name.split(".") + ["0"])[2]))
    texts = [gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text() for file in files]
    return sequences(json.loads(line) for text in texts for line in text.split("\n")[:-1])


# Runs at least 100 jobs, and runs further jobs until the file $0 exists.
JOBS = "i=0; until [ $i -ge 100 ] && [ -e $0 ]; do i=$((i + 1)); pinfold-run --job lines.$i -- true || exit 1; done"


def test_receipts_are_lines_of_json_and_logrotate_loses_none(collector, tmp_path):
    expected = lambda: sorted(sequences(receipts()))
    enough = tmp_path / "enough"
    run("pinfold-run", "--job", "lines.first", "--", "true")
    wait_until(lambda: LOGS.exists() and written() == expected(), "the first receipt", 60)
    jobs = subprocess.Popen(["sh", "-c", JOBS, enough])
    for number in (1, 2, 3):
        seen = len(expected())
        wait_until(lambda seen=seen: len(expected()) >= seen + 10, "jobs that end while logrotate begins a new file", 60)
        main = run("systemctl", "show", "--property=MainPID", "--value", "pinfold-receipts").stdout
        run("logrotate", "--force", "/etc/logrotate.conf")
        assert run("systemctl", "show", "--property=MainPID", "--value", "pinfold-receipts").stdout not in (main, "0\n"), "logrotate has restarted it"
        assert (LOGS / f"receipts.jsonl.{number}{'.gz' if number > 1 else ''}").exists()
    enough.touch()
    assert jobs.wait(300) == 0
    wait_until(lambda: written() == expected(), "each receipt in the files once, in the order of the history", 60)
    assert len(written()) > 100
    assert LOGS.stat().st_mode & 0o777 == 0o750 and (LOGS / "receipts.jsonl.1").owner() == "pinfold-receipts"
