#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what happens when the archive of a site comes back after a day. 64 nodes have 5,000 receipts each, and send them at once to a server
that has just started. 8 of the nodes are real: each has a pinfold-ship, and a pinfoldd on a bus of its own. The server starts when each
pinfold-ship has failed 6 times. The other nodes are simulated. As soon as the server runs, each simulated node sends all its receipts over one
connection, without pauses. The real nodes share the server with the simulated nodes, which never wait. The program prints how many receipts per
second the archive accepted, and how long the nodes waited before they could send receipts. The program also prints the memory of the server and of
pinfold-ship. The exit status is 1 if a node waited longer than the back-off of pinfold-ship. The program starts a server of its own in the directory
of the option --directory. At the end, the program removes the server.

    PINFOLD_BUILD=$PWD/build /usr/bin/python3 tests/bench/outage.py --directory /var/tmp

`--ships 64` makes all nodes real. If all nodes are real, the programs of the nodes together need four times as much CPU time as PostgreSQL. The
machine should have many CPUs. Each real node needs two instances of inotify (sysctl fs.inotify.max_user_instances)."""

import argparse
import contextlib
import importlib.util
import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from archive import EPOCH, EXAMPLE, SETTINGS, make
from postgres_server import TOP, PostgresServer

SPEC = importlib.util.spec_from_file_location("private_bus", TOP / "tests/bus/conftest.py")
private_bus = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(private_bus)
wait_until = private_bus.wait_until

# LEAST_RETRY and MOST_RETRY are Schedule::kLeastRetry and Schedule::kMostRetry of src/ship, in seconds.
LEAST_RETRY, MOST_RETRY = 1, 600
# Before pinfold-ship sends receipts, it waits at most 10 s for a connection, and at most 20 s for the archive's first answer.
CONNECT = 10 + 20
LOT = 500  # Lot::kMostReceipts
SAMPLED_EVERY = 2
WINDOW = 10
ADD = "INSERT INTO receipts (number, id, key, uid, ended, receipt, kind) VALUES (?, ?, ?, ?, ?, ?, 1)"
# A lot is one transaction. The column `received` contains the time at which the transaction began.
LOTS = """
SELECT coalesce(json_agg(lot ORDER BY begun), '[]') FROM (
    SELECT node, extract(epoch FROM received)::float8 AS begun, max(extract(epoch FROM pg_xact_commit_timestamp(xmin)))::float8 AS committed,
        count(*) AS receipts
    FROM pinfold.receipt GROUP BY node, received) AS lot
