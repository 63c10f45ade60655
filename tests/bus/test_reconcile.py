# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold reconcile` and its D-Bus call: which orphans pinfoldd removes, which orphans it only reports, and which users may make the call."""

import json
import subprocess

import dbus
import pytest

from conftest import BUILD, error_name

DRY_RUN = dbus.Dictionary({"dry_run": True}, signature="sv")
NOTHING = dbus.Dictionary({}, signature="sv")
KINDS = ["units_stopped", "units_left", "cgroups_removed", "cgroups_left", "records_ended", "records_taken_up", "records_unreadable"]


def reconcile(world, options=NOTHING):
    return {str(kind): [str(name) for name in names] for kind, names in world.manager().Reconcile(options).items()}


def command(world, *options):
    done = subprocess.run([BUILD / "src/cli/pinfold", "reconcile", *options], env=world.environment, capture_output=True, text=True,
                          timeout=30)
    return done.returncode, done.stdout


def test_a_node_in_order(world):
    world.create("bus.1", world.process())
    assert reconcile(world) == {kind: [] for kind in KINDS}
    assert command(world) == (0, "all units, cgroups and records are in order\n")
    assert world.live() == {"bus.1": "running"}


def test_a_record_that_can_not_be_read_is_named_until_it_is_mended(world):
    process = world.process()
    world.create("bus.1", process)
    record = world.root / "run/pinfold/jobs/bus.1.json"
    text = record.read_text()
    world.daemon.kill()
    world.daemon.wait()
    record.write_text("?")
    world.daemon = world.start_daemon()
    found = reconcile(world)
    assert found["units_left"] == ["batch-bus.1.slice"] and len(found["records_unreadable"]) == 1
    assert found["units_stopped"] == found["cgroups_removed"] == []
    status, out = command(world)
    assert status == 1 and "a record cannot be read, so pinfoldd changes no unit: " in out and out.endswith("0 put in order, 2 left alone\n")
    record.write_text(text)
    assert reconcile(world, DRY_RUN)["records_taken_up"] == ["bus.1"] and world.live() == {}
    status, out = command(world, "--json")
    assert status == 0 and json.loads(out)["records_taken_up"] == ["bus.1"] and json.loads(out)["clean"]
    assert world.live() == {"bus.1": "running"}
    assert world.end("bus.1", process)["result"] == "exited"


@pytest.mark.parametrize("options", [{"dryrun": True}, {"dry_run": dbus.UInt64(1)}])
def test_what_is_refused(world, options):
    assert error_name(lambda: reconcile(world, dbus.Dictionary(options, signature="sv"))) == "org.pinfold1.Error.InvalidArgument"
