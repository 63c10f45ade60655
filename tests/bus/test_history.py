# SPDX-License-Identifier: LGPL-2.1-or-later
"""Queries of the history, removals of receipts, and a file that an older pinfold wrote."""

import socket
import sqlite3

import dbus
import pytest

from conftest import error_name, wait_until
from old_history import OLD_SCHEMA
from test_callers import USER, as_user

ERROR = "org.pinfold1.Error."


def options(**entries):
    return dbus.Dictionary(entries, signature="sv")


def keys(world, **entries):
    return [str(receipt["key"]) for receipt in world.manager().ListReceipts(options(**entries))]


def run_job(world, key, stop=False):
    process = world.process()
    world.create(key, process)
    if stop:
        world.manager().StopJob(key, options())
    world.end(key, process)


def test_filters(world):
    run_job(world, "sge.1")
    run_job(world, "pbs.1", stop=True)
    run_job(world, "sge.2", stop=True)
    assert keys(world) == ["sge.2", "pbs.1", "sge.1"]
    assert keys(world, result="stopped") == ["sge.2", "pbs.1"]
    assert keys(world, result="stopped", scheduler="sge") == ["sge.2"]
    assert keys(world, scheduler="sg") == []
    assert keys(world, failed=True) == ["sge.2", "pbs.1"], "somebody stopped them"
    assert keys(world, unknown=True) == ["sge.1"], "nobody said how it exited"
    assert keys(world, failed=True, unknown=True) == ["sge.2", "pbs.1", "sge.1"]
    assert keys(world, failed=False, leftovers=False) == ["sge.2", "pbs.1", "sge.1"]
    assert keys(world, leftovers=True, result="lost") == []


def test_a_report_that_comes_late_is_in_the_receipt_from_then_on(world):
    run_job(world, "sge.1")
    before = world.manager().GetReceipt("sge.1")
    assert "exit_signal" not in before and keys(world, unknown=True) == ["sge.1"]
    amended = world.manager().EndJob("sge.1", options(exit_signal=dbus.Int32(9)))
    assert (amended["id"], amended["result"], amended["exit_signal"]) == (before["id"], "signaled", 9)
    assert world.manager().GetReceipt("sge.1") == amended
    assert keys(world, unknown=True) == [] and keys(world, failed=True, result="signaled") == ["sge.1"]
    assert world.manager().EndJob("sge.1", options(exit_status=dbus.Int32(0))) == amended, "once"


def test_a_job_waits_for_the_report_that_is_announced(world):
    process = world.process()
    world.create("sge.1", process, options(report_within=dbus.UInt64(600_000_000)))
    process.kill()
    process.wait()
    wait_until(lambda: world.live() == {"sge.1": "ending"}, "its end is seen")
    receipt = world.manager().EndJob("sge.1", options(exit_status=dbus.Int32(3)))
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 3)


@pytest.mark.parametrize("entry", [{"result": "crashed"}, {"result": dbus.UInt32(1)}, {"scheduler": "sge.1"}, {"scheduler": ""},
                                   {"failed": "yes"}, {"unknown": 1}, {"leftovers": dbus.UInt32(1)}, {"failedOnly": True}])
def test_filters_that_are_refused(world, entry):
    assert error_name(lambda: world.manager().ListReceipts(options(**entry))) == ERROR + "InvalidArgument"


def test_only_an_administrator_asks_for_the_receipts_of_another_user(world):
    run_job(world, "sge.1")
    assert keys(world, uid=dbus.UInt32(0)) == ["sge.1"]
    theirs = "len(m.ListReceipts(dbus.Dictionary({'uid': dbus.UInt32(%d)}, signature='sv')))"
    assert as_user(world, theirs % 0) == ERROR + "Denied"
    assert as_user(world, theirs % USER) == "0"


def test_vacuum(world):
    run_job(world, "sge.1")
    vacuum = world.manager().VacuumHistory
    removed, size = vacuum(options())
    assert removed == 0 and size > 0, "within the configured limits"
    assert error_name(lambda: vacuum(options(max_age="1d"))) == ERROR + "InvalidArgument"
    assert error_name(lambda: vacuum(options(max_rows=dbus.UInt32(1)))) == ERROR + "InvalidArgument"
    assert as_user(world, "m.VacuumHistory(none)") == ERROR + "Denied"
    assert keys(world) == ["sge.1"]
    assert vacuum(options(max_age=dbus.UInt64(0)))[0] == 1
    assert keys(world) == []


def make_old(directory):
    """Changes history.db to the form that pinfold wrote before schema 2, with the receipt that is in the file."""
    with sqlite3.connect(directory / "history.db") as new:
        rows = new.execute("SELECT id, key, uid, ended, receipt FROM receipts").fetchall()
    new.close()
    for file in directory.iterdir():
        file.unlink()
    with sqlite3.connect(directory / "history.db") as old:
        old.executescript(OLD_SCHEMA)
        old.executemany("INSERT INTO receipts (id, key, uid, ended, receipt) VALUES (?, ?, ?, ?, ?)", rows)
    old.close()
    assert len(rows) == 1


def test_a_start_that_migrates_asks_for_time(world):
    """Otherwise the start time-out of the unit would end the migration, and the next start would begin it again."""
    run_job(world, "sge.1")
    world.daemon.terminate()
    assert world.daemon.wait(20) == 0
    make_old(world.root / "var/lib/pinfold")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as notified:
        notified.bind(str(world.directory / "notify"))
        world.environment["NOTIFY_SOCKET"] = str(world.directory / "notify")
        world.daemon = world.start_daemon()
        said = []

        def ready():
            try:
                said.append(notified.recv(4096).decode())
            except BlockingIOError:
                pass
            return said and said[-1].startswith("READY=1")
        wait_until(ready, "READY=1")
    assert said[0].startswith("EXTEND_TIMEOUT_USEC=3600000000\nSTATUS=converting the receipts of an older pinfold")
    assert keys(world, scheduler="sge") == ["sge.1"]
