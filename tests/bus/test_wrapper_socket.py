# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the wrapper's socket: who may send requests, which requests pinfoldd accepts, and whether clients can delay each other."""

import json
import os
import resource
import select
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time

import dbus
import pytest

import lingering_socket
from conftest import BUILD, wait_until
from test_callers import USER, allow_user_jobs, bearable, owned

CREATE = {"version": 1, "call": "create", "key": "wrapper.1", "limits": {}}


def connect(world):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for timeout in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):  # settimeout() would not do: a send must wait while the queue is full
        connection.setsockopt(socket.SOL_SOCKET, timeout, struct.pack("ll", 60, 0))
    connection.connect(str(world.socket))
    return connection


def packet(request):
    return request if isinstance(request, bytes) else json.dumps(request, separators=(",", ":")).encode()


def ask(world, request, fds=()):
    with connect(world) as connection:
        socket.send_fds(connection, [packet(request)], list(fds))
        return json.loads(connection.recv(65536))


def create(world, process, key="wrapper.1", limits=None, more=()):
    fd = os.pidfd_open(process.pid)
    try:
        return ask(world, {**CREATE, "key": key, "limits": limits or {}}, [fd, *more])
    finally:
        os.close(fd)


def made(key, **more):
    """Returns the answer for a new job or task that has no limits."""
    return {"key": key, "environment": {"PINFOLD_JOB": key}, **more}


AS_USER = """
import json, os, socket, sys
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect({path!r})
socket.send_fds(connection, [{packet!r}], [os.pidfd_open({pid})])
print(connection.recv(65536).decode())
"""


def ask_as_user(world, request, pid):
    program = AS_USER.format(uid=USER, path=str(world.socket), packet=packet(request), pid=pid)
    return json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True).stdout)


def test_a_job_from_its_start_to_its_receipt(world):
    leader, supervisor = world.process(), world.process()
    fd = os.pidfd_open(supervisor.pid)
    reply = create(world, leader, limits={"run_time_max": 7_000_000_000}, more=[fd])
    assert int(reply["environment"].pop("PINFOLD_END_TIME")) == world.job_property("wrapper.1", "Created") // 1_000_000 + 7000
    assert reply == made("wrapper.1")
    os.close(fd)
    assert world.live() == {"wrapper.1": "running"}
    assert world.job_property("wrapper.1", "Limits")["run_time_max"] == 7_000_000_000
    pid = leader.pid
    leader.kill()
    leader.wait()
    assert ask(world, {"version": 1, "call": "end", "key": "wrapper.1", "leader": pid, "exit_signal": 9}) == {"key": "wrapper.1"}
    assert world.live() == {} and world.records() == []
    assert world.manager().GetReceipt("wrapper.1")["exit_signal"] == 9
    supervisor.kill()


def test_an_epilogue_ends_whichever_job_has_the_key(world):
    leader = world.process()
    create(world, leader)
    assert ask(world, {"version": 1, "call": "end", "key": "wrapper.1", "leader": 0}) == {"key": "wrapper.1"}
    assert world.live() == {} and leader.wait() != 0
    receipt = world.manager().GetReceipt("wrapper.1")
    assert "exit_status" not in receipt and "exit_signal" not in receipt


def test_a_summary_where_the_site_wants_one(world):
    drop_in = world.root / "etc/pinfold/pinfold.toml.d/summary.toml"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text("[jobs]\nsummary = true\n")
    world.manager().Reload()
    leader = world.process()
    create(world, leader)
    leader.kill()
    leader.wait()
    reply = ask(world, {"version": 1, "call": "end", "key": "wrapper.1", "leader": leader.pid, "exit_status": 3})
    assert reply["summary"].startswith(f"\n--- pinfold: job wrapper.1 on {os.uname().nodename} ---\nJob wrapper.1 of user root is over. It exited with status 3.\n\n  host ")
    assert reply["summary"].endswith("\n")
    assert "notice" not in reply


