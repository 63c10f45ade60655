# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold doctor` on a node with all controllers, and on a node that lacks a controller."""

import json
from pathlib import Path

from jobs import BATCH, finish, run, start_job, wait_running, wait_until


NO_ANSWER = {"bus.answers", "systemd.version", "pinfoldd.answers"}


def examined():
    """Returns the findings, or None if the bus, PID 1 or pinfoldd did not answer `pinfold doctor` within two seconds. In an emulated machine, each of
    the three can need more than two seconds to answer."""
    done = run("pinfold", "doctor", "--json", check=False)
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if "fail" in [finding["state"] for finding in found] else 0), done.stderr
    late = any(finding["id"] in NO_ANSWER and finding["state"] == "fail" for finding in found)
    return None if late else found


def findings():
    return wait_until(examined, "answers in time")


def wrong():
    return {finding["id"]: finding["state"] for finding in findings() if finding["state"] != "ok"}


def test_nothing_fails_on_a_node_with_all_controllers():
    run("systemctl", "start", "pinfoldd")
    # `pinfold doctor` finds four problems on the virtual machine's Debian. systemd has RemoveIPC=yes, the network has no time servers, nobody has set
    # up Grid Engine, and `runuser -l` uses pam_systemd.
    assert wrong() == {"logind.remove-ipc": "warn", "clock.synchronised": "warn", "grid-engine.shepherd": "warn",
                       "pam.movers": "warn"}


def test_a_controller_that_is_switched_off():
    before = wrong()
    off = Path("/etc/systemd/system/batch.slice.d/off.conf")
    off.parent.mkdir()
    off.write_text("[Slice]\nDisableControllers=pids\n")
    run("systemctl", "daemon-reload")
    try:
        assert {**before, "cgroup.pids": "fail"} == wrong()
        assert finish(start_job("doctor.1", "true", options=["--tasks-max", "10"]))[0] == 125, "so it is, indeed"
    finally:
        off.unlink()
        off.parent.rmdir()
        run("systemctl", "daemon-reload")
    assert wrong() == before
    assert finish(start_job("doctor.2", "true", options=["--tasks-max", "10"]))[0] == 0


def test_a_controller_that_was_taken_from_live_jobs():
    job = start_job("doctor.3", "sleep", "1000")
    wait_running("doctor.3")
    before = wrong()
    assert not [name for name in before if name.startswith("cgroup.")]
    for cgroup in (BATCH / "batch-doctor.3.slice", BATCH):  # a child cgroup must lose a controller before its parent
        (cgroup / "cgroup.subtree_control").write_text("-pids")
    assert {**before, "cgroup.pids": "fail"} == wrong()
    run("sh", "-ec", next(finding for finding in findings() if finding["id"] == "cgroup.pids")["remedy"])
    assert wrong() == before
    run("pinfold", "stop", "--wait", "doctor.3")
    finish(job)
