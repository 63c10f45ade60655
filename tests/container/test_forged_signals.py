# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user forges signals of systemd and systemd-oomd, and sends the signals to pinfoldd. systemd sends its signals to everybody, and the attacker
sends forged signals only to pinfoldd. The tests in tests/bus/test_forged_signals.py also forge broadcasts."""

import json

from jobs import as_alice, finish, live_jobs, receipts, run, start_job, wait_running

KEY = "forged.1"


def tell(destination, *signal):
    run(*as_alice("dbus-send", "--system", "--type=signal", f"--dest={destination}", *signal), check=False)


def test_no_user_kills_anothers_job_by_a_signal():
    job = start_job(KEY, "sleep", "100000")
    wait_running(KEY)
    owner = json.loads(run("busctl", "--json=short", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                           "GetNameOwner", "s", "org.pinfold1").stdout)["data"][0]
    for destination in ("org.pinfold1", owner):
        tell(destination, "/org/freedesktop/oom1", "org.freedesktop.oom1.Manager.Killed",
             f"string:/batch.slice/batch-{KEY}.slice/job-{KEY}.scope", "string:memory-used")
        tell(destination, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager.Reloading", "boolean:true")
    # pinfoldd gets alice's call after the signals, because the bus keeps the order of messages.
    run(*as_alice("pinfold", "list"))
    assert live_jobs()[KEY]["state"] == "running"
    run("pinfold", "stop", KEY)
    finish(job)
    assert receipts(KEY)[0]["result"] == "stopped"
