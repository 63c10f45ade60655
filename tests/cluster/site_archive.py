# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the archive of a site: node1 has the PostgreSQL server, and both nodes have pinfold-ship. The nodes reach the server through a relay, so
that tests can disturb the network."""

import contextlib
import json
import os
import socket
from pathlib import Path

import jobs
from jobs import run, wait_until
from nodes import NODES, on
from postgres_server import LOGIN_HOST, PostgresServer
from relay import Relay

DIRECTORY = Path("/srv/archive")
CERTIFICATES = "/etc/pinfold/archive"
SETTINGS = "/etc/pinfold/pinfold.toml.d/archive.toml"
FILLER = DIRECTORY / "filler"


class SiteServer(PostgresServer):
    """The server's disk has 400 MiB, so that a test can fill it."""

    host = "node1"

    def configure(self, more=""):
        super().configure(more)
        names = self.data / "pg_ident.conf"
        names.write_text(names.read_text().replace(LOGIN_HOST, self.host))

    def __init__(self):
        DIRECTORY.mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", "size=400M,mode=755", "archive", DIRECTORY)
        super().__init__(DIRECTORY)

    def rows(self, sql):
        return [line.split("|") for line in self.psql(sql).splitlines()]

    def fill_disk(self):
        # Without buffering=0, Python would keep the last data in a buffer, and close() would fail because the disk is full.
        with open(FILLER, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass

    def empty_disk(self):
        FILLER.unlink()

    def recover(self):
        """Waits until the server answers again. If the server has ended, the function starts the server, as an administrator would. PostgreSQL ends
        itself if the disk has no room for the write-ahead log. Returns true if the function had to start the server."""
        def ended():
            return self.process.poll() is not None
        wait_until(lambda: ended() or self.psql("SELECT", check=False).returncode == 0, "an answer of the server, or its end", 120)
        if not ended():
            return False
        self.start()
        return True

    def children(self):
        return [int(pid) for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]


class Site:
    def __init__(self):
        self.server = SiteServer()
        run("pinfold", "archive", "init", *self.connection())
        self.relay = Relay(self.server.port, host="", server="node1")
        for node in NODES:
            self.join(node)

    def join(self, node):
        """Gives the node its certificate, and makes the node send its receipts."""
        on(node, "install", "-d", CERTIFICATES)
        certificate, key = self.server.certificate(node)
        for source, name in ((certificate, "node.crt"), (key, "node.key"), (self.server.authority.certificate, "ca.crt")):
            run("scp", "-q", "-p", source, f"{node}:{CERTIFICATES}/{name}")
        on(node, "sh", "-c", f"chown root:pinfold-ship {CERTIFICATES}/node.key && chmod 640 {CERTIFICATES}/node.key")
        self.set(node)
        on(node, "systemctl", "enable", "--now", "pinfold-ship.service")

    def set(self, node, more=""):
        """Writes the node's configuration: the section [archive], and then the text in the parameter `more`. If the text in the parameter `more`
        begins with keys, the keys belong to the section [archive]."""
        text = self.settings() + more
        on(node, "sh", "-c", f"mkdir -p {os.path.dirname(SETTINGS)} && cat >{SETTINGS} <<'END'\n{text}END\nsystemctl restart pinfoldd")

    def settings(self):
        return f'[archive]\nserver = "node1"\nport = {self.relay.port}\n'

    @contextlib.contextmanager
    def login_node(self):
        """For the duration of the context, node1 is a login node. On a login node, `pinfold` asks the archive. Users are allowed to run jobs."""
        users = "[jobs]\nallow_user_jobs = true\n"
        self.set("node1", f"ask = true\n{users}")
        self.set("node2", users)
        # The service needs the certificate of this host's pinfold-ship, so the service's user joins the group pinfold-ship.
        run("usermod", "--append", "--groups", "pinfold-ship", "pinfold-archive")
        run("systemctl", "enable", "--now", "pinfold-archive.socket")
        try:
            yield
        finally:
            run("systemctl", "disable", "--now", "pinfold-archive.socket", "pinfold-archive.service")
            for node in NODES:
                self.set(node)

    def connection(self):
        """Returns the options of `pinfold archive` for this server."""
        return f"--host={DIRECTORY}", f"--port={self.server.port}"

    def position(self, node):
        """Returns the sequence number up to which the archive has all receipts of the node."""
        found = self.server.rows(f"SELECT position FROM pinfold.status WHERE node = '{node}'")
        return int(found[0][0]) if found else 0

    @staticmethod
    def newest(node):
        return max((sequence for sequence, _ in history(node).values()), default=0)

    def wait_sent(self):
        for node in NODES:
            newest = self.newest(node)
            wait_until(lambda node=node, newest=newest: self.position(node) >= newest, f"all receipts of {node} in the archive", 300)

    def archived(self):
        """Returns a dictionary with one entry for each receipt in the archive. The entry maps the pair (node, id) to the pair (sequence,
        CPU time). Fails if the archive has a receipt twice."""
        rows = self.server.rows("SELECT node, id, sequence, cpu_us FROM pinfold.receipt")
        found = {(node, number): (int(sequence), int(cpu or 0)) for node, number, sequence, cpu in rows}
        assert len(found) == len(rows), "a receipt is there twice"
        return found


def receipts(node):
    return jobs.receipts() if node == socket.gethostname() else json.loads(on(node, "pinfold", "history", "--json", "-n", "10000").stdout)["receipts"]


def history(node):
    """Returns a dictionary with one entry for each receipt of the node. The entry maps the pair (node, id) to the pair (sequence, CPU
    time)."""
    return {(node, one["id"]): (one["sequence"], (one["cpu_user"] or 0) + (one["cpu_system"] or 0)) for one in receipts(node)}
