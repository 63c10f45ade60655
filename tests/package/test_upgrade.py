# SPDX-License-Identifier: LGPL-2.1-or-later
"""From one version of the packages to another, while jobs run."""

import itertools
import subprocess
from concurrent.futures import ThreadPoolExecutor

import debs
import pytest

from jobs import daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, receipts, run, start_job, wait_until

PACKAGES = ("pinfold", "libpam-pinfold", "pinfold-slurm")


def start(key):
    """A job that ends with status 3 when its standard input ends; finish() lets it end."""
    return start_job(key, "sh", "-c", "read line; exit 3", stdin=subprocess.PIPE)


def running(keys):
    wait_until(lambda: {key for key, job in live_jobs().items() if job["state"] == "running"} >= set(keys), "the jobs run")


@pytest.fixture
def older():
    debs.purge()
    debs.install(*PACKAGES, of=debs.older)
    assert debs.installed() == dict.fromkeys(PACKAGES, debs.OLDER)


def test_no_job_is_lost_by_an_upgrade(older):
    former = main_pid()
    live = {f"upgrade.{number}": start(f"upgrade.{number}") for number in range(50)}
    running(live)
    ended = {}
    ending = iter(live)
    with ThreadPoolExecutor(1) as executor:
        upgrade = executor.submit(debs.install, *PACKAGES)
        for number in itertools.count():
            if upgrade.done():
                break
            key = next(ending, None)
            if key:
                ended[key] = finish(live[key])[0]
            short = f"upgrade.short.{number}"
            ended[short] = finish(start(short))[0]
        upgrade.result()
    assert number > 1, "no job has started and ended meanwhile"
    daemon_ready(other_than=former)
    assert set(debs.installed()) == set(PACKAGES) and debs.OLDER not in debs.installed().values()
    ended |= {key: finish(process)[0] for key, process in live.items() if key not in ended}
    assert ended == dict.fromkeys(ended, 3)
    found = {key: [(receipt["result"], receipt["exit_status"]) for receipt in receipts(key)] for key in ended}
    assert found == dict.fromkeys(ended, [("exited", 3)])
    expect_nothing_left()


def test_the_socket_stays_open_during_an_upgrade(older):
    opened = run("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "pinfoldd.socket").stdout
    debs.install(*PACKAGES)
    assert run("systemctl", "show", "-P", "ActiveEnterTimestampMonotonic", "pinfoldd.socket").stdout == opened


def test_a_site_that_stopped_pinfoldd_for_good_keeps_it_so(older):
    run("systemctl", "disable", "--now", "pinfoldd.socket", "pinfoldd.service")
    debs.install(*PACKAGES)
    units = ["pinfoldd.service", "pinfoldd.socket"]
    assert run("systemctl", "is-active", *units, check=False).stdout.split() == ["inactive", "inactive"]
    assert run("systemctl", "is-enabled", *units, check=False).stdout.split() == ["disabled", "disabled"]


def test_the_way_back_to_a_version_with_the_same_formats(older):
    debs.install(*PACKAGES)
    job = start("back.1")
    running(["back.1"])
    former = main_pid()
    debs.install(*PACKAGES, of=debs.older)
    daemon_ready(other_than=former)
    assert finish(job)[0] == 3
    assert [receipt["exit_status"] for receipt in receipts("back.1")] == [3]
