# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a batch system talks to pinfold: by pinfold-run, by the command pinfold, and at the wrapper's socket. All of it is written
into the job's story."""

import contextlib
import itertools
import json
import os
import pwd
import select
import signal
import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from jobs import BATCH, wait_until

PATIENCE = 150.0  # seconds; longer than any job of ours takes, whatever is done to it
TAG = "PINFOLD_CHAOS"  # in the environment of all that jobs start: what has it afterwards has been left behind
RAN = b"ran\n"  # what each job's command says first
REFUSAL = "this node takes no jobs for now"
STILL_LIVE = "is live already"
NOT_OVER_YET = "is not over yet, so pinfold-run waits"
# A pinfoldd that stood still for two seconds, by a disturbance or by a busy machine, cannot tell that from a disk that did.
SLOW_DISK = "the disk did not confirm a write within"
UNREACHABLE, TIMED_OUT = 6, 124  # exit statuses of pinfold
OVER = ("no live job", "is live or in the history", "is ending", "is accounting", "too late")
LATER = ("try again", "is just being created", "being created", "wait a second")
OUTAGES = ("not reachable", "did not answer", "pinfold: systemd did not ")

# What makes pinfoldd lose its state or PID 1 lose a call.
OUTAGE = {"kill", "stop", "restart", "upgrade", "shutdown", "bus", "daemon-reload", "daemon-reexec"}
# A node whose disk was full takes jobs again when the receipts that it owed are written.
REOPENED_WITHIN = 30.0


@dataclass(frozen=True)
class Ended:
    status: int
    out: bytes
    err: str

    @property
    def how(self):
        """As a receipt has it: status and signal."""
        return (self.status, None) if self.status >= 0 else (None, -self.status)


def identity(user):
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []} if entry.pw_uid else {}


def start(story, *command, user="root", **more):
    environment = {**os.environ, TAG: story.key}
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                            env=environment, cwd="/", **identity(user), **more)


