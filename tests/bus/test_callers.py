# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests calls by other users, floods of calls, and messages that no honest client sends."""

import os
import subprocess
import sys

import dbus
import pytest

from conftest import error_name, pidfd

USER = 65534  # nobody

AS_USER = """
import dbus, dbus.bus, os, sys
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
bus = dbus.bus.BusConnection({address!r})
m = dbus.Interface(bus.get_object("org.pinfold1", "/org/pinfold1", introspect=False), "org.pinfold1.Manager")
none = dbus.Dictionary({{}}, signature="sv")
fd = lambda pid: dbus.types.UnixFd(os.pidfd_open(pid))
try:
    print({expression})
except dbus.DBusException as error:
    print(error.get_dbus_name())
"""


# Returns the median of the seconds that a call takes. A flood of messages makes each call slow. A busy machine makes only a few calls slow, and does
# not change the median.
HELD_UP = ("__import__('statistics').median((lambda t: (m.ListJobs(), __import__('time').monotonic() - t)[1])"
           "(__import__('time').monotonic()) for _ in range(20))")


def as_user(world, expression, uid=USER, timeout=60):
    program = AS_USER.format(uid=uid, address=world.address, expression=expression)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def held_up(world):
    return float(as_user(world, HELD_UP, uid=1, timeout=600))  # bearable() allows twenty calls of several seconds on a busy machine


def bearable(usual):
    """Returns the highest allowed median of the seconds that a call takes during a flood. `usual` is the time of a call before the flood. On a busy
    machine, the allowed median is higher, because the flood, the bus and pinfoldd share the processors."""
    return (1.0 + 20 * usual) * max(1, os.getloadavg()[0] / os.cpu_count())


def allow_user_jobs(world):
    world.configure("[jobs]\nallow_user_jobs = true\n")


def owned(process):
    return dict(preexec_fn=lambda: (os.setgid(USER), os.setuid(USER))) if process else {}


def test_a_users_own_process_and_somebody_elses(world):
    own, strange = world.process(**owned(True)), world.process()
    create = "m.CreateJob('user.{0}', fd({1}), none)[0]"
    assert as_user(world, create.format(1, own.pid)) == "org.pinfold1.Error.Denied", "not unless the site allows it"
    allow_user_jobs(world)
    assert as_user(world, create.format(2, strange.pid)) == "org.pinfold1.Error.Denied"
    assert as_user(world, create.format(3, own.pid)) == "user.3"
    assert as_user(world, "m.StopJob('user.3', none)") == "None"
    own.wait(timeout=20)


def test_a_process_that_is_gone(world):
    leader = world.process()
    fd = pidfd(leader)
    leader.kill()
    leader.wait()
    assert error_name(lambda: world.manager().CreateJob("bus.1", fd, dbus.Dictionary({}, signature="sv"))) == "org.pinfold1.Error.PidGone"


def test_what_is_no_process(world):
    with open(os.devnull) as file:
        fd = dbus.types.UnixFd(file.fileno())
    assert error_name(lambda: world.manager().CreateJob("bus.1", fd, dbus.Dictionary({}, signature="sv"))) == "org.pinfold1.Error.InvalidArgument"
    for pid in (1, world.daemon.pid):
        assert as_user(world, f"m.CreateJob('bus.1', fd({pid}), none)", uid=0) == "org.pinfold1.Error.InvalidArgument"
    assert world.live() == {}


@pytest.mark.parametrize("options", ["2 exit_status i 1 exit_status i 2", "1 nonsense i 1", "1 exit_status s one", "1 exit_status i -1",
                                     "1 exit_signal i 65", "2 exit_status i 1 exit_signal i 9"])
def test_dictionary_entries_that_are_refused(world, options):
    leader = world.process()
    world.create("bus.1", leader)
    done = subprocess.run(["busctl", f"--address={world.address}", "call", "--", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager",
                           "EndJob", "sa{sv}", "bus.1", *options.split()], capture_output=True, text=True, timeout=30)
    assert done.returncode != 0 and "exit_" in done.stderr or "nonsense" in done.stderr
    assert world.live() == {"bus.1": "running"}
    world.end("bus.1", leader)


NEW_CONNECTIONS = """
import dbus.bus, dbus.lowlevel, os
os.setuid({uid})
while True:
    connection = dbus.bus.BusConnection({address!r})
    for _ in range(20):
        call = dbus.lowlevel.MethodCallMessage("org.pinfold1", "/org/pinfold1", "org.freedesktop.DBus.Properties", "Get")
        call.append("org.pinfold1.Manager", "Draining")
        connection.send_message(call)
    connection.flush()
    print(flush=True)
    connection.close()
"""


def test_new_connections_of_one_user_do_not_use_up_the_calls_of_another(world):
    flooder = subprocess.Popen([sys.executable, "-c", NEW_CONNECTIONS.format(uid=USER, address=world.address)], stdout=subprocess.PIPE)
    world.processes.append(flooder)
    for _ in range(100):  # pinfoldd has then got many more calls than one user may make at once
        assert flooder.stdout.readline()
    for _ in range(20):
        connection = dbus.bus.BusConnection(world.address)
        manager = connection.get_object("org.pinfold1", "/org/pinfold1", introspect=False)
        assert not manager.Get("org.pinfold1.Manager", "Draining", dbus_interface="org.freedesktop.DBus.Properties")
        connection.close()
        assert flooder.stdout.readline()
    flooder.kill()
    flooder.stdout.close()


@pytest.mark.timing
def test_a_flood_of_one_user_does_not_hold_up_another(world):
    usual = held_up(world)
    flood = ("import dbus, dbus.bus, dbus.lowlevel, os\n"
             f"os.setgroups([]); os.setgid({USER}); os.setuid({USER})\n"
             f"buses = [dbus.bus.BusConnection({world.address!r}) for _ in range(8)]\n"
             "print('up', flush=True)\n"
             "while True:\n"
             "  for b in buses:\n"
             "    for _ in range(100):\n"
             "      m = dbus.lowlevel.MethodCallMessage('org.pinfold1', '/org/pinfold1', 'org.pinfold1.Manager', 'ListJobs')\n"
             "      m.set_no_reply(True); b.send_message(m)\n"
             "    b.flush()\n")
    flooder = subprocess.Popen([sys.executable, "-c", flood], stdout=subprocess.PIPE, text=True)
    world.processes.append(flooder)
    assert flooder.stdout.readline() == "up\n"
    flooded = held_up(world)
    flooder.kill()
    flooder.stdout.close()
    assert flooded < bearable(usual)