def test_a_summary_of_those_that_failed_only(world):
    world.configure('[jobs]\nsummary = "on-failure"\n')
    told = {}
    for key, how in {"wrapper.0": {"exit_status": 0}, "wrapper.3": {"exit_status": 3}, "wrapper.9": {"exit_signal": 9}, "wrapper.x": {}}.items():
        leader = world.process()
        create(world, leader, key=key)
        leader.kill()
        leader.wait()
        told[key] = ask(world, {"version": 1, "call": "end", "key": key, "leader": leader.pid, **how}).get("summary")
    assert told["wrapper.0"] is None
    assert "It exited with status 3." in told["wrapper.3"] and "It was ended by SIGKILL" in told["wrapper.9"]
    assert told["wrapper.x"] is None, "unknown is not failed"


STOPPED = "pinfold: job wrapper.1 on " + os.uname().nodename + " was stopped"


@pytest.mark.parametrize("how, words", [("stop", " on request of user root. "), ("limit", ": it reached its run time limit of 200ms. "),
                                        ("shutdown", ": the node is being shut down. ")])
def test_why_a_job_was_stopped_is_told_to_its_wrapper(world, how, words):
    leader = world.process()
    create(world, leader, limits={"run_time_max": 200_000} if how == "limit" else None)
    if how == "stop":
        world.manager().StopJob("wrapper.1", dbus.Dictionary({}, signature="sv"))
    elif how == "shutdown":
        world.systemd.Shutdown("stopping")
        wait_until(lambda: world.live()["wrapper.1"] == "ending", "the job's end")
        leader.terminate()
    signaled = -leader.wait(60)
    end = {"version": 1, "call": "end", "key": "wrapper.1", "leader": leader.pid, "exit_signal": signaled}
    reply = ask(world, end)
    assert reply.keys() == {"key", "notice"}
    assert reply["notice"].startswith(STOPPED + words + "It ran for ") and reply["notice"].count("\n") == 1
    assert ask(world, end) == reply, "asked again, as after a restart"


def test_what_a_job_has_for_itself_is_told_to_its_wrapper(world):
    world.configure('[gpus]\ndevices = ["/dev/null", "/dev/zero"]\nids = ["GPU-a", "GPU-b"]\nenvironment = ["VISIBLE"]\n')
    fd = os.pidfd_open(world.process().pid)
    reply = ask(world, {**CREATE, "allocation": {"cpus": 2, "gpu_list": "1"}}, [fd])
    os.close(fd)
    variables = {"VISIBLE": "GPU-b", "PINFOLD_JOB": "wrapper.1", "PINFOLD_CPUS": "2", "PINFOLD_CPU_LIST": "0-1"}
    assert reply == {"key": "wrapper.1", "environment": variables}


def test_the_same_request_again_finds_the_job(world):
    leader = world.process()
    assert create(world, leader) == create(world, leader) == made("wrapper.1")
    refused = create(world, world.process())
    assert refused["error"] == "AlreadyExists" and "wrapper.1" in refused["message"]


def test_the_rules_are_those_of_the_bus(world):
    own, strange = world.process(**owned(True)), world.process()
    assert ask_as_user(world, CREATE, own.pid)["error"] == "Denied"
    allow_user_jobs(world)
    assert ask_as_user(world, CREATE, strange.pid)["error"] == "Denied"
    denied = ask_as_user(world, CREATE, own.pid)
    assert denied["error"] == "Denied" and "may not name a job 'wrapper.1'" in denied["message"]
    assert ask_as_user(world, {**CREATE, "key": "user.1"}, own.pid) == made("user.1")
    assert create(world, strange, key="wrapper.2") == made("wrapper.2")
    end = {"version": 1, "call": "end", "key": "wrapper.2", "leader": strange.pid, "exit_status": 0}
    assert ask_as_user(world, end, own.pid)["error"] == "Denied"
    assert ask_as_user(world, {**CREATE, "key": "user.3"}, own.pid)["error"] == "Denied", "it is in a job already"


LIST = {"version": 1, "call": "list", "uid": USER}


def adopt(world, process, key, owner=USER):
    fd = os.pidfd_open(process.pid)
    try:
        return ask(world, {"version": 1, "call": "adopt", "key": key, "owner": owner}, [fd])
    finally:
        os.close(fd)


