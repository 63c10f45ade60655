# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contains functions for tests. The tests run on a node with an installed pinfold. A function that waits for a state looks at the state
repeatedly, until the state is right or the deadline has passed."""

import contextlib
import functools
import json
import os
import select
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
BATCH = CGROUP / "batch.slice"
RECORDS = Path("/run/pinfold/jobs")
HISTORY = Path("/var/lib/pinfold/history.db")
ESCAPIST = "/usr/libexec/pinfold-tests/escapist"
SPENDER = "/usr/libexec/pinfold-tests/spender"


# These verbs of `pinfold` ask pinfoldd a question, and never wait for a job.
QUESTIONS = ("status", "list", "show", "ps", "why", "history")
TIMED_OUT = 124


@functools.cache
def is_emulated():
    return subprocess.run(["systemd-detect-virt", "--vm", "--quiet"], check=False).returncode == 0


def run(*command, timeout=120, check=True, **options):
    """In the emulated machine, run() repeats the command if pinfoldd did not answer in time. The emulator is sometimes very slow. On a busy host, the
    emulator once stopped a virtual processor for half a minute. In a container, run() does not repeat the command."""
    options.setdefault("stdin", subprocess.DEVNULL)
    words = [str(part) for part in command]

    def once():
        return subprocess.run(words, capture_output=True, text=True, errors="surrogateescape", timeout=timeout, **options)
    done = once()
    if done.returncode == TIMED_OUT and words[0] == "pinfold" and words[1] in QUESTIONS and is_emulated():
        print("asked again after:", words, done.stderr, Path("/proc/loadavg").read_text())
        done = once()
    if check:
        assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def systemd_version():
    return int(run("systemctl", "--version").stdout.split()[1])


def wait_until(predicate, what, deadline=240.0):
    """Calls `predicate` until the result is a true value, and returns this value. The deadline is long, because the machine may be busy. A long
    deadline costs time only if the test fails."""
    end = time.monotonic() + deadline
    while True:
        begun = time.monotonic()
        value = predicate()
        if value:
            return value
        now = time.monotonic()
        assert now < end, f"not within {deadline} s: {what}"
        # In the emulated machine, a predicate that runs a program takes up to a second of CPU time. The programs for which the test waits need this time.
        select.select([], [], [], min(max(0.01, now - begun), 1))


def start_job(key, *command, options=(), **popen):
    popen.setdefault("stdin", subprocess.DEVNULL)
    popen.setdefault("stdout", subprocess.PIPE)
    popen.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen(["pinfold-run", "--job", key, *options, "--", *[str(part) for part in command]], text=True, **popen)


def finish(process, timeout=120):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def let_end(job):
    """The job ends when it has read all of its input."""
    job.stdin.close()
    job.stdin = None


def held_up():
    """Returns the seconds that a call of pinfoldd takes. The tests add these seconds to their time limits, because the machine is perhaps busy."""
    begun = time.monotonic()
    run("pinfold", "status")
    return time.monotonic() - begun


def busy():
    """Returns the factor by which tests multiply their time limits. The factor is the load average divided by the number of processors, but
    at least 1."""
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


def as_alice(*command):
    return "setpriv", "--reuid=alice", "--regid=alice", "--init-groups", *command


# epoll_wait(2), epoll_pwait(2) and epoll_pwait2(2) have these numbers on x86-64 or on arm64.
EPOLL = {"232", "281", "441", "22"}


@contextlib.contextmanager
def stopped(pid):
    """Stops a process while its event loop waits for events. If a test stopped pinfoldd in the middle of its work, the loop's meter would report that
    the loop has waited in a system call."""
    assert pid > 1, "else it would be this process group"

    def stops():
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: text_of(f"/proc/{pid}/stat").rsplit(") ", 1)[1][0] == "T", f"the process {pid} is stopped")
        if text_of(f"/proc/{pid}/syscall").partition(" ")[0] in EPOLL:
            return True
        os.kill(pid, signal.SIGCONT)
        return False
    try:
        wait_until(stops, f"the process {pid} is stopped while it waits for events")
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # the watchdog of systemd, or the test, may have ended the process
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def systemd_stopped():
    """Freezes the cgroup of PID 1. SIGSTOP would have no effect, because a process in a container cannot stop the container's PID 1."""
    freezer = CGROUP / "init.scope" / "cgroup.freeze"
    freezer.write_text("1")
    try:
        wait_until(lambda: "frozen 1" in (freezer.parent / "cgroup.events").read_text(), "PID 1 frozen")
        yield
    finally:
        freezer.write_text("0")


def live_rows():
    """Returns the sorted keys of the jobs that would get a receipt if a power cut happened now."""
    with contextlib.closing(sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True)) as history:
        return sorted(key for key, in history.execute("SELECT key FROM live"))


def live_jobs():
    """Returns a dictionary that maps the key of each live job to the job. While pinfoldd does not answer, the dictionary is empty."""
    listed = run("pinfold", "list", "--json", check=False)
    assert listed.returncode in (0, 6), listed.stderr
    return {job["key"]: job for job in json.loads(listed.stdout)["jobs"]} if listed.returncode == 0 else {}


