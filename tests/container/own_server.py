# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes users' file servers that never answer, and processes that wait for one of the servers. No signal ends the wait."""

import contextlib
import select
import subprocess
from pathlib import Path

from jobs import wait_until

FUSE_HANG = "/usr/libexec/pinfold-tests/fuse_hang"
MOUNT = "/tmp/alices-server"


def as_user(user, *command):
    return "setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *command


@contextlib.contextmanager
def server_of(user, mount):
    """Runs the server in namespaces of the user. In the user's own namespaces, the user may mount a file system."""
    device = Path("/dev/fuse")
    mode = device.stat().st_mode
    device.chmod(0o666)  # on a real node, udev sets the mode 0666 for this device
    process = subprocess.Popen(as_user(user, "unshare", "--user", "--map-root-user", "--mount", FUSE_HANG, "serve", mount),
                               stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "mounted\n"
        yield process
    finally:
        process.kill()  # when the server ends, the processes that wait for the server continue
        process.communicate()
        device.chmod(mode)
        Path(mount).rmdir()


def alices_server():
    return server_of("alice", MOUNT)


def in_namespaces_of(server, user="alice"):
    return as_user(user, "nsenter", f"--target={server.pid}", "--user", "--mount", "--preserve-credentials")


def waits_for(server):
    """Returns the command of a job that waits for the server."""
    return [*in_namespaces_of(server), "sh", "-c", f"until cat {MOUNT}/f; do :; done"]


def states(pid):
    return [(task / "stat").read_text().rsplit(") ", 1)[1][0] for task in Path(f"/proc/{pid}/task").iterdir()]


@contextlib.contextmanager
def locked_memories(user, count):
    """Returns the pids of `count` new processes of the user, in a scope outside of all jobs. In each process, a thread holds the lock of the memory,
    so nobody can read the memory of the process."""
    with contextlib.ExitStack() as stack:
        victims = []
        for number in range(count):
            mount = f"/tmp/server-{user}-{number}"
            server = stack.enter_context(server_of(user, mount))
            process = subprocess.Popen(["systemd-run", "--quiet", "--scope", "--collect", f"--unit=locked-{user}-{number}",
                                        *in_namespaces_of(server, user), FUSE_HANG, "victim", f"{mount}/f"])
            stack.callback(process.wait)
            stack.callback(server.kill)
            stack.callback(process.kill)
            victims.append((server, process.pid))
        for server, pid in victims:
            # The first read of the server's file fails. A thread that waits for the first read does not hold the lock.
            expect_the_wait(server)
            wait_until(lambda pid=pid: "D" in states(pid), "a thread that waits for the lock")
        yield [pid for _, pid in victims]


def expect_the_wait(server):
    """Waits until the process's request has reached the file server. If a test killed the process earlier, the kernel would withdraw the process's
    request."""
    assert select.select([server.stdout], [], [], 90)[0], "nobody asks the server"
    assert server.stdout.readline() == "asked\n"
