# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what `pinfold top` costs with 500 jobs and one refresh per second, in the container. tools/bench runs this program. The program
compares the CPU time of `pinfold top` with wall time, and also prints the CPU time that `pinfold top` causes in pinfoldd and the bus."""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import disposable
from jobs import BATCH, live_jobs, main_pid, run, wait_until

disposable.require()

JOBS = 500
MOST = 0.02  # the allowed share of one core


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(options):
    """Returns the CPU seconds of `pinfold top` and of pinfoldd, and the wall seconds."""
    daemon = main_pid()
    before, begun = cpu_of(daemon), time.monotonic()
    with open("/dev/null", "wb") as nowhere:
        process = subprocess.Popen(["pinfold", "top", *options], stdout=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    return usage.ru_utime + usage.ru_stime, cpu_of(daemon) - before, time.monotonic() - begun


def main():
    run("systemctl", "start", "pinfoldd")
    jobs = [subprocess.Popen(["pinfold-run", "--job", f"top.{number}", "--exec", "--", "sleep", "100000"], stdin=subprocess.DEVNULL)
            for number in range(JOBS)]
    wait_until(lambda: sum(job["state"] == "running" for job in live_jobs().values()) == JOBS, f"{JOBS} jobs running", deadline=180)
    files = sorted(path.name for path in (BATCH / "batch-top.0.slice").iterdir() if path.is_file())
    print(f"        controllers: {(BATCH / 'batch-top.0.slice/cgroup.controllers').read_text().split()}, {len(files)} files a job")
    measure(["-b", "-n", "1"])
    used, daemons, wall = measure(["-b", "-d", "1", "-n", "10"])
    ok = used / wall <= MOST
    print(f"{'meets ' if ok else 'MISSES'}  pinfold top, {JOBS} jobs, a look a second: {used / wall:.2%} of one core, {used / 10 * 1e3:.1f} ms a look, "
          f"pinfoldd {daemons / wall:.2%} (reach <= {MOST:.0%})", flush=True)
    for job in jobs:
        job.kill()
    for job in jobs:
        job.wait()
    wait_until(lambda: not live_jobs(), "all over", deadline=180)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
