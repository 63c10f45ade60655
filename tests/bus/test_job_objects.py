# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the D-Bus objects of live jobs (/org/pinfold1/job/<label>). Clients find an object, read it, and learn when it has gone."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import dbus
import pytest

from conftest import error_name

JOB = "org.pinfold1.Job"
PROPERTIES = {"Key", "UID", "State", "Unkillable", "Slice", "Unit", "Leader", "Created", "Limits", "Slots", "LimitsNotEnforced", "Allocation",
              "Tasks"}
LISTENER = """
import dbus.bus, dbus.mainloop.glib, json, sys
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
bus.add_signal_receiver(lambda *arguments, member: print(json.dumps([member, *arguments]), flush=True), bus_name="org.pinfold1",
                        member_keyword="member")
bus.get_name_owner("org.pinfold1")  # the bus handles calls in order, so the bus has added the match rule when get_name_owner() returns
print("[]", flush=True)
GLib.MainLoop().run()
"""


def ask(world, path, method, *arguments, interface="org.freedesktop.DBus.Properties"):
    return getattr(dbus.Interface(world.bus.get_object("org.pinfold1", path, introspect=False), interface), method)(*arguments)


def managed(world):
    return ask(world, "/org/pinfold1", "GetManagedObjects", interface="org.freedesktop.DBus.ObjectManager")


def children(world, path):
    page = ElementTree.fromstring(ask(world, path, "Introspect", interface="org.freedesktop.DBus.Introspectable"))
    return [node.get("name") for node in page.findall("node")]


def test_clients_find_the_object_of_each_live_job(world):
    keys = ["site.1", "site.a~b", "site.1-2"]
    leaders = [world.process() for _ in keys]
    for key, leader in zip(keys, leaders):
        world.create(key, leader)
    paths = [str(world.manager().GetJob(key)) for key in keys]
    objects = managed(world)
    assert sorted(objects) == sorted(paths)
    for key, path, leader in zip(keys, paths, leaders):
        assert objects[path][JOB].keys() == PROPERTIES
        assert (objects[path][JOB]["Key"], objects[path][JOB]["Leader"]) == (key, leader.pid)
        assert ask(world, path, "GetAll", JOB) == objects[path][JOB]
    assert sorted(children(world, "/org/pinfold1/job")) == sorted(path.rsplit("/", 1)[1] for path in paths)


@pytest.mark.parametrize("label", ["site_2e2", "site_2E1", "site_2", "site_", "_", "site_2e1/more"])
def test_no_other_path_is_an_object(world, label):
    leader = world.process()
    world.create("site.1", leader)
    assert ask(world, "/org/pinfold1/job/site_2e1", "Get", JOB, "Key") == "site.1"
    assert error_name(lambda: ask(world, f"/org/pinfold1/job/{label}", "Get", JOB, "Key")) == "org.freedesktop.DBus.Error.UnknownObject"


def test_clients_learn_when_an_object_comes_and_goes(world):
    listener = subprocess.Popen([sys.executable, "-c", LISTENER, world.address], stdout=subprocess.PIPE, text=True)
    world.processes.append(listener)
    signals = (json.loads(line) for line in listener.stdout)
    assert next(signals) == []
    leader = world.process()
    world.create("site.1", leader)
    added, path, interfaces = next(signals)
    assert (added, path) == ("InterfacesAdded", "/org/pinfold1/job/site_2e1")
    assert interfaces[JOB].keys() == PROPERTIES
    assert (interfaces[JOB]["State"], interfaces[JOB]["Tasks"]) == ("running", [[0, "job-site.1.scope"]])
    assert next(signals) == ["JobAdded", "site.1", path]
    world.end("site.1", leader)
    removed, where, gone = next(signal for signal in signals if signal[0] == "InterfacesRemoved")
    assert (removed, where) == ("InterfacesRemoved", path) and JOB in gone
    assert managed(world) == {}
    assert error_name(lambda: ask(world, path, "Get", JOB, "Key")) == "org.freedesktop.DBus.Error.UnknownObject"
    listener.kill()
    listener.stdout.close()
