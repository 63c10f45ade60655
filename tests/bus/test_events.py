# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold events`. As soon as pinfoldd emits an event, the command prints a line for the event."""

import itertools
import json
import select
import signal
import subprocess

import dbus
import dbus.lowlevel
from schemas import expect_document

from conftest import BUILD, pidfd, wait_until

NOTHING = dbus.Dictionary({}, signature="sv")


class Listener:
    def __init__(self, world, *options):
        self.process = subprocess.Popen([BUILD / "src/cli/pinfold", "events", *options], env=world.environment, bufsize=0,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        world.processes.append(self.process)
        # The command prints nothing at its start, so the test drains the node repeatedly until the command prints a first event.
        wait_until(lambda: self.hears_a_drain(world), "it listens")
        world.manager().Drain("it listens", NOTHING)
        wait_until(lambda: b"it listens" in self.line(), "the last one")
        world.manager().Undrain()
        assert b"undrained" in self.line()

    def hears_a_drain(self, world):
        world.manager().Drain("somebody there?", NOTHING)
        world.manager().Undrain()
        return select.select([self.process.stdout], [], [], 0.2)[0]

    def line(self):
        assert select.select([self.process.stdout], [], [], 60)[0], "no line"
        return self.process.stdout.readline()


def test_a_line_for_each_event(world):
    listener = Listener(world)

    def heard():
        time, _, rest = listener.line().decode().rstrip("\n").partition(" ")
        assert len(time) == len("2026-11-20T12:00:00Z") and time.endswith("Z")
        return rest
    leader = world.process()
    world.create("sge.1", leader)
    assert heard() == "job-added sge.1"
    further = world.process()
    world.manager().AddTask("sge.1", pidfd(further), NOTHING)
    assert heard() == "task-added sge.1 task=1"
    leader.kill()
    leader.wait()
    assert heard().startswith("leftovers-found sge.1 task=0 count=")
    further.wait(60)
    world.manager().WaitJob("sge.1")
    assert [heard(), heard()] == ["task-removed sge.1 task=1", "job-removed sge.1 result=exited"]
    world.manager().EndJob("sge.1", dbus.Dictionary({"exit_status": dbus.Int32(3)}, signature="sv"))
    assert heard() == "receipt-amended sge.1 result=exited"
    world.manager().Drain("new \x1b[31mdisk", NOTHING)
    assert heard() == "drained reason=new \\x1b[31mdisk"
    world.daemon.send_signal(signal.SIGTERM)
    world.daemon.wait(30)
    assert heard() == "daemon-stopped"
    world.daemon = world.start_daemon()
    assert heard() == "daemon-started"
    world.manager().Undrain()
    assert heard() == "undrained"


def test_json_has_a_document_in_each_line(world):
    listener = Listener(world, "--json=lines")
    leader = world.process()
    world.create("sge.1", leader)
    added = json.loads(listener.line())
    expect_document(added, "event")
    assert added.pop("time") > 0 and added.pop("time_iso").endswith("Z")
    assert added == {"schema": 1, "event": "job-added", "job": "sge.1", "task": None, "count": None, "result": None, "oom_cause": None,
                     "limit": None, "reason": None}
    world.end("sge.1", leader)
    rest = itertools.takewhile(lambda event: event["event"] != "drained", (json.loads(listener.line()) for _ in itertools.count()))
    world.manager().WaitJob("sge.1")
    world.manager().Drain("that was all", NOTHING)
    # If the stand-in for systemd removes an ended leader from the job's cgroup too late, pinfoldd counts the leader as a leftover.
    removed, = [event for event in rest if event["event"] != "leftovers-found"]
    assert (removed["event"], removed["job"], removed["result"]) == ("job-removed", "sge.1", "exited")


def test_each_kind_of_event_is_as_its_schema_says(world):
    world.configure('[unkillable]\nafter = "1s"\naction = "none"\n')
    listener = Listener(world, "--json=lines")
    heard = {}

    def hears(*names):
        while not set(names) <= set(heard):
            event = json.loads(listener.line())
            expect_document(event, "event")
            heard[event["event"]] = event
    leader, further, stuck = world.process(), world.process(), world.process()
    world.create("sge.1", leader)
    world.manager().AddTask("sge.1", pidfd(further), NOTHING)
    leader.kill()
    leader.wait()
    hears("job-added", "task-added", "leftovers-found", "task-removed", "job-removed")
    world.manager().EndJob("sge.1", dbus.Dictionary({"exit_status": dbus.Int32(3)}, signature="sv"))
    world.create("sge.2", stuck, dbus.Dictionary({"run_time_max": dbus.UInt64(10**9), "run_time_warning": dbus.UInt64(10**9 - 1)}, signature="sv"))
    hears("receipt-amended", "limit-near")
    world.systemd.Hang(dbus.UInt32(stuck.pid))
    world.manager().StopJob("sge.2", dbus.Dictionary({"grace": dbus.UInt64(0)}, signature="sv"))
    hears("unkillable")
    world.end("sge.2", stuck)
    world.manager().Drain("disk", NOTHING)
    world.stop_daemon()
    world.daemon = world.start_daemon()
    world.manager().Undrain()
    hears("drained", "daemon-stopped", "daemon-started", "undrained")
    assert (heard["task-added"]["task"], heard["limit-near"]["limit"], heard["unkillable"]["count"]) == (1, "run_time_max", 1)
    assert (heard["receipt-amended"]["result"], heard["drained"]["reason"]) == ("exited", "disk")


def test_nobody_else_is_taken_for_pinfoldd(world):
    listener = Listener(world)
    address = listener_name(world, listener.process.pid)
    for destination in (None, address):  # the destination None sends to everybody, and avoids the bus's own check of the sender
        forged = dbus.lowlevel.SignalMessage("/org/pinfold1", "org.pinfold1.Manager", "JobAdded")
        forged.append("sge.forged", "/org/pinfold1/job/x", signature="so")
        if destination:
            forged.set_destination(destination)
        world.bus.send_message(forged)
    world.bus.flush()
    world.create("sge.true", world.process())
    assert b"job-added sge.true" in listener.line()


def listener_name(world, pid):
    bus = dbus.Interface(world.bus.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus", introspect=False), "org.freedesktop.DBus")
    return next(name for name in bus.ListNames() if name.startswith(":") and bus.GetConnectionUnixProcessID(name) == pid)


def test_it_ends_when_the_bus_or_its_reader_goes(world):
    listener = Listener(world)
    listener.process.stdout.close()
    world.create("sge.1", world.process())
    assert listener.process.wait(60) in (1, -signal.SIGPIPE)
