# SPDX-License-Identifier: LGPL-2.1-or-later
"""A new process of root may get the process id of a job's process. pinfoldd must never put the process of root into the job (recycled.py).
PINFOLD_RECYCLED_TRIES says how often the test tries the attack. The default is 60."""

import contextlib
import os
import subprocess

import pytest

from jobs import as_alice, expect_nothing_left, main_pid, preloaded, read_journal, run, wait_until
from recycled import attack, few_numbers, forking_daemon

KEY = "recycled.1"
TRIES = int(os.environ.get("PINFOLD_RECYCLED_TRIES", "60"))

# The test sends fewer messages per second than pinfoldd allows to a user.
SIGNAL = f"""
import dbus, select
m = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
while True:
    m.KillJob("{KEY}", 15)
    select.select([], [], [], 0.02)
"""


@pytest.fixture(autouse=True)
def numbers(tmp_path):
    with few_numbers(tmp_path):
        yield


@pytest.fixture
def place(request):
    with forking_daemon(*getattr(request, "param", [])) as cgroup:
        yield cgroup


@contextlib.contextmanager
def alices(*command):
    process = subprocess.Popen(as_alice(*command), stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def attack_job(place):
    forked = attack(KEY, TRIES, place)
    assert len(forked) > TRIES / 5, "the attack does not work any more, and shows nothing"
    return [cgroup for cgroup in forked if cgroup]


def test_roots_process_is_never_in_the_job(place):
    run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
    attack_job(place)
    run("pinfold", "end", KEY)
    expect_nothing_left()


def test_nor_hit_by_what_the_owner_does_to_the_job(place):
    run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
    with alices("/usr/bin/python3", "-c", SIGNAL):
        attack_job(place)
    run("pinfold", "end", KEY)
    expect_nothing_left()


def test_who_is_moved_by_mistake_goes_back(place):
    """pinfoldd looks at the pidfd, and then writes to cgroup.procs. The test delays the write to cgroup.procs. During the delay, the process can end,
    and a different process can get its process id. pinfoldd moves the wrong process in 3 to 9 of 60 tries, and in fewer tries on a busy machine."""
    def put_back():
        attack_job(place)
        return f"has been put back to {place}" in read_journal(f"_PID={main_pid()}")
    with preloaded("slowmove.so"):
        run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
        wait_until(put_back, "a process that is moved by mistake", deadline=300)
        run("pinfold", "end", KEY)
    expect_nothing_left()


@pytest.mark.parametrize("place", [["forks"]], indirect=True)
def test_so_does_what_it_has_forked_meanwhile(place):
    with preloaded("slowmove.so"):
        run("pinfold", "open", KEY, "--uid", "alice", "--linger", "infinity")
        forked = wait_until(lambda: attack_job(place), "a process that is moved by mistake, and forks", deadline=300)
        run("pinfold", "end", KEY)
    assert set(forked) == {place}
    expect_nothing_left()