def test_a_users_jobs(world):
    assert ask(world, LIST) == {"key": "", "jobs": []}
    create(world, world.process(**owned(True)), key="wrapper.1")
    create(world, world.process(**owned(True)), key="wrapper.2")
    create(world, world.process(), key="wrapper.3")
    both = [{"key": "wrapper.2", "state": "running"}, {"key": "wrapper.1", "state": "running"}]
    assert ask(world, LIST) == {"key": "", "jobs": both}
    assert ask_as_user(world, {**LIST, "uid": 0}, os.getpid())["jobs"] == [{"key": "wrapper.3", "state": "running"}], "as on the bus"


def test_more_jobs_than_a_packet_holds(world):
    processes = [world.process(**owned(True)) for _ in range(140)]
    for number, process in enumerate(processes):
        assert "error" not in create(world, process, key=f"wrapper.{number}." + "x" * 200)
    jobs = ask(world, LIST)["jobs"]
    assert [int(job["key"].split(".")[1]) for job in jobs] == list(range(139, 11, -1))


def test_a_process_is_adopted_into_its_users_job(world):
    job, session, stranger = world.process(**owned(True)), world.process(), world.process()
    create(world, job)
    assert adopt(world, stranger, "wrapper.1", owner=1)["error"] == "NoSuchJob", "the key is another user's by now"
    assert adopt(world, stranger, "wrapper.9")["error"] == "NoSuchJob"
    assert adopt(world, session, "wrapper.1") == made("wrapper.1", task=1)
    assert adopt(world, session, "wrapper.1")["error"] == "Denied", "it is in a job already"
    request = {"version": 1, "call": "adopt", "key": "wrapper.1", "owner": USER}
    assert ask(world, request)["error"] == "InvalidArgument", "which process?"
    assert ask_as_user(world, request, stranger.pid)["error"] == "Denied"


def test_who_connected_is_who_asks(world):
    """Acts as a setuid program that a user starts. The program connects while its effective user is an ordinary user, and sends its request as
    root."""
    own = world.process()
    fd = os.pidfd_open(own.pid)
    os.setegid(USER)
    os.seteuid(USER)
    try:
        connection = connect(world)
    finally:
        os.seteuid(0)
        os.setegid(0)
    with connection:
        socket.send_fds(connection, [packet(CREATE)], [fd])
        assert json.loads(connection.recv(65536))["error"] == "Denied"
    os.close(fd)


NO_REQUESTS = {
    "nothing known": b"hello",
    "no JSON": b"\xff\xfe",
    "nested": b"[" * 60_000,
    "unknown member": {**CREATE, "colour": 0},
    "unknown limit": {**CREATE, "limits": {"Slice": "system.slice"}},
    "member twice": packet(CREATE)[:-1] + b',"key":"wrapper.2"}',
    "newer": {**CREATE, "version": 2},
    "line break": {**CREATE, "key": "wrapper.1\nTasksMax=7"},
    "limit out of range": {**CREATE, "limits": {"memory_max": 1}},
    "too long": {**CREATE, "key": "wrapper." + "x" * 70_000},
    "end of nothing": {"version": 1, "call": "end", "key": "wrapper.9", "leader": 5, "exit_status": 0},
}


@pytest.mark.parametrize("name", NO_REQUESTS)
def test_what_is_no_request_is_told_in_one_line(world, name):
    fd = os.pidfd_open(world.process().pid)
    answer = ask(world, NO_REQUESTS[name], [fd])
    os.close(fd)
    assert answer["error"] in ("InvalidArgument", "LimitInvalid", "NoSuchJob") and answer["message"].isprintable()
    assert list(world.systemd.Calls()) == [] and world.live() == {}


def test_descriptors(world):
    open_now = lambda: len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
    process = world.process()
    before = open_now()  # an earlier connection may still be open, because pinfoldd closes a connection a moment after the answer
    assert ask(world, CREATE)["error"] == "InvalidArgument", "none"
    with open(os.devnull) as file:
        assert "not a pidfd" in ask(world, CREATE, [file.fileno()])["message"]
        for count in range(4, 9):
            assert "three descriptors" in ask(world, CREATE, [file.fileno()] * count)["message"]
        assert ask(world, CREATE, [file.fileno()] * 100)["error"] == "InvalidArgument"
        with connect(world) as connection:
            socket.send_fds(connection, [b"x"], [file.fileno()] * 3)
    for pid in (1, world.daemon.pid):
        fd = os.pidfd_open(pid)
        assert ask(world, CREATE, [fd])["error"] == "InvalidArgument"
        os.close(fd)
    wait_until(lambda: open_now() <= before, "all descriptors given back")
    assert create(world, process) == made("wrapper.1")


