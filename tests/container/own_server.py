# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file server of alice's own that never answers, and a job of hers that waits for it: no signal ends that."""

import contextlib
import select
import subprocess
from pathlib import Path

from jobs import as_alice

FUSE_HANG = "/usr/libexec/pinfold-tests/fuse_hang"
MOUNT = "/tmp/alices-server"


@contextlib.contextmanager
def alices_server():
    """In namespaces of alice's, where she mounts without anybody's leave."""
    device = Path("/dev/fuse")
    mode = device.stat().st_mode
    device.chmod(0o666)  # as udev does it
    process = subprocess.Popen(as_alice("unshare", "--user", "--map-root-user", "--mount", FUSE_HANG, "serve", MOUNT),
                               stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "mounted\n"
        yield process
    finally:
        process.kill()  # which ends the wait
        process.communicate()
        device.chmod(mode)
        Path(MOUNT).rmdir()


def in_namespaces_of(server):
    return as_alice("nsenter", f"--target={server.pid}", "--user", "--mount", "--preserve-credentials")


def waits_for(server):
    """A job's command."""
    return [*in_namespaces_of(server), "sh", "-c", f"until cat {MOUNT}/f; do :; done"]


def expect_the_wait(server):
    """The kernel takes a request back from a process that is killed, until the server has it."""
    assert select.select([server.stdout], [], [], 90)[0], "nobody asks the server"
    assert server.stdout.readline() == "asked\n"
