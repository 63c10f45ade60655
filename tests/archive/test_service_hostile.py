# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that no user can prevent other users from using the archive's socket. In some tests, an attacker sends descriptors whose close()
hangs, or uses subordinate user ids."""

import select
import signal
import socket
import subprocess
import sys
import time

import pytest

import lingering_socket
from archive_service import ALICE, BOB, answer, configuration, effective_user, job, starter
from conftest import Archive

FIRST_SUBORDINATE = 700_000
SUBUID = f"alice:{FIRST_SUBORDINATE}:65536\n"

LINGERING = """
import array, os, sys
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
""" + lingering_socket.MAKE + """
RIGHTS = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [lingering.fileno()]))]
REQUEST = b'{{"filter": {{}}}}\\n'
def connect():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect({path!r})
    return connection
connections = []
{send}
lingering.close()
print("sent", flush=True)
sys.stdin.read()
"""
WAYS = {
    "with the request": "connections.append(connect()); connections[0].sendmsg([REQUEST], RIGHTS)",
    "after a part of the request": "connections.append(connect()); connections[0].send(b'{'); connections[0].sendmsg([b'}'], RIGHTS)",
    "after the request": "connections.append(connect()); connections[0].send(REQUEST); connections[0].sendmsg([b'x'], RIGHTS)",
    "out of band": "connections.append(connect()); connections[0].sendmsg([b'x'], RIGHTS, socket.MSG_OOB); connections[0].send(REQUEST)",
    "and gone": "connections.append(connect()); connections[0].sendmsg([b'{'], RIGHTS); connections[0].close()",
    "one connection too many": "connections += [connect() for _ in range(33)]; connections[32].sendmsg([REQUEST], RIGHTS)",
}


@pytest.fixture(name="start")
def service_starter():
    with starter() as start:
        yield start


@pytest.fixture(scope="module")
def archive(server):
    made = Archive(server)
    made.make()
    made.put([job(1, "node1", BOB, 0, key="slurm.8")])
    return made


def time_of_bobs_answer(service):
    begun = time.monotonic()
    assert service.keys({}, BOB) == ["slurm.8"]
    return time.monotonic() - begun


@pytest.mark.parametrize("way", WAYS)
def test_a_descriptor_that_does_not_close_holds_up_nobody(start, archive, way):
    """The service has only a few threads for one user. A user sends more descriptors than there are threads for one user. The close() of each
    descriptor hangs."""
    service = start(configuration(archive.server))
    time_of_bobs_answer(service)
    program = LINGERING.format(uid=ALICE, path=str(service.path), send=WAYS[way])
    service.process.send_signal(signal.SIGSTOP)
    users = []
    try:
        for _ in range(6):
            user = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            users.append(user)
            assert user.stdout.readline() == "sent\n"
        service.process.send_signal(signal.SIGCONT)
        times = [time_of_bobs_answer(service) for _ in range(3)]
        print(f"answers for bob after {', '.join(f'{taken:.3f} s' for taken in times)}")
        assert max(times) < 5, "not as long as that socket lingers"
    finally:
        service.process.send_signal(signal.SIGCONT)
        for user in users:
            with user:
                user.kill()


def test_an_answer_comes_after_more_text_than_the_service_reads(start, archive):
    """If the service closed a connection with unread text, the kernel would reset the connection, and the client would lose the answer."""
    service = start(configuration(archive.server))
    with service.send(b'{"filter": {}}\n' + b"x" * 50_000, BOB) as connection:
        receipts, last = answer(connection)
    assert [receipt["key"] for receipt in receipts] == ["slurm.8"] and last == {"end": True}


def hold(service, uid, count):
    """Opens `count` connections as the user, and sends nothing on them."""
    connections = []
    with effective_user(uid):
        for _ in range(count):
            connections.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            connections[-1].connect(str(service.path))
    return connections


def refused(connections):
    """Returns how many of the connections the service has refused. A client that has sent nothing gets an answer only if the
    service refuses the client."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    return len(poll.poll(0))


@pytest.mark.parametrize("subuid", [SUBUID, SUBUID.replace("alice", str(ALICE))], ids=["name", "number"])
def test_subordinate_ids_take_no_more_connections_than_their_owner(start, archive, subuid):
    service = start(configuration(archive.server), subuid=subuid)
    held = []
    try:
        for number in range(8):
            held += hold(service, FIRST_SUBORDINATE + number, 32)
        assert service.keys({}, BOB) == ["slurm.8"]
        assert refused(held) >= 256 - 2 * 32, "a range counts as one user, at first as another one than its owner"
        assert service.receipts({}, 0)
    finally:
        for connection in held:
            connection.close()


def test_the_first_connections_count_like_all_others(start, archive):
    """The connections of the attack wait in the socket's queue when the service starts."""
    service = start(configuration(archive.server), subuid=SUBUID)
    service.end()
    held = []
    for number in range(8):
        held += hold(service, FIRST_SUBORDINATE + number, 32)
    service.start()
    assert service.keys({}, BOB) == ["slurm.8"]
    assert refused(held) >= 256 - 2 * 32
    for connection in held:
        connection.close()


def test_root_gets_an_answer_while_users_have_all_connections(start, archive):
    service = start(configuration(archive.server))
    held = []
    for number in range(8):
        held += hold(service, FIRST_SUBORDINATE + number, 32)
    assert service.error({}, BOB)["code"] == "Busy"
    assert [receipt["key"] for receipt in service.receipts({}, 0)] == ["slurm.8"]
    for connection in held:
        connection.close()


def test_no_receipt_of_a_node_hides_the_others_from_their_owner(start, server):
    archive = Archive(server)
    archive.make()
    archive.put([job(1, "node1", ALICE, 5, key="slurm.8")])
    archive.put([job(1, "node2", ALICE, 0, key="slurm.66", job_name="x" * 17_000_000)], node="node2")
    service = start(configuration(server) + "ask = true\n")
    assert "slurm.8" in service.pinfold("history", uid=ALICE)
    assert archive.status("node2")["rejected"] == 1
