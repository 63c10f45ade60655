# SPDX-License-Identifier: LGPL-2.1-or-later
"""This program is a stand-in for systemd. Without faults, the stand-in answers as systemd does. A test can make the stand-in answer wrongly, late or
not at all. `fake_systemd.py ROOT` owns org.freedesktop.systemd1 on the bus that DBUS_SYSTEM_BUS_ADDRESS names. The stand-in writes /proc and
/sys/fs/cgroup below ROOT, for pinfoldd --root ROOT. The processes are real."""

import itertools
import os
import shutil
import signal
import sys
from pathlib import Path

import dbus
import dbus.lowlevel
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

MANAGER = "org.freedesktop.systemd1.Manager"
PATH = "/org/freedesktop/systemd1"
CONTROL = "org.pinfold.Fake"


class Refused(dbus.DBusException):
    def __init__(self, name, message):
        super().__init__(message)
        self._dbus_error_name = name


UNIT_EXISTS = ("org.freedesktop.systemd1.UnitExists", "Unit was already loaded or has a fragment file.")
FAULTS = {
    "refuse-property": ("org.freedesktop.DBus.Error.PropertyReadOnly", "Cannot set property OOMPolicy, or unknown property."),
    "name-taken": UNIT_EXISTS,
    "process-gone": ("org.freedesktop.DBus.Error.UnixProcessIdUnknown", "Process with ID 4711 does not exist."),
    "lost": ("org.freedesktop.DBus.Error.NoReply", "Message recipient disconnected from message bus without replying"),
    "stopping": ("org.freedesktop.systemd1.TransactionIsDestructive", "Transaction is destructive."),
}


CGROUP_FILES = {"MemoryMax": "memory.max", "TasksMax": "pids.max", "CPUWeight": "cpu.weight", "AllowedCPUs": "cpuset.cpus",
                "AllowedMemoryNodes": "cpuset.mems"}


