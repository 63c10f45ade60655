# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contains the calls to pinfoldd that a batch system needs. org.pinfold1(5) describes all options of the calls. The page "Write your own"
explains the order of the calls."""

import os

import dbus

TEMPORARY = {"Busy", "Draining", "SystemdFailed", "Internal", "PidGone", "Unreachable", "TimedOut"}


class Refused(Exception):
    """Is raised when pinfoldd or the bus has answered with an error.

    `name` is the error's name without org.pinfold1.Error., for instance Draining. `temporary` is True if this node can accept the
    same request at a later time. `temporary` is False if this node would refuse the same request again. A different node can possibly accept
    the request. Errors of the bus are temporary, except AccessDenied. The bus lets only root and the members of pinfold-admin pass a
    process to pinfoldd."""

    def __init__(self, error):
        super().__init__(error.get_dbus_message())
        full = error.get_dbus_name() or ""
        self.name = full.rpartition(".")[2]
        self.temporary = self.name in TEMPORARY or not (full.startswith("org.pinfold1.Error.") or self.name == "AccessDenied")


class Pinfold:
    """Calls pinfoldd on the system bus. Each method waits for the answer for at most `timeout` seconds, and raises Refused after an error.
    The options of the methods have the names in org.pinfold1(5). The values of options are numbers, strings, booleans, lists (`nodes`) and
    dictionaries (`labels`). The options `supervisor` and `output` take file descriptors."""

    def __init__(self, bus=None):
        self.bus = bus

    def create_job(self, key, leader, timeout=60, **options):
        """Creates a job, and returns the job's key. `leader` is the process id of the child that will run the job. The child must wait
        until create_job() returns. The caller must not call os.waitpid() for the child before create_job() has returned."""
        return str(self.call("CreateJob", "sha{sv}", timeout, key, pidfd(leader), entries(options))[0])

    def open_job(self, key, uid, timeout=60, **options):
        """Creates a job that has no process yet. Returns the job's slice."""
        return str(self.call("OpenJob", "sa{sv}", timeout, key, entries({"uid": uid, **options}))[2])

    def add_task(self, key, leader, timeout=60, **options):
        """Adds a task to a job, and returns the number and the scope of the task. `leader` is the process id of the child that will
        run the task. The rules for `leader` are the same in add_task() and in create_job()."""
        number, unit = self.call("AddTask", "sha{sv}", timeout, key, pidfd(leader), entries(options))
        return int(number), str(unit)

    def set_limits(self, key, timeout=60, **limits):
        """Gives new limits to a live job. Returns the limits that the job has after the change."""
        return plain(self.call("SetLimits", "sa{sv}a{sv}", timeout, key, entries(limits), entries({})))

    def end_job(self, key, timeout=600, **report):
        """Ends a job, and returns the job's receipt. When end_job() returns, no process of the job is left. `report` can contain
        the options exit_status, exit_signal and leader, but not exit_status together with exit_signal."""
        return plain(self.call("EndJob", "sa{sv}", timeout, key, entries(report)))

    def call(self, method, signature, timeout, *arguments):
        try:
            self.bus = self.bus or dbus.SystemBus()
            return self.bus.call_blocking("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", method, signature, arguments,
                                          timeout=timeout)
        except dbus.DBusException as error:
            raise Refused(error) from error


def how_it_ended(status):
    """Converts a status from os.waitpid() to the option `exit_status` or `exit_signal` of end_job()."""
    code = os.waitstatus_to_exitcode(status)
    return {"exit_status": code} if code >= 0 else {"exit_signal": -code}


def pidfd(pid):
    descriptor = os.pidfd_open(pid)
    try:
        return dbus.types.UnixFd(descriptor)  # UnixFd keeps its own copy of the descriptor
    finally:
        os.close(descriptor)


def entry(name, value):
    if name in ("supervisor", "output"):
        return dbus.types.UnixFd(value)
    if isinstance(value, bool):
        return dbus.Boolean(value)
    if isinstance(value, dict):
        return dbus.Dictionary(value, signature="ss")
    if isinstance(value, (list, tuple)):
        return dbus.Array(value, signature="s")
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
        if isinstance(value, dict):
            return plain(value)
        return int(value) if isinstance(value, int) else str(value)
    return {str(name): of(value) for name, value in values.items()}
