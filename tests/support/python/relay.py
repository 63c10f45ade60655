# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a relay between the nodes and the archive's server. A test can make the relay lose or delay data, or refuse connections."""

import contextlib
import socket
import threading


class Connection:
    """A connection that a client has opened to the server through the relay."""

    def __init__(self, client, peer, server):
        self.client, self.peer, self.server = client, peer, server
        self.port = server.getsockname()[1]  # the server knows the connection by this port
        self.asked = False  # the client has sent data
        self.answered = False  # the relay has passed data of the server to the client
        self.open = True  # neither end has closed the connection

    def end_questions(self):
        self.open = False
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_WR)

    def shut_down(self):
        self.open = False
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Relay:
    def __init__(self, port, host="127.0.0.1", server="127.0.0.1"):
        """`host`: the address of the relay; "" is every address of this host."""
        self.host, self.server, self.to_port = host, server, port
        self.answers = threading.Event()  # while `answers` is set, the relay passes the server's data on to the clients
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
        # A thread that waits in accept() keeps the port open. shutdown() wakes this thread.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()

    def cut(self):
        while self.connections:
            connection = self.connections.pop()
            connection.shut_down()
            connection.client.close()
            connection.server.close()

    def of(self, peer):
        """Returns the open connections of the client with the address `peer`."""
        return [connection for connection in self.connections if connection.open and connection.peer == peer]

    def _accept(self, listener):
        while True:
            try:
                client, (peer, _) = listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                server = socket.create_connection((self.server, self.to_port))
            except OSError:
                client.close()
                continue
            connection = Connection(client, peer, server)
            self.connections.append(connection)
            threading.Thread(target=self._pass_questions, args=(connection,), daemon=True).start()
            threading.Thread(target=self._pass_answers, args=(connection,), daemon=True).start()

    def _pass_questions(self, connection):
        with contextlib.suppress(OSError):
            while data := connection.client.recv(65536):
                self.passed += len(data)
                connection.asked = True
                connection.server.sendall(data)
        # Even if the server has refused the client and closed the connection, _pass_answers() passes the server's reason to the client.
        connection.end_questions()

    def _pass_answers(self, connection):
        with contextlib.suppress(OSError):
            while data := connection.server.recv(65536):
                self.passed += len(data)
                self.answers.wait()
                connection.answered = True
                connection.client.sendall(data)
        connection.shut_down()
