# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the files in debian/ agree with the sources."""

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]


def test_the_packages_have_the_version_of_the_sources():
    version = re.search(r"^  version: '([\d.]+)'", (TOP / "meson.build").read_text(), re.M)[1]
    assert (TOP / "debian/changelog").read_text().startswith(f"pinfold ({version}-")


def test_each_report_of_lintian_that_is_overridden_has_a_reason():
    files = sorted((TOP / "debian").glob("*lintian-overrides"))
    assert files
    for file in files:
        lines = file.read_text().splitlines()
        overridden = [number for number, line in enumerate(lines) if not line.startswith("#")]
        assert overridden and [lines[number] for number in overridden if number == 0 or not lines[number - 1].startswith("# ")] == [], file.name


@pytest.mark.parametrize("release, systemd", [("bookworm", "systemd"), ("trixie", "systemd-dev")])
def test_what_is_needed_to_build_comes_from_the_list_of_the_packages(release, systemd):
    listed = subprocess.run([TOP / "tools/lib/install-deps", "--list", "build"], env={"PATH": "/usr/bin:/bin", "PINFOLD_RELEASE": release},
                            capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert {"build-essential", "debhelper", "meson", "libsdbus-c++-dev", systemd} <= set(listed)
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", (TOP / "debian/control").read_text(), re.M)[1]
    assert len(listed) == 1 + field.count("\n")
