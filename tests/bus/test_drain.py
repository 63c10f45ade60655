# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a drained node over D-Bus: which calls pinfoldd refuses, which work continues, and which signals pinfoldd sends."""

import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import dbus
import dbus.bus
import pytest

from conftest import BUILD, error_name, pidfd, wait_until

NOTHING = dbus.Dictionary({}, signature="sv")
AT_ONCE = dbus.Dictionary({"grace": dbus.UInt64(0)}, signature="sv")
PROPERTIES = "org.freedesktop.DBus.Properties"


def properties(world):
    node = world.bus.get_object("org.pinfold1", "/org/pinfold1", introspect=False)
    return node.GetAll("org.pinfold1.Manager", dbus_interface=PROPERTIES)


def drain(world, reason="new disk"):
    world.manager().Drain(reason, NOTHING)


def command(world, *words, **options):
    return subprocess.Popen([BUILD / "src/cli/pinfold", *words], env=world.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


def finish(process, timeout=30):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


def restart(world, number=signal.SIGKILL):
    world.daemon.send_signal(number)
    world.daemon.wait(30)
    world.daemon = world.start_daemon()


@pytest.fixture
def watcher(world):
    """Returns a function that reads dbus-monitor's lines. dbus-monitor prints the signals that a scheduler would receive if it watched the node's
    properties."""
    process = subprocess.Popen(["dbus-monitor", "--address", world.address, f"type='signal',interface='{PROPERTIES}',path='/org/pinfold1'"],
                               stdout=subprocess.PIPE, text=True)
    world.processes.append(process)
    for line in process.stdout:
        if "NameLost" in line or "NameAcquired" in line:
            break

    def changes():
        """Returns dbus-monitor's lines about the next PropertiesChanged signal."""
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if line.startswith("   array [") and len([entry for entry in lines if entry == "array ["]) == 2:
                return " ".join(lines)
        return " ".join(lines)
    yield changes
    process.stdout.close()


def test_no_new_job_and_the_live_ones_go_on(world):
    before = world.process()
    world.create("bus.1", before)
    uid = dbus.Dictionary({"uid": dbus.UInt32(0)}, signature="sv")
    world.manager().OpenJob("bus.2", uid)
    drain(world)
    for call in (lambda: world.create("bus.3", world.process()), lambda: world.manager().OpenJob("bus.4", uid)):
        assert error_name(call) == "org.pinfold1.Error.Draining"
    world.manager().AddTask("bus.1", pidfd(world.process()), NOTHING)
    script = world.process()
    world.manager().AddTask("bus.2", pidfd(script), dbus.Dictionary({"batch": True}, signature="sv"))
    world.manager().OpenJob("bus.2", uid)
    assert world.live() == {"bus.1": "running", "bus.2": "running"}
    assert world.end("bus.2", script)["result"] == "exited"
    world.manager().Undrain()
    world.manager().Undrain()
    world.create("bus.3", world.process())


def test_the_properties_and_their_signals(world, watcher):
    assert not properties(world)["Draining"] and properties(world)["DrainReason"] == "" and not properties(world)["DrainDetails"]
    begun = time.time()
    drain(world, "disk\n\x1b[31m")
    seen = properties(world)
    assert seen["Draining"] and seen["DrainReason"] == "disk\\x0a\\x1b[31m"
    assert seen["DrainDetails"]["by"] == 0 and begun - 1 < seen["DrainDetails"]["since"] / 1e6 < time.time() + 1
    change = watcher()
    assert '"Draining"' in change and "boolean true" in change and "\\x1b[31m" in change
    drain(world, "")
    assert properties(world)["DrainReason"] == "disk\\x0a\\x1b[31m"
    drain(world, "two")
    assert '"two"' in watcher(), "the empty reason in between has changed nothing"
    world.manager().Undrain()
    assert "boolean false" in watcher()


def test_a_job_that_can_not_be_killed_is_told_alike(world, watcher):
    world.configure('[unkillable]\nafter = "1s"\naction = "drain"\n')
    stuck = world.process()
    world.create("bus.1", stuck)
    world.systemd.Hang(dbus.UInt32(stuck.pid))
    world.manager().StopJob("bus.1", AT_ONCE)
    change = watcher()
    assert "boolean true" in change and "bus.1 cannot be killed since" in change
    assert "by" not in properties(world)["DrainDetails"]
    world.end("bus.1", stuck)
    assert "boolean false" in watcher()


def test_what_is_refused(world):
    assert error_name(lambda: world.manager().Drain("x" * 501, NOTHING)) == "org.pinfold1.Error.InvalidArgument"
    option = dbus.Dictionary({"until": dbus.UInt64(1)}, signature="sv")
    assert error_name(lambda: world.manager().Drain("x", option)) == "org.pinfold1.Error.InvalidArgument"
    assert not properties(world)["Draining"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_restart_forgets_nothing(world, number):
    drain(world)
    before = properties(world)
    restart(world, number)
    assert properties(world) == before
    assert error_name(lambda: world.create("bus.1", world.process())) == "org.pinfold1.Error.Draining"


def test_a_file_that_is_no_drain_is_one(world):
    (world.root / "var/lib/pinfold/drain.json").write_text("?")
    restart(world)
    with pytest.raises(dbus.DBusException, match="`pinfold drain` or `pinfold undrain`") as caught:
        world.create("bus.1", world.process())
    assert caught.value.get_dbus_name() == "org.pinfold1.Error.Draining"
    assert finish(command(world, "undrain"))[0] == 0
    world.create("bus.1", world.process())


def test_wait_ends_with_the_last_job_whichever_that_is(world):
    jobs = {f"bus.{number}": world.process() for number in range(4)}
    for key, process in jobs.items():
        world.create(key, process)
    waiting = command(world, "drain", "--wait", "--reason", "new disk")
    wait_until(lambda: properties(world)["Draining"], "drained")
    for key in ("bus.2", "bus.0", "bus.3"):
        world.end(key, jobs[key])
    assert waiting.poll() is None
    world.end("bus.1", jobs["bus.1"])
    assert finish(waiting) == (0, "", ""), "nothing is said where there is no terminal"


def test_wait_on_an_empty_node_and_one_that_never_came_to_run(world):
    assert finish(command(world, "drain", "--wait")) == (0, "", "")
    world.manager().Undrain()
    world.systemd.Hold(True)
    leader = world.process()
    asker = dbus.bus.BusConnection(world.address)
    threading.Thread(target=lambda: error_name(lambda: world.create("bus.1", leader, bus=asker)), daemon=True).start()
    wait_until(lambda: world.live() == {"bus.1": "creating"}, "it is being created")
    waiting = command(world, "drain", "--wait")
    wait_until(lambda: properties(world)["Draining"], "drained")
    leader.kill()
    leader.wait()
    assert waiting.poll() is None
    world.systemd.Hold(False)
    assert finish(waiting) == (0, "", "")


def test_wait_outlives_restarts(world):
    first, last = world.process(), world.process()
    world.create("bus.1", first)
    world.create("bus.2", last)
    waiting = command(world, "drain", "--wait")
    wait_until(lambda: properties(world)["Draining"], "drained")
    restart(world)
    world.end("bus.1", first)
    restart(world, signal.SIGTERM)
    assert waiting.poll() is None
    world.end("bus.2", last)
    assert finish(waiting) == (0, "", "")


def test_wait_of_more_jobs_than_a_connection_may_have_calls(world):
    jobs = {f"bus.{number}": world.process() for number in range(150)}
    for key, process in jobs.items():
        world.create(key, process)
    waiting = command(world, "drain", "--wait")
    wait_until(lambda: properties(world)["Draining"], "drained")
    for key, process in reversed(jobs.items()):
        assert waiting.poll() is None
        world.end(key, process)
    assert finish(waiting) == (0, "", "")


def test_wait_has_a_time_limit_and_the_node_stays_drained(world):
    world.create("bus.1", world.process())
    status, out, err = finish(command(world, "drain", "--wait", "--timeout", "300ms"))
    assert (status, out) == (124, "") and "it still has 1 job: bus.1; the node stays drained" in err
    assert properties(world)["Draining"]
    assert finish(command(world, "drain", "--timeout", "1s"))[0] == 2, "which has no end of its own"


def catches(pid, number):
    [caught] = re.findall(r"^SigCgt:\t(.*)$", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(caught, 16) & 1 << number - 1


def test_an_interrupted_wait_says_that_the_node_stays_drained(world):
    world.create("bus.1", world.process())
    waiting = command(world, "drain", "--wait", "--reason", "new disk")
    # Until the end of its exec(2), the new process catches SIGINT like the process of the test.
    wait_until(lambda: properties(world)["Draining"], "drained")
    wait_until(lambda: catches(waiting.pid, signal.SIGINT), "it listens")
    waiting.send_signal(signal.SIGINT)
    status, out, err = finish(waiting)
    assert (status, out) == (-signal.SIGINT, "") and "stays drained" in err
    assert properties(world)["DrainReason"] == "new disk"


def test_a_wait_that_somebody_ends_by_resume_fails(world):
    jobs = [world.process(), world.process()]
    for number, process in enumerate(jobs):
        world.create(f"bus.{number}", process)
    waiting = command(world, "drain", "--wait")
    wait_until(lambda: properties(world)["Draining"], "drained")
    world.manager().Undrain()
    world.end("bus.0", jobs[0])
    status, _, err = finish(waiting)
    assert status == 1 and "takes jobs again" in err


def test_status_says_it(world):
    drain(world)
    status, out, _ = finish(command(world, "status"))
    assert status == 0 and re.fullmatch("draining since 20.* by root: new disk", out.splitlines()[1])
    world.manager().Undrain()
    assert "drain" not in finish(command(world, "status"))[1]
