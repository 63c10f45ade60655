# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user's process waits for a file server that belongs to the same user and never answers. SIGKILL does not end the waiting process. All processes
that do not use the file server must work as usual."""

import contextlib
import json
import subprocess
from pathlib import Path

from jobs import as_alice, expect_nothing_left, finish, live_jobs, run, site, start_job, wait_for_entries, wait_until
from own_server import FUSE_HANG, MOUNT, alices_server, expect_the_wait, in_namespaces_of, waits_for


def stop_without_a_drain(key):
    """Tries to stop a job whose process does not end after SIGKILL. Checks that pinfoldd does not drain the node, and returns pinfoldd's report about
    the job."""
    run("pinfold", "stop", "--grace", "0", key)
    [event] = wait_for_entries(key, "unkillable")
    assert live_jobs()[key]["unkillable_in_fuse"]
    assert json.loads(run("pinfold", "status", "--json").stdout)["draining"] is False
    return event


def test_nobody_drains_the_node_by_a_file_server_of_his_own():
    with alices_server() as server, site('[unkillable]\nafter = "1s"\naction = "drain"\n'):
        job = start_job("fuse.1", *waits_for(server))
        expect_the_wait(server)
        event = stop_without_a_drain("fuse.1")
        status, _, err = finish(start_job("fuse.2", "true"))
        assert (status, err) == (0, ""), "others' jobs run"
        for told in (event["MESSAGE"], run("pinfold", "status", "fuse.1").stdout):
            assert "/sys/fs/fuse/connections/N/abort" in told, told
        server.kill()
        finish(job)
    expect_nothing_left()


# This program traces a process, and then waits for the server. The traced process ends only when its tracer ends. The first few reads from the user's
# file server can fail.
TRACES = """
import ctypes, os, sys
target, traced, file, hangs = sys.argv[1:]
assert ctypes.CDLL(None).ptrace(0x4206, int(traced), None, ctypes.c_void_p(0x40)) == 0
os.execvp("nsenter", ["nsenter", f"--target={target}", "--user", "--mount", "--preserve-credentials", "python3", "-c", hangs, file])
"""
HANGS = """
import contextlib, os, sys
while True:
    with contextlib.suppress(OSError):
        os.read(os.open(sys.argv[1], os.O_RDONLY), 1)
"""


def test_nor_by_a_tracer_that_waits_for_it():
    with alices_server() as server, site('[unkillable]\nafter = "2s"\naction = "drain"\n'):
        run("pinfold", "open", "fuse.4", "--uid", "alice", "--linger", "infinity")
        traced = subprocess.Popen(as_alice("sleep", "7463"))
        run("pinfold", "adopt", "fuse.4", traced.pid)
        tracer = subprocess.Popen(as_alice("python3", "-c", TRACES, str(server.pid), str(traced.pid), f"{MOUNT}/f", HANGS))
        expect_the_wait(server)
        stop_without_a_drain("fuse.4")
        server.kill()
        finish(tracer, timeout=30)
        finish(traced, timeout=30)
        wait_until(lambda: "fuse.4" not in live_jobs(), "the end of the job")
    expect_nothing_left()


# Sends an open file of the file server to each process that connects. The program runs in the namespaces in which the file server is mounted.
GIVES = """
import os, socket, sys
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[2])
    listener.listen()
    print("listens", flush=True)
    socket.send_fds(listener.accept()[0], [b"x"], [os.open(sys.argv[1], os.O_RDONLY)])
"""
# The first read fails, and the second read never gets an answer.
TAKES = """
import contextlib, os, socket, sys
with socket.socket(socket.AF_UNIX) as taker:
    taker.connect(sys.argv[1])
    [file] = socket.recv_fds(taker, 1, 1)[1]
while True:
    with contextlib.suppress(OSError):
        os.read(file, 1)
"""


@contextlib.contextmanager
def waits_for_what_is_handed_to_it(server, key):
    """Starts a job of alice. The job runs outside of the namespaces in which alice's file server is mounted. A process inside of these namespaces
    hands an open file of the server to the job."""
    giver = subprocess.Popen([*in_namespaces_of(server), "python3", "-c", GIVES, f"{MOUNT}/f", "/tmp/alices-socket"], stdout=subprocess.PIPE, text=True)
    assert giver.stdout.readline() == "listens\n"
    job = start_job(key, *as_alice("python3", "-c", TAKES, "/tmp/alices-socket"))
    expect_the_wait(server)
    yield
    server.kill()
    finish(job)
    giver.communicate(timeout=30)
    Path("/tmp/alices-socket").unlink()


def test_nor_by_a_file_of_it_that_is_handed_to_a_job():
    with alices_server() as server, site('[unkillable]\nafter = "1s"\naction = "drain"\n'), waits_for_what_is_handed_to_it(server, "fuse.3"):
        stop_without_a_drain("fuse.3")
    expect_nothing_left()


@contextlib.contextmanager
def connections_are_shown():
    """Mounts the directory of FUSE connections, as systemd does on a node. In a container, nobody mounts the directory of FUSE connections. On a
    node, the directory of FUSE connections exists before pinfoldd starts. With systemd 257, a running service does not see a file system that is
    mounted below /sys after the service's start."""
    directory = "/sys/fs/fuse/connections"
    if run("mountpoint", "--quiet", directory, check=False).returncode == 0:
        yield
        return
    if not Path(directory).is_dir():
        run("mount", "-o", "remount,rw", "/sys")
        Path(directory).mkdir(parents=True)
    run("mount", "-t", "fusectl", "fusectl", directory)
    run("systemctl", "restart", "pinfoldd")
    try:
        yield
    finally:
        run("umount", "-l", directory)


@contextlib.contextmanager
def a_request_to_the_nodes_own_server():
    """Makes a request that gets no answer until the `with` block ends."""
    mount = "/mnt/nodes-server"
    server = subprocess.Popen([FUSE_HANG, "serve", mount], stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == "mounted\n"
    asks = subprocess.Popen(["python3", "-c", HANGS, f"{mount}/f"])
    try:
        expect_the_wait(server)
        yield
    finally:
        for process in (asks, server):
            process.kill()
        finish(asks, timeout=30)
        finish(server, timeout=30)
        run("umount", "-l", mount)
        Path(mount).rmdir()


def test_nor_while_somebody_waits_for_the_nodes_own_server():
    with connections_are_shown(), alices_server() as server, a_request_to_the_nodes_own_server(), \
            site('[unkillable]\nafter = "1s"\naction = "drain"\n'):
        with waits_for_what_is_handed_to_it(server, "fuse.5"):
            stop_without_a_drain("fuse.5")
    expect_nothing_left()
