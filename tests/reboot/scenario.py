# SPDX-License-Identifier: LGPL-2.1-or-later
"""A node with many jobs goes down in several ways, one after the other. Each boot runs this program again: the program writes down what the
earlier boot has left, and brings the node down again. In the last boot, pytest checks what the program has written down."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

from jobs import RECORDS, leftovers_of_pinfold, live_jobs, receipts, run, start_job, wait_running, wait_until

STATE = Path("/var/lib/pinfold-reboots")
HISTORY = Path("/var/lib/pinfold/history.db")
MONITOR = Path("/dev/virtio-ports/pinfold.monitor")
NUMBER = 5  # jobs of each kind; twice as many jobs run


def keys(kind, boot):
    return [f"{kind}{boot}.{number}" for number in range(NUMBER * (2 if kind == "run" else 1))]


def live_rows():
    """Returns the keys of the jobs for which the history would have a receipt after a power cut."""
    database = sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True)
    try:
        return {key for key, in database.execute("SELECT key FROM live")}
    finally:
        database.close()


def drain():
    """Drains the node as an administrator would, so that the drain is certainly written before the node goes down."""
    run("pinfold", "drain", "--reason", "before it went down")


def reboot():
    # The planned reboot ends the service payload.service, but must not end the box.
    dropin = Path("/run/systemd/system/payload.service.d/reboot.conf")
    dropin.parent.mkdir(parents=True)
    dropin.write_text("[Unit]\nSuccessAction=none\nFailureAction=none\n")
    run("systemctl", "daemon-reload")
    return lambda: run("systemctl", "reboot", "--no-block")


def reset():
    return lambda: MONITOR.write_text("system_reset\n")


WAYS = [reboot, reset]


def fill(boot):
    """Starts jobs that run, jobs that are over, and jobs that begin to end but cannot end."""
    for key in keys("over", boot):
        assert run("pinfold-run", "--job", key, "--", "true", timeout=120).returncode == 0
    stubborn = "trap '' TERM; touch {}; while :; do sleep 1000; done"
    for key in keys("run", boot):
        with (STATE / f"{key}.err").open("w") as errors:
            start_job(key, "sleep", "100000", stderr=errors)
    for key in keys("end", boot):
        start_job(key, "bash", "-c", stubborn.format(STATE / key))
    for key in [*keys("run", boot), *keys("end", boot)]:
        wait_running(key)
    wait_until(lambda: all((STATE / key).exists() for key in keys("end", boot)), "they ignore SIGTERM", 120)
    for key in keys("end", boot):
        run("pinfold", "stop", "--grace=10min", key)
    wait_until(lambda: live_rows() >= {*keys("run", boot), *keys("end", boot)}, "they are known to the history", 120)
    assert not live_rows() & set(keys("over", boot))


def go_down(boot):
    """Ends this boot while jobs are being started."""
    way = WAYS[boot]()
    fill(boot)
    states = {key: job["state"] for key, job in live_jobs().items()}
    (STATE / f"before-{boot}.json").write_text(json.dumps(states))
    (STATE / "boot").write_text(str(boot + 1))
    os.sync()
    for key in keys("start", boot):
        start_job(key, "bash", "-c", f"touch {STATE / key}; exec sleep 100000")
    drain()
    way()
    signal.pause()


def write_down(boot):
    """Writes down what the earlier boot has left."""
    drained = json.loads(run("pinfold", "status", "--json", timeout=120).stdout)
    wait_until(lambda: not live_rows(), "each job of the boot before has its receipt", 120)
    found = {
        "drained": drained, "receipts": receipts(), "left": leftovers_of_pinfold(),
        "began": [key for key in keys("start", boot - 1) if (STATE / key).exists()],
        "booted": time.time() - float(Path("/proc/uptime").read_text().split()[0]),
        "journal": subprocess.run(["journalctl", "-u", "pinfoldd", "--no-pager"], capture_output=True, text=True, timeout=120).stdout,
    }
    (STATE / f"after-{boot - 1}.json").write_text(json.dumps(found))
    run("pinfold", "undrain")


def main():
    """Ends each boot except the last one. In the last boot, the function returns."""
    STATE.mkdir(exist_ok=True)
    boot = int((STATE / "boot").read_text()) if (STATE / "boot").exists() else 0
    if boot > 0:
        write_down(boot)
    if boot < len(WAYS):
        go_down(boot)
