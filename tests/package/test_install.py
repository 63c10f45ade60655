# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a node on which only the package pinfold is installed."""

import gzip
import hashlib
from pathlib import Path

import debs
import pytest

from jobs import receipts, run

STARTED = "c0f8792efdfb4120b4e909c76b3b9dc5"  # the message id of a job's start


def etc():
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in Path("/etc").rglob("*") if path.is_file()}


@pytest.fixture(scope="module", autouse=True)
def before():
    """Installs the package, and returns what /etc contained before the installation."""
    debs.purge()
    was = etc()
    debs.install("pinfold")
    return was


def test_pinfoldd_runs_and_will_run_after_a_boot():
    units = ["pinfoldd.service", "pinfoldd.socket"]
    assert run("systemctl", "is-active", *units).stdout.split() == ["active", "active"]
    assert run("systemctl", "is-enabled", *units).stdout.split() == ["enabled", "enabled"]


def test_the_group_is_made_and_the_bus_reads_its_policy_before_pinfoldd_starts():
    script = Path("/var/lib/dpkg/info/pinfold.postinst").read_text()
    steps = [script.index(step) for step in ("systemd-sysusers pinfold.conf", "ReloadConfig", "deb-systemd-invoke")]
    assert steps == sorted(steps)


def test_what_is_optional_is_off():
    timers = ["pinfold-doctor.timer", "pinfold-strays.timer", "pinfold-strays-files.timer"]
    assert run("systemctl", "is-active", *timers, check=False).stdout.split() == ["inactive"] * 3
    assert run("systemctl", "is-enabled", *timers, check=False).stdout.split() == ["disabled"] * 3


def test_a_job_of_root_runs():
    run("pinfold", "run", "--job", "fresh.1", "--", "true")
    assert [(receipt["result"], receipt["exit_status"]) for receipt in receipts("fresh.1")] == [("exited", 0)]


def test_pinfold_and_pinfoldd_have_the_version_of_the_package():
    version = debs.field("pinfold", "Version").partition("-")[0]
    assert run("pinfold", "version").stdout.count(version) == 2


def test_the_journal_has_the_texts():
    assert "Defined-By: pinfold" in run("journalctl", "--dump-catalog", STARTED).stdout


def test_the_manuals_are_there():
    pages = {Path(path).name for path in debs.contents("pinfold") if path.startswith("/usr/share/man/")}
    assert pages == {"pinfold.1.gz", "pinfold-run.1.gz", "pinfold.toml.5.gz", "pinfold-json.5.gz", "org.pinfold1.5.gz", "pinfoldd.8.gz"}
    assert b"pinfoldd" in gzip.decompress(Path("/usr/share/man/man8/pinfoldd.8.gz").read_bytes())


def test_the_configuration_sets_nothing():
    text = Path("/etc/pinfold/pinfold.toml").read_text()
    assert "#kill_grace" in text
    assert [line for line in text.splitlines() if line and not line.startswith(("#", "["))] == []
    run("pinfold", "check-config")


def test_no_file_of_another_package_is_changed(before):
    now = etc()
    changed = {path for path in {*before, *now} if before.get(path) != now.get(path)}
    own = {path for path in changed if path.startswith("/etc/pinfold/") or Path(path).name in ("pinfoldd.service", "pinfoldd.socket")}
    assert changed - own <= {"/etc/group", "/etc/group-", "/etc/gshadow", "/etc/gshadow-"}


def test_dpkg_finds_every_file_as_it_was_packaged():
    assert debs.dpkg("--verify", "pinfold").stdout == ""
