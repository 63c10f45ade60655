# SPDX-License-Identifier: LGPL-2.1-or-later
"""Until its standard input is closed, this program calls pinfoldd on the bus and at the wrapper's socket. Prints the seconds that each call took, and
the errors of the calls that failed."""

import json
import os
import select
import socket
import sys
import time

import dbus

BETWEEN = 0.2  # the seconds between two calls; pinfoldd allows a user much shorter pauses
LIST = json.dumps({"version": 1, "call": "list", "uid": os.getuid()}).encode()


def at_the_socket():
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect("/run/pinfold/wrapper.sock")
        connection.send(LIST)
        if not connection.recv(65536):
            raise ConnectionResetError("closed without an answer")


manager = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
took, failed = [], []
while not select.select([sys.stdin], [], [], BETWEEN)[0]:
    for call in (manager.ListJobs, at_the_socket):
        begun = time.monotonic()
        try:
            call()
        except (dbus.DBusException, OSError) as error:
            failed.append(repr(error))
        took.append(time.monotonic() - begun)
print(json.dumps({"took": took, "failed": failed}))
