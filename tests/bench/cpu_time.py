# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads how much CPU time a cgroup and PID 1 have used so far, in microseconds."""

import re
from pathlib import Path

from jobs import CGROUP, run


def cgroup_of(unit):
    """Returns the cgroup of a unit, or None if the unit has none. PID 1 needs CPU time for the answer."""
    path = run("systemctl", "show", "-P", "ControlGroup", unit).stdout.strip()
    return CGROUP / path.lstrip("/") if path else None


def of_cgroup(cgroup):
    return int(re.search(r"usage_usec (\d+)", (cgroup / "cpu.stat").read_text())[1])


def of_pid1():
    return int(Path("/proc/1/schedstat").read_text().split()[0]) // 1000
