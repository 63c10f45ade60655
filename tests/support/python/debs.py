# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds, installs and removes pinfold's Debian packages."""

import contextlib
import functools
import os
import re
from pathlib import Path

from jobs import run

DIRECTORY = Path("/payload/packages")
OLDER_DIRECTORY = Path("/var/tmp/older")
DPKG_OPTIONS = Path("/etc/dpkg/dpkg.cfg.d")
NAMES = ("pinfold", "libpam-pinfold", "pinfold-grid-engine", "pinfold-slurm", "pinfold-torque", "pinfold-openpbs", "pinfold-archive",
         "pinfold-ship", "pinfold-doc")
OLDER = "0.0.9-1"
EARLIER_DIRECTORY = DIRECTORY / "earlier"  # the packages of an earlier revision, if PINFOLD_EARLIER was set


def deb(name, directory=DIRECTORY):
    return next(directory.glob(f"{name}_*.deb"))


def names(of=deb):
    """Returns the packages of a version. If the current revision has a new package, an earlier revision does not have the package."""
    return [name for name in NAMES if of is deb or not EARLIER_DIRECTORY.exists() or list(EARLIER_DIRECTORY.glob(f"{name}_*.deb"))]


def field(name, which):
    return run("dpkg-deb", "--field", deb(name), which).stdout.strip()


@functools.cache
def older(name):
    """Makes the package `name` with the version OLDER. The configuration file in the older package has an additional line. If the packages
    of an earlier revision exist, older() changes the package of this revision. Without an earlier revision, older() changes the package of the
    current revision."""
    tree = OLDER_DIRECTORY / f"{name}_{OLDER}"
    tree.parent.mkdir(exist_ok=True)
    run("dpkg-deb", "--raw-extract", deb(name, EARLIER_DIRECTORY if EARLIER_DIRECTORY.exists() else DIRECTORY), tree)
    control = tree / "DEBIAN/control"
    version = re.search("^Version: (.*)", control.read_text(), re.M)[1]
    control.write_text(control.read_text().replace(version, OLDER))
    configuration = tree / "etc/pinfold/pinfold.toml"
    if configuration.exists():
        configuration.write_text(configuration.read_text() + f"# version {OLDER}\n")
    run("dpkg-deb", "--build", "-Znone", tree)
    return tree.with_name(f"{tree.name}.deb")


def dpkg(*arguments, **how):
    return run("dpkg", *arguments, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, **how)


def install(*names, of=deb):
    return dpkg("--install", *(of(name) for name in names))


@contextlib.contextmanager
def unpacked(*names):
    """Unpacks packages, as dpkg does in the first half of an upgrade. When the `with` block ends, dpkg configures the
    packages, and restarts pinfoldd."""
    dpkg("--unpack", *(deb(name) for name in names))
    try:
        yield
    finally:
        dpkg("--configure", "--pending")


def installed():
    """Returns a dictionary that maps each installed package to its version."""
    lines = run("dpkg-query", "--show", "--showformat=${Package} ${Version} ${db:Status-Status}\n").stdout.splitlines()
    return {name: version for name, version, status in map(str.split, lines) if name in NAMES and status == "installed"}


def purge():
    known = run("dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n").stdout.splitlines()
    ours = [name for name, status in map(str.split, known) if name in NAMES and status != "not-installed"]
    if ours:
        dpkg("--purge", *ours)


def contents(name):
    """Returns all files of an installed package, without directories. In the packages, /lib is a directory, but on hosts with a merged /usr, /lib is
    a link."""
    paths = set(run("dpkg", "--listfiles", name).stdout.splitlines()) - {"/.", "/lib"}
    return {path for path in paths if os.path.islink(path) or not os.path.isdir(path)}
