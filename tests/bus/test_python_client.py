# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the calls of the Python module pinfold with the real pinfoldd."""

import importlib.util
import os
import signal

import dbus
import pytest

from conftest import HERE, wait_until
from test_callers import USER

FOR_EVER = 2**64 - 1


@pytest.fixture(scope="module")
def module():
    found = importlib.util.spec_from_file_location("pinfold", HERE.parents[1] / "src/python/pinfold.py")
    loaded = importlib.util.module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def client(world, module):
    return module.Pinfold(world.bus)


def test_create_job_and_end_job(world, client):
    leader = world.process()
    assert client.create_job("py.1", leader.pid, memory_max=256 << 20, nodes=["node1", "node2"], labels={"x": "y"}, exclusive=False) == "py.1"
    assert world.live() == {"py.1": "running"}
    leader.kill()
    leader.wait()
    receipt = client.end_job("py.1", leader=leader.pid, exit_signal=signal.SIGKILL)
    assert (receipt["key"], receipt["result"], receipt["exit_signal"], receipt["memory_max"]) == ("py.1", "signaled", 9, 256 << 20)
    assert (receipt["nodes"], receipt["labels"]) == (["node1", "node2"], {"x": "y"})
    assert type(receipt["exclusive"]) is bool and type(receipt["memory_max"]) is int


def test_open_job_and_add_task(world, client):
    assert client.open_job("py.2", USER, linger=FOR_EVER, slots=2) == "batch-py.2.slice"
    assert (world.live(), [job["uid"] for job in world.manager().ListJobs()]) == ({"py.2": "running"}, [USER])
    first, second, script = (world.process() for _ in range(3))
    assert client.add_task("py.2", first.pid) == (1, "job-py.2-1.scope")
    assert client.add_task("py.2", second.pid) == (2, "job-py.2-2.scope")
    assert client.add_task("py.2", script.pid, batch=True) == (0, "job-py.2.scope")
    wait_until(lambda: world.manager().ListJobs()[0]["tasks"] == 3, "three tasks")
    assert client.end_job("py.2", exit_status=7)["exit_status"] == 7
    assert world.live() == {}


def test_set_limits(world, client):
    client.create_job("py.3", world.process().pid, memory_max=512 << 20)
    after = client.set_limits("py.3", memory_max=256 << 20, run_time_max=3600 * 10**6)
    assert (after["memory_max"], after["run_time_max"]) == (256 << 20, 3600 * 10**6)
    assert world.job_property("py.3", "Limits")["memory_max"] == 256 << 20


def test_a_refusal_says_whether_to_try_again(world, client, module):
    def refusal(call):
        with pytest.raises(module.Refused) as refused:
            call()
        return refused.value.name, refused.value.temporary
    leader = world.process()
    assert refusal(lambda: client.add_task("py.none", leader.pid)) == ("NoSuchJob", False)
    assert refusal(lambda: client.set_limits("py.none", tasks_max=1)) == ("NoSuchJob", False)
    assert refusal(lambda: client.open_job("py.4", USER, no_such_option=1)) == ("InvalidArgument", False)
    assert refusal(lambda: client.create_job("py.4", leader.pid, memory_max="256M")) == ("InvalidArgument", False)
    world.manager().Drain("new disk", dbus.Dictionary({}, signature="sv"))
    assert refusal(lambda: client.open_job("py.4", USER)) == ("Draining", True)
    world.stop_daemon()
    assert refusal(lambda: client.open_job("py.4", USER, timeout=5))[1], "an error of the bus is temporary"


@pytest.mark.parametrize("script, expected", [("exit 0", {"exit_status": 0}), ("exit 3", {"exit_status": 3}), ("kill -KILL $$", {"exit_signal": 9})])
def test_how_it_ended(module, script, expected):
    child = os.posix_spawn("/bin/sh", ["sh", "-c", script], os.environ)
    assert module.how_it_ended(os.waitpid(child, 0)[1]) == expected
