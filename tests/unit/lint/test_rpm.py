# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that rpm/pinfold.spec agrees with the sources and with debian/."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
SPEC = (TOP / "rpm/pinfold.spec").read_text()
# Maps the name of a Debian package to the name of the rpm package, if the two names differ.
OF_DEB = {"libpam-pinfold": "pam_pinfold"}


def field(name):
    return re.search(rf"^{name}: +(\S+)$", SPEC, re.M)[1]


def test_the_spec_has_the_version_of_the_debian_packages():
    version = f"{field('Version')}-{field('Release').removesuffix('%{?dist}')}"
    assert (TOP / "debian/changelog").read_text().startswith(f"pinfold ({version})")
    assert re.search(r"^%changelog\n\* .* - (\S+)$", SPEC, re.M)[1] == version


def test_the_spec_has_the_packages_of_debian():
    debian = re.findall(r"^Package: (\S+)$", (TOP / "debian/control").read_text(), re.M)
    packages = [name if other else f"pinfold-{name}" for other, name in re.findall(r"^%package (-n )?(\S+)$", SPEC, re.M)]
    assert sorted(["pinfold", *packages]) == sorted(OF_DEB.get(name, name) for name in debian)


def test_the_spec_needs_the_libraries_that_meson_looks_for():
    asked = {}
    for file in (TOP / "meson.build", *(TOP / "src").rglob("meson.build")):
        for name, rest in re.findall(r"(?<!declare_)dependency\('([^']+)'([^)]*)", file.read_text()):
            least = re.search(r"'>=([\d.]+)'", rest)
            asked[name] = least[1] if least else ""
    needed = dict(re.findall(r"^BuildRequires: +pkgconfig\((\S+)\)(?: >= (\S+))?$", SPEC, re.M))
    assert len(asked) > 5 and needed == asked


def test_the_spec_needs_the_meson_that_the_sources_need():
    least = re.search(r"meson_version: '>=([\d.]+)'", (TOP / "meson.build").read_text())[1]
    assert f"\nBuildRequires:  meson >= {least}\n" in SPEC
