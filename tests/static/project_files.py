# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the files of the project, but not the files that a build or a test has made. The functions search the directories and do not ask git, because
the sources can come as a tarball."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FOLDERS = (".ci", "dbus", "debian", "docs", "src", "tests", "tools", "units")


def every_file():
    """Returns all files, in the order of their names. All files must be text files."""
    below = [path for folder in FOLDERS for path in (TOP / folder).rglob("*")]
    return sorted(path for path in [*TOP.iterdir(), *below] if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts and path.name != ".git")


def with_suffix(*suffixes):
    return [path for path in every_file() if path.suffix in suffixes]


def name(path):
    """Returns the file's path relative to the top directory. pytest shows the relative path in the names of tests."""
    return str(path.relative_to(TOP))
