# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that tools/test adds up the results of all test runners."""

import subprocess
from pathlib import Path

JUNIT = Path(__file__).resolve().parents[3] / "tools/lib/junit"
REPORT = """<testsuites><testsuite name="s">
<testcase classname="a" name="good"/><testcase classname="a" name="bad"><failure message="1 is not 2"/></testcase>
<testcase name="broken"><error>it burns
and more</error></testcase><testcase name="not here"><skipped message="no such need"/></testcase>
<testcase name="skipped, then failed"><skipped/><failure/></testcase>
</testsuite></testsuites>"""


def junit(*args):
    done = subprocess.run([JUNIT, *args], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_counts_and_names(tmp_path):
    report = tmp_path / "r.xml"
    report.write_text(REPORT)
    assert junit("count", report) == "1 3 1\n"
    assert junit("count", report, report) == "2 6 2\n"
    assert junit("list", "failed", report) == "failed: a.bad: 1 is not 2\nfailed: broken: it burns\nfailed: skipped, then failed\n"
    assert junit("list", "skipped", report) == "skipped: not here: no such need\n"
    assert junit("count") == "0 0 0\n"


def test_notes_count(tmp_path):
    junit("note", tmp_path / "vm", "skipped", "vm", "no qemu")
    junit("note", tmp_path / "bus", "failed", "bus", "ended <early> & badly")
    files = [tmp_path / "vm/note-vm.xml", tmp_path / "bus/note-bus.xml"]
    assert junit("count", *files) == "0 1 1\n"
    assert junit("list", "failed", *files) == "failed: bus: ended <early> & badly\n"
