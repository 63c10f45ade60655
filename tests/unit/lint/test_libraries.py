# SPDX-License-Identifier: LGPL-2.1-or-later
"""A batch system, sshd or the wrapper starts some programs for each job or login. Each shared library takes time at each start of a program. The
tests check the shared libraries of the programs that run for each job or login. If the build compiles several sources as one source, a program can
load shared libraries that the program does not need (see src/os/meson.build)."""

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("PINFOLD_BUILD", Path(__file__).resolve().parents[3] / "build"))
BASIC = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
STARTED_OFTEN = {
    "src/adapters/grid_engine/grid-engine-shepherd": set(),
    "src/adapters/slurm/pinfold_spank.so": set(),
    "src/adapters/slurm/slurm-epilogue": set(),
    "src/adapters/torque/torque-epilogue": {"libsystemd.so.0"},
    "src/adapters/torque/torque-job-starter": set(),
    "src/adapters/torque/torque-prologue": set(),
    "src/pam/pam_pinfold.so": {"libpam.so.0"},
    "src/run/pinfold-run": set(),
}


@pytest.mark.parametrize("program", STARTED_OFTEN)
def test_libraries(program):
    dynamic = subprocess.run(["readelf", "--dynamic", "--wide", BUILD / program], capture_output=True, text=True, check=True).stdout
    needed = {line.partition("[")[2].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
    assert needed <= BASIC | STARTED_OFTEN[program]


def test_the_plugin_of_slurm_does_not_ask_the_name_service():
    """The name service can be a slow server. If the plugin waited for the name service, the start of each job and step would wait, too."""
    symbols = subprocess.run(["readelf", "--dyn-syms", "--wide", BUILD / "src/adapters/slurm/pinfold_spank.so"], capture_output=True, text=True,
                             check=True).stdout
    used = {line.partition(" UND ")[2].partition("@")[0] for line in symbols.splitlines()}
    assert "read" in used, "the test finds the functions of other libraries that the plugin calls"
    assert {name for name in used if name.startswith(("getpw", "getgr", "initgroups", "getaddrinfo"))} == set()