def test_no_request_is_mistaken_for_a_wrong_one_because_descriptors_are_short(world):
    """If pinfoldd has very few free descriptors, it does not answer a request, and the client repeats the request. If pinfoldd has enough free
    descriptors for an answer but not for a job, it refuses the request and says why. If pinfoldd has enough free descriptors, the request
    succeeds."""
    process, supervisor = world.process(), world.process()
    used = len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
    hard = resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE)[1]

    def answer(most, microseconds=500_000):
        resource.prlimit(world.daemon.pid, resource.RLIMIT_NOFILE, (most, hard))
        fds = [os.pidfd_open(one.pid) for one in (process, supervisor)]
        with connect(world) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", *divmod(microseconds, 1_000_000)))
            try:
                socket.send_fds(connection, [packet({**CREATE, "supervised": True})], fds)
                said = connection.recv(65536)
            except OSError:
                said = b""
            finally:
                for fd in fds:
                    os.close(fd)
        return json.loads(said) if said else "none"

    answers = [answer(most) for most in range(used, used + 8)]
    assert answer(2 * used, microseconds=60_000_000) == made("wrapper.1")
    told = [said.get("message", "") for said in answers if said != "none"]
    assert "none" in answers and all("Too many open files" in said or "raise LimitNOFILE=" in said for said in told), answers
    assert "raise LimitNOFILE=" in told[-1]


def test_those_who_connect_and_say_nothing(world):
    """pinfoldd limits the connections of a user. The connections of one user do not delay other users. pinfoldd soon closes a connection on
    which nobody sends a request."""
    program = AS_USER.split("connection =")[0] + """
held = []
while True:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect({path!r})
    except OSError:
        break
    held.append(connection)
    if len(held) == 3000:
        break
print("up", flush=True)
sys.stdin.read()
"""
    limits = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    silent = subprocess.Popen([sys.executable, "-c", program.format(uid=USER, path=str(world.socket))], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, preexec_fn=limits)
    world.processes.append(silent)
    assert silent.stdout.readline() == "up\n"
    open_now = lambda: len(os.listdir(f"/proc/{world.daemon.pid}/fd"))
    assert create(world, world.process()) == made("wrapper.1")
    assert open_now() < 1200, "200 at once, a hundred more each second, 1024 in all"
    with connect(world) as roots:
        wait_until(lambda: open_now() < 100, "descriptors given back, though the other ends are open")
        assert silent.poll() is None
        roots.send(packet(LIST))
        assert json.loads(roots.recv(65536))["jobs"] == [], "root may take its time"
    silent.stdin.close()
    silent.stdout.close()
    silent.wait(timeout=20)


def open_descriptors(world):
    return len(os.listdir(f"/proc/{world.daemon.pid}/fd"))


def silent_connections(world, users, each):
    """Opens connections for each user. The parameter `each` is the number of connections per user. All the connections wait in the queue of the
    wrapper's socket. A connection belongs to the effective user id of the process that connects."""
    silent = []
    for uid in users:
        os.seteuid(uid)
        try:
            silent += [connect(world) for _ in range(each)]
        finally:
            os.seteuid(0)
    return silent


SUBORDINATE = range(200_000, 200_066)


def most_descriptors_while_silent(world):
    """66 users open 60 silent connections each, before pinfoldd reads any of the connections. root connects last, and pinfoldd must answer root."""
    world.daemon.send_signal(signal.SIGSTOP)
    silent = silent_connections(world, SUBORDINATE, 60)
    with connect(world) as roots:
        roots.send(packet(LIST))
        most = open_descriptors(world)
        world.daemon.send_signal(signal.SIGCONT)
        answered = select.poll()
        answered.register(roots, select.POLLIN)
        while not answered.poll(0):
            most = max(most, open_descriptors(world))
        assert json.loads(roots.recv(65536))["jobs"] == []
    for connection in silent:
        connection.close()
    return most


