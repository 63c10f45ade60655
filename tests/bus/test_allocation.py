# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests over D-Bus that a job gets CPUs and GPUs which no other job gets. The node of these tests has 8 CPUs and two GPUs."""

import dbus
import pytest

from conftest import error_name
from test_callers import allow_user_jobs, as_user, owned

ERROR = "org.pinfold1.Error."
GPUS = '[gpus]\ndevices = ["/dev/null", "/dev/zero"]\nids = ["GPU-a", "GPU-b"]\nenvironment = ["VISIBLE"]\n'


def options(**entries):
    return dbus.Dictionary({name: dbus.UInt64(v) if type(v) is int else v for name, v in entries.items()}, signature="sv")


@pytest.fixture
def node(world):
    world.configure(GPUS)
    return world


def create(world, key, **entries):
    process = world.process()
    world.create(key, process, options(**entries))
    return process


def refusal(world, **entries):
    return error_name(lambda: create(world, "bus.9", **entries)).removeprefix(ERROR)


def test_what_was_asked_for_is_given_and_told(node):
    leader = create(node, "bus.1", cpus=2, gpus=1)
    allocation = node.job_property("bus.1", "Allocation")
    variables = {"VISIBLE": "GPU-a", "PINFOLD_JOB": "bus.1", "PINFOLD_CPUS": "2", "PINFOLD_CPU_LIST": "0-1"}
    assert allocation == {"allocated_cpus": "0-1", "allocated_gpus": "0", "exclusive": False, "environment": variables}
    assert allocation["environment"].signature == "ss"
    assert node.job_property("bus.1", "Limits")["allowed_cpus"] == "0-1"
    receipt = node.end("bus.1", leader)
    assert (receipt["allocated_cpus"], receipt["allocated_gpus"], receipt["exclusive"]) == ("0-1", "0", False)


def test_a_job_that_asks_for_nothing_has_nothing_for_itself(node):
    leader = create(node, "bus.1")
    assert node.job_property("bus.1", "Allocation") == {"exclusive": False, "environment": {"PINFOLD_JOB": "bus.1"}}
    receipt = node.end("bus.1", leader)
    assert "allocated_cpus" not in receipt and "allocated_gpus" not in receipt and not receipt["exclusive"]


def test_the_callers_own_choice(node):
    create(node, "bus.1", cpu_list="7,3-4", gpu_list="1")
    allocation = node.job_property("bus.1", "Allocation")
    assert (allocation["allocated_cpus"], allocation["allocated_gpus"]) == ("3-4,7", "1")
    assert allocation["environment"]["VISIBLE"] == "GPU-b"


def test_what_one_job_has_another_gets_when_it_is_over(node):
    first = create(node, "bus.1", cpus=6, gpus=2)
    assert (refusal(node, cpus=3), refusal(node, gpus=1)) == ("Busy", "Busy")
    node.end("bus.1", first)
    create(node, "bus.2", cpus=3, gpus=1)
    create(node, "bus.3", cpus=5, gpus=1)
    given = [node.job_property(key, "Allocation") for key in ("bus.2", "bus.3")]
    assert [(each["allocated_cpus"], each["allocated_gpus"]) for each in given] == [("0-2", "0"), ("3-7", "1")]


def test_the_node_for_one_job_alone(node):
    other = create(node, "bus.1")
    assert refusal(node, exclusive=True) == "Busy"
    node.end("bus.1", other)
    alone = create(node, "bus.2", exclusive=True)
    assert refusal(node) == "Busy"
    receipt = node.end("bus.2", alone)
    assert receipt["exclusive"] and receipt["allocated_cpus"] == "0-7"
    create(node, "bus.3")


@pytest.mark.parametrize("entries, error", [
    ({"cpus": "2"}, "InvalidArgument"), ({"cpus": dbus.Int32(-1)}, "InvalidArgument"), ({"cpus": True}, "InvalidArgument"),
    ({"gpus": 1.0}, "InvalidArgument"), ({"cpu_list": 3}, "InvalidArgument"), ({"gpu_list": dbus.Array([0], signature="u")}, "InvalidArgument"),
    ({"exclusive": 1}, "InvalidArgument"), ({"exclusive": "yes"}, "InvalidArgument"),
    ({"cpus": 0}, "LimitInvalid"), ({"gpus": 0}, "LimitInvalid"), ({"cpus": 8193}, "LimitInvalid"), ({"gpus": 8193}, "LimitInvalid"),
    ({"cpus": 9}, "LimitInvalid"), ({"gpus": 3}, "LimitInvalid"), ({"cpu_list": "7-8"}, "LimitInvalid"), ({"gpu_list": "2"}, "LimitInvalid"),
    ({"cpu_list": "3-1"}, "InvalidArgument"), ({"cpu_list": ""}, "InvalidArgument"), ({"gpu_list": "GPU-a"}, "InvalidArgument"),
    ({"cpus": 1, "cpu_list": "0"}, "InvalidArgument"), ({"gpus": 1, "gpu_list": "0"}, "InvalidArgument"),
    ({"exclusive": True, "cpu_list": "0"}, "InvalidArgument"), ({"cpus": 1, "allowed_cpus": "0"}, "InvalidArgument"),
    ({"cpu_list": "0", "allowed_cpus": "0"}, "InvalidArgument"), ({"exclusive": True, "allowed_cpus": "0"}, "InvalidArgument")])
def test_what_can_not_be_given(node, entries, error):
    assert refusal(node, **entries) == error
    assert node.live() == {} and not [call for call in node.systemd.Calls() if str(call).startswith("start")]


@pytest.mark.parametrize("entry", ["'cpus': dbus.UInt64(1)", "'gpus': dbus.UInt64(1)", "'cpu_list': '0'", "'gpu_list': '0'", "'exclusive': True"])
def test_a_user_has_nothing_for_a_job_alone(world, entry):
    allow_user_jobs(world)
    own = world.process(**owned(True))
    create = f"m.CreateJob('user.1', fd({own.pid}), dbus.Dictionary({{{{{{}}}}}}, signature='sv'))[0]"
    assert as_user(world, create.format(entry)) == ERROR + "Denied"
    assert as_user(world, create.format("")) == "user.1", "and the same without it"