class Wrapper:
    """A pinfold-run and its job's command, which reads a line and says "ran" if it wants to."""

    def __init__(self, story, *command, key=None, options=(), user=None, **more):
        self.story, self.key, self.supervises = story, key, "--exec" not in options
        self.begin = time.monotonic()
        words = ["pinfold-run", *(["--job", key] if key else []), *options, "--", *command]
        self.process = start(story, *words, user=user or story.item.user, **more)
        story.note(f"pid {self.process.pid}: {' '.join(words)}")

    def has_run(self):
        """Waits until the command says so. False when it ends before it does."""
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        said = self.process.stdout.read(len(RAN)) if ready else b""
        self.story.note(f"pid {self.process.pid} says {said!r}")
        return said == RAN

    def send(self, number):
        self.story.note(f"{signal.Signals(number).name} to pid {self.process.pid}")
        self.process.send_signal(number)

    def finish(self, word=b"\n"):
        try:
            out, err = self.process.communicate(word, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.story.fault(f"pid {self.process.pid} hangs in {reading(f'/proc/{self.process.pid}', 'wchan')}")
            self.process.kill()
            out, err = self.process.communicate()
        ended = Ended(self.process.returncode, out, err.decode(errors="replace"))
        # The slot is free now: not while anything of the job lives.
        if self.supervises and self.key and "--task" not in self.process.args and self.process.returncode != -signal.SIGKILL:
            if populated(self.key) and (left := members(self.key)):
                self.story.fault(f"pid {self.process.pid} has left, and processes of {self.key} live: {left}")
        self.story.note(f"pid {self.process.pid} ended with {ended.status}, said {ended.out!r} {ended.err!r}")
        return ended


def reading(folder, name):
    """A file of the kernel's; "?" when it is gone."""
    with contextlib.suppress(OSError):
        return (Path(folder) / name).read_text().strip()
    return "?"


def populated(key):
    try:
        return "populated 1" in (BATCH / f"batch-{key}.slice" / "cgroup.events").read_text()
    except OSError:
        return False


def members(key):
    """Without the placeholder around which pinfoldd may be starting a scope, also when the wrapper has been ended meanwhile."""
    pids = [pid for scope in (BATCH / f"batch-{key}.slice").glob("*.scope") for pid in reading(scope, "cgroup.procs").split()]
    found = [(pid, reading(f"/proc/{pid}", "comm"), reading(f"/proc/{pid}", "wchan")) for pid in pids]
    return [entry for entry in found if entry[1] not in ("pinfold-place", "?")]


def closed(story, since=None):
    """Whether the node may have refused jobs since then."""
    return story.disturbed({"drain"}, 0.0, since) or story.disturbed({"full disk"}, REOPENED_WITHIN, since)


def admitted(story, ended, begin=None):
    """Whether the job was let in. One that was refused has not run, and was told why."""
    if ended.status != 125 or RAN in ended.out:
        return True
    story.refused += 1
    # While a receipt cannot be written the wrapper is let go, and its key is still the earlier job's.
    owed = STILL_LIVE in ended.err and story.disturbed({"full disk"}, REOPENED_WITHIN, begin)
    said = owed or (REFUSAL in ended.err and (SLOW_DISK in ended.err or closed(story, begin)))
    story.expect(said, f"refused without a reason: {ended.err!r}")
    return False


def quiet(story, ended, because=None):
    """Nothing in the job's standard error but what must be there. `because`: why it was stopped, where it did not end by itself."""
    said = [line for line in ended.err.splitlines() if NOT_OVER_YET not in line and SLOW_DISK not in line]
    due = [f"pinfold-run: job {story.key} on {os.uname().nodename} was stopped{because}"] if because else []
    story.expect(said == due or story.disturbed({"full disk"}, REOPENED_WITHIN), f"it said {said}, not {due}")


def job(story, script, key=None, options=(), user=None, statuses=None):
    """Runs a shell's script to its end. None when it was refused."""
    wrapper = Wrapper(story, "sh", "-c", f"echo ran; {script}", key=key or story.key, options=options, user=user)
    ended = wrapper.finish()
    if not admitted(story, ended, wrapper.begin):
        return None
    quiet(story, ended)
    story.expect(ended.out.startswith(RAN), f"it did not run, and ended with {ended.status}")
    if statuses is not None:
        story.expect(ended.status in statuses, f"status {ended.status}, not {sorted(statuses)}")
    return ended


def terminated(story):
    """By which signals what gets SIGTERM by way of PID 1 may end: the call is lost with a PID 1 that starts anew, and then the
    kernel kills after the grace."""
    return {-signal.SIGTERM, -signal.SIGKILL} if story.disturbed(OUTAGE) else {-signal.SIGTERM}


def pinfold(story, *words, done=lambda: False, statuses=(0,), user="root"):
    """A call that is made until it is answered: its answer may be lost, and then it may be done already. Its standard output, or
    None when there is nothing to be done any more."""
    end = time.monotonic() + PATIENCE
    for tries in itertools.count():
        begin = time.monotonic()
        process = start(story, "pinfold", *words, user=user)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        err = err.decode(errors="replace")
        story.note(f"pinfold {' '.join(map(str, words))}: status {process.returncode} {err!r} after {time.monotonic() - begin:.3f} s")
        if process.returncode in statuses:
            return out
        if done() or (tries > 0 and any(word in err for word in OVER)):
            return None
        later = any(word in err for word in LATER)
        again = later or process.returncode in (UNREACHABLE, TIMED_OUT) or any(word in err for word in OUTAGES)
        story.expect(later or not again or story.disturbed(OUTAGE, since=begin), f"nothing has disturbed it, but: {err!r}")
        if not again or time.monotonic() > end:
            story.fault(f"pinfold {' '.join(map(str, words))}: status {process.returncode} {err!r}")
            return None
        select.select([], [], [], 0.1)


def opened(story, *options, owner):
    """By a prologue, which asks again when its answer was lost. False when it was refused, which is told like that of a job."""
    end = time.monotonic() + PATIENCE
    while True:
        begin = time.monotonic()
        process = start(story, "pinfold", "open", story.key, "--uid", owner, *options)
        _, err = process.communicate(timeout=PATIENCE)
        err = err.decode(errors="replace")
        story.note(f"pinfold open: status {process.returncode} {err!r} after {time.monotonic() - begin:.3f} s")
        if process.returncode == 0:
            story.asked_again |= bool(story.disturbed(OUTAGE, since=begin))  # by `pinfold open` itself
            return True
        lost = process.returncode in (UNREACHABLE, TIMED_OUT) or any(word in err for word in OUTAGES)
        if not lost or not story.disturbed(OUTAGE, since=begin) or begin > end:
            break
        story.asked_again = True
        select.select([], [], [], 0.1)
    story.refused += 1
    story.expect(REFUSAL in err and (SLOW_DISK in err or closed(story, begin)), f"not opened: {err!r}")
    return False


def ended(story, *options):
    """By an epilogue: the receipt."""
    out = pinfold(story, "end", story.key, "--json", *options)
    return json.loads(out)["receipt"] if out else None


def ask(story, request, processes=()):
    """At the wrapper's socket, again while the connection is lost: the answer."""
    packet = json.dumps({"version": 1, **request}, separators=(",", ":")).encode()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection, contextlib.ExitStack() as opened_here:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(PATIENCE), 0))
            pidfds = [os.pidfd_open(pid) for pid in processes]
            for pidfd in pidfds:
                opened_here.callback(os.close, pidfd)
            with contextlib.suppress(OSError):
                connection.connect("/run/pinfold/wrapper.sock")
                socket.send_fds(connection, [packet], pidfds)
                if answer := connection.recv(65536):
                    story.note(f"{request}: {answer[:500]}")
                    return json.loads(answer)
        select.select([], [], [], 0.1)
    story.fault(f"no answer to {request}")
    return {"error": "none", "message": "no answer"}


def until(predicate, what):
    return wait_until(predicate, what, deadline=PATIENCE)