def restart_with_few_descriptors(world):
    """Restarts pinfoldd with a low limit of open descriptors, and returns the limit."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, before[1]))
    try:
        restart(world)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    return 4096


def test_all_users_together_leave_descriptors_to_root(world):
    may_have = restart_with_few_descriptors(world)
    assert most_descriptors_while_silent(world) < may_have / 8 + 100, "an eighth for connections of ordinary users"


@pytest.mark.parametrize("owner", ["nobody", "2002", "root", "who-is-that"])
def test_subordinate_user_ids_are_one_user(world, owner):
    subuid = world.root / "etc/subuid"
    subuid.parent.mkdir(exist_ok=True)
    subuid.write_text(f"{owner}:200000:65536\n")
    may_have = restart_with_few_descriptors(world)
    # The connections of all ordinary users together can use at most an eighth of pinfoldd's descriptors. One user can have at most a quarter of these
    # connections. While pinfoldd does not know the owner of the subordinate ids, the owner counts as two users.
    assert most_descriptors_while_silent(world) < 2 * may_have / 32 + 100


def test_users_jobs_leave_descriptors_to_root(world):
    may_have = restart_with_few_descriptors(world)
    allow_user_jobs(world)
    own = world.process(**owned(True))
    held = [connect(world) for _ in range(3 * may_have // 4)]  # connections of root may be silent, because they stand for jobs
    wait_until(lambda: open_descriptors(world) > 3 * may_have // 4, "connections")
    theirs = {**CREATE, "key": "user.1"}
    refused = ask_as_user(world, theirs, own.pid)
    assert refused["error"] == "Busy" and "three quarters" in refused["message"], refused
    assert create(world, world.process(), key="wrapper.2") == made("wrapper.2")
    for connection in held:
        connection.close()
    wait_until(lambda: open_descriptors(world) < may_have // 4, "connections gone")
    assert ask_as_user(world, theirs, own.pid) == made("user.1")


FLOOD = AS_USER.split("connection =")[0] + """
print("up", flush=True)
while True:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        try:
            connection.connect({path!r})
            connection.send({packet!r})
        except OSError:
            pass
