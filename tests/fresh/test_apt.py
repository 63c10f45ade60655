# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the package pinfold with apt, and then purges the package. Before the installation, the Debian system contains only systemd and the bus.
The boxes of the other suites contain many more packages, so the tests there do not notice a missing dependency."""

import json
import os
import subprocess
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[2] / "tools/lib"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Returns the directory with the files that tests/fresh/install has written."""
    build = os.environ["PINFOLD_BUILD"]
    packages = output(LIB / "packages", build)
    tree = output(LIB / "image", "bare", *map(str, Path(packages).glob("pinfold_*.deb")))
    directory = tmp_path_factory.mktemp("results")
    done = subprocess.run([LIB / "boot", "container", build, directory, "/payload/tests/fresh/install"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, "PINFOLD_TREE": tree, "PINFOLD_PACKAGES": packages}, check=False)
    assert done.returncode == 0, done.stdout
    return directory


@pytest.fixture
def seen(results):
    return lambda when, what: set((results / f"{when}.{what}").read_text().splitlines())


def test_pinfoldd_runs(results):
    assert (results / "active").read_text().split() == ["active", "active"]


def test_a_job_runs_and_gets_a_receipt(results):
    assert (results / "job").read_text() == "3\n"
    receipts = json.loads((results / "history.json").read_text())["receipts"]
    assert [(receipt["result"], receipt["exit_status"]) for receipt in receipts if receipt["key"] == "fresh.1"] == [("exited", 3)]


def test_doctor_finds_nothing_wrong_but_what_the_box_lacks(results):
    findings = json.loads((results / "doctor.json").read_text())["findings"]
    failed = [finding["id"] for finding in findings if finding["state"] == "fail" and not finding["id"].startswith("cgroup.")]
    assert findings and failed == []


def test_the_manual_pages_and_the_documents_are_there(seen):
    new = seen("installed", "files") - seen("before", "files")
    assert {"/usr/share/man/man1/pinfold.1.gz", "/usr/share/man/man8/pinfoldd.8.gz", "/usr/share/doc/pinfold/copyright"} <= new


def test_a_purge_leaves_nothing_but_what_the_page_says(seen):
    assert any("pinfold" in file for file in seen("installed", "files"))
    left = seen("purged", "files") - seen("before", "files")
    assert sorted(file for file in left if "pinfold" in file or "/batch" in file) == []
    assert seen("purged", "units") - seen("before", "units") == set()
    assert seen("purged", "users") == seen("before", "users")
    assert seen("purged", "groups") - seen("before", "groups") == {"pinfold-admin", "pinfold-audit"}
