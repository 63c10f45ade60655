# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls org.pinfold1 with the usual clients: busctl, gdbus and python3-dbus."""

import json
import os
import signal
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import dbus
import pytest
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

from jobs import ESCAPIST, as_alice, expect_nothing_left, finish, receipts, run, start_job, wait_running, wait_until

SERVICE, PATH, MANAGER, JOB = "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "org.pinfold1.Job"
INTERFACES = Path("/usr/share/dbus-1/interfaces")

DBusGMainLoop(set_as_default=True)


def manager():
    return dbus.Interface(dbus.SystemBus().get_object(SERVICE, PATH), MANAGER)


def sleeper():
    return subprocess.Popen(["sleep", "1000"])


def pidfd(process):
    return dbus.types.UnixFd(os.pidfd_open(process.pid))


def error_name(call):
    with pytest.raises(dbus.DBusException) as caught:
        call()
    return caught.value.get_dbus_name()


class Signals:
    """Collects the manager's signals while the context lasts."""

    def __init__(self):
        self.seen = []
        self.loop = GLib.MainLoop()
        self.match = dbus.SystemBus().add_signal_receiver(self.receive, dbus_interface=MANAGER, member_keyword="member")

    def receive(self, *arguments, member):
        self.seen.append((str(member), *arguments))
        self.loop.quit()

    def wait_for(self, member, key, deadline=20):
        """Waits for the signal that has the name `member` and the first argument `key`. Returns the signal's arguments."""
        timer = GLib.timeout_add_seconds(deadline, self.loop.quit)
        while not (found := [s for s in self.seen if s[0] == member and s[1] == key]):
            self.loop.run()
            assert GLib.MainContext.default().find_source_by_id(timer), f"no {member} within {deadline} s: {self.seen}"
        GLib.source_remove(timer)
        return found[0][1:]

    def close(self):
        self.match.remove()


def test_five_calls_are_a_schedulers_life():
    signals = Signals()
    leader, helper = sleeper(), sleeper()
    key, path, unit = manager().CreateJob("site.1", pidfd(leader), {"run_time_max": dbus.UInt64(3600 * 10**6)})
    assert (key, unit) == ("site.1", "job-site.1.scope")
    assert signals.wait_for("JobAdded", "site.1") == ("site.1", path)
    task, task_unit = manager().AddTask("site.1", pidfd(helper), {})
    assert (task, task_unit) == (1, "job-site.1-1.scope")
    assert signals.wait_for("TaskAdded", "site.1") == ("site.1", 1, "job-site.1-1.scope")
    assert manager().GetJobByPID(dbus.UInt32(helper.pid)) == ("site.1", 1, path)
    assert manager().GetJobByUnit("job-site.1-1.scope") == ("site.1", path)
    assert manager().GetJob("site.1") == path
    assert {int(p["pid"]) for p in manager().ListProcesses("site.1")} == {leader.pid, helper.pid}
    helper.kill()
    helper.wait()
    assert signals.wait_for("TaskRemoved", "site.1") == ("site.1", 1, "job-site.1-1.scope")
    manager().KillJob("site.1", dbus.Int32(signal.SIGKILL))
    leader.wait()
    receipt = manager().WaitJob("site.1")
    assert receipt["result"] == "exited" and receipt["tasks"] == 2
    removed = signals.wait_for("JobRemoved", "site.1")
    assert removed == ("site.1", path, {"result": "exited"}), "signals go to everyone"
    assert manager().GetReceipt("site.1")["id"] == receipt["id"]
    signals.close()
    expect_nothing_left()


def test_leftovers_are_signalled():
    signals = Signals()
    finish(start_job("site.left", ESCAPIST, "set-sid"))
    assert signals.wait_for("LeftoversFound", "site.left") == ("site.left", 0, 1)
    signals.close()


def test_stop_and_end():
    leader = sleeper()
    manager().CreateJob("site.stop", pidfd(leader), {"uid": dbus.UInt32(1000)})
    manager().StopJob("site.stop", {"grace": dbus.UInt64(0)})
    leader.wait()
    receipt = manager().EndJob("site.stop", {"exit_signal": dbus.Int32(9)})
    assert (receipt["result"], receipt["uid"], receipt["stopped_by"]) == ("stopped", 1000, 0)


def test_adoption_of_running_processes():
    job = start_job("site.adopt", "sleep", "1000")
    wait_running("site.adopt")
    others = [sleeper(), sleeper()]
    assert manager().Adopt("site.adopt", [pidfd(other) for other in others]) == (1, "job-site.adopt-1.scope")
    for other in others:
        assert "job-site.adopt-1.scope" in Path(f"/proc/{other.pid}/cgroup").read_text()
    third = sleeper()
    assert run("pinfold", "adopt", "site.adopt", third.pid).stdout == "task 2 of job site.adopt: job-site.adopt-2.scope\n"
    run("pinfold", "stop", "site.adopt")
    finish(job)
    for other in [*others, third]:
        other.wait(timeout=10)
    expect_nothing_left()


