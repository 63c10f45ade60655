# SPDX-License-Identifier: LGPL-2.1-or-later
"""Disturbs pinfoldd, the bus, systemd, the journal and the disk while jobs start and end."""

import contextlib
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path

from jobs import main_pid, run, systemd_stopped, wait_until

STATE = Path("/var/lib/pinfold")
BALLAST = STATE / "ballast"
LONGEST_WINDOW = 8.0  # no disturbance lasts longer than this number of seconds; a longer disturbance could block all jobs
MOST_DUE, LONGEST_LAG = 4, 30.0  # events; seconds
BACK_WITHIN = 30.0  # seconds


def _kill(unit):
    pid = main_pid(unit)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return pid


def _kill_and_wait(unit, *sockets):
    run("systemctl", "reset-failed", unit, *sockets, check=False)  # systemd counts the starts
    killed = _kill(unit)
    assert killed, f"{unit} does not run"
    wait_until(lambda: main_pid(unit) not in (0, killed), f"{unit} runs again", BACK_WITHIN)


@contextlib.contextmanager
def _standing_still(unit, seconds):
    pid = main_pid(unit)
    if not pid:
        return
    pidfd = os.pidfd_open(pid)
    signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
    try:
        yield
        threading.Event().wait(seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGCONT)
        os.close(pidfd)


def kill(_):
    _kill("pinfoldd")


def stop(seconds):
    with contextlib.suppress(ProcessLookupError, RuntimeError), _standing_still("pinfoldd", seconds):
        pass


def restart(_):
    run("systemctl", "restart", "pinfoldd", timeout=120)


def shutdown(_):
    """Stops pinfoldd. The next request starts pinfoldd again."""
    run("systemctl", "stop", "pinfoldd", check=False, timeout=120)  # `systemctl stop` fails if a request starts pinfoldd again at once


def reload(_):
    run("systemctl", "reload", "pinfoldd", check=False, timeout=120)  # `systemctl reload` fails if pinfoldd does not run at this moment


def upgrade(_):
    """Does what the upgrade of a package does: replaces the program by rename, and then does a daemon-reload and a restart."""
    run("cp", "/usr/libexec/pinfoldd", "/usr/libexec/pinfoldd.new")
    os.rename("/usr/libexec/pinfoldd.new", "/usr/libexec/pinfoldd")
    run("systemctl", "daemon-reload", check=False, timeout=120)
    run("systemctl", "restart", "pinfoldd", timeout=120)


def bus(_):
    run("systemctl", "reset-failed", "dbus.service", check=False)  # systemd counts the starts
    run("systemctl", "restart", "dbus.service", timeout=120)


def bus_kill(_):
    """Without the bus, PID 1 does not get any request from pinfoldd. systemd starts the bus again when pinfoldd or another program connects
    to the bus's socket."""
    _kill_and_wait("dbus.service", "dbus.socket")


def bus_stop(seconds):
    with contextlib.suppress(ProcessLookupError, RuntimeError), _standing_still("dbus.service", seconds):
        pass


def systemd_stop(seconds):
    with systemd_stopped():
        threading.Event().wait(seconds)


def daemon_reload(_):
    run("systemctl", "daemon-reload", check=False, timeout=120)


def daemon_reexec(_):
    run("systemctl", "daemon-reexec", check=False, timeout=120)


def journal_restart(_):
    run("systemctl", "reset-failed", "systemd-journald.service", check=False)
    run("systemctl", "restart", "systemd-journald.service", timeout=120)


def journal_kill(_):
    _kill_and_wait("systemd-journald.service")


def journal_stop(seconds):
    with contextlib.suppress(ProcessLookupError, RuntimeError), _standing_still("systemd-journald", seconds):
        pass


def reconcile(_):
    """Runs `pinfold reconcile` while jobs start and end. There is no orphan, so `pinfold reconcile` must not change anything."""
    done = run("pinfold", "reconcile", check=False)
    assert done.returncode in (0, 6), f"reconcile: status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@contextlib.contextmanager