"""


@pytest.mark.parametrize("request_", [packet(CREATE), b"[" * 60_000], ids=["creations", "large packets"])
def test_a_flood_by_one_user_holds_nobody_up(world, request_):
    def medians(number, key):
        creations, lists = [], []
        for index in range(number):
            process = world.process()
            begun = time.monotonic()
            assert create(world, process, key=f"{key}.{index}") == made(f"{key}.{index}")
            creations.append(time.monotonic() - begun)
            begun = time.monotonic()
            world.manager().ListJobs()
            lists.append(time.monotonic() - begun)
        return statistics.median(creations), statistics.median(lists)

    usual = medians(5, "usual")
    flooder = subprocess.Popen([sys.executable, "-c", FLOOD.format(uid=USER, path=str(world.socket), packet=request_)],
                               stdout=subprocess.PIPE, text=True)
    world.processes.append(flooder)
    assert flooder.stdout.readline() == "up\n"
    creation, listing = medians(20, "wrapper")
    assert creation < bearable(usual[0]) and listing < bearable(usual[1])
    flooder.kill()
    flooder.stdout.close()


def test_one_who_leaves_before_the_answer(world):
    world.systemd.Hold(True)
    leader = world.process()
    fd = os.pidfd_open(leader.pid)
    with connect(world) as connection:
        socket.send_fds(connection, [packet(CREATE)], [fd])
        wait_until(lambda: world.systemd.Held() == 1, "the start")
    os.close(fd)
    world.systemd.Hold(False)
    wait_until(lambda: world.live() == {"wrapper.1": "running"}, "the job running")


def test_requests_wait_while_pinfoldd_is_down(world):
    leader = world.process()
    world.daemon.kill()
    world.daemon.wait()
    fd = os.pidfd_open(leader.pid)
    with connect(world) as connection:
        socket.send_fds(connection, [packet(CREATE)], [fd])
        world.daemon = world.start_daemon()
        assert json.loads(connection.recv(65536)) == made("wrapper.1")
    os.close(fd)


@pytest.mark.parametrize("attempt", range(5))
def test_a_bus_that_goes_away_refuses_no_job(world, attempt):
    """pinfoldd gets the request and loses the bus at the same moment. pinfoldd can exit before it has answered the request. If the wrapper gets no
    answer, it repeats the request."""
    fd = os.pidfd_open(world.process().pid)
    world.daemon.send_signal(signal.SIGSTOP)
    world.processes[0].kill()
    world.processes[0].wait()
    connections = [connect(world) for _ in range(3)]
    for number, connection in enumerate(connections):
        socket.send_fds(connection, [packet({**CREATE, "key": f"wrapper.{number}"})], [fd])
    world.daemon.send_signal(signal.SIGCONT)
    assert world.daemon.wait(timeout=20) == 1
    for connection in connections:
        with connection:
            connection.setblocking(False)
            try:
                assert connection.recv(65536) == b""
            except (BlockingIOError, ConnectionResetError):
                pass  # pinfoldd closed the connection without reading the request
    os.close(fd)


def end_with_a_configuration_that_is_wrong(world):
    """Kills pinfoldd. pinfoldd does not start again, because its configuration is wrong."""
    world.daemon.kill()
    world.daemon.wait()
    config = world.root / "etc/pinfold"
    config.mkdir(parents=True)
    (config / "pinfold.toml").write_text("[jobs\n")


def test_a_pinfoldd_that_refuses_to_start_says_why(world):
    end_with_a_configuration_that_is_wrong(world)
    with connect(world) as first, connect(world) as silent:
        first.send(packet(CREATE))
        refused = world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd"))
        answer = json.loads(first.recv(65536))
        assert answer["error"] == "Unreachable"
        assert "does not start" in answer["message"] and "pinfold.toml:1:" in answer["message"]
        assert json.loads(silent.recv(65536)) == answer
    assert refused.wait(timeout=20) == 78


def test_the_silent_do_not_keep_a_pinfoldd_that_refuses_to_start(world):
    """pinfoldd waits a tenth of a second for all silent connections together. If pinfoldd waited a tenth of a second for each connection, the 300
    connections of this test would take half a minute. The wrapper's socket has a queue for 4,096 connections."""
    end_with_a_configuration_that_is_wrong(world)
    silent = [connect(world) for _ in range(300)]
    with connect(world) as asks:
        asks.send(packet(CREATE))
        begun = time.monotonic()
        refused = world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd"))
        assert json.loads(asks.recv(65536))["error"] == "Unreachable"
        assert refused.wait(timeout=60) == 78
    assert time.monotonic() - begun < 10
    for connection in silent:
        with connection:
            assert json.loads(connection.recv(65536))["error"] == "Unreachable"


def test_who_waits_for_a_jobs_end_is_not_turned_away_for_good(world):
    """A wrapper of an earlier version takes every answer of pinfoldd as the end of its job. If pinfoldd cannot start, it sends no answer to a wrapper
    of an earlier version, so that the wrapper asks again. A wrapper of the present version gets an answer that says why pinfoldd does not start."""
    end = {"version": 1, "call": "end", "key": "wrapper.1", "leader": 5, "exit_status": 0}
    end_with_a_configuration_that_is_wrong(world)
    with connect(world) as earlier, connect(world) as told:
        earlier.send(packet(end))
        told.send(packet({**end, "told_of_refusal": True}))
        refused = world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd"))
        assert json.loads(told.recv(65536))["error"] == "Unreachable"
        assert earlier.recv(65536) == b""
    assert refused.wait(timeout=20) == 78


def in_the_way_of(path):
    """replace_file.cpp first writes a temporary file; the function makes a directory with the name of this file. The directory prevents pinfoldd from
    writing the file at `path`, as a full disk would."""
    path.with_name(f".{path.name}.tmp").mkdir()


def restart(world):
    world.daemon.kill()
    world.daemon.wait()
    world.daemon = world.start_daemon()


def test_a_policy_that_cannot_be_written_is_no_reason_not_to_start(world):
    policy = world.root / "run/pinfold/on-failure"
    assert policy.read_text() == "refuse\n"
    in_the_way_of(policy)
    restart(world)
    assert policy.read_text() == "refuse\n", "it says what it has to say already"
    policy.write_text("run-unconfined\n")
    restart(world)
    assert not policy.exists(), "by what is not there no job runs unconfined"
    assert create(world, world.process()) == made("wrapper.1")


