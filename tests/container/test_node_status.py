# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what `pinfold status` says about the node's CPUs, memory, GPUs and jobs, and about pinfoldd's newest problems."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

from jobs import BATCH, CGROUP, as_alice, expect_nothing_left, finish, run, site, start_job, wait_for_journal, wait_running, wait_until
from test_metrics import figures, textfile  # noqa: F401 (a fixture)
from test_smoke import LEAVES_SLEEP

MIB = 1 << 20
CPUS = os.sysconf("SC_NPROCESSORS_ONLN")
MEMORY = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
# Some limits need controllers that the box perhaps does not have.
NODE = '[jobs]\nunenforced_limits = "warn"\n[gpus]\ndevices = ["/dev/full", "/dev/zero"]\n'


def status(as_user=lambda *command: command):
    return json.loads(run(*as_user("pinfold", "status", "--json")).stdout)


def kept():
    """Returns how many CPUs and how much memory the node keeps outside of batch.slice. If the kernel does not show the memory limit, the memory is
    None."""
    cpus, memory = BATCH / "cpuset.cpus.effective", BATCH / "memory.max"
    limit = memory.read_text().strip() if memory.exists() else None
    usable = int(run("taskset", "-c", cpus.read_text().strip(), "nproc").stdout) if cpus.exists() else CPUS
    return CPUS - usable, None if limit is None else 0 if limit == "max" else MEMORY - int(limit)


@contextlib.contextmanager
def live(key, *options):
    job = start_job(key, "cat", stdin=subprocess.PIPE, options=options)
    wait_running(key)
    yield
    assert finish(job)[0] == 0


@contextlib.contextmanager
def opened(key, *options):
    run("pinfold", "open", key, "--uid", "alice", "--linger", "infinity", *options)
    yield
    run("pinfold", "end", key)


def test_the_figures_of_the_node_are_true(textfile):  # noqa: F811
    with site(NODE), live("site.1", "--cpus=1", "--gpus=1", "--memory-max=64M"), live("site.2", "--cpu-quota=150%", "--memory-max=128M"), \
         opened("other.3", "--slots=3", "--gpus=1"), opened("other.4", "--memory-max=32M"):
        first = json.loads(run("pinfold", "show", "site.1", "--json").stdout)["job"]
        mask = first["allocated_cpus"]
        own = int(run("taskset", "-c", mask, "nproc").stdout)
        seen = status()
        cpus_kept, memory_kept = kept()
        given, limits = own + 1.5 + 3, (64 + 128 + 32) * MIB
        assert seen["resources"] == {
            "cpus": {"total": CPUS, "kept": cpus_kept, "given": given, "free": max(0, CPUS - cpus_kept - given), "unlimited_jobs": 1},
            "memory": {"total": MEMORY, "kept": memory_kept, "given": limits, "free": MEMORY - (memory_kept or 0) - limits, "unlimited_jobs": 1},
            "gpus": {"total": 2, "kept": None, "given": 2, "free": 0, "unlimited_jobs": None}}
        assert (seen["jobs"], seen["schedulers"]) == (4, {"site": 2, "other": 2})
        assert sum(seen["states"].values()) == 4 and seen["states"]["running"] >= 2

        told = {f'pinfold_node_cpus{{part="{part}"}}': seen["resources"]["cpus"][part] for part in ("total", "kept", "given", "free")}
        told |= {'pinfold_node_memory_bytes{part="given"}': limits, 'pinfold_node_gpus{part="free"}': 0,
                 'pinfold_unlimited_jobs{resource="memory"}': 1}
        # pinfoldd can write the file between the starts of two jobs, and then writes the file again after some time.
        wait_until(lambda: told.items() <= figures().items(), "the same figures in the metrics")
        page = run("pinfold", "status").stdout
        assert "live jobs by batch system: 2 other, 2 site\n" in page
        assert [line.split()[:2] for line in page.splitlines() if line.startswith("CPUs")] == [["CPUs", str(CPUS)]]
    expect_nothing_left()
    empty = status()["resources"]
    assert (empty["cpus"]["given"], empty["memory"]["given"], empty["memory"]["unlimited_jobs"]) == (0, 0, 0)
    assert empty["gpus"]["total"] is None, "without [gpus], nobody knows GPUs"


def test_the_last_errors_are_those_of_pinfoldd():
    assert finish(start_job("site.leaves", "sh", "-c", LEAVES_SLEEP))[0] == 0  # pinfoldd logs a warning about the leftover
    with site("[jobs]\nno_such_key = 1\n", accepted=False):
        last = wait_until(lambda: (found := status()["last_errors"]) and "no_such_key" in found[-1]["message"] and found, "the rejection")
    assert last[-1]["level"] == "error"
    assert last[-1]["message"].startswith("configuration rejected, the old configuration stays in force: ")
    assert not any("no_such_key" in error["message"] for error in last[:-1]), "one line says it"
    assert len(last) <= 5 and [error["time"] for error in last] == sorted(error["time"] for error in last)
    assert not any("rogue process" in error["message"] for error in last)
    wait_for_journal("rogue process", "-u", "pinfoldd", "-p", "warning", "-o", "cat", "PINFOLD_JOB=site.leaves")
    page = run("pinfold", "status").stdout.splitlines()
    start = page.index("The last warnings and errors of pinfoldd:")
    assert "no_such_key" in page[-1] and page[-1].split()[1] == "error" and len(page) - start == len(last) + 1

    with site('[jobs]\nunenforced_limits = "warn"\n'):
        missing = {"memory", "cpu", "pids", "io"} - set((CGROUP / "cgroup.controllers").read_text().split())
        if missing:
            finish(start_job("site.limit", "true", options=["--memory-max=64M", "--cpu-quota=50%", "--tasks-max=50", "--io-weight=50"]))
            newest = wait_until(lambda: (found := status()["last_errors"][-1])["level"] == "warning" and found, "the warning")
            assert "site.limit" in newest["message"]
            wait_for_journal('PINFOLD_TROUBLE":"limit"', "-o", "json", "PINFOLD_JOB=site.limit")


def test_only_readers_of_the_journal_see_the_last_errors():
    assert status()["last_errors"] is not None
    assert status(as_user=as_alice)["last_errors"] is None
    assert "errors of pinfoldd" not in run(*as_alice("pinfold", "status")).stdout
