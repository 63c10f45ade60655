# SPDX-License-Identifier: LGPL-2.1-or-later
"""Talks to pinfold like a batch system. The calls go through pinfold-run, through the command `pinfold`, and through the wrapper's socket.
Each function notes its calls in a Story (see story.py)."""

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

from jobs import BATCH, text_of, wait_until

PATIENCE = 150.0  # in seconds; every job of this suite ends within this time, even if disturbances delay the job
# All processes that jobs start have the variable TAG in their environment. If a process with the variable TAG exists at the end of the run, a job
# has left the process behind.
TAG = "PINFOLD_CHAOS"
OWNERS = {"alice": 1000, "bob": 1001}
RAN = b"ran\n"  # the first output of each job's command
REFUSAL = "this node takes no jobs for now"
STILL_LIVE = "is live already"
NOT_OVER_YET = "is not over yet, so pinfold-run waits"
# If a disturbance or a busy machine stops pinfoldd for two seconds, pinfoldd reports that the disk is slow.
SLOW_DISK = "the disk did not confirm a write within"
UNREACHABLE, TIMED_OUT = 6, 124  # exit statuses of pinfold
OVER = ("no live job", "is live or in the history", "is ending", "is accounting", "too late")
LATER = ("try again", "is just being created", "being created", "wait a second")
OUTAGES = ("not reachable", "did not answer", "pinfold: systemd did not ")

# A disturbance in OUTAGE can make pinfoldd lose its state, or make PID 1 lose a call.
OUTAGE = {"kill", "stop", "restart", "upgrade", "shutdown", "bus", "bus-kill", "daemon-reload", "daemon-reexec"}
# A disturbance in DELAY delays calls, but does not lose calls. PID 1 can answer a delayed call after the end of a job's grace time.
DELAY = {"bus-stop", "systemd-stop"}
# When a full disk has room again, pinfoldd first writes the receipts that it could not write, and then takes jobs again.
REOPENED_WITHIN = 30.0


@dataclass(frozen=True)
class Ended:
    status: int
    out: bytes
    err: str

    @property
    def how(self):
        """Returns the exit status and the signal as a receipt contains them."""
        return (self.status, None) if self.status >= 0 else (None, -self.status)


def identity(user):
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []} if entry.pw_uid else {}


def start(story, *command, user="root", **more):
    environment = {**os.environ, TAG: story.key}
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                            env=environment, cwd="/", **identity(user), **more)


class Wrapper:
    """Runs pinfold-run with the command of a job. The command reads a line, and some commands then print "ran"."""

    def __init__(self, story, *command, key=None, options=(), user=None, **more):
        self.story, self.key, self.supervises = story, key, "--exec" not in options
        self.begin = time.monotonic()
        words = ["pinfold-run", *(["--job", key] if key else []), *options, "--", *command]
        self.process = start(story, *words, user=user or story.item.user, **more)
        story.note(f"pid {self.process.pid}: {' '.join(words)}")

    def has_run(self):
        """Waits until the command has printed that it runs. Returns False if the command ends and has not printed RAN."""
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
            self.story.fault(f"pid {self.process.pid} hangs in {text_of(f'/proc/{self.process.pid}/wchan')}")
            self.process.kill()
            out, err = self.process.communicate()
        ended = Ended(self.process.returncode, out, err.decode(errors="replace"))
        # A batch system gives the job's slot to another job when the wrapper ends. All processes of the job must end before the wrapper.
        if self.supervises and self.key and "--task" not in self.process.args and self.process.returncode != -signal.SIGKILL:
            if populated(self.key) and (left := members(self.key)):
                self.story.fault(f"pid {self.process.pid} has left, and processes of {self.key} live: {left}")
        self.story.note(f"pid {self.process.pid} ended with {ended.status}, said {ended.out!r} {ended.err!r}")
        return ended


def populated(key):
    return "populated 1" in text_of(BATCH / f"batch-{key}.slice" / "cgroup.events")


def members(key):
    """Returns the processes of the job, except the placeholder. pinfoldd starts each scope with a placeholder process, sometimes even after the
    wrapper has ended. Before the placeholder has got a CPU for the first time, the placeholder has the name of pinfoldd."""
    pids = [pid for scope in (BATCH / f"batch-{key}.slice").glob("*.scope") for pid in text_of(scope / "cgroup.procs").split()]
    found = [(pid, text_of(f"/proc/{pid}/comm").strip(), text_of(f"/proc/{pid}/wchan")) for pid in pids]
    return [entry for entry in found if entry[1] not in ("pinfold-place", "pinfoldd", "")]


