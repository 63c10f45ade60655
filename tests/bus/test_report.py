# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which jobs `pinfold report` and `pinfold why` describe, and where `pinfold report` writes."""

import os
import stat

import pytest

from conftest import wait_until
from test_several_jobs import pinfold, printed

MIB = 1 << 20


def look(world, job, anon):
    """Makes the job use `anon` bytes of memory, and waits until pinfoldd has looked at the job."""
    def looks():
        return len(world.manager().GetProfile(str(job["key"]))["lengths"])
    before = looks()
    cgroup = world.root / "sys/fs/cgroup/batch.slice" / job["slice"]
    (cgroup / "memory.stat").write_text(f"anon {anon}\nfile {anon}\nshmem 0\n")
    (cgroup / "memory.current").write_text(f"{2 * anon}\n")
    wait_until(lambda: looks() > before, "a look at the job")


def look_twice(world, key):
    [live] = [live for live in world.manager().ListJobs() if live["key"] == key]
    for _ in range(2):
        look(world, live, 64 * MIB)


@pytest.fixture
def job(world):
    """Returns the key of a job that is over."""
    leader = world.process()
    world.create("sge.17", leader)
    look_twice(world, "sge.17")
    world.end("sge.17", leader)
    return "sge.17"


def test_the_curves_of_a_live_job_are_not_in_the_report_on_its_earlier_run(world, job):
    whole = pinfold(world, "report", job).stdout
    assert "<svg" in whole and "<h1>Job sge.17</h1>" in whole
    world.create(job, world.process())
    look_twice(world, job)
    assert printed(pinfold(world, "report", job)) == (0, whole, ""), "the page has the curves of the earlier run"


def test_show_prints_the_receipt_of_a_job_that_is_over(world, job):
    status, lines, error = printed(pinfold(world, "show", job))
    assert (status, error) == (3, "")
    found = dict(line.split("=", 1) for line in lines.splitlines())
    receipt = world.manager().GetReceipt(job)
    assert (found["key"], found["id"], found["result"], found["wall"]) == (job, receipt["id"], receipt["result"], str(receipt["wall"]))
    assert printed(pinfold(world, "show", job, "-p", "state,result", "--value")) == (3, f"\n{receipt['result']}\n", "")
    world.create(job, world.process())
    assert printed(pinfold(world, "show", job, "-p", "state,result")) == (0, "state=running\nresult=\n", "")
    status, lines, error = printed(pinfold(world, "show", "sge.18"))
    assert (status, lines) == (4, "") and "sge.18" in error and "pinfold list" in error


def test_a_job_is_named_by_its_id_or_its_unit(world, job):
    whole = pinfold(world, "report", job).stdout
    assert pinfold(world, "report", "17").stdout == whole
    assert pinfold(world, "report", "batch-sge.17.slice").stdout == whole
    status, _, error = printed(pinfold(world, "report", "18"))
    assert status == 4 and "18" in error


@pytest.mark.parametrize("kind", ["device", "link", "directory"])
def test_a_report_replaces_nothing_but_a_regular_file(world, job, tmp_path, kind):
    """If root writes a report to /dev/null, pinfold must not replace the device by a file."""
    file, other = tmp_path / "there", tmp_path / "other"
    other.write_text("other\n")
    if kind == "device":
        os.mknod(file, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    elif kind == "link":
        file.symlink_to(other)
    else:
        file.mkdir()
    before = os.lstat(file)
    status, out, error = printed(pinfold(world, "report", "-o", str(file), job))
    assert (status, out) == (2, "") and f"{file} is not a regular file" in error
    assert os.lstat(file).st_mode == before.st_mode and os.lstat(file).st_ino == before.st_ino
    assert other.read_text() == "other\n"


def test_a_report_replaces_a_file_and_only_its_owner_may_read_it(world, job, tmp_path):
    file = tmp_path / "report.html"
    file.write_text("older\n")
    assert printed(pinfold(world, "report", "-o", str(file), job)) == (0, "", "")
    assert "<h1>Job sge.17</h1>" in file.read_text() and stat.S_IMODE(os.stat(file).st_mode) == 0o600


def test_a_report_has_only_jobs_that_ended_before_a_time(world, job):
    assert job in pinfold(world, "report", "-E", "now").stdout
    status, page, _ = printed(pinfold(world, "report", "-E", "-1h"))
    assert status == 0 and "<h1>0 jobs</h1>" in page


@pytest.mark.parametrize("others", [["sge.17"], ["-u", "root"], ["-S", "-1h", "-E", "-2h"]])
def test_a_site_report_refuses_options_that_do_not_fit(world, others):
    status, out, error = printed(pinfold(world, "report", "--site", *others))
    assert (status, out) == (2, "") and ("--site" in error or "--since" in error)
