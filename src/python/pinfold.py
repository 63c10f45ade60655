# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a batch system asks of pinfoldd: org.pinfold1(5) has all options, and the page "Write your own" has the order of the calls."""

import os

import dbus

TEMPORARY = {"Busy", "Draining", "SystemdFailed", "Internal", "PidGone", "Unreachable", "TimedOut"}


class Refused(Exception):
    """`name`: without org.pinfold1.Error., such as Draining. `temporary`: the same request may be granted later, or on another node."""

    def __init__(self, error):
        super().__init__(error.get_dbus_message())
        full = error.get_dbus_name() or ""
        self.name = full.rpartition(".")[2]
        self.temporary = self.name in TEMPORARY or not full.startswith("org.pinfold1.Error.")


class Pinfold:
    """Its methods wait for the answer, `timeout` seconds at most. Options are named as in org.pinfold1(5): numbers, strings, booleans, and
    for `supervisor` and `output` file descriptors."""

    def __init__(self, bus=None):
        self.bus = bus

    def create_job(self, key, leader, timeout=60, **options):
        """leader: process id of a child that has not been waited for, and that waits until it may become the job. Returns the job's key."""
        return str(self.call("CreateJob", "sha{sv}", timeout, key, pidfd(leader), entries(options))[0])

    def open_job(self, key, uid, timeout=60, **options):
        """A job without a process so far. Returns its slice."""
        return str(self.call("OpenJob", "sa{sv}", timeout, key, entries({"uid": uid, **options}))[2])

    def add_task(self, key, leader, timeout=60, **options):
        """leader: as for create_job. Returns the task's number, and its scope."""
        number, unit = self.call("AddTask", "sha{sv}", timeout, key, pidfd(leader), entries(options))
        return int(number), str(unit)

    def set_limits(self, key, timeout=60, **limits):
        """Returns the limits that are in force then."""
        return plain(self.call("SetLimits", "sa{sv}a{sv}", timeout, key, entries(limits), entries({})))

    def end_job(self, key, timeout=600, **report):
        """report: exit_status or exit_signal, and leader. When this returns, nothing is left of the job. Returns its receipt."""
        return plain(self.call("EndJob", "sa{sv}", timeout, key, entries(report)))

    def call(self, method, signature, timeout, *arguments):
        try:
            self.bus = self.bus or dbus.SystemBus()
            return self.bus.call_blocking("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", method, signature, arguments,
                                          timeout=timeout)
        except dbus.DBusException as error:
            raise Refused(error) from error


def how_it_ended(status):
    """Of os.waitpid(), for end_job()."""
    code = os.waitstatus_to_exitcode(status)
    return {"exit_status": code} if code >= 0 else {"exit_signal": -code}


def pidfd(pid):
    descriptor = os.pidfd_open(pid)
    try:
        return dbus.types.UnixFd(descriptor)  # has a copy
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
    """The bus's types as Python's own."""
    def of(value):
        if isinstance(value, dbus.Boolean):
            return bool(value)
        if isinstance(value, (list, tuple)):
            return [of(part) for part in value]
        return int(value) if isinstance(value, int) else str(value)
    return {str(name): of(value) for name, value in values.items()}
