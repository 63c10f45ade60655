# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how long pinfoldd's answers take while something on the node does not work. Root and an ordinary user make the same calls."""

import contextlib
import select
import statistics
import subprocess
import sys
import threading
import time

import pytest

from jobs import as_alice, run

MOST = 0.5  # the most seconds that a call may take according to pace()
PAUSE = 0.02  # the seconds between two runs of the small program of pace()
COMMANDS = [("pinfold", "list"), ("pinfold", "status"), ("pinfold", "history")]
# AT_THE_SOCKET is a program that sends the same request as pam_pinfold. The request does not need the bus.
AT_THE_SOCKET = (sys.executable, "-c", """
import socket
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
    connection.connect("/run/pinfold/wrapper.sock")
    connection.send(b'{"version":1,"call":"list","uid":0}')
    assert b'"jobs"' in connection.recv(65536)
""")


@contextlib.contextmanager
def pace():
    """Runs a small program again and again, until the context ends. The program does not need pinfoldd. After the context, the yielded function
    returns how long a time span was, minus all runs of the small program during the time span. On an idle machine, a run takes a few milliseconds.
    On a busy machine, a run takes much longer, because the small program waits for a processor. A call waits for a processor several times: `pinfold`
    does, and so do the bus and pinfoldd. The load average cannot replace the runs. It shows a new load only after some time, and it does not show
    that a processor of a virtual machine has stopped for a moment."""
    runs, over = [], threading.Event()

    def run_again_and_again():
        # The machine can stand still between two runs, too, so a run counts from the end of the run before.
        ended, goes_on = time.monotonic(), True
        while goes_on:
            goes_on = not over.wait(PAUSE)
            subprocess.run(["true"], check=True)
            begun, ended = ended, time.monotonic()
            runs.append((begun, ended))

    def seconds(begun, ended):
        assert over.is_set(), "the last run has perhaps not ended yet"
        return max(0.0, ended - begun - sum(after - before - PAUSE for before, after in runs if before < ended and begun < after))
    thread = threading.Thread(target=run_again_and_again)
    thread.start()
    try:
        yield seconds
    finally:
        over.set()
        thread.join()


def timed(action):
    """Returns what action() returns, and the seconds that action() took according to pace()."""
    with pace() as seconds:
        begun = time.monotonic()
        result = action()
        ended = time.monotonic()
    return result, seconds(begun, ended)


def answered(commands=(), until=lambda: True):
    """Returns a pair for each call: the seconds that the call took according to pace(), and the call. The function makes at least 30 calls, and makes
    further calls while the parameter `until` returns false."""
    spans = []
    round_begun = 0.0
    with pace() as seconds:
        while len(spans) < 30 or not until():
            # Each command makes several calls, and pinfoldd refuses more than 100 calls per second of one ordinary user. The loop waits before it
            # runs the commands again.
            select.select([], [], [], max(0.0, round_begun + 0.3 - time.monotonic()))
            round_begun = time.monotonic()
            for command in commands or COMMANDS:
                for by_whom in (command, as_alice(*command)):
                    begun = time.monotonic()
                    run(*by_whom)
                    spans.append((begun, time.monotonic(), by_whom))
    return [(seconds(begun, ended), by_whom) for begun, ended, by_whom in spans]


@pytest.fixture
def in_time(record_property):
    """Returns a function that checks whether every call was answered in time."""
    def check(took):
        slowest, call = max(took)
        median = statistics.median(seconds for seconds, _ in took)
        figures = f"{len(took)} calls, median {median:.3f} s, slowest {slowest:.3f} s"
        record_property("calls", figures)
        print(figures)
        assert slowest < MOST, call
    return check
