# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates an innocent user. A batch system opens, runs and ends the innocent user's jobs, and root and the user erin look at the jobs."""

import json
import pwd
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jobs import finish, run, start_job

USER = "dora"
CALLERS = ("root", "erin")  # erin starts no jobs, because a job's wrapper would use up a part of erin's quota of calls
LEAST = 500  # jobs
LANES = 3
ASK = Path(__file__).with_name("ask.py")


def identity(user):
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Crowd:
    """Runs jobs until the test calls finish(). After the call of finish(), the crowd runs more jobs if the number of jobs is still below `LEAST`."""

    def __init__(self):
        self.keys = {}
        self.wrong = []
        self.calls = {}
        self._over = threading.Event()
        self._askers = {}

    def start(self):
        self._askers = {user: subprocess.Popen([sys.executable, ASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **identity(user))
                        for user in CALLERS}
        self._lanes = ThreadPoolExecutor(LANES)
        self._work = [self._lanes.submit(self._lane, first) for first in range(LANES)]

    def finish(self):
        self._over.set()
        self._lanes.shutdown()
        for user in list(self._askers):
            out, _ = self._askers.pop(user).communicate("", timeout=60)
            self.calls[user] = json.loads(out)

    def _lane(self, number):
        while len(self.keys) < LEAST or not self._over.is_set():
            self._job(f"crowd.{number}", number % 8)
            number += LANES

    def _job(self, key, status):
        """Runs one job, which exits with `status`. If `status` is 7, the job sends itself SIGKILL and does not exit."""
        run("pinfold", "open", key, "--uid", identity(USER)["user"])
        end, told = (f"exit {status}", status) if status < 7 else ("kill -KILL $$", -signal.SIGKILL)
        done = finish(start_job(key, "sh", "-c", f"echo ran; {end}", options=["--batch"], **identity(USER)))
        run("pinfold", "end", key)
        self.keys[key] = status
        if done != (told, "ran\n", ""):
            self.wrong.append(f"{key}: {done}")

    def compare(self):
        """Compares each job with its receipt. If a thread that ran jobs has failed, the function raises the error of this thread."""
        for work in self._work:
            work.result()
        found = {}
        for receipt in history("crowd"):
            found.setdefault(receipt["key"], []).append(receipt)
        for key, status in self.keys.items():
            how = [(receipt["result"], receipt.get("exit_status"), receipt.get("exit_signal"), receipt["uid"]) for receipt in found.get(key, [])]
            wanted = ("exited", status, None) if status < 7 else ("signaled", None, int(signal.SIGKILL))
            if how != [(*wanted, identity(USER)["user"])]:
                self.wrong.append(f"{key}: {found.get(key)}")


def history(scheduler):
    return json.loads(run("pinfold", "history", "--json", "-n", "10000", "--scheduler", scheduler).stdout)["receipts"]
