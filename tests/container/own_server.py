# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file server of alice's own that never answers, and a job of hers that waits for it: no signal ends that."""

import contextlib
import subprocess
from pathlib import Path

from jobs import BATCH, as_alice

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


def hangs(key):
    file = BATCH / f"batch-{key}.slice/job-{key}.scope/cgroup.procs"
    for pid in file.read_text().split() if file.exists() else []:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the first cat gets an error and ends
            if Path(f"/proc/{pid}/wchan").read_text() == "request_wait_answer":
                return True
    return False
