# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the packages of a release. Two builds in different places must make the same files, and lintian must find no fault."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PINFOLD_BUILD", TOP / "build"))


def build(directory, **environment):
    subprocess.run([TOP / "tools/lib/make-debs", directory], env={**os.environ, **environment}, check=True, timeout=7200)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.glob("*.deb")}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Returns the directory with the packages, and the checksum of each package."""
    directory = tmp_path_factory.mktemp("packages")
    return directory, build(directory)


def test_lintian_finds_nothing(packages):
    done = subprocess.run(["lintian", "--allow-root", "--fail-on=error,warning", "--no-tag-display-limit", *packages[0].glob("*.deb")],
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_packages_are_the_same_when_they_are_built_in_another_directory(packages, tmp_path):
    other = tmp_path / "another-name-of-the-directory"
    assert len(packages[1]) > 7
    # With ccache, the second build would only copy the objects of the first build.
    assert build(other, CCACHE_DISABLE="1") == packages[1]


def code_of(packages, directory):
    """Returns a checksum of the machine code of each program and library in the packages."""
    for package in packages.glob("*.deb"):
        subprocess.run(["dpkg-deb", "--extract", package, directory], check=True, timeout=60)
    found = {}
    for file in sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()):
        if file.read_bytes()[:4] == b"\x7fELF" and "debug" not in file.parts:
            section = directory / "section"
            subprocess.run(["objcopy", "--output-target=binary", "--only-section=.text", file, section], check=True, timeout=60)
            found[str(file.relative_to(directory))] = hashlib.sha256(section.read_bytes()).hexdigest()
    return found


def test_the_other_suites_test_the_code_that_is_released(packages, tmp_path):
    """The other suites install packages that tools/lib/packages makes from the build in BUILD. The build in BUILD has no debug information."""
    tested = subprocess.run([TOP / "tools/lib/packages", BUILD], capture_output=True, text=True, check=True, timeout=600).stdout.strip()
    released = code_of(packages[0], tmp_path / "released")
    assert "usr/libexec/pinfoldd" in released
    assert code_of(Path(tested), tmp_path / "tested") == released
