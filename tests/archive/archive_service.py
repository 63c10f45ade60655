# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the real service pinfold-archive, and sends requests to the service as different users."""

import contextlib
import json
import multiprocessing
import os
import select
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from conftest import receipt
from postgres_server import TOP

BUILD = os.environ.get("PINFOLD_BUILD", TOP / "build")
ALICE, BOB, AUDITOR = 61001, 61002, 61003
MINUTE = 60_000_000
DAY = 24 * 60 * MINUTE
NOW = time.time_ns() // 1000
PASSWD = f"root:x:0:0::/root:/bin/sh\nalice:x:{ALICE}:{ALICE}::/:/bin/sh\nbob:x:{BOB}:{BOB}::/:/bin/sh\naudra:x:{AUDITOR}:{AUDITOR}::/:/bin/sh\n"
GROUP = "root:x:0:\npinfold-admin:x:61100:\npinfold-audit:x:61101:audra\n"
# The service gets its own user database. The command passes the socket to the service as systemd would (sd_listen_fds(3)).
START = ('mount --bind "$0/etc/passwd" /etc/passwd && mount --bind "$0/etc/group" /etc/group && exec 3<&"$1" && shift && '
         'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"')
# `pinfold` sees the configuration and the socket of the service, but it reaches neither the bus nor pinfoldd.
COMMAND = 'mount --bind "$0/etc" /etc && mount --bind "$0/run" /run && exec "$@"'


@contextlib.contextmanager
def effective_user(uid):
    """The kernel tells a service which effective user has called connect(2)."""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


class Service:
    """`directory` contains all files of /etc and /run that the service and the command line need."""

    def __init__(self, directory, configuration, subuid=""):
        self.directory, self.path = directory, directory / "run/pinfold/archive.sock"
        directory.chmod(0o755)
        self.path.parent.mkdir(parents=True)
        (directory / "etc/pinfold").mkdir(parents=True)
        (directory / "etc/pinfold/pinfold.toml").write_text(configuration)
        (directory / "etc/passwd").write_text(PASSWD)
        (directory / "etc/group").write_text(GROUP)
        (directory / "etc/subuid").write_text(subuid)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen(4096)
        self.path.chmod(0o666)
        self.process = None

    def start(self, *options):
        number = self.listener.fileno()
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(["unshare", "--mount", "bash", "-c", START, self.directory, str(number),
                                             f"{BUILD}/src/archive_service/pinfold-archive", "--root", self.directory, *options],
                                            pass_fds=[number], stderr=log)
        return self

    def peak_memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

    def connect(self, uid=0):
        with effective_user(uid):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.connect(str(self.path))
        connection.settimeout(60)
        return connection

    def send(self, request, uid=0):
        """Sends a request, and does not wait for the answer. `request` is a filter or a text."""
        connection = self.connect(uid)
        connection.sendall(request if isinstance(request, bytes) else json.dumps({"filter": request}).encode() + b"\n")
        return connection

    def ask(self, request, uid=0):
        with self.send(request, uid) as connection:
            return answer(connection)

    def receipts(self, request, uid=0):
        receipts, last = self.ask(request, uid)
        assert last == {"end": True}, last
        return receipts

    def keys(self, request, uid=0):
        return [receipt["key"] for receipt in self.receipts(request, uid)]

    def error(self, request, uid=0):
        receipts, last = self.ask(request, uid)
        assert receipts == [] and "error" in last, (receipts, last)
        return last["error"]

    def run_pinfold(self, *words, uid=0):
        return subprocess.run(["unshare", "--mount", "bash", "-c", COMMAND, self.directory, "setpriv", f"--reuid={uid}", f"--regid={uid}",
                               "--clear-groups", f"{BUILD}/src/cli/pinfold", *words], capture_output=True, text=True, timeout=100, check=False)

    def pinfold(self, *words, uid=0, status=0):
        """Returns the command's output, or the command's messages if the test expects a failure."""
        done = self.run_pinfold(*words, uid=uid)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done.stderr if status else done.stdout

    def end(self):
        """Kills the service's process, but leaves the socket open. Like systemd, start() can pass the open socket to a new process of the service."""
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def stop(self):
        self.listener.close()
        self.end()


def answer(connection):
    """Returns the receipts and the last line of an answer. If the service breaks off the answer, the result has None in place of the last line."""
    receipts = []
    with connection.makefile("rb") as lines:
        for line in lines:
            document = json.loads(line)
            if "end" in document or "error" in document:
                return receipts, document
            receipts.append(document)
    return receipts, None


def ask_for_ever(path, uid, clients, answers):
    """Lets each client of the user ask for 100 receipts, read the answer, and ask again at once. Counts the complete answers, and separately all
    other answers."""
    os.seteuid(uid)

    def ask():
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(path)
                text = b""
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the service refuses a connection before it reads the request
                    connection.sendall(b'{"filter": {"limit": 100}}\n')
                    while part := connection.recv(1 << 20):
                        text = text[-20:] + part
            counter = answers[0 if b'{"end"' in text else 1]
            with counter.get_lock():
                counter.value += 1

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    threads[0].join()


@contextlib.contextmanager
def flood(service, uid, clients):
    """Sends many requests of one user to the service until the context ends. Returns two counters: one counts the complete answers, and one
    counts all other answers. The clients of this function run in a separate process, so that they do not delay the test's own clients."""
    fork = multiprocessing.get_context("fork")
    answers = fork.Value("Q"), fork.Value("Q")
    process = fork.Process(target=ask_for_ever, args=(str(service.path), uid, clients, answers), daemon=True)
    process.start()
    try:
        yield answers
    finally:
        process.kill()
        process.join()


def closed(connection, within):
    """Waits until the service has closed the connection. The function does not read from the connection."""
    poll = select.poll()
    poll.register(connection, 0)
    assert poll.poll(within * 1000), f"the connection is still open after {within} s"


def job(sequence, node, uid, minutes_ago, **members):
    """Returns the receipt of a job that ran for a minute and ended `minutes_ago` minutes ago."""
    ended = members.pop("ended", NOW - minutes_ago * MINUTE)
    return receipt(sequence, node, uid=uid, started=members.pop("started", ended - MINUTE), ended=ended, **members)


def configuration(server, host=None):
    return f'[archive]\nserver = "{host or server.directory}"\nport = {server.port}\n'


@contextlib.contextmanager
def starter():
    """The path of a socket may have at most 107 bytes."""
    services = []
    with tempfile.TemporaryDirectory(prefix="pinfold-service-") as directory:
        def start(text, *options, subuid=""):
            place = Path(directory) / str(len(services))
            place.mkdir()
            services.append(Service(place, text, subuid))
            return services[-1].start(*options)
        Path(directory).chmod(0o755)
        try:
            yield start
        finally:
            for service in services:
                service.stop()