"""


def receipts_of(name, number):
    now = time.time_ns() // 1000
    chance = random.Random(name)
    return [{**EXAMPLE, "id": f"{chance.getrandbits(128):032x}", "sequence": sequence, "key": f"sge.{chance.randrange(10**7)}",
             "uid": chance.randrange(1000, 1500), "host": name, "started": now - 10**9, "ended": now + sequence}
            for sequence in range(1, number + 1)]


class World(private_bus.World):
    """The kernel divides the CPUs among sessions (see sched(7) about autogroups), and each connection of PostgreSQL is a session. In one session, the
    programs of all nodes would together get only the CPU time of one connection. World starts each program in its own session, so that the programs
    get enough CPU time."""

    def start(self, *command):
        return super().start("setsid", *command)


private_bus.World = World


class Node:
    """Runs a node: a real pinfoldd that has receipts, and a real pinfold-ship."""

    def __init__(self, name, world, server):
        self.name, self.world = name, world
        self.state = world.root / "var/lib/pinfold-ship"
        self.state.mkdir(parents=True)
        crt, key = server.certificate(name)
        file = world.root / "etc/pinfold/pinfold.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'[archive]\nserver = "localhost"\nport = {server.port}\ncertificate = "{crt}"\nkey = "{key}"\n'
                        f'ca = "{server.authority.certificate}"\n')
        world.manager().Reload()

    def add_receipts(self, number):
        """Writes the receipts into the history as pinfoldd does. The sequence and the epoch are not in the JSON text."""
        rows = []
        for receipt in receipts_of(self.name, number):
            body = json.dumps({member: value for member, value in receipt.items() if value is not None and member not in ("sequence", "epoch")})
            rows.append([receipt[name] for name in ("sequence", "id", "key", "uid", "ended")] + [body])
        with contextlib.closing(sqlite3.connect(self.world.root / "var/lib/pinfold/history.db", timeout=30)) as history, history:
            history.execute("INSERT INTO kinds (kind, scheduler, result, outcome, leftovers) VALUES (1, 'sge', 'exited', 1, 0)")
            history.executemany(ADD, rows)
            history.execute("UPDATE numbering SET last = ?", [number])

    def start(self):
        with open(self.world.directory / "ship.log", "wb") as log:
            self.ship = subprocess.Popen([private_bus.BUILD / "src/ship/pinfold-ship", "--root", self.world.root], env=self.world.environment,
                                         stderr=log, start_new_session=True)
        self.world.processes.append(self.ship)

    def failures(self):
        with contextlib.suppress(FileNotFoundError):
            return int(re.search(r"^pinfold_ship_failures_total (\d+)", (self.state / "pinfold-ship.prom").read_text(), re.M)[1])
        return 0

    def back_off(self):
        """Returns the longest time in seconds that pinfold-ship can wait between its last failure and its next attempt."""
        return min(LEAST_RETRY * 2 ** (self.failures() - 1), MOST_RETRY)


def kilobytes(file, name):
    return int(re.search(rf"^{name}:\s+(\d+) kB", file.read_text(), re.M)[1])


def cpu_time(pid):
    """Returns the CPU time of a process and of its ended children, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class ServerMemory:
    """Adds up the memory of all processes of the server every two seconds. If several processes share a page, the sum includes this page only
    once."""

    def __init__(self, postmaster):
        self.postmaster, self.ended = postmaster, threading.Event()
        self.peak = {"sessions": 0, "Pss": 0, "Pss_Shmem": 0, "Pss_Anon": 0}
        self.thread = threading.Thread(target=self.run)

    def processes(self):
        return [self.postmaster, *map(int, Path(f"/proc/{self.postmaster}/task/{self.postmaster}/children").read_text().split())]

    def sample(self):
        found = dict.fromkeys(self.peak, 0)
        for pid in self.processes():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
                found["sessions"] += "pinfold_node" in Path(f"/proc/{pid}/cmdline").read_text()
                for name in ("Pss", "Pss_Shmem", "Pss_Anon"):
                    found[name] += int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M)[1])
        self.peak = {name: max(self.peak[name], value) for name, value in found.items()}

    def run(self):
        while not self.ended.wait(SAMPLED_EVERY):
            self.sample()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def start_real(worlds, server, names, chosen):
    """Starts nodes, and waits until each pinfold-ship has failed."""
    nodes = []
    for name in names:
        nodes.append(Node(name, worlds.enter_context(private_bus.new_world()), server))
        nodes[-1].add_receipts(chosen.receipts)
    for node in nodes:
        node.start()
    wait_until(lambda: all(node.failures() >= chosen.failures for node in nodes), f"{chosen.failures} failures of each pinfold-ship",
               4 * 2**chosen.failures + 60)
    return nodes


def write_lots(name, number, file):
    """Writes a script for psql that sends the receipts of a simulated node."""
    with open(file, "w", encoding="utf-8") as script:
        rows = receipts_of(name, number)
        for begin in range(0, number, LOT):
            lot = rows[begin : begin + LOT]
            texts = ",".join("'" + json.dumps(receipt).replace("'", "''") + "'" for receipt in lot)
            script.write(f"SELECT * FROM pinfold.put('{name}', 'boot', '{EPOCH}', {begin + 1}, {begin + len(lot)}, {number}, now(), ARRAY[{texts}],"
                         f" array_fill(''::bytea, ARRAY[{len(lot)}]));\n")


def send(server, name, file):
    """Sends the receipts of a simulated node over one connection."""
    return subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", server.connection(node=name), "-f", file],
                            stdout=subprocess.DEVNULL, start_new_session=True)


def waits(lots, up):
    """Returns two periods in seconds. The first period lasts from the start of the server to the node's first call of pinfold.put(). The second
    period is the longest period between two successive calls of the node. The period between two calls lasts from the commit of the earlier call
    to the commit of the later call."""
    times = [lot["committed"] for lot in lots]
    return lots[0]["begun"] - up, max((later - earlier for earlier, later in zip(times, times[1:])), default=0)


def starved(nodes, names, lots, up):
    """Prints how long the nodes waited. Returns a line for each node that had to wait too long before it could send receipts. A simulated node must
    not wait longer than the shortest back-off of all real nodes."""
    back_offs = {node.name: node.back_off() for node in nodes}
    least = min(back_offs.values())
    found, between = [], []
    for name in names:
        first, longest = waits([lot for lot in lots if lot["node"] == name], up)
        back_off = back_offs.get(name, least)
        between.append(longest)
        if name in back_offs:
            print(f"  {name}: the back-off was at most {back_off} s, the first lot began {first:.1f} s after the start of the server, and there "
                  f"were at most {longest:.1f} s from the commit of a lot to the commit of the next one")
        if first > back_off + CONNECT or longest > back_off:
            found.append(f"{name} starved: it waited {first:.1f} s for its first lot and {longest:.1f} s between two lots, and its back-off is at "
                         f"most {back_off} s")
    print(f"From the commit of a lot to the commit of the next one, all {len(names)} nodes waited at most {max(between):.1f} s.")
    return found