def wait_running(key):
    return wait_until(lambda: live_jobs().get(key, {}).get("state") == "running", f"{key} running")


def batch_script(key, user):
    """Starts the batch script of a job that was opened before, and waits until the script runs."""
    script = start_job(key, "sh", "-c", "echo here; exec sleep 1000", options=["--batch"], user=user, group=user, extra_groups=[])
    assert script.stdout.readline() == "here\n"
    return script


def receipts(key=None, number=10000):
    command = ["pinfold", "history", "--json", "-n", number]
    if key:
        command += ["-j", key]
    return json.loads(run(*command).stdout)["receipts"]


def read_journal(*options):
    """Waits until journald has stored all messages that it has received so far. Then returns journalctl's output."""
    run("journalctl", "--sync")
    return run("journalctl", "--no-pager", *options, check=False).stdout


def wait_for_journal(text, *options):
    """A thread of pinfoldd collects messages for some milliseconds before it writes them. So a message can come after the answer to the request
    that caused the message."""
    wait_until(lambda: text in read_journal(*options), f"the journal has '{text}'")


def wait_for_entries(key, event):
    """Waits until the journal has an entry of the event about the job, and returns the entries."""
    return wait_until(lambda: journal(key, event), f"the journal has an entry of the event {event} about the job {key}")


def journal(key, event=None):
    """Returns the journal's entries about a job, oldest first."""
    lines = read_journal("-o", "json", f"PINFOLD_JOB={key}").splitlines()
    entries = [json.loads(line) for line in lines]
    return [entry for entry in entries if event is None or entry.get("PINFOLD_EVENT") == event]


def units():
    out = run("systemctl", "list-units", "--all", "--no-legend", "--plain", "batch-*.slice", "job-*.scope").stdout
    return [line.split()[0] for line in out.splitlines() if line.strip()]


def text_of(file):
    """Returns the contents of a file of the kernel, or "" if the file does not exist. The file of a cgroup or a process can disappear at
    any time, even between two system calls of a reader."""
    with contextlib.suppress(OSError):
        return Path(file).read_text()
    return ""


def descriptors(pid):
    """Returns the target of each descriptor of the process `pid`. The process can close a descriptor while descriptors() reads the list."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(entry))
    return sorted(found)


def leftovers_of_pinfold():
    """Returns everything that jobs can leave on a node: units, cgroups, records."""
    found = units()
    for directory in (BATCH, RECORDS):
        with contextlib.suppress(FileNotFoundError):
            found += [entry.name for entry in os.scandir(directory) if directory == RECORDS or entry.is_dir()]
    return found


def expect_nothing_left():
    wait_until(lambda: not leftovers_of_pinfold(), f"nothing left, but there is {leftovers_of_pinfold()[:10]}")


def processes_with(text):
    """Finds all processes that have the text in their command lines. The result does not contain the test's own process. Returns the command line and
    the cgroup of each process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
                if text.encode() in command:
                    found[int(entry.name)] = (command, (entry / "cgroup").read_text())
            except OSError:
                pass
    return found


@contextlib.contextmanager
def site(text, accepted=True):
    """Adds `text` to pinfoldd's configuration for as long as the context lasts. `accepted` says whether pinfoldd must accept the configuration."""
    file = Path("/etc/pinfold/pinfold.toml.d/50-test.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    try:
        assert (run("systemctl", "reload-or-restart", "pinfoldd", check=False).returncode == 0) == accepted
        yield
    finally:
        file.unlink()
        run("systemctl", "reload-or-restart", "pinfoldd")


@contextlib.contextmanager
def drop_in(service, settings):
    """systemd adds `settings` to the section [Service] of the unit for as long as the context lasts."""
    file = Path(f"/run/systemd/system/{service}.service.d/test.conf")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[Service]\n{settings}\n")
    run("systemctl", "daemon-reload")
    try:
        yield
    finally:
        file.unlink()
        run("systemctl", "daemon-reload")


@contextlib.contextmanager
def preloaded(library, **environment):
    """Loads a library of tests/support/guest into pinfoldd. The library replaces functions of libc (LD_PRELOAD)."""
    words = [f"{name}={value}" for name, value in {"LD_PRELOAD": f"/usr/libexec/pinfold-tests/{library}", **environment}.items()]
    try:
        with drop_in("pinfoldd", f"Environment={' '.join(words)}"):
            run("systemctl", "restart", "pinfoldd")
            yield
    finally:
        run("systemctl", "restart", "pinfoldd")


@contextlib.contextmanager
def drained():
    run("pinfold", "drain", "--reason", "test")
    try:
        yield
    finally:
        run("pinfold", "undrain")


def main_pid(unit="pinfoldd"):
    return int(run("systemctl", "show", "-P", "MainPID", unit).stdout)


def daemon_ready(other_than=0):
    """Waits until pinfoldd is ready and has a pid other than `other_than`."""
    def up():
        pid = main_pid()
        active = run("systemctl", "show", "-P", "ActiveState", "pinfoldd", check=False).stdout.strip() == "active"
        return pid if pid not in (0, other_than) and active else None
    return wait_until(up, "pinfoldd active again")
