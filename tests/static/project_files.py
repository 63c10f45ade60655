# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of the project, without those that a build or a test has made. It asks no git, since the sources may come as a tarball."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FOLDERS = (".ci", "dbus", "debian", "docs", "src", "tests", "tools", "units")


def every_file():
    """In the order of their names, as text files: all that the project has are."""
    below = [path for folder in FOLDERS for path in (TOP / folder).rglob("*")]
    return sorted(path for path in [*TOP.iterdir(), *below] if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts and path.name != ".git")


def with_suffix(*suffixes):
    return [path for path in every_file() if path.suffix in suffixes]


def name(path):
    """As pytest shows the file."""
    return str(path.relative_to(TOP))
