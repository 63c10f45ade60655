# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what D-Bus and `pinfold status` report about the node's resources and about what the live jobs hold. The node of these tests has 8
CPUs."""

import json
import subprocess

import pytest

from conftest import BUILD
from test_allocation import GPUS, create

GIB = 1 << 30


def resources(world):
    manager = world.bus.get_object("org.pinfold1", "/org/pinfold1", introspect=False)
    values = manager.Get("org.pinfold1.Manager", "Resources", dbus_interface="org.freedesktop.DBus.Properties")
    return {str(name): int(value) for name, value in values.items()}


def status(world, *options):
    return subprocess.run([BUILD / "src/cli/pinfold", "status", *options], env=world.environment, capture_output=True, text=True, timeout=60,
                          check=True).stdout


def rows(page):
    return {line.split()[0]: line.split()[1:] for line in page.splitlines() if line.startswith(("RESOURCE", "CPUs", "memory", "GPUs"))}


@pytest.fixture
def node(world):
    file = world.root / "proc/meminfo"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"MemTotal:       {16 * GIB // 1024} kB\nMemFree:         1 kB\n")
    (world.root / "sys/fs/cgroup/cpuset.cpus.effective").write_text("0-7\n")
    # The stand-in for the kernel lacks the files of some limits.
    world.configure(f'{GPUS}[node]\nreserve_cpus = 2\n[jobs]\nunenforced_limits = "warn"\n')
    return world


def test_an_idle_node_has_all_that_the_site_does_not_keep(node):
    assert resources(node) == {"cpus_total": 8_000_000, "cpus_kept": 2_000_000, "cpus_given": 0, "cpus_free": 6_000_000, "cpus_unlimited_jobs": 0,
                               "memory_total": 16 * GIB, "memory_given": 0, "memory_free": 16 * GIB, "memory_unlimited_jobs": 0,
                               "gpus_total": 2, "gpus_given": 0, "gpus_free": 2}, "nobody knows a limit of batch.slice, which does not exist"
    page = status(node)
    assert rows(page) == {"RESOURCE": ["TOTAL", "KEPT", "GIVEN", "FREE"], "CPUs": ["8", "2", "0", "6"], "memory": ["16G", "-", "0", "16G"],
                          "GPUs": ["2", "-", "0", "2"]}
    assert "GIVEN does not count" not in page and "by batch system" not in page


def test_live_jobs_hold_what_they_asked_for_until_they_are_over(node):
    leader = create(node, "sge.1", cpus=2, gpus=1, memory_max=3 * GIB)
    create(node, "sge.2", cpu_quota=500_000)
    create(node, "slurm.3", slots=2, memory_max=GIB)
    other = create(node, "slurm.4")
    told = json.loads(status(node, "--json"))
    assert told["resources"] == {"cpus": {"total": 8, "kept": 2, "given": 4.5, "free": 1.5, "unlimited_jobs": 1},
                                 "memory": {"total": 16 * GIB, "kept": told["resources"]["memory"]["kept"], "given": 4 * GIB,
                                            "free": told["resources"]["memory"]["free"], "unlimited_jobs": 2},
                                 "gpus": {"total": 2, "kept": None, "given": 1, "free": 1, "unlimited_jobs": None}}
    assert (told["states"], told["schedulers"]) == ({"running": 4}, {"sge": 2, "slurm": 2})
    node.manager().SuspendJob("slurm.4")
    page = status(node)
    assert page.startswith("pinfoldd") and page.splitlines()[0].endswith(", 4 live jobs, 3 running, 1 suspended")
    assert page.splitlines()[1] == "live jobs by batch system: 2 sge, 2 slurm"
    assert rows(page)["CPUs"] == ["8", "2", "4.5", "1.5"]
    assert "\n1 job has no slots and no limit of CPUs, so GIVEN does not count its CPUs.\n" in page
    assert "\n2 jobs have no limit of memory, so GIVEN does not count their memory.\n" in page
    assert max(map(len, page.split("\nThe ")[0].splitlines())) <= 80

    node.end("sge.1", leader)
    node.manager().ResumeJob("slurm.4")
    node.end("slurm.4", other)
    after = resources(node)
    assert (after["cpus_given"], after["memory_given"], after["gpus_given"]) == (2_500_000, GIB, 0)
    assert (after["cpus_unlimited_jobs"], after["memory_unlimited_jobs"]) == (0, 1)


def test_what_the_kernel_does_not_tell_is_left_out(world):
    create(world, "bus.1")
    seen = resources(world)
    assert "memory_total" not in seen and "memory_free" not in seen and not any(name.startswith("gpus") for name in seen)
    told = json.loads(status(world, "--json"))["resources"]
    assert (told["memory"]["total"], told["memory"]["free"], told["memory"]["given"]) == (None, None, 0)
    assert set(told["gpus"].values()) == {None}
    page = rows(status(world))
    assert page["memory"] == ["-", "-", "0", "-"] and "GPUs" not in page
