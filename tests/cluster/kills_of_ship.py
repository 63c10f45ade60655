# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills pinfold-ship of both nodes, once in each state that pinfold-ship can have. A test first stops pinfold-ship, then looks at the state, and
then kills pinfold-ship. While a process of pinfold-ship is stopped, the state of this process cannot change."""

import json
import socket

from jobs import wait_until
from nodes import NODES, kill, on

STATE = "/var/lib/pinfold-ship"
METRICS = f"{STATE}/pinfold-ship.prom"


def main_process(node, unit):
    return int(on(node, "systemctl", "show", "--property=MainPID", "--value", unit).stdout)


def cursor(node):
    """Returns the sequence number in the node's cursor. The node knows that the archive has every receipt up to the receipt with this sequence
    number."""
    return json.loads(on(node, "cat", f"{STATE}/sent").stdout)["sequence"]


def confirmed(node):
    """Returns how many receipts the archive has confirmed to pinfold-ship since the start of pinfold-ship. The function reads the number from the
    metrics of pinfold-ship. If pinfold-ship has written no metrics yet, the number is 0. pinfold-ship reads an answer, tries to write the cursor, and
    then writes the metrics."""
    done = on(node, "awk", '$1 == "pinfold_ship_receipts_total" { print $2 }', METRICS, check=False)
    return int(done.stdout or 0)


def connections(site, node):
    return site.relay.of(socket.gethostbyname(node))


def waits_in(site, node, function, table):
    """Returns true if a session of the node runs the archive's function `function`, and waits for a lock on `table`."""
    ports = [str(connection.port) for connection in connections(site, node)]
    rows = site.server.rows("SELECT client_port FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE usename = 'pinfold_node' AND NOT granted "
                            f"AND relation = 'pinfold.{table}'::regclass AND query LIKE '%pinfold.{function}(%'")
    return any([port] in rows for port in ports)


def kill_in_state(node, in_state, what):
    """Kills pinfold-ship of the node while in_state() is true, and returns the process id of the killed pinfold-ship."""
    def killed():
        pid = in_state() and main_process(node, "pinfold-ship")
        if not pid:
            return None
        on(node, "sh", "-c", f"kill -STOP {pid}")
        if not in_state():
            on(node, "sh", "-c", f"kill -CONT {pid}")
            return None
        kill(node, pid)
        return pid
    return wait_until(killed, f"pinfold-ship of {node} {what}")


def kill_all_in_state(in_state, what, afterwards=lambda node: None):
    """On each node, kills pinfold-ship at a moment at which in_state(node) is true. The function then waits until systemd has started each
    pinfold-ship again."""
    killed = {node: kill_in_state(node, lambda node=node: in_state(node), what) for node in NODES}
    for node, pid in killed.items():
        afterwards(node)
        wait_until(lambda node=node, pid=pid: main_process(node, "pinfold-ship") not in (0, pid), f"pinfold-ship of {node} again")


def kill_while_it_connects(site):
    """Kills pinfold-ship after pinfold-ship has sent a request to the server, and before the server has answered the request."""
    site.relay.answers.clear()
    try:
        site.relay.cut()
        kill_all_in_state(lambda node: any(one.asked and not one.answered for one in connections(site, node)), "connects")
    finally:
        site.relay.answers.set()


def kill_while_it_asks_for_the_position(site):
    """pinfold.position() waits, because the table pinfold.node is locked."""
    with site.server.locked("pinfold.node", "ACCESS EXCLUSIVE"):
        site.relay.cut()  # after a broken connection, pinfold-ship asks the archive for the node's position
        kill_all_in_state(lambda node: waits_in(site, node, "position", "node"), "asks for the position")


def gaps_locked(site):
    """While the context lasts, each call of pinfold.put() stores receipts, but the server does not commit the receipts. At the end of a call,
    pinfold.put() writes to the table pinfold.gap and waits, because the test has locked this table. If the archive already has all the receipts,
    pinfold.put() does not write to the table of gaps."""
    return site.server.locked("pinfold.gap", "SHARE")


def kill_while_a_put_runs(site):
    """Kills pinfold-ship while the server has an open transaction with receipts of the node."""
    with gaps_locked(site):
        kill_all_in_state(lambda node: waits_in(site, node, "put", "gap"), "puts")


def kill_between_the_commit_and_the_answer(site):
    """The server has committed receipts of the node, but the relay does not send the answer to pinfold-ship. The connection on which pinfold-ship
    sent the receipts is still open."""
    try:
        with gaps_locked(site):
            for node in NODES:
                wait_until(lambda node=node: waits_in(site, node, "put", "gap"), f"a put of {node}")
            site.relay.answers.clear()
            before = {node: site.position(node) for node in NODES}
            puts = {node: set(connections(site, node)) for node in NODES}
        kill_all_in_state(lambda node: site.position(node) > before[node] >= cursor(node) and puts[node] & set(connections(site, node)),
                          "waits for the answer to its COMMIT")
    finally:
        site.relay.answers.set()


def kill_between_the_answer_and_the_cursor(site):
    """A directory has the name of the cursor's temporary file, so pinfold-ship cannot write the cursor. The test waits for two events: the archive's
    position becomes higher than the cursor, and the number of confirmed receipts in pinfold-ship's metrics rises."""
    obstacle = f"{STATE}/.sent.tmp"
    for node in NODES:
        # After a start, pinfold-ship sends some old receipts a second time before the first new receipt. pinfold-ship counts even the receipts that
        # it sends a second time.
        position = site.position(node)
        wait_until(lambda node=node, position=position: cursor(node) > position, f"new receipts of {node}")
        wait_until(lambda node=node: on(node, "mkdir", obstacle, check=False).returncode == 0, "no cursor is being written")
        on(node, "rm", "-f", METRICS)  # the file METRICS is perhaps from an earlier process of pinfold-ship
    old = {node: (cursor(node), wait_until(lambda node=node: confirmed(node), f"metrics of {node}")) for node in NODES}
    kill_all_in_state(lambda node: confirmed(node) > old[node][1] and site.position(node) > cursor(node) == old[node][0], "has read an answer",
                      lambda node: on(node, "rmdir", obstacle))


def is_idle(site, node):
    """Returns true if the archive has all receipts of the node, the node's cursor is at the newest receipt, and pinfold-ship has no connection."""
    return not connections(site, node) and cursor(node) == site.position(node) == site.newest(node)


def kill_while_it_is_idle(site):
    """After each start, pinfold-ship sends its last receipts a second time. The function waits until each pinfold-ship has sent its last receipts a
    second time."""
    def seen():
        return site.server.rows("SELECT node, seen FROM pinfold.status")
    before = seen()
    kill_all_in_state(lambda node: is_idle(site, node), "is idle")
    wait_until(lambda: not any(row in seen() for row in before), "a lot of each node")


KILLS_AT_WORK = (kill_while_it_connects, kill_while_it_asks_for_the_position, kill_while_a_put_runs,
                 kill_between_the_commit_and_the_answer, kill_between_the_answer_and_the_cursor)