def closed(story, since=None):
    """Returns a true value if a disturbance explains why the node refuses jobs. The parameter `since` is the time at which the search for
    disturbances begins."""
    return story.disturbed({"drain"}, 0.0, since) or story.disturbed({"full disk"}, REOPENED_WITHIN, since)


def refused(story, words, since=None):
    """Returns True if `words` says that the node takes no jobs, and if this refusal is right. A refusal is right only if the disk is slow or full, or
    if a disturbance has drained the node."""
    return REFUSAL in words and (SLOW_DISK in words or closed(story, since))


def admitted(story, ended, begin=None):
    """Returns whether pinfoldd admitted the job. If pinfoldd refuses a job, the job's command must not run, and pinfold-run must print the reason."""
    if ended.status != 125 or RAN in ended.out:
        return True
    story.refused += 1
    # While the disk is full, a wrapper can end before pinfoldd has written the job's receipt. Until pinfoldd has written the receipt, nobody else can
    # use the job's key.
    owed = STILL_LIVE in ended.err and story.disturbed({"full disk"}, REOPENED_WITHIN, begin)
    story.expect(owed or refused(story, ended.err, begin), f"refused without a reason: {ended.err!r}")
    return False


def with_names(line):
    """If the user database is too slow for a short job, pinfoldd writes the owner's user id in place of the owner's name. with_names() replaces the
    user id by the owner's name."""
    for name, number in OWNERS.items():
        line = line.replace(f" of user {number}", f" of user {name}")
    return line


def quiet(story, ended, because=None, needed=True):
    """Checks that the job's standard error has only the expected lines. The parameter `because` is the reason why the job was stopped, or None if the
    job ended by itself. `needed`: False if the line with this reason can be missing."""
    lines = [line for line in ended.err.splitlines() if NOT_OVER_YET not in line and SLOW_DISK not in line]
    said = [with_names(line.partition(". It ran for ")[0]) for line in lines]
    due = [f"pinfold: job {story.key} on {os.uname().nodename} was stopped{because}"] if because else []
    told = said == due or (not needed and not said)
    story.expect(told or story.disturbed({"full disk"}, REOPENED_WITHIN), f"it said {lines}, not {due}")


def job(story, script, key=None, options=(), user=None, statuses=None):
    """Runs a shell script to its end. Returns None if pinfoldd refused the job."""
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
    """Returns the signals that can end a process after pinfoldd has asked PID 1 to send SIGTERM. A PID 1 that is executed again can lose pinfoldd's
    call. A PID 1 that a disturbance stops for a moment gets pinfoldd's call late. If PID 1 sends no SIGTERM, the kernel kills the process after the
    grace time."""
    return {-signal.SIGTERM, -signal.SIGKILL} if story.disturbed(OUTAGE | DELAY) else {-signal.SIGTERM}


def pinfold(story, *words, done=lambda: False, statuses=(0,), user="root"):
    """Runs a command of `pinfold` again and again, until the command gets an answer. If an answer is lost, pinfoldd has perhaps executed the call.
    Returns the command's standard output, or None if the command failed."""
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
    """Opens a job, and repeats the call if the answer is lost, as a prologue does. Returns False if pinfoldd refused the job. If pinfoldd refused
    the job, the error must say that the node takes no jobs."""
    end = time.monotonic() + PATIENCE
    while True:
        begin = time.monotonic()
        process = start(story, "pinfold", "open", story.key, "--uid", owner, *options)
        _, err = process.communicate(timeout=PATIENCE)
        err = err.decode(errors="replace")
        story.note(f"pinfold open: status {process.returncode} {err!r} after {time.monotonic() - begin:.3f} s")
        # If the answer to a call is lost, `pinfold open` repeats the call. The first of these calls has perhaps opened the job. If the job has ended
        # between two calls, the node can refuse the second call.
        disturbed = bool(story.disturbed(OUTAGE, since=begin))
        story.asked_again |= disturbed
        if process.returncode == 0:
            return True
        lost = process.returncode in (UNREACHABLE, TIMED_OUT) or any(word in err for word in OUTAGES)
        if not lost or not disturbed or begin > end:
            break
        select.select([], [], [], 0.1)
    story.refused += 1
    story.expect(refused(story, err, begin), f"not opened: {err!r}")
    return False


def ended(story, *options):
    """Ends the job as an epilogue does, and returns the receipt."""
    out = pinfold(story, "end", story.key, "--json", *options)
    return json.loads(out)["receipt"] if out else None


def ask(story, request, processes=()):
    """Sends a request to the wrapper's socket. If the connection is lost, ask() sends the request again. Returns the answer."""
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
