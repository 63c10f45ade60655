# SPDX-License-Identifier: LGPL-2.1-or-later
"""In each test, something that pinfoldd needs hangs, for example systemd or a file. pinfoldd must still answer other calls without a delay."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from calls import answered
from jobs import (daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, receipts, run, site, start_job, systemd_stopped,
                  wait_for_entries, wait_until)
from own_server import FUSE_HANG, states


def replace(file, text):
    """Replaces the file by a rename, because pinfoldd may read the file at any time."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(text)
    new.chmod(0o644)
    new.rename(file)


@contextlib.contextmanager
def hanging_name_service():
    """When pinfoldd asks the name service for a member of the group pinfold-admin, the name service does not answer."""
    module = Path("/usr/lib/x86_64-linux-gnu/libnss_hang.so.2")
    files = [Path("/etc/nsswitch.conf"), Path("/etc/group")]
    before = [file.read_text() for file in files]
    gate = Path("/run/names-hang")
    if not module.exists():  # pinfoldd may have mapped it
        shutil.copy("/usr/libexec/pinfold-tests/nss_hang.so", module)
    gate.touch()
    try:
        replace(files[0], "".join("passwd: files hang\n" if line.startswith("passwd:") else line
                                  for line in before[0].splitlines(keepends=True)))
        replace(files[1], "".join(line.rstrip("\n") + ",ghost\n" if line.startswith("pinfold-admin:") else line
                                  for line in before[1].splitlines(keepends=True)))
        yield
    finally:
        gate.unlink()
        for file, text in zip(files, before):
            replace(file, text)
        run("systemctl", "reload", "pinfoldd")


def test_a_name_service_that_hangs_holds_up_nobody(in_time):
    carol = "setpriv", "--reuid=carol", "--regid=carol", "--init-groups"
    run("systemctl", "reload", "pinfoldd")  # carol may have become an administrator after the start of pinfoldd
    wait_until(lambda: run(*carol, "pinfold", "undrain", check=False).returncode == 0, "the name service's answer before it hangs")
    with hanging_name_service():
        run("systemctl", "reload", "pinfoldd")
        in_time(answered())
        run(*carol, "pinfold", "drain", "--reason", "still an administrator")
        run(*carol, "pinfold", "undrain")
        # After the restart, pinfoldd no longer knows the answers that the name service gave before.
        run("systemctl", "restart", "pinfoldd", timeout=20)
        in_time(answered())
        assert run(*carol, "pinfold", "drain", check=False).returncode != 0
        assert finish(start_job("names.1", "true"))[0] == 0
    wait_until(lambda: run(*carol, "pinfold", "drain", check=False).returncode == 0, "the name service's answer")
    run("pinfold", "undrain")
    expect_nothing_left()


@contextlib.contextmanager
def full_notify_socket():
    """PID 1 is stopped. The queue of PID 1's socket for messages from services is full."""
    with systemd_stopped():
        fill_notify_socket()
        yield


def fill_notify_socket():
    # The kernel limits the waiting messages of each sender, and the waiting messages of all senders together.
    with contextlib.ExitStack() as senders:
        while True:
            sender = senders.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK))
            sender.connect("/run/systemd/notify")
            sent = 0
            with contextlib.suppress(BlockingIOError):
                while True:
                    sender.send(b"X_NOTHING=1")
                    sent += 1
            if sent == 0:
                return


def test_systemd_that_does_not_read_the_messages_of_services_holds_up_nobody(in_time):
    def status():
        return run("systemctl", "show", "--property=StatusText", "--value", "pinfoldd").stdout.strip()
    with full_notify_socket():
        run("pinfold", "drain", "--reason", "systemd stands still")
        run("pinfold", "reload", timeout=20)  # pinfoldd tells its status to systemd before it answers `pinfold reload`
        in_time(answered())
    wait_until(lambda: status().endswith("takes no new jobs: systemd stands still"), "the status, although nothing has changed since")
    run("pinfold", "undrain")
    wait_until(lambda: "takes no" not in status(), "the new status")


def dies(pid):
    """Returns true if a thread of the process has been killed, and cannot end before the file server answers."""
    def pending(task):
        lines = (task / "status").read_text().splitlines()
        return any(int(line.split()[1], 16) >> (signal.SIGKILL - 1) & 1 for line in lines if line.startswith("SigPnd"))
    return any(pending(task) for task in Path(f"/proc/{pid}/task").iterdir())


@pytest.fixture
def file_server(tmp_path):
    assert Path("/dev/fuse").exists(), "the host has no /dev/fuse: modprobe fuse"
    mount = tmp_path / "hang"
    server = subprocess.Popen([FUSE_HANG, "serve", mount], stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == "mounted\n"
    yield mount, server
    server.kill()
    server.wait()
    server.stdout.close()
    run("umount", "-l", mount)


def test_a_leftover_whose_memory_is_locked_is_killed_all_the_same(file_server, in_time):
    mount, server = file_server
    leaves = f"setsid {FUSE_HANG} victim {mount}/f <&- >&- 2>&- & echo $!; read -r _; exit 3"
    with site('[jobs]\nkill_grace = "1s"\n'):
        job = start_job("locked.1", "sh", "-c", leaves, stdin=subprocess.PIPE)
        victim = int(job.stdout.readline())
        wait_until(lambda: "D" in states(victim), "a thread that waits for the lock")
        job.stdin.close()
        wait_until(lambda: dies(victim), "the signal")
        in_time(answered())
        assert finish(start_job("locked.2", "true"))[0] == 0
        listed = run("pinfold", "ps", "locked.1", timeout=15).stdout
        assert "[fuse_hang]" in listed

        # After a restart, pinfoldd must not wait for the hanging process.
        old = main_pid()
        os.kill(old, signal.SIGKILL)
        daemon_ready(old)
        assert live_jobs()["locked.1"]["state"] == "ending"
        server.kill()
        assert job.wait(60) == 3
    job.stdout.close()
    job.stderr.close()
    receipt = wait_until(lambda: receipts("locked.1"), "receipt")[0]
    assert (receipt["result"], receipt["exit_status"], receipt["leftovers"]) == ("exited", 3, 1)
    # SIGTERM may make the process free the lock so early that pinfoldd can read the command line.
    [leftover] = [entry["MESSAGE"] for entry in wait_for_entries("locked.1", "leftover")]
    assert leftover == "leftover: [fuse_hang]" or leftover.startswith(f"leftover: {FUSE_HANG} victim")
    expect_nothing_left()
