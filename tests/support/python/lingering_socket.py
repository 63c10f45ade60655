# SPDX-License-Identifier: LGPL-2.1-or-later
"""MAKE is Python code that makes the TCP socket `lingering`. A close() of this socket takes LINGERS seconds, because the other end reads nothing
(socket(7), SO_LINGER)."""

LINGERS = 20

MAKE = f"""
import socket, struct
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
lingering = socket.create_connection(listener.getsockname())
peer, _ = listener.accept()
lingering.setblocking(False)
try:
    while True:
        lingering.send(b"x" * 65536)
except BlockingIOError:
    pass
lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, {LINGERS}))
"""
