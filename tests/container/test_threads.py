# SPDX-License-Identifier: LGPL-2.1-or-later
"""Since Linux 6.9, there are pidfds of threads. A thread has its own id, user ids and start time, but is always in the job of its process.
The kernel moves only whole processes. Without PIDFD_THREAD, pidfd_open(2) refuses the id of a thread."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs import as_alice, daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, run, site, start_job, wait_until
from without_first import WITHOUT_FIRST

# The program WORKER starts a second thread. The second thread changes to the user that WORKER's argument names, and prints its own thread id. WORKER
# makes the system call setresuid directly, because the C library's setresuid() would change the user of all threads.
WORKER = """
import ctypes, os, platform, pwd, sys, threading
setresuid = {"x86_64": 117, "aarch64": 147}[platform.machine()]
def work():
    uid = pwd.getpwnam(sys.argv[1]).pw_uid
    assert ctypes.CDLL(None).syscall(setresuid, uid, uid, uid) == 0
    print(threading.get_native_id(), flush=True)
    threading.Event().wait()
threading.Thread(target=work).start()
"""

# The program runs as the job's owner, opens a pidfd of a thread, and asks pinfoldd to add the thread to the job.
OFFER = f"""
import os, sys
sys.path.append({str(Path(__file__).parent)!r})
import at_the_socket
method, thread = sys.argv[1], int(sys.argv[2])
fd = os.pidfd_open(thread, os.O_EXCL)
try:
    print(at_the_socket.adopt("opened.1", fd, os.getuid()) if method == "Adopt" else at_the_socket.add_task("opened.1", fd))
except at_the_socket.Refused as error:
    print(error)
"""


def place(pid):
    return Path(f"/proc/{pid}/cgroup").read_text().partition("0::")[2].strip()


@pytest.fixture
def offer():
    """Asks pinfoldd to put a thread, which is not a whole process, into alice's job. Returns the answer. Linux 6.14 allows everybody to open a pidfd
    again by its file handle. A pidfd from a file handle does not show whether the pidfd refers to a thread. The tests of this file cannot make a
    pidfd from a file handle, because systemd-nspawn does not allow open_by_handle_at(2). process_test.cpp tests pidfds from file handles."""
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 9):
        pytest.skip("this kernel has no pidfds of threads, which Linux 6.9 introduced")
    run("pinfold", "open", "opened.1", "--uid", "alice", "--linger", "infinity")
    yield lambda method, thread: run(*as_alice(sys.executable, "-c", OFFER, method, thread)).stdout.strip()
    run("pinfold", "end", "opened.1")
    expect_nothing_left()


def worker(*command):
    process = subprocess.Popen([*command, sys.executable, "-c", WORKER, "alice"], stdout=subprocess.PIPE, text=True)
    with process.stdout as out:
        return process, int(out.readline())


@pytest.mark.parametrize("method", ["Adopt", "AddTask"])
def test_roots_process_with_a_users_thread_stays_where_it_is(offer, method):
    process, thread = worker()
    before = place(process.pid)
    answer = offer(method, thread)
    after = place(process.pid)
    process.kill()
    process.wait()
    assert (after, answer) == (before, "InvalidArgument")


def test_pinfoldd_starts_again_when_a_thread_was_offered(offer):
    process, thread = worker(*as_alice())
    offer("AddTask", thread)
    before = main_pid()
    restarted = run("systemctl", "restart", "pinfoldd", check=False).returncode
    process.kill()
    process.wait()
    daemon_ready(other_than=before)
    assert restarted == 0
    wait_until(lambda: "opened.1" in live_jobs(), "job taken up")


def without_first_thread(key, *options):
    job = start_job(key, "python3", "-c", WITHOUT_FIRST, options=options)
    return job, int(job.stdout.readline())


@pytest.mark.parametrize("grace", ["0", "1s"])
def test_a_process_without_its_first_thread_ends_with_its_job(grace):
    """cgroup.kill does not end a process whose first thread has ended."""
    job, pid = without_first_thread(f"first.{grace}")
    run("pinfold", "stop", "--grace", grace, f"first.{grace}")
    finish(job, timeout=30)
    assert not Path(f"/proc/{pid}").exists()
    expect_nothing_left()


def test_nor_does_it_outlive_its_job_as_a_leftover():
    with site('[jobs]\nkill_grace = "1s"\n'):
        job = start_job("first.left", "sh", "-c", 'setsid python3 -c "$0" & read -r _; exit 3', WITHOUT_FIRST, stdin=subprocess.PIPE)
        pid = int(job.stdout.readline())
        assert finish_with_input(job) == 3
        assert not Path(f"/proc/{pid}").exists()
    expect_nothing_left()


def finish_with_input(job):
    job.communicate("go\n", timeout=60)
    return job.returncode


def test_it_becomes_no_part_of_a_job():
    """The first thread of this process has ended. If pinfoldd put the process into the job, only the other threads would move to the job's cgroup.
    The kernel would not list the process among the processes of this cgroup."""
    stray = subprocess.Popen(["python3", "-c", WITHOUT_FIRST], stdout=subprocess.PIPE, text=True)
    pid = int(stray.stdout.readline())
    run("pinfold", "open", "first.open", "--uid", "1000")
    done = run("pinfold", "adopt", "first.open", pid, check=False)
    assert done.returncode != 0 and "first thread has ended" in done.stderr, done.stderr
    run("pinfold", "end", "first.open")
    stray.kill()
    stray.communicate()
    expect_nothing_left()
