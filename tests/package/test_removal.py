# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which files and units remain after the packages are removed."""

import grp
import os
import pwd
import subprocess
from pathlib import Path

import debs
import pytest

from jobs import expect_nothing_left, finish, live_jobs, receipts, run, start_job, units, wait_until

# ELSEWHERE has three kinds of directories: directories outside of the installed system, directories of dpkg, and directories with logs.
ELSEWHERE = ("/dev", "/payload", "/proc", "/results", "/sys", "/tmp", "/var/cache", "/var/lib/dpkg", "/var/log", "/var/tmp")
# systemd itself makes files for boots, units and journals in the directories of TRANSIENT.
TRANSIENT = ("/run/systemd", "/run/udev", "/run/log")

# The files of OF_THE_BOX are in each box before a test installs packages, and no package contains the files.
OF_THE_BOX = ("/etc/pinfold-disposable", "/usr/libexec/pinfold-tests")


def files():
    found = set()
    for directory, below, names in os.walk("/"):
        below[:] = [name for name in below if not os.path.join(directory, name).startswith((*ELSEWHERE, *TRANSIENT))]
        found |= {os.path.join(directory, name) for name in [*below, *names]}
    return found


def known_units():
    listed = run("systemctl", "list-unit-files", "--no-legend", "--plain").stdout + run("systemctl", "list-units", "--all", "--no-legend", "--plain").stdout
    return {line.split()[0] for line in listed.splitlines() if "pinfold" in line or line.startswith("batch")}


def accounts():
    return {entry.pw_name for entry in pwd.getpwall()}, {entry.gr_name for entry in grp.getgrall()}


def ours(names):
    """Returns the elements of `names` that contain "pinfold", but leaves out the files of the box. A comparison with a list from before the test
    would miss what earlier tests have installed."""
    return {name for name in names if "pinfold" in name and not name.startswith(OF_THE_BOX)}


def run_a_job(key):
    assert finish(start_job(key, "true"))[0] == 0
    assert len(receipts(key)) == 1
    expect_nothing_left()


def test_a_removal_tells_of_live_jobs_and_leaves_them_alone():
    debs.purge()
    debs.install("pinfold")
    jobs = [start_job(f"remove.{number}", "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE) for number in range(2)]
    wait_until(lambda: [job["state"] for job in live_jobs().values()] == ["running"] * 2, "the jobs run")
    before = units()
    assert before
    removed = debs.dpkg("--remove", "pinfold")
    assert "Live jobs on this node: 2." in removed.stderr
    assert "systemctl list-units 'batch-*.slice' 'job-*.scope'" in removed.stderr
    assert units() == before and [job.poll() for job in jobs] == [None, None]
    debs.install("pinfold")
    assert [finish(job)[0] for job in jobs] == [3, 3]
    assert [receipt["exit_status"] for number in range(2) for receipt in receipts(f"remove.{number}")] == [3, 3]
    expect_nothing_left()


def test_a_removal_without_live_jobs_keeps_the_receipts_and_the_configuration():
    debs.purge()
    debs.install("pinfold")
    run_a_job("keep.1")
    own = Path("/etc/pinfold/pinfold.toml.d/site.toml")
    own.write_text('[jobs]\nkill_grace = "2s"\n')
    removed = debs.dpkg("--remove", "pinfold")
    assert "Live jobs" not in removed.stderr
    assert not Path("/run/pinfold").exists()
    assert not Path("/usr/libexec/pinfoldd").exists()
    debs.install("pinfold")
    assert own.exists() and len(receipts("keep.1")) == 1
    run_a_job("keep.2")


@pytest.mark.parametrize("versions", [[debs.deb], [debs.older, debs.deb]], ids=["after-an-installation", "after-an-upgrade"])
def test_a_purge_leaves_nothing_but_what_the_page_says(versions):
    debs.purge()
    was_files, was_units, (was_users, was_groups) = files(), known_units(), accounts()
    for version in versions:
        debs.install(*debs.names(version), of=version)
    run("systemctl", "enable", "--now", "pinfold-strays.timer")
    run("systemctl", "start", "pinfold-strays.service")
    run_a_job("purge.1")
    debs.purge()
    assert debs.installed() == {}
    left = files()
    assert sorted((left - was_files) | ours(left)) == []
    users, groups = accounts()
    kept = {"pinfold-ship", "pinfold-archive"}
    assert (ours(users), ours(groups)) == (kept, kept | {"pinfold-admin", "pinfold-audit"})
    assert (users - was_users - kept, groups - was_groups - ours(groups)) == (set(), set())
    # The slices stay loaded until the next boot, without a unit file and without a process.
    assert known_units() - was_units - {"batch.slice", "pinfold.slice"} == set()
    assert "pinfold" not in run("systemctl", "list-sockets", "--all", "--no-legend").stdout


def test_all_packages_can_be_installed_again_after_a_purge():
    debs.purge()
    debs.install(*debs.NAMES)
    run_a_job("again.1")
    debs.dpkg("--remove", *debs.NAMES)
    debs.install(*debs.NAMES)
    run_a_job("again.2")
    debs.purge()
    assert debs.installed() == {}
