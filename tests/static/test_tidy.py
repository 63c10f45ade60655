# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that clang-tidy reports no problem in the sources that a change touches. clang-tidy needs about five seconds for a source. With its analyzer,
clang-tidy needs 10 to 15 seconds for a source. To save time, the test checks only a few sources, without the analyzer. Because each change touches
different sources, the test sooner or later checks all sources.

The test compares the sources with the revision PINFOLD_TIDY_BASE. By default, PINFOLD_TIDY_BASE is the first parent of HEAD. If PINFOLD_TIDY_BASE is
"none", the test treats all sources as changed. PINFOLD_TIDY_MOST is the highest number of sources that the test checks. If PINFOLD_TIDY_MOST is
"all", the test checks all sources, and runs the analyzer."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from project_files import TOP, name, with_suffix

BUILD = Path(os.environ.get("PINFOLD_BUILD", TOP / "build"))
BASE = os.environ.get("PINFOLD_TIDY_BASE", "HEAD^")
MOST = os.environ.get("PINFOLD_TIDY_MOST", "2")
CHECKS = [] if MOST == "all" else ["--checks=-clang-analyzer-*"]


def git(*arguments):
    """Returns the lines that git prints, or no lines if git fails."""
    done = subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def sources():
    """Returns all sources below src. The compiler reads several sources as one source (see tools/lib/build), so the build's database does not name
    each source. For a source without an entry, clang-tidy uses the flags of the source with the most similar path."""
    return sorted(file for file in with_suffix(".cpp") if file.is_relative_to(TOP / "src"))


def touched(every):
    """Returns the sources that the change has touched, and the sources for which the change has touched the header of the same name. Returns all
    sources if the change has touched no source and no header, or if git does not know the change."""
    changed = [] if BASE == "none" else [TOP / line for line in git("diff", "--name-only", BASE, "--", "src")]
    return [source for source in every if source in changed or source.with_suffix(".hpp") in changed] or every


def chosen():
    def order(source):
        return hashlib.sha256(f"{revision} {name(source)}".encode()).digest()
    revision = "".join(git("rev-parse", "HEAD"))
    found = sorted(touched(sources()), key=order)
    return found if MOST == "all" else found[:int(MOST)]


@pytest.mark.parametrize("source", [pytest.param(source, id=name(source)) for source in chosen()])
def test_tidy(source):
    command = ["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option", *CHECKS, "-p", BUILD, source]  # the build has flags for g++
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout
