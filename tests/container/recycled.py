# SPDX-License-Identifier: LGPL-2.1-or-later
"""As soon as a process has ended, the kernel may give its id to another process. In this attack, the owner of a job passes a process to pinfoldd, so
that pinfoldd puts the process into the job. The owner ends the process while pinfoldd and systemd handle the request. When the passed process has
ended, a new process of root gets the same process id."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from jobs import as_alice, run

RECYCLER = "/usr/libexec/pinfold-tests/recycler"
SOCKET = "/run/recycler.sock"
HIGHEST = 1500  # with systemd's usual kernel.pid_max of 4194304, each try would take some minutes


@contextlib.contextmanager
def few_numbers(directory, highest=HIGHEST):
    """Changes the kernel.pid_max of the box, but not of the host. Since Linux 6.14, each pid namespace has its own kernel.pid_max."""
    release = tuple(map(int, os.uname().release.split(".")[:2]))
    if release < (6, 14):
        pytest.skip("kernel.pid_max would be the host's")
    run("mount", "-t", "proc", "proc", directory)  # /proc/sys of the box is read-only
    file = directory / "sys/kernel/pid_max"
    before = file.read_text()
    file.write_text(str(highest))
    try:
        yield
    finally:
        file.write_text(before)
        run("umount", "-l", directory)


@contextlib.contextmanager
def forking_daemon(*options):
    """Starts a daemon as root. The daemon forks when somebody connects. Returns the daemon's cgroup."""
    process = subprocess.Popen([RECYCLER, "serve", SOCKET, *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    os.chmod(SOCKET, 0o666)
    try:
        yield Path(f"/proc/{process.pid}/cgroup").read_text().partition("0::")[2].strip()
    finally:
        process.kill()
        process.wait()
        os.unlink(SOCKET)


def attack(key, tries, place):
    """In each try, alice passes a process to pinfoldd, and the process ends. A process of root may then get the same process id. The process of root
    must stay in the cgroup `place`. If a process of root got the id of alice's process in a try, the result has an entry for this try. The entry is
    the cgroup of a child of the process of root, or an empty text if this process has not forked."""
    said = run(*as_alice(RECYCLER, "attack", SOCKET, key, tries), timeout=120 + 2 * tries).stdout.splitlines()
    recycled = [others for got, *others in (line.split("\t") for line in said) if got == "1"]
    print(f"{len(said)} tries, {len(recycled)} times root's process got the number")
    moved = [(cgroup, answer) for cgroup, answer, _ in recycled if cgroup != place]
    assert not moved, f"{len(moved)} of {len(recycled)}, not in {place}: {moved[0]}"
    return [forked for _, _, forked in recycled]