def busiest(lots):
    """Returns how many receipts were committed in the busiest period of length WINDOW."""
    return max(sum(lot["receipts"] for lot in lots if end - WINDOW < lot["committed"] <= end) for end in {lot["committed"] for lot in lots})


def print_rate(lots, up):
    receipts = sum(lot["receipts"] for lot in lots)
    begun, ended = min(lot["begun"] for lot in lots), max(lot["committed"] for lot in lots)
    times = sorted(lot["committed"] - lot["begun"] for lot in lots)
    print(f"The archive had all {receipts} receipts {ended - up:.1f} s after the start of the server. It took {receipts / (ended - begun):.0f} "
          f"receipts a second from the first lot to the last one, and {busiest(lots) / WINDOW:.0f} in its busiest {WINDOW} s. A lot took "
          f"{statistics.median(times) * 1000:.0f} ms (median), 99 % took less than {times[len(times) * 99 // 100] * 1000:.0f} ms.")


def print_memory(nodes, memory):
    peak = {name: value / 1024 for name, value in memory.peak.items() if name != "sessions"}
    ships = [kilobytes(Path(f"/proc/{node.ship.pid}/status"), "VmHWM") / 1024 for node in nodes]
    shares = [kilobytes(Path(f"/proc/{node.ship.pid}/smaps_rollup"), "Pss") / 1024 for node in nodes]
    print(f"The server had at most {memory.peak['sessions']} sessions of nodes and {peak['Pss']:.0f} MiB of memory: at most {peak['Pss_Shmem']:.0f} MiB "
          f"are shared buffers, and at most {peak['Pss_Anon']:.0f} MiB belong to single processes.")
    print(f"A pinfold-ship had {max(ships):.1f} MiB at its peak (VmHWM, with the libraries that it shares with others), and in the end "
          f"{statistics.median(shares):.1f} MiB (PSS).")


def print_cpu_time(nodes, memory, simulated):
    ships = sum(cpu_time(node.ship.pid) for node in nodes)
    others = sum(cpu_time(process.pid) for node in nodes for process in (node.world.daemon, node.world.processes[0]))
    print(f"CPU time: {sum(map(cpu_time, memory.processes())):.1f} s of the server, {ships:.1f} s of the real pinfold-ship, {others:.1f} s of their "
          f"pinfoldd and buses, {simulated:.1f} s of the simulated nodes, on a machine with {os.cpu_count()} CPUs")


def run(server, chosen):
    server.stop()
    server.configure(SETTINGS + "\ntrack_commit_timestamp = on")
    server.start()
    make(server)
    names = [f"node{index}" for index in range(chosen.nodes)]
    real, simulated = names[: chosen.ships], names[chosen.ships :]
    for name in names:
        server.certificate(name)
    server.stop()
    for name in simulated:
        write_lots(name, chosen.receipts, server.directory / f"{name}.sql")
    with contextlib.ExitStack() as worlds:
        nodes = start_real(worlds, server, real, chosen)
        before = sum(node.failures() for node in nodes)
        server.start()
        up, spent = time.time(), os.times()
        with ServerMemory(server.process.pid) as memory:
            senders = [send(server, name, server.directory / f"{name}.sql") for name in simulated]
            assert [sender.wait(MOST_RETRY) for sender in senders] == [0] * len(senders)
            spent = os.times().children_user + os.times().children_system - spent.children_user - spent.children_system
            complete = f"SELECT count(*) FROM pinfold.status WHERE unsent = 0 AND position = {chosen.receipts}"
            wait_until(lambda: int(server.psql(complete)) == chosen.nodes, "the receipts of all nodes", 2 * MOST_RETRY)
        lots = json.loads(server.psql(LOTS))
        assert int(server.psql("SELECT count(DISTINCT (node, sequence)) FROM pinfold.receipt")) == chosen.nodes * chosen.receipts
        print(f"{chosen.nodes} nodes with {chosen.receipts} receipts each, {chosen.ships} of them real. pinfold-ship failed {before} times before the "
              f"start of the server, and {sum(node.failures() for node in nodes) - before} times after it.")
        print_rate(lots, up)
        print_memory(nodes, memory)
        print_cpu_time(nodes, memory, spent)
        return starved(nodes, names, lots, up)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, default=64, help="the number of nodes (default 64)")
    options.add_argument("--ships", type=int, default=8, help="the number of real nodes, at least 1 (default 8)")
    options.add_argument("--receipts", type=int, default=5000, help="the number of receipts of each node (default 5000)")
    options.add_argument("--failures", type=int, default=6, help="how often each pinfold-ship fails before the server starts (default 6)")
    options.add_argument("--directory", default="/tmp", help="where the server keeps its files (default /tmp)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="pinfold-bench-", dir=chosen.directory) as directory, PostgresServer(Path(directory)) as server:
        found = run(server, chosen)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
