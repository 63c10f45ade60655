# SPDX-License-Identifier: LGPL-2.1-or-later
"""The calls to pinfoldd that a batch system needs. org.pinfold1(5) describes all options, and the page "Write your own" the order of the calls."""

import os

import dbus

TEMPORARY = {"Busy", "Draining", "SystemdFailed", "Internal", "PidGone", "Unreachable", "TimedOut"}


class Refused(Exception):
    """pinfoldd or the bus answered with an error.

    `name`: the error's name without org.pinfold1.Error., for instance Draining. `temporary`: True if the same request may succeed
    later on this node. False if this node would refuse the same request again, even if another node may accept it. An error that is not
    pinfold's own, for instance an error of the bus, counts as temporary. But AccessDenied of the bus does not: only root and the members
    of pinfold-admin may pass processes."""

    def __init__(self, error):
        super().__init__(error.get_dbus_message())
        full = error.get_dbus_name() or ""
        self.name = full.rpartition(".")[2]
        self.temporary = self.name in TEMPORARY or not (full.startswith("org.pinfold1.Error.") or self.name == "AccessDenied")


class Pinfold:
    """pinfoldd on the system bus. Each method waits for the answer, for at most `timeout` seconds, and raises Refused if there is an error.
    Options have the names of org.pinfold1(5). Their values are numbers, strings and booleans; `supervisor` and `output` take file
    descriptors."""

    def __init__(self, bus=None):
        self.bus = bus

    def create_job(self, key, leader, timeout=60, **options):
        """leader: the process id of a child that becomes the job. The child waits until this call returns, and nobody has called wait for
        it. Returns the job's key."""
        return str(self.call("CreateJob", "sha{sv}", timeout, key, pidfd(leader), entries(options))[0])

    def open_job(self, key, uid, timeout=60, **options):
        """Creates a job that has no process yet. Returns the job's slice."""
        return str(self.call("OpenJob", "sa{sv}", timeout, key, entries({"uid": uid, **options}))[2])

    def add_task(self, key, leader, timeout=60, **options):
        """leader: as in create_job. Returns the number and the scope of the new task."""
        number, unit = self.call("AddTask", "sha{sv}", timeout, key, pidfd(leader), entries(options))
        return int(number), str(unit)

    def set_limits(self, key, timeout=60, **limits):
        """Changes limits of a live job. Returns the limits that the job then has."""
        return plain(self.call("SetLimits", "sa{sv}a{sv}", timeout, key, entries(limits), entries({})))

    def end_job(self, key, timeout=600, **report):
        """report: exit_status or exit_signal, and leader. When this call returns, no process of the job is left. Returns the job's receipt."""
        return plain(self.call("EndJob", "sa{sv}", timeout, key, entries(report)))

    def call(self, method, signature, timeout, *arguments):
        try:
            self.bus = self.bus or dbus.SystemBus()
            return self.bus.call_blocking("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", method, signature, arguments,
                                          timeout=timeout)
        except dbus.DBusException as error:
            raise Refused(error) from error


def how_it_ended(status):
    """status: from os.waitpid(). Returns the options of end_job() that report how the process ended."""
    code = os.waitstatus_to_exitcode(status)
    return {"exit_status": code} if code >= 0 else {"exit_signal": -code}


def pidfd(pid):
    descriptor = os.pidfd_open(pid)
    try:
        return dbus.types.UnixFd(descriptor)  # keeps its own copy of the descriptor
    finally:
        os.close(descriptor)


def entry(name, value):
    if name in ("supervisor", "output"):
        return dbus.types.UnixFd(value)
    if isinstance(value, bool):
        return dbus.Boolean(value)
    return dbus.UInt64(value) if isinstance(value, int) else dbus.String(value)


def entries(options):
    return dbus.Dictionary({name: entry(name, value) for name, value in options.items()}, signature="sv")


def plain(values):
    """Converts the types of dbus to Python's own types."""
    def of(value):
        if isinstance(value, dbus.Boolean):
            return bool(value)
        if isinstance(value, (list, tuple)):
            return [of(part) for part in value]
        return int(value) if isinstance(value, int) else str(value)
    return {str(name): of(value) for name, value in values.items()}
