# SPDX-License-Identifier: LGPL-2.1-or-later
"""This program is a stand-in for an older pinfoldd, which knows fewer entries of OpenJob and AddTask than the present pinfoldd. Like each pinfoldd,
the stand-in refuses a call with an unknown entry. The stand-in does not know any entry whose value is a list. The stand-in answers a call of OpenJob
with the names of the entries of the call."""

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

MANAGER = "org.pinfold1.Manager"
KNOWN = {"uid", "linger", "batch"}


class Refused(dbus.DBusException):
    _dbus_error_name = "org.pinfold1.Error.InvalidArgument"


def check(options):
    for name, value in options.items():
        if isinstance(value, dbus.Array):
            raise Refused(f"entry '{name}' has type as, but no entry has this type: see org.pinfold1(5)")
    for name in options:
        if name not in KNOWN:
            raise Refused(f"unknown entry '{name}': see org.pinfold1(5)")


class OlderPinfoldd(dbus.service.Object):
    @dbus.service.method(MANAGER, in_signature="sa{sv}", out_signature="sos")
    def OpenJob(self, key, options):
        check(options)
        return key, dbus.ObjectPath("/org/pinfold1/job/x"), "with " + ",".join(sorted(options))

    @dbus.service.method(MANAGER, in_signature="sha{sv}", out_signature="us")
    def AddTask(self, _key, _process, options):
        check(options)
        return dbus.UInt32(0), "job-x.scope"


def main():
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    service = OlderPinfoldd(bus, "/org/pinfold1")
    bus.request_name("org.pinfold1")
    GLib.MainLoop().run()
    del service


if __name__ == "__main__":
    main()