def test_nobody_elses_process_is_adopted_for_an_owner():
    run("pinfold", "open", "site.owner", "--uid", "alice", "--linger", "infinity")
    roots = sleeper()
    refused = run("pinfold", "adopt", "site.owner", "--owner", "alice", roots.pid, check=False)
    assert (refused.returncode, refused.stderr) == (5, f"pinfold: process {roots.pid} belongs to user 0, not to user 1000 (--owner)\n")
    assert "site.owner" not in Path(f"/proc/{roots.pid}/cgroup").read_text()
    theirs = subprocess.Popen(as_alice("sleep", "1000"))
    wait_until(lambda: os.stat(f"/proc/{theirs.pid}").st_uid == 1000, "a process of alice's")
    run("pinfold", "adopt", "site.owner", "--owner", "alice", theirs.pid)
    assert "job-site.owner-1.scope" in Path(f"/proc/{theirs.pid}/cgroup").read_text()
    run("pinfold", "end", "site.owner")
    for process in (roots, theirs):
        process.kill()
        process.wait()
    expect_nothing_left()


def test_objects_and_properties():
    job = start_job("site.object", "sleep", "1000", options=["--run-time-max", "1h"])
    wait_running("site.object")
    path = manager().GetJob("site.object")
    objects = dbus.Interface(dbus.SystemBus().get_object(SERVICE, PATH), "org.freedesktop.DBus.ObjectManager").GetManagedObjects()
    assert list(objects) == [path]
    properties = objects[path][JOB]
    assert (properties["Key"], properties["State"], properties["UID"]) == ("site.object", "running", 0)
    assert properties["Limits"] == {"run_time_max": 3600 * 10**6}
    assert [tuple(task) for task in properties["Tasks"]] == [(0, "job-site.object.scope")]
    shown = run("busctl", "get-property", SERVICE, path, JOB, "Slice").stdout
    assert shown == 's "batch-site.object.slice"\n'
    listed = run("gdbus", "call", "--system", "-d", SERVICE, "-o", PATH, "-m", f"{MANAGER}.ListJobs").stdout
    assert "'site.object'" in listed
    usage = json.loads(run("busctl", "--json=short", "call", SERVICE, PATH, MANAGER, "GetUsage", "s", "site.object").stdout)
    assert usage["data"][0]["cpu_user"]["type"] == "t"
    run("busctl", "call", SERVICE, PATH, MANAGER, "StopJob", "sa{sv}", "site.object", "1", "grace", "t", "0")
    finish(job)


@pytest.mark.parametrize("interface", [MANAGER, JOB])
def test_what_is_served_is_what_is_described(interface):
    job = start_job("site.xml", "sleep", "1000")
    wait_running("site.xml")
    path = PATH if interface == MANAGER else manager().GetJob("site.xml")
    served = ElementTree.fromstring(run("busctl", "introspect", "--xml-interface", SERVICE, path).stdout)
    described = ElementTree.parse(INTERFACES / f"{interface}.xml").getroot()

    def members(root):
        node = root.find(f"interface[@name='{interface}']")
        return {(member.tag, member.get("name"), member.get("type"),
                 tuple((arg.get("type"), arg.get("direction", "out"), arg.get("name")) for arg in member.findall("arg")))
                for member in node if member.tag != "annotation"}

    assert members(served) == members(described)
    run("pinfold", "kill", "-s", "KILL", "site.xml")
    finish(job)


def test_errors_have_our_names():
    assert error_name(lambda: manager().GetJob("no.such")) == "org.pinfold1.Error.NoSuchJob"
    assert error_name(lambda: manager().GetReceipt("no.such")) == "org.pinfold1.Error.NoSuchReceipt"
    assert error_name(lambda: manager().GetJobByUnit("ssh.service")) == "org.pinfold1.Error.InvalidArgument"
    assert error_name(lambda: manager().GetJobByPID(dbus.UInt32(1))) == "org.pinfold1.Error.InvalidArgument"
    assert error_name(lambda: manager().KillJob("no.such", dbus.Int32(65))) == "org.pinfold1.Error.InvalidArgument"
    leader = sleeper()
    for options in ({"nonsense": "x"}, {"tasks_max": "many"}, {"tasks_max": dbus.Int32(-1)}, {"uid": dbus.String("root")}):
        assert error_name(lambda: manager().CreateJob("site.err", pidfd(leader), options)) == "org.pinfold1.Error.InvalidArgument"
    for limits in ({"memory_max": dbus.UInt64(1)}, {"cpu_weight": dbus.UInt64(10001)}, {"run_time_max": dbus.UInt64(0)}):
        assert error_name(lambda: manager().CreateJob("site.err", pidfd(leader), limits)) == "org.pinfold1.Error.LimitInvalid"
    leader.kill()
    gone = pidfd(leader)
    leader.wait()
    assert error_name(lambda: manager().CreateJob("site.err", gone, {})) == "org.pinfold1.Error.PidGone"
    expect_nothing_left()


def test_what_a_node_lacks_is_refused():
    missing = "memory" not in Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
    status, _, err = finish(start_job("site.lacks", "true", options=["--memory-max", "64M"]))
    assert (status, "memory_max" in err) == ((125, True) if missing else (0, False))


def test_history_filters_over_the_bus():
    finish(start_job("site.hist", "true"))
    wait_until(lambda: receipts("site.hist"), "receipt")
    found = manager().ListReceipts({"key": "site.hist", "limit": dbus.UInt32(1)})
    assert [receipt["key"] for receipt in found] == ["site.hist"]
    assert manager().ListReceipts({"key": "site.hist", "until": dbus.UInt64(1)}) == []
