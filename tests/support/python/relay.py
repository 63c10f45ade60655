# SPDX-License-Identifier: LGPL-2.1-or-later
"""A relay in front of the archive's server, which loses, delays and refuses on request."""

import contextlib
import socket
import threading


class Relay:
    def __init__(self, port, host="127.0.0.1", server="127.0.0.1"):
        """`host`: the address of the relay; "" is every address of this host."""
        self.host, self.server, self.to_port = host, server, port
        self.answers = threading.Event()  # the relay passes on what the server says
        self.answers.set()
        self.connections = []
        self.listener = None
        self.port = None
        self.accepted = 0
        self.passed = 0  # the number of bytes that the relay has received, in both directions
        self.open()

    def open(self):
        self.listener = socket.create_server((self.host, self.port or 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def close(self):
        """Refuses new connections and cuts the old ones."""
        # A thread that waits in accept() keeps the port open until it is woken.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def cut(self):
        while self.connections:
            connection = self.connections.pop()
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                server = socket.create_connection((self.server, self.to_port))
            except OSError:
                client.close()
                continue
            self.connections += [client, server]
            threading.Thread(target=self._pump, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, self.answers), daemon=True).start()

    def _pump(self, source, sink, gate):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.passed += len(data)
                if gate:
                    gate.wait()
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
