# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the C++ sources have the format that .clang-format describes."""

import re
import subprocess

import pytest

from project_files import TOP, name, with_suffix

SOURCES = with_suffix(".cpp", ".hpp")


@pytest.fixture(scope="module")
def wrong():
    """Runs clang-format on all files in one call. Returns, for each file, the numbers of the lines with a wrong format."""
    done = subprocess.run(["clang-format", "--dry-run", *SOURCES], cwd=TOP, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = {}
    for file, line in re.findall(r"^(\S+?):(\d+):\d+: \w+: code should be clang-formatted", done.stderr, re.M):
        lines.setdefault(file, set()).add(int(line))
    return lines


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_format(source, wrong):
    assert sorted(wrong.get(str(source), ())) == [], f"these lines are not formatted: clang-format -i {name(source)}"
