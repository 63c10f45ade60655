# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a node: a real pinfoldd on a private bus, and a real pinfold-ship that sends the receipts to the archive."""

import contextlib
import importlib.util
import json
import signal
import subprocess
import time

import dbus

from conftest import BUILD, TOP
from relay import Relay

SPEC = importlib.util.spec_from_file_location("private_bus", TOP / "tests/bus/conftest.py")
private_bus = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(private_bus)
wait_until = private_bus.wait_until

NODE = "node1"


def options(**entries):
    return dbus.Dictionary(entries, signature="sv")


class Node:
    """Runs the pinfoldd and the pinfold-ship of one node."""

    def __init__(self, world, archive):
        self.world, self.archive = world, archive
        self.relay = Relay(archive.server.port)
        self.process = None
        self.log = world.directory / "ship.log"
        self.state = world.root / "var/lib/pinfold-ship"
        self.state.mkdir(parents=True)
        self.jobs = 0
        self.configure()

    def configure(self, certificate=NODE, more="", reload=True):
        crt, key = self.archive.server.certificate(certificate)
        file = self.world.root / "etc/pinfold/pinfold.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'[archive]\nserver = "localhost"\nport = {self.relay.port}\ncertificate = "{crt}"\nkey = "{key}"\n'
                        f'ca = "{self.archive.server.authority.certificate}"\n{more}')
        if reload:
            self.world.manager().Reload()

    def start(self, **environment):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([BUILD / "src/ship/pinfold-ship", "--root", self.world.root],
                                            env={**self.world.environment, **environment}, stderr=log)
        self.world.processes.append(self.process)

    def stop(self, number=signal.SIGTERM):
        begun = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(30) in (0, -signal.SIGKILL)
        return time.monotonic() - begun

    def run_job(self, status=1):
        """A job with the status 1 has failed. pinfold-ship sends the receipt of a failed job at once."""
        self.jobs += 1
        key = f"sge.{self.jobs}"
        process = self.world.process()
        self.world.create(key, process)
        if status is None:
            return self.world.end(key, process)
        process.kill()
        process.wait()
        return self.world.manager().EndJob(key, options(exit_status=dbus.Int32(status)))

    def run_jobs(self, number):
        for _ in range(number):
            self.run_job()

    def receipts(self):
        """Returns a dictionary that maps the id of each receipt in pinfoldd's history to some values of the receipt."""
        return {str(r["id"]): (int(r["sequence"]), str(r["key"]), str(r["result"]), int(r["wall"]), str(r.get("exit_status", "")))
                for r in self.world.manager().ListReceipts(options(after=dbus.UInt64(0), limit=dbus.UInt32(10000)))}

    def archived(self, where="true"):
        rows = self.archive.rows(f"SELECT id, sequence, key, result, wall_us, exit_status FROM pinfold.receipt WHERE {where}")
        return {r["id"]: (r["sequence"], r["key"], r["result"], r["wall_us"], "" if r["exit_status"] is None else str(r["exit_status"]))
                for r in rows}

    def arrives(self, deadline=60):
        """Waits until the archive has all receipts of the node. The archive must have each receipt of the node exactly once, and no other
        receipt of the node."""
        expected = self.receipts()
        assert expected
        wait_until(lambda: self.archived() == expected, f"{len(expected)} receipts; the archive has {len(self.archived())}: {self.lines()}",
                   deadline)
        assert self.archive.count() == len(expected)
        assert self.archive.count("gap") == self.archive.count("rejected") == 0

    def lines(self):
        return self.log.read_text().splitlines()

    def has_said(self, text):
        return sum(text in line for line in self.lines())

    def figures(self):
        file = self.state / "pinfold-ship.prom"
        lines = file.read_text().splitlines() if file.exists() else []
        return {name: float(value) for name, value in (line.split() for line in lines if not line.startswith("#"))}

    def sent(self):
        file = self.state / "sent"
        return json.loads(file.read_text()) if file.exists() else {"epoch": "", "sequence": 0}

    def close(self):
        if self.process and self.process.poll() is None:
            self.stop()
        self.relay.answers.set()
        self.relay.close()


@contextlib.contextmanager
def new_node(archive):
    with private_bus.new_world() as world:
        node = Node(world, archive)
        try:
            yield node
        finally:
            node.close()
