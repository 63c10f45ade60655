# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs and removes the rpm packages that come with the box. A build on Debian has made the rpm packages from the contents of the Debian
packages."""

from pathlib import Path

from jobs import run

DIRECTORY = Path("/payload/packages/rpm")
SPEC = Path("/payload/rpm/pinfold.spec")
MACROS = Path("/payload/rpm/debian.macros")
# OF_DEB maps the names of the Debian packages to the names of the rpm packages.
OF_DEB = {"pinfold": "pinfold", "libpam-pinfold": "pam_pinfold", "pinfold-grid-engine": "pinfold-grid-engine", "pinfold-slurm": "pinfold-slurm",
          "pinfold-torque": "pinfold-torque", "pinfold-openpbs": "pinfold-openpbs",
          "pinfold-archive": "pinfold-archive", "pinfold-ship": "pinfold-ship", "pinfold-doc": "pinfold-doc"}
NAMES = tuple(OF_DEB.values())


def package(name):
    return next(path for path in DIRECTORY.glob(f"{name}-[0-9]*.rpm") if not path.name.endswith(".src.rpm"))


def query(name, *what):
    return run("rpm", "--query", "--package", *what, package(name)).stdout


def rpm(*arguments, **how):
    return run("rpm", "--dbpath", "/var/tmp/rpms", *arguments, **how)


def install(*names):
    """If a package is already installed, rpm runs the same scripts as in an upgrade. --nodeps is needed because rpm does not know which packages
    dpkg has installed."""
    return rpm("--upgrade", "--force", "--nodeps", *(package(name) for name in names))


def installed():
    return {name for name in rpm("--query", "--all", "--queryformat", "%{NAME}\n").stdout.split() if name in NAMES}


def remove(*names, **how):
    return rpm("--erase", *names, **how)


def remove_all():
    if installed():
        remove(*installed())