def drain():
    done = run("pinfold", "drain", "--reason", "chaos", check=False)
    assert done.returncode == 0 or "the change was not stored" in done.stderr, done.stderr  # while the disk is full, pinfoldd cannot store the drain
    try:
        yield
    finally:
        wait_until(lambda: run("pinfold", "undrain", check=False).returncode == 0, "the node takes jobs again")


@contextlib.contextmanager
def full_disk():
    """Fills up /var/lib/pinfold, so that no program can write a file there. /var/lib/pinfold is a small file system of its own."""
    # The checkpoint makes the write-ahead log empty. With a long write-ahead log, SQLite could write hundreds of receipts although the disk is full.
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(STATE / "history.db")) as history:
        history.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(BALLAST, "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(1 << 16))
    try:
        yield
    finally:
        BALLAST.unlink()


AT_ONCE = {"kill": (8, kill), "stop": (4, stop), "restart": (4, restart), "shutdown": (2, shutdown), "reload": (4, reload),
           "upgrade": (1, upgrade), "bus": (3, bus), "bus-kill": (3, bus_kill), "bus-stop": (3, bus_stop),
           "daemon-reload": (4, daemon_reload), "daemon-reexec": (3, daemon_reexec), "systemd-stop": (3, systemd_stop),
           "journal-restart": (2, journal_restart), "journal-kill": (2, journal_kill), "journal-stop": (3, journal_stop),
           "reconcile": (2, reconcile)}
LASTING = {"drain": (3, drain), "full disk": (3, full_disk)}
WEIGHTS = {**{name: (weight, False) for name, (weight, _) in AT_ONCE.items()}, **{name: (weight, True) for name, (weight, _) in LASTING.items()}}


class Disturber(threading.Thread):
    """A disturbance of the plan begins when the number of jobs that have begun reaches `Event.after`. A lasting disturbance ends when the number of
    jobs that have begun reaches `Event.until`. A lasting disturbance ends early if it has lasted for LONGEST_WINDOW seconds, or if all jobs are
    over."""

    def __init__(self, events, log):
        super().__init__(name="disturber")
        self.log = log
        self.failures = []
        self._events = list(events)
        self._open = []  # until, deadline, entry, context
        self._begun = 0
        self._over = False
        self._changed = threading.Condition()

    def begun(self, jobs):
        """Waits until at most MOST_DUE disturbances are due but have not begun. Even if the node refuses all jobs, the plan must not end before
        pinfoldd has restarted once."""
        with self._changed:
            self._begun += jobs
            self._changed.notify_all()
            self._changed.wait_for(lambda: sum(event.after <= self._begun for event in self._events) <= MOST_DUE, LONGEST_LAG)

    def finish(self):
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self.join()

    def run(self):
        while work := self._next():
            try:
                work()
            except Exception as error:  # this is a failure of the test, but the jobs continue
                self.failures.append(f"{type(error).__name__}: {error}")
            with self._changed:
                self._changed.notify_all()

    def _next(self):
        with self._changed:
            while True:
                for window in self._open:
                    if self._over or window[0] <= self._begun or time.monotonic() >= window[1]:
                        return lambda due=window: self._close(due)
                if self._over:
                    return None
                if self._events and self._events[0].after <= self._begun:
                    event = self._events.pop(0)
                    return lambda: self._do(event)
                nearest = min((window[1] for window in self._open), default=None)
                self._changed.wait(None if nearest is None else max(0.0, nearest - time.monotonic()))

    def _do(self, event):
        entry = self.log.begin(event.name)
        if event.name in AT_ONCE:
            try:
                entry.words = AT_ONCE[event.name][1](event.seconds) or ""
            finally:
                entry.end = time.monotonic()
            return
        context = LASTING[event.name][1]()
        try:
            context.__enter__()
        except BaseException:
            entry.end = time.monotonic()
            raise
        self._open.append((event.until, time.monotonic() + LONGEST_WINDOW, entry, context))

    def _close(self, window):
        self._open.remove(window)
        try:
            window[3].__exit__(None, None, None)
        finally:
            window[2].end = time.monotonic()
