# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes calls that have nothing to do with the jobs, and measures how long the calls take. root and an ordinary user list the jobs
repeatedly."""

import json
import threading
import time
from dataclasses import dataclass

from asking import identity
from jobs import run

BETWEEN = 0.5  # seconds from one call to the next
CALLERS = ("root", "bob")


@dataclass(frozen=True)
class Call:
    caller: str
    begin: float
    seconds: float
    status: int
    words: str


class Probe(threading.Thread):
    def __init__(self):
        super().__init__(name="probe")
        self.calls = []
        self._over = threading.Event()

    def finish(self):
        self._over.set()
        self.join()

    def run(self):
        while not self._over.wait(BETWEEN):
            for caller in CALLERS:
                begin = time.monotonic()
                done = run("pinfold", "list", "--json", check=False, timeout=300, **identity(caller))
                seconds = time.monotonic() - begin
                if done.returncode == 0:
                    json.loads(done.stdout)
                self.calls.append(Call(caller, begin, seconds, done.returncode, done.stderr.strip()))
