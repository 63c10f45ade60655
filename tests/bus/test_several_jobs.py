# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the commands of pinfold that act on all live jobs of a user or of the node."""

import json
import subprocess
import threading
import time

import dbus
import dbus.bus
import pytest
from schemas import expect_document

from conftest import BUILD, wait_until
from test_callers import USER
from test_open_job import open_job

MIB = 1 << 20


def pinfold(world, *words, uid=0):
    with open(BUILD / "src/cli/pinfold", "rb") as program:  # the user may not be able to read the program in its directory
        return subprocess.run([f"/proc/self/fd/{program.fileno()}", *words], env=world.environment, capture_output=True, text=True, user=uid,
                              timeout=60, pass_fds=[program.fileno()])


def printed(done):
    return done.returncode, done.stdout, done.stderr


def open_three(world):
    for key in ("bus.1", "bus.2"):
        open_job(world, key)
    open_job(world, "bus.3", uid=dbus.UInt32(USER - 1))


def test_root_stops_all_jobs_of_a_user_and_no_others(world):
    open_three(world)
    status, out, err = printed(pinfold(world, "stop", "--user", str(USER), "--dry-run"))
    assert (status, err) == (0, "") and out.count("would send SIGTERM to all processes of batch-bus.") == 2
    assert world.live().keys() == {"bus.1", "bus.2", "bus.3"}
    assert printed(pinfold(world, "stop", "--user", str(USER), "--wait")) == (0, "", "")
    assert world.live().keys() == {"bus.3"}
    assert [str(world.manager().GetReceipt(key)["result"]) for key in ("bus.1", "bus.2")] == ["stopped"] * 2
    assert printed(pinfold(world, "stop", "--user", str(USER))) == (0, "", ""), "there is nothing left to stop"


def test_a_user_stops_all_of_their_own_and_nobody_elses(world):
    open_three(world)
    status, out, err = printed(pinfold(world, "stop", "-u", str(USER - 1), uid=USER))
    assert (status, out) == (5, "") and err.startswith("pinfold: bus.3: ") and err.count("\n") == 1
    assert printed(pinfold(world, "stop", "-u", str(USER), uid=USER)) == (0, "", "")
    wait_until(lambda: world.live().keys() == {"bus.3"}, "the user's own jobs are over")


def test_a_key_that_looks_like_a_unit_is_a_key_if_there_is_such_a_job(world):
    for key in ("own.a.scope", "own.b.slice"):
        open_job(world, key)
        assert printed(pinfold(world, "show", key, "-p", "key", "--value")) == (0, f"{key}\n", "")
        unit = f"batch-{key}.slice"
        assert printed(pinfold(world, "show", unit, "-p", "key", "--value")) == (0, f"{key}\n", ""), "its unit names it, too"
        assert printed(pinfold(world, "stop", "--wait", key)) == (0, "", "")
        assert pinfold(world, "why", key).stdout.startswith(f"Job {key} of user "), "it is over"
    for name in ("own.c.scope", "user.slice", "init.scope", "sge 1.scope"):
        status, out, err = printed(pinfold(world, "stop", name))
        assert (status, out) == (2, "") and err.startswith(f"pinfold: '{name}' is neither the key nor a unit of a job: ")


def test_stop_wants_to_know_whose_jobs(world):
    assert printed(pinfold(world, "stop")) == (2, "", "pinfold: name a job, or use --user\n")
    status, _, err = printed(pinfold(world, "stop", "--user", "no-such-user"))
    assert (status, err) == (2, "pinfold: unknown user 'no-such-user'\n")


def columns(world, *words, uid=0):
    done = pinfold(world, "list", "--pairs", *words, uid=uid)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_list_has_the_limits_and_the_use_of_jobs(world):
    open_job(world, "bus.1", memory_max=dbus.UInt64(3 << 30), tasks_max=dbus.UInt64(9))
    open_job(world, "bus.2", memory_max=dbus.UInt64(20 << 30), uid=dbus.UInt32(USER - 1))
    names = ("-o", "key,memory_max,tasks_max,allocated_gpus")
    assert columns(world, *names) == ['KEY="bus.1" MEMORY_MAX="3G" TASKS_MAX="9" ALLOCATED_GPUS="-"', 'KEY="bus.2" MEMORY_MAX="20G" TASKS_MAX="-" ALLOCATED_GPUS="-"']
    assert columns(world, "-o", "key", "--sort", "memory_max") == ['KEY="bus.1"', 'KEY="bus.2"'], "3G is less than 20G"
    assert columns(world, "-o", "key", "--sort", "tasks_max") == ['KEY="bus.2"', 'KEY="bus.1"'], "no limit comes first"
    memory = {line.split()[0]: line.split()[1] for line in columns(world, "-o", "key,cpu_time", uid=USER)}
    assert memory['KEY="bus.2"'] == 'CPU_TIME="-"', "the use of others is not for everybody"


