# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the real pinfoldd on a private bus. A stand-in replaces systemd, and behaves wrongly if a test asks for faults. The tests change nothing
on this host."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dbus
import dbus.bus
import dbus.lowlevel
import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("PINFOLD_BUILD", HERE.parents[1] / "build"))

# As on the system bus, everyone may connect, and a connection may have 128 unanswered calls.
CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
  </policy>
  <limit name="max_replies_per_connection">128</limit>
</busconfig>
"""


def wait_until(predicate, what, deadline=60.0):
    end = time.monotonic() + deadline
    while not (value := predicate()):
        assert time.monotonic() < end, f"not within {deadline} s: {what}"
        select.select([], [], [], 0.01)
    return value


def listens(path):
    """The function connects to the socket, because the socket's file can exist although no process listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        return connection.connect_ex(str(path)) == 0


class World:
    def __init__(self, directory):
        self.directory, self.root = directory, directory / "root"
        self.root.mkdir()
        self.processes, self.daemon = [], None
        self.socket = directory / "wrapper.sock"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.socket))
        self.listener.listen(4096)
        os.chmod(self.socket, 0o666)
        os.chmod(directory, 0o755)
        (directory / "bus.conf").write_text(CONFIG.format(directory=directory))
        self.address = f"unix:path={directory}/bus"
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address, "TZ": "UTC0"}

    def boot(self):
        directory = self.directory
        self.start("dbus-daemon", "--nofork", f"--config-file={directory}/bus.conf")
        wait_until(lambda: listens(directory / "bus"), "the bus")
        self.bus = dbus.bus.BusConnection(self.address)
        self.start(sys.executable, HERE / "fake_systemd.py", self.root)
        wait_until(lambda: self.bus.name_has_owner("org.freedesktop.systemd1"), "the fake systemd")
        self.systemd = dbus.Interface(self.bus.get_object("org.freedesktop.systemd1", "/org/freedesktop/systemd1", introspect=False),
                                      "org.pinfold.Fake")
        self.daemon = self.start_daemon()

    def start(self, *command):
        process = subprocess.Popen([str(part) for part in command], env=self.environment, stderr=subprocess.PIPE,
                                   pass_fds=[self.listener.fileno()])
        self.processes.append(process)
        return process

    def daemon_command(self, program, passed=None):
        """Returns a command that starts the program. The command passes the wrapper's socket, or else the file `passed`, to the program, as systemd
        does (sd_listen_fds(3))."""
        source = passed or f"&{self.listener.fileno()}"
        return ["bash", "-c", f'exec 3<{source}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', "bash", program, "--root", self.root]

    def start_daemon(self):
        # The bus has perhaps not noticed yet that an earlier pinfoldd has ended.
        wait_until(lambda: not self.bus.name_has_owner("org.pinfold1"), "the name free")
        daemon = self.start(*self.daemon_command(BUILD / "src/daemon/pinfoldd"))
        wait_until(lambda: daemon.poll() is not None or self.bus.name_has_owner("org.pinfold1"), "pinfoldd on the bus")
        assert daemon.poll() is None, daemon.stderr.read()
        return daemon

    def broadcast(self, name, member, signature, *values):
        """Sends the signal `member` of the interface NAME.Manager to all programs on the bus, from a program that owns the bus name NAME."""
        sender = dbus.bus.BusConnection(self.address)
        sender.request_name(name)
        message = dbus.lowlevel.SignalMessage("/" + name.replace(".", "/"), f"{name}.Manager", member)
        message.append(*values, signature=signature)
        sender.send_message(message)
        sender.flush()
        sender.close()

    def manager(self, bus=None):
        return dbus.Interface((bus or self.bus).get_object("org.pinfold1", "/org/pinfold1", introspect=False), "org.pinfold1.Manager")

    def configure(self, text):
        file = self.root / "etc/pinfold/pinfold.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.manager().Reload()

    def process(self, command=("sleep", "1000"), **options):
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        wait_until(lambda: Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(command[0].encode()), "exec")
        self.systemd.Show(dbus.UInt32(process.pid))
        return process

    def create(self, key, process, options=None, timeout=100, bus=None):
        return self.manager(bus).CreateJob(key, pidfd(process), options or dbus.Dictionary({}, signature="sv"), timeout=timeout)

    def job_property(self, key, name):
        job = self.bus.get_object("org.pinfold1", self.manager().GetJob(key), introspect=False)
        return job.Get("org.pinfold1.Job", name, dbus_interface="org.freedesktop.DBus.Properties")

    def live(self):
        return {str(job["key"]): str(job["state"]) for job in self.manager().ListJobs()}

    def records(self):
        return sorted(path.name for path in (self.root / "run/pinfold/jobs").iterdir())

    def end(self, key, process):
        process.kill()
        process.wait()
        return self.manager().WaitJob(key)

    def stop_daemon(self):
        """Stops pinfoldd as systemd does. If pinfoldd was built with a sanitizer, the sanitizer looks for lost memory when pinfoldd ends."""
        self.daemon.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a test may have stopped pinfoldd, or a process for which pinfoldd waits
            self.daemon.wait(10)

    def close(self):
        self.listener.close()
        if "ASAN_OPTIONS" in os.environ and self.daemon and self.daemon.poll() is None:
            self.stop_daemon()
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stderr:
                process.stderr.close()
        assert not self.daemon or self.daemon.returncode in (0, 1, 78, -signal.SIGKILL), f"pinfoldd's end: {self.daemon.returncode}"


def pidfd(process):
    return dbus.types.UnixFd(os.pidfd_open(process.pid))


def error_name(call):
    with pytest.raises(dbus.DBusException) as caught:
        call()
    return caught.value.get_dbus_name()


@contextlib.contextmanager
def new_world():
    # Programs of ordinary users connect to this bus, so the bus's socket cannot be in the directory tmp_path, which only root can read.
    with tempfile.TemporaryDirectory(prefix="pinfold-bus-") as directory:
        world = World(Path(directory))
        try:
            world.boot()
            yield world
        finally:
            world.close()


@pytest.fixture
def world():
    with new_world() as world:
        yield world
