# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every user on the bus receives pinfoldd's signals. Tests which facts about another user's job the signals contain."""

import json
import subprocess
import sys

import dbus
import pytest

from test_callers import USER

LISTENER = """
import dbus.bus, dbus.mainloop.glib, json, os, sys
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
bus = dbus.bus.BusConnection({address!r})
bus.add_signal_receiver(lambda *arguments, member: print(json.dumps([member, *arguments]), flush=True),
                        dbus_interface="org.pinfold1.Manager", member_keyword="member")
bus.get_name_owner("org.pinfold1")  # the bus handles calls in order, so the bus has added the match rule when get_name_owner() returns
print("[]", flush=True)
GLib.MainLoop().run()
"""


@pytest.fixture
def heard(world):
    """Returns a function. The function returns the signals that another user has received, up to and including JobRemoved."""
    stranger = subprocess.Popen([sys.executable, "-c", LISTENER.format(uid=USER, address=world.address)], stdout=subprocess.PIPE, text=True)
    world.processes.append(stranger)
    assert stranger.stdout.readline() == "[]\n"

    def listen(last="JobRemoved"):
        signals = []
        while not signals or signals[-1][0] != last:
            signals.append(json.loads(stranger.stdout.readline()))
        return signals

    yield listen
    stranger.kill()
    stranger.stdout.close()


def test_a_stranger_hears_that_a_job_is_over_and_no_more(world, heard):
    leader = world.process()
    world.create("sge.1", leader)
    path = world.manager().GetJob("sge.1")
    receipt = world.end("sge.1", leader)
    assert len(receipt) > 5
    # If the stand-in for systemd removes an ended leader from the job's cgroup too late, pinfoldd counts the leader as a leftover.
    said = [signal for signal in heard() if signal[0] not in ("LeftoversFound", "ReceiptsStored")]
    assert said == [["JobAdded", "sge.1", path], ["JobRemoved", "sge.1", path, {"result": receipt["result"]}]]


def test_a_stranger_hears_how_many_receipts_there_are_and_no_more(world, heard):
    leader = world.process()
    world.create("sge.1", leader)
    receipt = world.end("sge.1", leader)
    assert heard(last="ReceiptsStored")[-1] == ["ReceiptsStored", receipt["epoch"], 1, 1]


def test_a_stranger_hears_that_a_receipt_was_amended_and_no_more(world, heard):
    leader = world.process()
    world.create("sge.1", leader)
    world.end("sge.1", leader)
    world.manager().EndJob("sge.1", dbus.Dictionary({"exit_status": dbus.Int32(3)}, signature="sv"))
    assert heard(last="ReceiptAmended")[-1] == ["ReceiptAmended", "sge.1", {"result": "exited"}]


def test_a_stranger_hears_that_a_job_is_near_a_limit_and_no_more(world, heard):
    limits = {"run_time_max": dbus.UInt64(10**9), "run_time_warning": dbus.UInt64(10**9 - 1)}
    world.create("sge.1", world.process(), dbus.Dictionary(limits, signature="sv"))
    assert heard(last="LimitNear")[-1] == ["LimitNear", "sge.1", "run_time_max"]


def test_a_stranger_hears_why_a_job_was_killed_and_no_more(world, heard):
    leader = world.process()
    world.create("sge.1", leader, dbus.Dictionary({"memory_max": dbus.UInt64(2**30)}, signature="sv"))
    world.broadcast("org.freedesktop.oom1", "Killed", "ss", "/batch.slice/batch-sge.1.slice/job-sge.1.scope", "memory-used")
    verdict = next(signal for signal in heard() if signal[0] == "OutOfMemory")
    receipt = world.manager().GetReceipt("sge.1")
    assert receipt["oom_limit"] == 2**30
    assert verdict == ["OutOfMemory", "sge.1", {"oom_cause": "oomd", "oom_at": receipt["oom_at"]}]
