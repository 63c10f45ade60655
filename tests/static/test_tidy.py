# SPDX-License-Identifier: LGPL-2.1-or-later
"""clang-tidy finds nothing in the sources that a change touches. It takes some five seconds for a source, and two or three times as long with
its analyzer. So this looks at a few sources without the analyzer. Which ones depends on the change, so that all have their turn in time.

PINFOLD_TIDY_BASE: the revision with which the change begins; default: the first parent of HEAD, which is the last landing. "none": the change
is everything, and all sources are looked at. PINFOLD_TIDY_MOST: at most this many sources; "all" for no limit, and with the analyzer."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from project_files import TOP, name

BUILD = Path(os.environ.get("PINFOLD_BUILD", TOP / "build"))
BASE = os.environ.get("PINFOLD_TIDY_BASE", "HEAD^")
MOST = os.environ.get("PINFOLD_TIDY_MOST", "2")
CHECKS = [] if MOST == "all" else ["--checks=-clang-analyzer-*"]


def git(*arguments):
    """The lines that git prints; none where it has no repository, or no such revision."""
    done = subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=TOP, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def sources():
    """All that the build compiles from src; it must have been set up."""
    database = BUILD / "compile_commands.json"
    commands = json.loads(database.read_text()) if database.exists() else []
    files = {(Path(command["directory"]) / command["file"]).resolve() for command in commands}
    return sorted(file for file in files if file.is_relative_to(TOP / "src"))


def touched(every):
    """The sources that the change has touched, or whose header it has. A change without any, or one that git does not know, stands for all."""
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
    done = subprocess.run(["clang-tidy", "--quiet", *CHECKS, "-p", BUILD, source], cwd=TOP, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout
