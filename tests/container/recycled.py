# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process's number is another's as soon as it has ended. A job's owner offers a process of his, ends it while pinfoldd and systemd are
at it, and has root's new process get its number."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from jobs import as_alice, run

RECYCLER = "/usr/libexec/pinfold-tests/recycler"
SOCKET = "/run/recycler.sock"
HIGHEST = 1500  # with systemd's usual 4194304 a try takes some minutes


@contextlib.contextmanager
def few_numbers(directory):
    """Since Linux 6.14 each pid namespace has its own kernel.pid_max: the host's stays as it is."""
    release = tuple(map(int, os.uname().release.split(".")[:2]))
    if release < (6, 14):
        pytest.skip("kernel.pid_max would be the host's")
    run("mount", "-t", "proc", "proc", directory)  # the box's own is read-only there
    file = directory / "sys/kernel/pid_max"
    before = file.read_text()
    file.write_text(str(HIGHEST))
    try:
        yield
    finally:
        file.write_text(before)
        run("umount", directory)


@contextlib.contextmanager
def forking_daemon(*options):
    """The daemon of root's that forks when somebody connects; its cgroup."""
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
    """None of root's processes that get the number leaves its place. For each of them: the cgroup of what it has forked, or nothing."""
    said = run(*as_alice(RECYCLER, "attack", SOCKET, key, tries), timeout=120 + 2 * tries).stdout.splitlines()
    recycled = [others for got, *others in (line.split("\t") for line in said) if got == "1"]
    print(f"{len(said)} tries, {len(recycled)} times root's process got the number")
    moved = [(cgroup, answer) for cgroup, answer, _ in recycled if cgroup != place]
    assert not moved, f"{len(moved)} of {len(recycled)}, not in {place}: {moved[0]}"
    return [forked for _, _, forked in recycled]
