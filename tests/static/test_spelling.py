# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that codespell finds no wrong word in the files. words.txt has the words that codespell calls wrong although they are right in this
project."""

import re
import subprocess

import pytest

from project_files import TOP, every_file, name

HERE = TOP / "tests/static"
# The test does not check words.txt and the corpora. Fuzzers and random mutations have changed some files of the corpora.
FILES = [path for path in every_file() if "corpus" not in path.parts and path != HERE / "words.txt"]


@pytest.fixture(scope="module")
def found():
    """Runs codespell on all files in one call, and returns the wrong words of each file."""
    done = subprocess.run(["codespell", "--ignore-words", HERE / "words.txt", *FILES], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 65), done.stderr
    words = {}
    for line in done.stdout.splitlines():
        file, rest = re.match(r"(.*?):(\d+: .*)", line).groups()
        words.setdefault(file, []).append(rest)
    return words


@pytest.mark.parametrize("file", FILES, ids=name)
def test_spelling(file, found):
    assert found.get(str(file), []) == []