def list_of(bitmap):
    """Returns the numbers of the bits in the kernel's list format, such as 0-3,8."""
    numbers = [8 * index + bit for index, byte in enumerate(bitmap) for bit in range(8) if int(byte) >> bit & 1]
    runs = [[number for _, number in run] for _, run in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def cgroup_text(value):
    if isinstance(value, dbus.Array):
        return list_of(value)
    return "max" if value == 2**64 - 1 else str(value)


def put(file, text):
    """Overwrites the file without making it empty first, because pinfoldd reads cgroup.events at each change."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT, 0o644)
    os.pwrite(fd, text.encode(), 0)
    os.ftruncate(fd, len(text))
    os.close(fd)


class Node:
    """Stands in for the kernel: describes processes and cgroups in files."""

    def __init__(self, root):
        self.root = root
        self.processes = {}  # maps a pid to its cgroup
        self.hanging = set()  # the ids of processes that hang in the kernel; kill() sends no signal to these processes
        # Maps the ids of pinfoldd's own processes to their cgroups. The stand-in reads cgroup.procs to find the process that pinfoldd moves, so
        # cgroup.procs must not contain pinfoldd's own processes.
        self.placeholders = {}
        self.kill_files = {}  # maps the path of a cgroup to the cgroup's file cgroup.kill
        (root / "proc").mkdir(parents=True)
        (root / "sys/fs/cgroup").mkdir(parents=True)
        (root / "sys/fs/cgroup/cgroup.controllers").write_text("cpuset cpu io memory pids\n")
        (root / "sys/devices/system/cpu").mkdir(parents=True)
        (root / "sys/devices/system/cpu/online").write_text("0-7\n")
        self.make("/pinfold.slice")
        self.make("/batch.slice")
        GLib.timeout_add(10, self.apply_kills)
        GLib.timeout_add(10, self.apply_moves)

    def directory(self, path):
        return self.root / "sys/fs/cgroup" / path.lstrip("/")

    def make(self, path):
        parent = path.rpartition("/")[0]
        if parent:
            self.make(parent)
        directory = self.directory(path)
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in {"cgroup.events": "populated 0\n", "cgroup.procs": "", "cgroup.kill": "", "cpu.stat": "user_usec 7\nsystem_usec 5\n"}.items():
            if not (directory / name).exists():
                (directory / name).write_text(text)
        self.kill_files[path] = directory / "cgroup.kill"

    def show(self, pid, cgroup="/system.slice/batchd.service"):
        proc = self.root / "proc" / str(pid)
        proc.mkdir(exist_ok=True)
        for name in ("stat", "status", "cmdline"):
            (proc / name).write_bytes(Path(f"/proc/{pid}/{name}").read_bytes())
        self.move(pid, cgroup)
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, os.pidfd_open(pid), GLib.IOCondition.IN, self.ended, pid)

    def hold(self, pid, cgroup):
        self.placeholders[pid] = cgroup
        self.show(pid, cgroup)

    def move(self, pid, cgroup):
        self.make(cgroup)
        old = self.processes.get(pid)
        self.processes[pid] = cgroup
        put(self.root / "proc" / str(pid) / "cgroup", f"0::{cgroup}\n")
        for path in {old, cgroup} - {None}:
            self.update(path)

    def ended(self, fd, _condition, pid):
        os.close(fd)
        shutil.rmtree(self.root / "proc" / str(pid), ignore_errors=True)
        self.placeholders.pop(pid, None)
        self.update(self.processes.pop(pid))
        return False

    def members(self, path):
        return [pid for pid, cgroup in self.processes.items() if cgroup == path or cgroup.startswith(path + "/")]

    def update(self, path):
        procs = self.directory(path) / "cgroup.procs"
        if procs.exists():
            put(procs, "".join(f"{pid}\n" for pid, cgroup in self.processes.items()
                               if cgroup == path and pid not in self.placeholders))
        while path:
            events = self.directory(path) / "cgroup.events"
            if events.exists():
                put(events, f"populated {int(bool(self.members(path)))}\n")
            path = path.rpartition("/")[0]

    def kill(self, path, number):
        for pid in set(self.members(path)) - self.hanging:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def set_limits(self, path, properties):
        for name, value in properties:
            if name in CGROUP_FILES:
                put(self.directory(path) / CGROUP_FILES[name], cgroup_text(value) + "\n")

    def apply_moves(self):
        for cgroup in set(self.placeholders.values()):
            file = self.directory(cgroup) / "cgroup.procs"
            text = file.read_text() if file.exists() else ""
            if text and not text.endswith("\n"):
                self.move(int(text), cgroup)
        return True

    def apply_kills(self):
        for path, file in list(self.kill_files.items()):
            if not file.exists():
                del self.kill_files[path]
            elif file.stat().st_size:
                file.write_text("")
                self.kill(path, signal.SIGKILL)
        return True


def path_of(unit):
    name, _, kind = unit.rpartition(".")
    if kind == "slice":
        return f"/batch.slice/{unit}"
    key = name.removeprefix("job-").partition("-")[0]
    return f"/batch.slice/batch-{key}.slice/{unit}"


class FakeSystemd(dbus.service.Object):
    SUPPORTS_MULTIPLE_CONNECTIONS = True  # when the stand-in comes back to the bus, this object gets a second connection

    def __init__(self, bus, node):
        super().__init__(bus, PATH)
        self.bus, self.node = bus, node
        self.units, self.jobs, self.state = set(), 0, "running"
        self.faults = []
        self.delay = 0
        self.hold, self.held = False, []
        self.hold_ends, self.held_ends = False, []
        self.hold_freezes = False
        self.hold_states, self.held_states = False, []
        self.calls = []

    # The following methods are for the tests.
    @dbus.service.method(CONTROL, in_signature="u")
    def Show(self, pid):
        self.node.show(int(pid))

    @dbus.service.method(CONTROL, in_signature="us")
    def Move(self, pid, cgroup):
        """Moves a process to a cgroup, as if the process had been started in this cgroup."""
        self.node.move(int(pid), str(cgroup))

    @dbus.service.method(CONTROL, in_signature="u")
    def Hang(self, pid):
        """Lets a process hang in the kernel, as if the process waited for a file server that does not answer. SIGKILL does not end the process before
        the test releases the process."""
        self.node.hanging.add(int(pid))

    @dbus.service.method(CONTROL, in_signature="as")
    def Faults(self, faults):
        """Each fault applies to one of the next requests to start a unit. "refuse-property" and "ignore-property" also apply to a request that sets
        properties."""
        self.faults = [str(fault) for fault in faults]

    @dbus.service.method(CONTROL, in_signature="u")
    def Delay(self, milliseconds):
        """After this call, the stand-in waits for `milliseconds` before it answers a request to start a unit."""
        self.delay = int(milliseconds)

    @dbus.service.method(CONTROL, in_signature="b")
    def Hold(self, hold):
        """After Hold(True), requests to start a unit get no answer until Hold(False)."""
        self.hold = bool(hold)
        held, self.held = self.held, []
        for start in held:
            start()

    @dbus.service.method(CONTROL, in_signature="b")
    def HoldEnds(self, hold):
        """After HoldEnds(True), the stand-in still answers calls, but it ends systemd's jobs only after HoldEnds(False)."""
        self.hold_ends = bool(hold)
        held, self.held_ends = self.held_ends, []
        for end in held:
            self.done(*end)

    @dbus.service.method(CONTROL, in_signature="b")
    def HoldFreezes(self, hold):
        """If `hold` is true, requests to freeze a unit get no answer, as if a process waited in the kernel."""
        self.hold_freezes = bool(hold)

    @dbus.service.method(CONTROL, in_signature="b")
    def HoldStates(self, hold):
        """After HoldStates(True), questions about the system's state get no answer until HoldStates(False)."""
        self.hold_states = bool(hold)
        while self.held_states and not hold:
            self.held_states.pop()(self.state)

    @dbus.service.method(CONTROL, out_signature="u")
    def Held(self):
        return dbus.UInt32(len(self.held))

    @dbus.service.method(CONTROL, out_signature="as")
    def Units(self):
        return dbus.Array(sorted(self.units), signature="s")

    @dbus.service.method(CONTROL, out_signature="as")
    def Calls(self):
        return dbus.Array(self.calls, signature="s")

    def vanish(self, milliseconds):
        """Closes the stand-in's connection to the bus, leaves pinfoldd's calls unanswered, and connects again. pinfoldd gets NoReply for the
        unanswered calls."""
        self.remove_from_connection(self.bus, PATH)
        self.bus.close()

        def back():
            self.bus = private_bus()
            self.add_to_connection(self.bus, PATH)
            self.bus.request_name("org.freedesktop.systemd1")
            return False

        GLib.timeout_add(milliseconds, back)

    @dbus.service.method(CONTROL, in_signature="s")
    def SayRemoved(self, unit):
        """The real systemd can emit UnitRemoved for a live unit after somebody has asked for the unit."""
        self.UnitRemoved(str(unit), dbus.ObjectPath("/x"))

    @dbus.service.method(CONTROL, in_signature="u")
    def MakeKernelThread(self, pid):
        stat = self.node.root / "proc" / str(pid) / "stat"
        before, after = stat.read_text().rsplit(") ", 1)
        fields = after.split(" ")
        fields[6] = str(int(fields[6]) | 0x200000)
        stat.write_text(before + ") " + " ".join(fields))

    @dbus.service.method(CONTROL)
    def DropOffTheBus(self):
        """Gives up systemd's name until ComeBack(). The tests call the stand-in by the unique name of its connection, which stays."""
        self.bus.release_name("org.freedesktop.systemd1")

    @dbus.service.method(CONTROL)
    def ComeBack(self):
        self.bus.request_name("org.freedesktop.systemd1")

    # The following methods implement systemd's interface.
    @dbus.service.method(MANAGER)
    def Subscribe(self):
        pass

    @dbus.service.method(MANAGER, in_signature="asas", out_signature="a(ssssssouso)")
    def ListUnitsByPatterns(self, _states, _patterns):
        return dbus.Array([(unit, "", "loaded", "active", "running", "", dbus.ObjectPath("/x"), dbus.UInt32(0), "", dbus.ObjectPath("/"))
                           for unit in self.units], signature="(ssssssouso)")

    @dbus.service.method(MANAGER, in_signature="ssa(sv)a(sa(sv))", out_signature="o", async_callbacks=("reply", "error"),
                         message_keyword="message")
    def StartTransientUnit(self, name, mode, properties, aux, reply, error, message):
        assert mode == "fail"
        self.calls.append(f"start {name}")
        fault = self.faults.pop(0) if self.faults else ""
        if fault in FAULTS:
            return error(Refused(*FAULTS[fault]))
        if fault == "ignored":
            return None
        if name in self.units or any(unit in self.units for unit, _ in aux):
            return error(Refused(*UNIT_EXISTS))
        if fault == "vanish":
            return self.vanish(300)
        if fault == "answered-twice":
            GLib.timeout_add(self.delay + 20, lambda: self.bus.send_message(dbus.lowlevel.MethodReturnMessage(message)) and False)
        start = [str(name), dict(properties), {str(unit): list(limits) for unit, limits in aux}, fault, reply]
        if self.hold:
            self.held.append(lambda: self.start(*start))
        else:
            GLib.timeout_add(self.delay, self.start, *start)
        return None

    def start(self, name, properties, slices, fault, reply):
        if fault.startswith("result "):
            job = self.new_job()
            reply(job)
            self.JobRemoved(dbus.UInt32(self.jobs), job, name, fault.removeprefix("result "))
            return False
        if fault == "unmoved":
            job = self.new_job()
            reply(job)
            self.done(job, name)
            return False
        self.units.update([name, *slices])
        if name.endswith(".slice"):
            self.node.make(path_of(name))
            self.node.set_limits(path_of(name), properties.items())
        for unit, limits in slices.items():
            self.node.make(path_of(unit))
            self.node.set_limits(path_of(unit), limits)
        for pid in properties.get("PIDs", []):
            if int(pid) in self.node.processes:
                self.node.move(int(pid), path_of(name))
            elif Path(f"/proc/{pid}").exists():
                self.node.hold(int(pid), path_of(name))
        job = self.new_job()
        if fault == "signal-first":
            self.done(job, name)
            GLib.timeout_add(200, lambda: reply(job) and False)
            return False
        if fault not in ("no-reply", "silent"):
            reply(job)
        if fault == "silent":
            return False
        for unit in [*slices, name]:
            self.done(job if unit == name else self.new_job(), unit)
        if fault == "twice":
            self.done(job, name)
        return False

    @dbus.service.method(MANAGER, in_signature="ss", out_signature="o")
    def StopUnit(self, name, mode):
        assert mode == "fail"
        self.calls.append(f"stop {name}")
        path = path_of(name)
        self.node.kill(path, signal.SIGKILL)
        self.units = {unit for unit in self.units if not path_of(unit).startswith(path)}
        job = self.new_job()
        GLib.timeout_add(5, self.stopped, job, str(name))
        return job

    def stopped(self, job, name):
        if self.node.members(path_of(name)):
            return True
        shutil.rmtree(self.node.directory(path_of(name)), ignore_errors=True)
        self.done(job, name)
        self.UnitRemoved(name, dbus.ObjectPath("/x"))
        return False

    @dbus.service.method(MANAGER, in_signature="ssi")
    def KillUnit(self, name, whom, number):
        assert whom == "all"
        self.calls.append(f"kill {name} {number}")
        self.node.kill(path_of(name), int(number))

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v", async_callbacks=("reply", "_error"))
    def Get(self, interface, name, reply, _error):
        assert interface == MANAGER
        if name == "Version":
            reply("252.39-1~deb12u1")
        elif self.hold_states:
            self.held_states.append(reply)
        else:
            reply(self.state)

    @dbus.service.method(MANAGER, in_signature="sba(sv)")
    def SetUnitProperties(self, name, runtime, properties):
        assert runtime
        names = [str(name) for name, _ in properties]
        self.calls.append(f"set {name} {' '.join(names)}")
        if self.faults and self.faults[0] == "refuse-property":
            self.faults.pop(0)
            raise Refused(*FAULTS["refuse-property"])
        if self.faults and self.faults[0] == "ignore-property":  # acts as if the kernel lacked a controller
            self.faults.pop(0)
            return
        self.node.set_limits(path_of(name), properties)

    @dbus.service.method(MANAGER, in_signature="s", async_callbacks=("reply", "_error"))
    def FreezeUnit(self, name, reply, _error):
        self.calls.append(f"freeze {name}")
        if not self.hold_freezes:
            reply()

    @dbus.service.method(MANAGER, in_signature="s")
    def ThawUnit(self, name):
        self.calls.append(f"thaw {name}")

    @dbus.service.method(MANAGER, in_signature="s")
    def ResetFailedUnit(self, name):
        self.calls.append(f"reset {name}")

    @dbus.service.signal(MANAGER, signature="uoss")
    def JobRemoved(self, number, job, unit, result):
        pass

    @dbus.service.signal(MANAGER, signature="so")
    def UnitRemoved(self, unit, path):
        pass

    @dbus.service.signal(MANAGER, signature="b")
    def Reloading(self, active):
        pass

    @dbus.service.signal(MANAGER, signature="uos")
    def JobNew(self, number, path, unit):
        pass

    @dbus.service.method(CONTROL, in_signature="s")
    def Shutdown(self, state):
        """Announces PID 1's job for shutdown.target, and sets the system's state to `state`."""
        self.state = str(state)
        self.JobNew(dbus.UInt32(self.jobs + 1), self.new_job(), "shutdown.target")

    @dbus.service.method(CONTROL)
    def Reload(self):
        """Behaves like systemd at a daemon-reload: emits UnitRemoved for all live units, between the two Reloading signals."""
        self.Reloading(True)
        for unit in self.units:
            self.UnitRemoved(unit, dbus.ObjectPath("/x"))
        self.Reloading(False)

    def new_job(self):
        self.jobs += 1
        return dbus.ObjectPath(f"{PATH}/job/{self.jobs}")

    def done(self, job, unit):
        if self.hold_ends:
            return self.held_ends.append((job, unit))
        self.JobRemoved(dbus.UInt32(self.jobs), job, unit, "done")


def private_bus():
    bus = dbus.SystemBus(private=True)
    bus.set_exit_on_disconnect(False)
    return bus


def main():
    DBusGMainLoop(set_as_default=True)
    bus = private_bus()
    FakeSystemd(bus, Node(Path(sys.argv[1])))  # the object exists before the bus name, because clients may call as soon as the name exists
    bus.request_name("org.freedesktop.systemd1")
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
