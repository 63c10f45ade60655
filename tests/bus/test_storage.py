# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pinfoldd with a history on a slow disk, with a history that pinfoldd cannot open, and with a damaged history."""

import contextlib
import os
import sqlite3
import time

import dbus
import dbus.lowlevel
import pytest

from conftest import BUILD, error_name, wait_until
from test_wrapper_socket import ask


def options(**entries):
    return dbus.Dictionary(entries, signature="sv")


def restart(world, **environment):
    world.daemon.terminate()
    world.daemon.wait()
    before, world.environment = world.environment, {**world.environment, **environment}
    world.daemon = world.start_daemon()
    world.environment = before


def node_property(world, name):
    manager = world.bus.get_object("org.pinfold1", "/org/pinfold1", introspect=False)
    return manager.Get("org.pinfold1.Manager", name, dbus_interface="org.freedesktop.DBus.Properties")


def stored(world):
    return {str(receipt["key"]): receipt for receipt in world.manager().ListReceipts(options())}


def seconds(call):
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


@pytest.fixture
def slow(world):
    """Runs pinfoldd on a slow disk. The file of this fixture contains a number of milliseconds. Each fsync of pinfoldd is delayed by this number
    of milliseconds."""
    file = world.directory / "slow"
    restart(world, LD_PRELOAD=str(BUILD / "tests/slowsync.so"), SLOWSYNC_FILE=str(file))
    yield file
    file.unlink(missing_ok=True)


def test_a_slow_disk_holds_up_nobody(world, slow):
    first = world.process()
    begun = time.monotonic()
    world.create("sge.1", first)
    slow.write_text("100000")  # a call that waits for the disk gets no answer before the test removes the file
    first.kill()
    first.wait()
    wait_until(lambda: world.live().get("sge.1") == "accounting", "its receipt is being written")
    lived = time.monotonic() - begun
    second = world.process()
    world.create("sge.2", second, timeout=20)
    listed = [seconds(lambda: world.manager().ListJobs()) for _ in range(20)]
    world.manager().ListReceipts(options())
    assert world.live()["sge.1"] == "accounting", "all of it while the disk was busy"
    assert sorted(listed)[10] < 0.05, listed
    slow.unlink()
    wait_until(lambda: "sge.1" in stored(world), "its receipt is there")
    assert stored(world)["sge.1"]["wall"] < 1_000_000 * lived


def test_a_stop_while_callers_wait_for_the_history(world):
    """The first two calls block two threads of pinfoldd, because the threads open a FIFO to which nobody writes. The third call waits until a
    thread is free."""
    history = world.root / "var/lib/pinfold/history.db"
    history.rename(history.with_name("saved.db"))
    os.mkfifo(history)
    for _ in range(3):
        call = dbus.lowlevel.MethodCallMessage("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "ListReceipts")
        call.append(options(), signature="a{sv}")
        world.bus.send_message(call)
    world.live()
    world.daemon.terminate()
    assert world.daemon.wait(30) == 0


def test_a_history_that_cannot_be_opened(world):
    world.configure('[history]\npatience = "1s"\n')
    history = world.root / "var/lib/pinfold/history.db"
    process = world.process()
    created = time.monotonic()
    world.create("sge.1", process)
    history.rename(history.with_name("saved.db"))
    history.mkdir()
    pid = process.pid
    begun = time.monotonic()
    process.kill()
    process.wait()
    reply = ask(world, {"version": 1, "call": "end", "key": "sge.1", "leader": pid, "exit_signal": 9})
    answered = time.monotonic()
    assert 0.5 < answered - begun < 10
    assert "pinfold-run: the receipt of job sge.1 is not written yet: " in reply["notice"], reply
    assert world.live() == {} and node_property(world, "Draining")
    assert "receipts cannot be written" in node_property(world, "DrainReason")
    late = world.process()
    assert error_name(lambda: world.create("sge.2", late)) == "org.pinfold1.Error.Draining"
    assert world.manager().GetReceipt("sge.1")["result"] == "signaled", "it is kept"

    restart(world)
    assert node_property(world, "Draining"), "pinfoldd starts without a history"
    history.rmdir()
    history.with_name("saved.db").rename(history)
    wait_until(lambda: not node_property(world, "Draining"), "the node takes jobs again", deadline=60)
    assert list(stored(world)) == ["sge.1"] and stored(world)["sge.1"]["wall"] < 1_000_000 * (answered - created)
    assert list((world.root / "run/pinfold/receipts").iterdir()) == []
    world.create("sge.2", late)


def test_pinfoldd_manages_its_jobs_without_the_history_of_a_newer_pinfoldd(world):
    world.configure('[history]\npatience = "1s"\n')
    process = world.process()
    world.create("sge.1", process)
    world.stop_daemon()
    with contextlib.closing(sqlite3.connect(world.root / "var/lib/pinfold/history.db")) as history:
        history.execute("PRAGMA user_version = 99")
    world.daemon = world.start_daemon()
    wait_until(lambda: "was written by a newer pinfold (schema 99)" in node_property(world, "DrainReason"), "the reason")
    assert error_name(lambda: world.create("sge.2", world.process())) == "org.pinfold1.Error.Draining"
    assert world.live() == {"sge.1": "running"}
    assert world.end("sge.1", process)["key"] == "sge.1"
    assert len(list((world.root / "run/pinfold/receipts").iterdir())) == 1


def test_a_damaged_history_is_moved_aside(world):
    history = world.root / "var/lib/pinfold/history.db"
    world.daemon.terminate()
    world.daemon.wait()
    history.write_bytes(b"\x5a" * 20_000)
    world.daemon = world.start_daemon()
    assert not node_property(world, "Draining")
    process = world.process()
    world.create("sge.1", process)
    world.end("sge.1", process)
    assert list(stored(world)) == ["sge.1"]
    aside = [path for path in history.parent.iterdir() if path.name.startswith("history.db.damaged-")]
    assert len(aside) == 1 and aside[0].read_bytes() == b"\x5a" * 20_000
