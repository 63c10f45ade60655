# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the packages of a release: two builds in different places make the same files, and lintian finds no fault in the packages."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


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
