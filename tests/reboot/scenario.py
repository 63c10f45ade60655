# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes a node with many jobs down several times, each time in a different way. After each boot, this program runs again. The program records what
the earlier boot has left on the node, and brings the node down again. When the node has booted for the last time, pytest checks what the program has
written down."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from jobs import leftovers_of_pinfold, live_jobs, live_rows, receipts, run, start_job, systemd_stopped, wait_until

STATE = Path("/var/lib/pinfold-reboots")
MONITOR = Path("/dev/virtio-ports/pinfold.monitor")
NUMBER = 5  # each boot has NUMBER jobs of each kind, but twice as many jobs of the kind "run"
OLD_ENOUGH = 1.0  # a job that began at least OLD_ENOUGH seconds before the node goes down gets a receipt
SCRIPTS = {"run": "{begin}; exec sleep 100000", "start": "{begin}; exec sleep 100000",
           "end": "trap '' TERM; {begin}; while :; do sleep 1000; done"}  # the job "end" ignores SIGTERM, so a stop of the job takes a long time


def keys(kind, boot):
    return [f"{kind}{boot}.{number}" for number in range(NUMBER * (2 if kind == "run" else 1))]


def drain():
    """The command returns after pinfoldd has written the drain to the disk."""
    run("pinfold", "drain", "--reason", "before it went down")


def survive_a_reboot():
    """A planned reboot ends the service payload.service, but must not end the box."""
    dropin = Path("/run/systemd/system/payload.service.d/reboot.conf")
    dropin.parent.mkdir(parents=True)
    dropin.write_text("[Unit]\nSuccessAction=none\nFailureAction=none\n")
    run("systemctl", "daemon-reload")


def reboot():
    """systemd_stopped() has frozen PID 1 before the call of reboot(). When PID 1 continues, it gets the requests to reboot and to start jobs."""
    subprocess.Popen(["systemctl", "reboot", "--no-block"])


def reset():
    """systemd_stopped() has frozen PID 1 before the call of reset(). PID 1 stays frozen until the reset."""
    MONITOR.write_text("system_reset\n")
    signal.pause()


WAYS = [reboot, reset]


def start(kind, boot):
    """Each job writes down when it began."""
    for key in keys(kind, boot):
        begin = f"echo $EPOCHREALTIME >{STATE / key}.new; mv {STATE / key}.new {STATE / key}"
        with (STATE / f"{key}.err").open("w") as errors:
            start_job(key, "bash", "-c", SCRIPTS[kind].format(begin=begin), stderr=errors)


def begun(kind, boot):
    """Waits until all jobs of a kind have begun. Returns the time at which each of the jobs began."""
    wait_until(lambda: all((STATE / key).exists() for key in keys(kind, boot)), f"all jobs of the kind {kind} have begun", 120)
    return {key: float((STATE / key).read_text()) for key in keys(kind, boot)}


def states_of_all(boot):
    """Returns the states of all live jobs, or None while pinfoldd does not know all jobs that are being started."""
    states = {key: job["state"] for key, job in live_jobs().items()}
    return states if states.keys() >= set(keys("start", boot)) else None


def write(path, text):
    """Writes a file that survives a reset. The function does not call sync(2), because sync(2) would write the files of all programs to the disk.
    pinfoldd itself must write pinfoldd's files to the disk before the reset."""
    with path.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def go_down(boot):
    """Takes the node down while some jobs run, some jobs end, and some jobs start. Each running job is just old enough (OLD_ENOUGH) to get a
    receipt."""
    survive_a_reboot()
    for key in keys("over", boot):
        run("pinfold-run", "--job", key, "--", "true")
    start("end", boot)
    began = begun("end", boot)
    for key in keys("end", boot):
        run("pinfold", "stop", "--grace=10min", key)
    start("run", boot)
    began |= begun("run", boot)
    with systemd_stopped():
        start("start", boot)
        states = wait_until(lambda: states_of_all(boot), "jobs are being started", 120)
        drain()
        wait_until(lambda: time.time() >= max(began.values()) + OLD_ENOUGH, "the youngest job is old enough")
        before = {"states": states, "began": began, "down": time.time(), "rows": live_rows()}
        write(STATE / f"before-{boot}.json", json.dumps(before))
        write(STATE / "boot", str(boot + 1))
        WAYS[boot]()
    signal.pause()


def write_down(boot):
    drained = json.loads(run("pinfold", "status", "--json", timeout=120).stdout)
    wait_until(lambda: not live_rows(), "each job of the boot before has its receipt", 120)
    found = {
        "drained": drained, "receipts": receipts(), "left": leftovers_of_pinfold(),
        "began": [key for key in keys("start", boot - 1) if (STATE / key).exists()],
        "booted": time.time() - float(Path("/proc/uptime").read_text().split()[0]),
        "journal": subprocess.run(["journalctl", "-u", "pinfoldd", "--no-pager"], capture_output=True, text=True, timeout=120).stdout,
    }
    write(STATE / f"after-{boot - 1}.json", json.dumps(found))
    run("pinfold", "undrain")


def main():
    """main() brings the node down in each boot except the last one. In the last boot, main() only returns."""
    STATE.mkdir(exist_ok=True)
    boot = int((STATE / "boot").read_text()) if (STATE / "boot").exists() else 0
    if boot > 0:
        write_down(boot)
    if boot < len(WAYS):
        go_down(boot)
