# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that an earlier version of pinfold can read what pinfoldd sends on the bus. The earlier version may be a program that is still running, or a
package that is not upgraded yet. If a value that a client reads has an unexpected type, the client fails. The tables list the values that clients of
the git revision f7cc5991 read. The last tests call a stand-in for an older pinfoldd."""

import subprocess
import sys

import dbus
import pytest

from conftest import BUILD, HERE, wait_until

TEXT, NUMBER, LONG, FLAG = dbus.String, dbus.UInt32, dbus.UInt64, dbus.Boolean
OF_JOB = {"key": TEXT, "state": TEXT, "uid": NUMBER, "slice": TEXT, "unit": TEXT, "leader": NUMBER, "created": LONG, "tasks": NUMBER}
OF_PROCESS = {"pid": NUMBER, "task": NUMBER, "uid": NUMBER, "started": LONG, "cpu": LONG, "rss": LONG, "state": TEXT, "command": TEXT}
OF_RECEIPT = {"id": TEXT, "key": TEXT, "uid": NUMBER, "started": LONG, "ended": LONG, "wall": LONG, "result": TEXT, "tasks": NUMBER,
               "leftovers": NUMBER, "leftover_cpu": LONG}
# If a value of OPTIONAL is missing, a client treats the value as unknown or as zero.
OPTIONAL = {"suspended": LONG, "exit_status": dbus.Int32, "exit_signal": dbus.Int32, "stopped_by": NUMBER, "exclusive": FLAG, "allocated_cpus": TEXT,
            "memory_max": LONG, "cpu_user": LONG, "cpu_system": LONG, "memory_peak": LONG, "tasks_peak": LONG, "io_read": LONG, "oom_kills": LONG,
            "run_time_max": LONG, "allowed_cpus": TEXT, "oom_cause": TEXT, "unkillable_since": LONG, "wait_point": TEXT}


def expect_types(entry, needed):
    assert {name: type(entry.get(name)) for name in needed} == needed
    assert {name: type(entry[name]) for name in OPTIONAL if name in entry} == {name: kind for name, kind in OPTIONAL.items() if name in entry}


@pytest.fixture
def limited(world):
    process = world.process()
    world.create("sge.1", process, dbus.Dictionary({"memory_max": dbus.UInt64(1 << 30), "run_time_max": dbus.UInt64(3_600_000_000)}, signature="sv"))
    wait_until(lambda: world.live() == {"sge.1": "running"}, "it runs")
    return world, process


def test_live_jobs(limited):
    world, _ = limited
    job, = world.manager().ListJobs()
    expect_types(job, OF_JOB)
    limits = world.job_property("sge.1", "Limits")
    assert {name: type(limits[name]) for name in ("memory_max", "run_time_max")} == {"memory_max": LONG, "run_time_max": LONG}
    for process in world.manager().ListProcesses("sge.1"):
        expect_types(process, OF_PROCESS)
    usage = world.manager().GetUsage("sge.1")
    assert {type(value) for name, value in usage.items() if name != "io_devices"} <= {LONG}


def test_receipts(limited):
    world, process = limited
    expect_types(world.end("sge.1", process), OF_RECEIPT)
    receipt, = world.manager().ListReceipts(dbus.Dictionary({"limit": dbus.UInt32(10)}, signature="sv"))
    expect_types(receipt, OF_RECEIPT)
    assert (type(receipt["leftover_commands"]), str(receipt["leftover_commands"].signature)) == (dbus.Array, "s")
    if "io_devices" in receipt:
        assert str(receipt["io_devices"].signature) == "(stttt)"


@pytest.fixture
def older(world):
    world.stop_daemon()
    wait_until(lambda: not world.bus.name_has_owner("org.pinfold1"), "the name free")
    world.start(sys.executable, HERE / "older_pinfoldd.py")
    wait_until(lambda: world.bus.name_has_owner("org.pinfold1"), "the older pinfoldd")
    return world


def pinfold(world, *words):
    return subprocess.run([BUILD / "src/cli/pinfold", *words], env=world.environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("fact", [("--job-name", "train"), ("--nodes", "node1,node2")], ids=["text", "list"])
def test_an_older_pinfoldd_opens_a_job_without_the_facts_that_it_does_not_know(older, fact):
    script = older.process()
    done = pinfold(older, "open", "pbs.1", "--uid", "0", "--linger", "1min", *fact, "--adopt", str(script.pid), "--batch", "--output-fd", "2")
    assert (done.returncode, done.stdout) == (0, "job pbs.1: with linger,uid\n"), done.stderr


def test_an_older_pinfoldd_does_not_open_a_job_without_a_limit_that_it_does_not_know(older):
    done = pinfold(older, "open", "pbs.1", "--uid", "0", "--job-name", "train", "--tasks-max", "5")
    assert done.returncode != 0 and "unknown entry 'tasks_max'" in done.stderr
