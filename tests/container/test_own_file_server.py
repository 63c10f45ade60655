# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user waits for a file server of his own that never answers: SIGKILL does not end that, and the node is as well as it was."""

import json
import subprocess
from pathlib import Path

import pytest

from jobs import BATCH, as_alice, expect_nothing_left, finish, journal, live_jobs, run, site, start_job, wait_running, wait_until

FUSE_HANG = "/usr/libexec/pinfold-tests/fuse_hang"
MOUNT = "/tmp/alices-server"


@pytest.fixture
def server():
    """In namespaces of alice's, where she mounts without anybody's leave."""
    device = Path("/dev/fuse")
    mode = device.stat().st_mode
    device.chmod(0o666)  # as udev does it
    process = subprocess.Popen(as_alice("unshare", "--user", "--map-root-user", "--mount", FUSE_HANG, "serve", MOUNT),
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "mounted\n"
    yield process
    process.kill()  # which ends the wait
    process.communicate()
    device.chmod(mode)
    Path(MOUNT).rmdir()


def hangs(key):
    pids = (BATCH / f"batch-{key}.slice/job-{key}.scope/cgroup.procs").read_text().split()
    return any(Path(f"/proc/{pid}/wchan").read_text() == "request_wait_answer" for pid in pids)


def test_nobody_drains_the_node_by_a_file_server_of_his_own(server):
    with site('[unkillable]\nafter = "1s"\naction = "drain"\n'):
        job = start_job("fuse.1", *as_alice("nsenter", f"--target={server.pid}", "--user", "--mount", "--preserve-credentials",
                                            "sh", "-c", f"until cat {MOUNT}/f; do :; done"))
        wait_running("fuse.1")
        wait_until(lambda: hangs("fuse.1"), "the wait for the server")
        run("pinfold", "stop", "--grace", "0", "fuse.1")
        [event] = wait_until(lambda: journal("fuse.1", "unkillable"), "the report")
        status, _, err = finish(start_job("fuse.2", "true"))
        assert (status, err) == (0, ""), "others' jobs run"
        assert live_jobs()["fuse.1"]["unkillable_in_fuse"]
        assert json.loads(run("pinfold", "status", "--json").stdout)["draining"] is False
        for told in (event["MESSAGE"], run("pinfold", "status", "fuse.1").stdout):
            assert "/sys/fs/fuse/connections/N/abort" in told, told
        server.kill()
        finish(job)
    expect_nothing_left()