def test_records_that_cannot_be_kept_now_may_be_kept_later(world):
    world.daemon.kill()
    world.daemon.wait()
    records = world.root / "run/pinfold/jobs"
    records.rmdir()
    records.write_text("")
    daemon = world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd"))
    assert daemon.wait(timeout=20) == 1, "systemd starts it again"
    with connect(world) as waiting:
        waiting.send(packet(LIST))
        records.unlink()
        world.daemon = world.start_daemon()
        assert json.loads(waiting.recv(65536)) == {"key": "", "jobs": []}, "it was not turned away"


LINGERING = AS_USER.split("connection =")[0] + lingering_socket.MAKE + """
def connect():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect({path!r})
    return connection
{send}
lingering.close()
print("sent", flush=True)
sys.stdin.read()
"""

LIST_WITH_IT = """
connection = connect()
socket.send_fds(connection, [{list!r}], [lingering.fileno()])
"""
# The program sends three messages, of which pinfoldd reads only the first.
UNREAD = """
connection = connect()
connection.send({list!r})
connection.send(b"")
socket.send_fds(connection, [b""], [lingering.fileno()])
"""
TOO_MANY = """
connection = connect()
socket.send_fds(connection, [{list!r}], [lingering.fileno()] + [0] * 252)
"""
OUTPUT = """
connection = connect()
socket.send_fds(connection, [{create!r}], [os.pidfd_open(os.getpid()), lingering.fileno()])
"""
ON_THE_BUS = """
import dbus, dbus.bus
bus = dbus.bus.BusConnection({address!r})
call = dbus.lowlevel.MethodCallMessage("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "CreateJob")
call.append("user.1", dbus.types.UnixFd(lingering.fileno()), dbus.Dictionary({{}}, signature="sv"), signature="sha{{sv}}")
lingering.close()
bus.send_message(call)
bus.flush()
del call
"""
WAYS = {"request that takes none": LIST_WITH_IT, "never read": UNREAD, "too many": TOO_MANY, "standard error": OUTPUT, "bus": ON_THE_BUS}


@pytest.mark.parametrize("way", WAYS)
def test_a_descriptor_that_does_not_close_holds_up_nobody(world, way):
    allow_user_jobs(world)
    create_with_output = {"version": 1, "call": "create", "key": "user.7", "limits": {}, "output": True}
    send = WAYS[way].format(list=packet({**LIST, "uid": USER}), create=packet(create_with_output), address=world.address)
    program = LINGERING.format(uid=USER, path=str(world.socket), send=send)
    world.daemon.send_signal(signal.SIGSTOP)  # pinfoldd stops, so all messages wait in the socket's queue
    for _ in range(6):  # pinfoldd has fewer than six threads for one user
        user = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        world.processes.append(user)
        assert user.stdout.readline() == "sent\n"
        user.stdout.close()
    world.daemon.send_signal(signal.SIGCONT)
    begun = time.monotonic()
    assert create(world, world.process(), key="wrapper.8") == made("wrapper.8")
    world.manager().ListJobs()
    assert time.monotonic() - begun < 10, "not as long as that socket lingers"
    for user in world.processes[-7:]:
        if user.stdin:
            user.stdin.close()


def test_nor_does_a_descriptor_that_does_not_close(world):
    """pinfoldd refuses to start. When pinfoldd ends, the kernel closes the descriptors that pinfoldd has not received. The kernel closes a socket at
    once, and does not wait for the other end of the socket."""
    world.configure("")
    world.daemon.kill()
    world.daemon.wait()
    (world.root / "etc/pinfold/pinfold.toml").write_text("[jobs\n")
    program = LINGERING.format(uid=USER, path=str(world.socket), send=UNREAD.format(list=packet(LIST)))
    user = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    world.processes.append(user)
    assert user.stdout.readline() == "sent\n"
    begun = time.monotonic()
    refused = world.start(*world.daemon_command(BUILD / "src/daemon/pinfoldd"))
    assert refused.wait(timeout=60) == 78
    assert time.monotonic() - begun < 10, "not as long as that socket lingers"
    user.stdin.close()
    user.stdout.close()
