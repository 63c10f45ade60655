# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests over D-Bus what pinfoldd says about a job with a process that survives SIGKILL."""

import dbus
import pytest

from conftest import wait_until

AT_ONCE = dbus.Dictionary({"grace": dbus.UInt64(0)}, signature="sv")


@pytest.mark.parametrize("action, refused", [("drain", True), ("none", False)])
def test_the_node_takes_no_jobs_as_long_as_one_can_not_be_killed(world, action, refused):
    world.configure(f'[unkillable]\nafter = "1s"\naction = "{action}"\n')
    stuck, other = world.process(), world.process()
    world.create("bus.1", stuck)
    assert not world.job_property("bus.1", "Unkillable")
    world.systemd.Hang(dbus.UInt32(stuck.pid))
    world.manager().StopJob("bus.1", AT_ONCE)
    wait_until(lambda: world.job_property("bus.1", "Unkillable"), "the report")
    [job] = world.manager().ListJobs()
    assert job["state"] == "ending" and job["unkillable_since"] >= job["created"]
    if refused:
        with pytest.raises(dbus.DBusException, match="bus.1 cannot be killed since") as caught:
            world.create("bus.2", other)
        assert caught.value.get_dbus_name() == "org.pinfold1.Error.Draining"
        assert world.live() == {"bus.1": "ending"}
    else:
        world.create("bus.2", other)
    assert world.end("bus.1", stuck)["result"] == "stopped"
    assert world.manager().GetReceipt("bus.1")["unkillable_processes"] == dbus.UInt32(1)
    last = world.process()
    world.create("bus.3", last)
    assert "unkillable_processes" not in world.end("bus.3", last)