@pytest.fixture
def calls(world):
    """Yields a function. The function returns the names of the D-Bus calls that have reached pinfoldd since the test last called the function."""
    command = ["dbus-monitor", "--profile", "--address", world.address, "type='method_call',destination='org.pinfold1'"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def until_marker():
        found = []
        world.manager().Ping(dbus_interface="org.freedesktop.DBus.Peer")
        for line in process.stdout:
            member = line.split()[-1]
            if member == "Ping":
                return found
            found.append(member)
        raise AssertionError("dbus-monitor has ended")

    wait_until(lambda: "NameLost" in process.stdout.readline(), "dbus-monitor watches the bus")
    yield until_marker
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("names, asked", [("key,age,unit", []), ("key,memory_max,slots,allocated_gpus", ["GetAll"]), ("memory_need,cpu_time", ["GetUsage"]),
                                          ("job_name,labels", ["GetIdentity"]), ("tasks_max,memory_need", ["GetAll", "GetUsage"])])
def test_a_list_asks_only_for_what_its_columns_show(world, calls, names, asked):
    open_job(world, "bus.1")
    open_job(world, "bus.2")
    calls()
    assert len(columns(world, "-o", names)) == 2
    assert calls() == ["ListJobs", *(2 * asked)]
    columns(world, "-o", "key", "--sort", names.split(",")[-1])
    assert calls() == ["ListJobs", *(2 * asked[-1:])], "pinfold sorts by the last column"


def test_a_live_job_shows_what_its_receipt_will_say_about_it(world):
    said = {"job_name": "train\nme", "account": "physics", "queue": "batch.q", "array_task": dbus.UInt64(3), "nodes": dbus.Array(["node1", "node2"], signature="s"),
            "labels": dbus.Dictionary({"dataset": "v2"}, signature="ss")}
    open_job(world, "bus.1", slots=dbus.UInt64(4), **said)
    open_job(world, "bus.2", uid=dbus.UInt32(USER - 1), **said)
    expected = {**said, "job_name": "train\\x0ame"}
    assert world.manager().GetIdentity("bus.1") == expected
    names = ("-o", "key,slots,job_name,array_task,nodes,labels,project")
    known = 'SLOTS="4" JOB_NAME="train\\x5cx0ame" ARRAY_TASK="3" NODES="node1,node2" LABELS="dataset=v2" PROJECT="-"'
    not_known = 'SLOTS="-" JOB_NAME="-" ARRAY_TASK="-" NODES="-" LABELS="-" PROJECT="-"'
    assert columns(world, *names, uid=USER) == [f'KEY="bus.1" {known}', f'KEY="bus.2" {not_known}'], "the facts of others are not for everybody"
    shown = [json.loads(pinfold(world, "show", "--json", key, uid=USER).stdout)["job"] for key in ("bus.1", "bus.2")]
    for document in shown:
        assert document.keys() >= said.keys()
    assert {name: shown[0][name] for name in expected} == expected and shown[0]["slots"] == 4
    assert [shown[1][name] for name in expected] == [None, None, None, None, [], {}]
    page = pinfold(world, "status", "bus.1", uid=USER).stdout
    assert "  account      physics\n" in page and "  labels       dataset=v2\n" in page


@pytest.fixture
def many_jobs(world):
    """Opens many jobs of one ordinary user, and returns their keys. A command makes a separate call for each job. pinfoldd delays its answers to a
    user who makes too many calls."""
    keys = [f"bus.{i}" for i in range(150)]
    for key in keys:
        open_job(world, key, memory_max=dbus.UInt64(1 << 30), slots=dbus.UInt64(2))
        cgroup = world.root / f"sys/fs/cgroup/batch.slice/batch-{key}.slice"
        (cgroup / "memory.stat").write_text(f"anon {MIB}\nfile 0\nshmem 0\n")
        (cgroup / "cpu.stat").write_text("user_usec 30\nsystem_usec 20\n")
    return keys


def test_an_ordinary_user_gets_the_columns_of_many_jobs(world, many_jobs):
    listed = columns(world, "-o", "key,memory_max,cpu_time", uid=USER)
    assert sorted(listed) == sorted(f'KEY="{key}" MEMORY_MAX="1G" CPU_TIME="50us"' for key in many_jobs)


def test_an_ordinary_user_gets_the_status_of_many_jobs(world, many_jobs):
    status, out, error = printed(pinfold(world, "status", "--jobs", "--json", uid=USER))
    assert (status, error) == (0, "")
    used = {job["key"]: job["usage"]["cpu_user"] for job in json.loads(out)["live"]}
    assert used == dict.fromkeys(many_jobs, 30)


def test_an_ordinary_user_finds_idle_jobs_among_many(world, many_jobs):
    wait_until(lambda: all(len(world.manager().GetProfile(key)["lengths"]) for key in many_jobs), "a look at each job")
    begun = max(job["created"] for job in world.manager().ListJobs())
    wait_until(lambda: time.time() * 1000000 > begun + 1100000, "the youngest job is older than a second")
    status, out, error = printed(pinfold(world, "idle", "--since", "1s", "--json", uid=USER))
    listing = json.loads(out)
    expect_document(listing, "idle")
    assert (status, error) == (0, "")
    idle = {job["key"] for job in listing["jobs"]}
    assert idle and idle | set(listing["without_profile"]) == set(many_jobs), "pinfoldd has answered for each job"


def test_a_job_that_is_being_created_does_not_hide_the_other_jobs(world):
    open_job(world, "bus.1")
    world.systemd.Hold(True)
    asker = dbus.bus.BusConnection(world.address)
    leader = world.process()
    threading.Thread(target=lambda: world.create("bus.2", leader, bus=asker), daemon=True).start()
    wait_until(lambda: world.live() == {"bus.1": "running", "bus.2": "creating"}, "it is being created")
    status, out, error = printed(pinfold(world, "status", "--jobs", "--json"))
    assert (status, error) == (0, "")
    assert {job["key"]: job["state"] for job in json.loads(out)["live"]} == {"bus.1": "running", "bus.2": "creating"}
    assert columns(world, "-o", "key,cpu_time") == ['KEY="bus.1" CPU_TIME="12us"', 'KEY="bus.2" CPU_TIME="-"']
    assert pinfold(world, "idle", "--since", "1s").returncode == 0
    world.systemd.Hold(False)
    wait_until(lambda: world.live()["bus.2"] == "running", "it runs")
