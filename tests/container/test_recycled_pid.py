# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process's number is another's as soon as it has ended. A job's owner offers a process of his, ends it while pinfoldd and systemd are
at it, and has root's new process get its number. PINFOLD_RECYCLED_TRIES: how often, else 60 times."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from jobs import as_alice, expect_nothing_left, preloaded, run

RECYCLER = "/usr/libexec/pinfold-tests/recycler"
SOCKET = "/run/recycler.sock"
KEY = "recycled.1"
TRIES = int(os.environ.get("PINFOLD_RECYCLED_TRIES", "60"))
HIGHEST = 1500  # with systemd's usual 4194304 a try takes some minutes

# Fewer a second than pinfoldd lets a user send.
SIGNAL = f"""
import dbus, select
m = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
while True:
    m.KillJob("{KEY}", 15)
    select.select([], [], [], 0.02)
"""


@pytest.fixture
def few_numbers(tmp_path):
    """Since Linux 6.14 each pid namespace has its own kernel.pid_max: the host's stays as it is."""
    release = tuple(map(int, os.uname().release.split(".")[:2]))
    if release < (6, 14):
        pytest.skip("kernel.pid_max would be the host's")
    run("mount", "-t", "proc", "proc", tmp_path)  # the box's own is read-only there
    file = tmp_path / "sys/kernel/pid_max"
    before = file.read_text()
    file.write_text(str(HIGHEST))
    yield
    file.write_text(before)
    run("umount", tmp_path)


@pytest.fixture
def server():
    """The daemon of root's that forks when somebody connects; its cgroup."""
    process = subprocess.Popen([RECYCLER, "serve", SOCKET], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    os.chmod(SOCKET, 0o666)
    yield Path(f"/proc/{process.pid}/cgroup").read_text().partition("0::")[2].strip()
    process.kill()
    process.wait()
    os.unlink(SOCKET)


@contextlib.contextmanager
def alices(*command):
    process = subprocess.Popen(as_alice(*command), stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def attack(place):
    said = run(*as_alice(RECYCLER, "attack", SOCKET, KEY, TRIES), timeout=60 + TRIES).stdout.splitlines()
    tries = [line.split("\t") for line in said]
    recycled = [(cgroup, answer) for got, cgroup, answer in tries if got == "1"]
    print(f"{len(tries)} tries, {len(recycled)} times root's process got the number")
    moved = [(cgroup, answer) for cgroup, answer in recycled if cgroup != place]
    assert not moved, f"{len(moved)} of {len(recycled)}, not in {place}: {moved[0]}"
    assert len(recycled) > len(tries) / 5, "the attack does not work any more, and shows nothing"


def test_roots_process_is_never_in_the_job(few_numbers, server):
    run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
    attack(server)
    run("pinfold", "end", KEY)
    expect_nothing_left()


def test_nor_hit_by_what_the_owner_does_to_the_job(few_numbers, server):
    run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
    with alices("/usr/bin/python3", "-c", SIGNAL):
        attack(server)
    run("pinfold", "end", KEY)
    expect_nothing_left()


def test_who_is_moved_by_mistake_goes_back(few_numbers, server):
    """The number becomes another's between the look at the pidfd and the write, which takes luck without the delay."""
    with preloaded("slowmove.so"):
        run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
        attack(server)
        run("pinfold", "end", KEY)
    assert f"has been put back to {server}" in run("journalctl", "-u", "pinfoldd", "--no-pager").stdout
    expect_nothing_left()
