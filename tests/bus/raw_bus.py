# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a connection to the bus without a bus library. A bus library sends a descriptor only if an argument of the message names the
descriptor."""

import itertools
import os
import socket
import struct

FIELDS = {"path": (1, "o"), "interface": (2, "s"), "member": (3, "s"), "error_name": (4, "s"), "reply_serial": (5, "u"),
          "destination": (6, "s"), "signature": (8, "g"), "unix_fds": (9, "u")}


def text(value, length="<I"):
    return struct.pack(length, len(value)) + value.encode() + b"\0"


def padded(data):
    return data + bytes(-len(data) % 8)


def field(name, value):
    code, kind = FIELDS[name]
    encoded = struct.pack("<I", value) if kind == "u" else text(value, "<B" if kind == "g" else "<I")
    return bytes([code]) + text(kind, "<B") + encoded


def message(kind, serial, fields, body=b""):
    """Returns the bytes of a message. `kind` is 1 for a call, 2 for a return, 3 for an error, and 4 for a signal."""
    *first, last = [field(name, value) for name, value in fields.items()]
    array = b"".join(map(padded, first)) + last
    return padded(struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(array)) + array) + body


class RawBus:
    def __init__(self, path, user=None):
        """`user` is the user id that the bus sees. By default, `user` is the user id of this process."""
        self.serials = itertools.count(1)
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(60)
        self.connection.connect(str(path))
        for line, answer in ((b"\0AUTH EXTERNAL " + str(os.getuid() if user is None else user).encode().hex().encode(), b"OK"), (b"NEGOTIATE_UNIX_FD", b"AGREE_UNIX_FD")):
            self.connection.sendall(line + b"\r\n")
            assert self.connection.recv(4096).startswith(answer)
        hello = {"path": "/org/freedesktop/DBus", "interface": "org.freedesktop.DBus", "member": "Hello", "destination": "org.freedesktop.DBus"}
        self.connection.sendall(b"BEGIN\r\n" + message(1, next(self.serials), hello))
        assert self.connection.recv(4096)

    def send(self, kind, descriptors, fields, body=b""):
        """Sends a message to pinfoldd. `fields` maps the name of each header field to its value."""
        fields = {"destination": "org.pinfold1", **fields, **({"unix_fds": len(descriptors)} if descriptors else {})}
        socket.send_fds(self.connection, [message(kind, next(self.serials), fields, body)], descriptors)

    def answers(self):
        """Returns the answers to all earlier calls. The function calls a method that does not exist, and reads messages until the bus answers this
        call with an error. The bus keeps the order of messages, so the answers to all earlier calls come before the error."""
        self.send(1, [], {"path": "/org/freedesktop/DBus", "interface": "org.freedesktop.DBus", "member": "NoSuchCall",
                          "destination": "org.freedesktop.DBus"})
        said = b""
        while b"NoSuchCall" not in said:
            said += self.connection.recv(65536)
        return said
