# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures in the container how much CPU time `pinfold top` needs for 500 jobs and one refresh per second. tools/bench runs this program. The program
compares the CPU time of `pinfold top` with wall time. The program also prints the CPU time that `pinfold top` causes in pinfoldd. `pinfold top` first
prints plain lines, and then draws the histories of the jobs on a large screen."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import disposable
from jobs import BATCH, live_jobs, main_pid, run, wait_until

disposable.require()

JOBS = 500
MOST = 0.02  # the highest share of one core that `pinfold top` is allowed to use


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drain(terminal):
    with contextlib.suppress(OSError):  # the read fails after the other side of the terminal is closed
        while os.read(terminal, 65536):
            pass


@contextlib.contextmanager
def large_screen():
    """Makes a terminal with 60 lines of 200 characters, and reads everything that a program prints to this terminal."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    reader = threading.Thread(target=drain, args=[main])
    reader.start()
    try:
        yield side
    finally:
        os.close(side)
        reader.join()
        os.close(main)


def measure(options, output=subprocess.DEVNULL):
    """Returns the CPU seconds of `pinfold top` and of pinfoldd, and the wall seconds."""
    daemon = main_pid()
    before, begun = cpu_of(daemon), time.monotonic()
    process = subprocess.Popen(["pinfold", "top", *options], stdin=subprocess.DEVNULL, stdout=output,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    return usage.ru_utime + usage.ru_stime, cpu_of(daemon) - before, time.monotonic() - begun


def report(way, looks, figures):
    """Prints what measure() returned. Returns true if `pinfold top` used no more CPU time than the benchmark allows."""
    used, daemons, wall = figures
    ok = used / wall <= MOST
    print(f"{'meets ' if ok else 'MISSES'}  pinfold top, {way}, {JOBS} jobs, a look a second: {used / wall:.2%} of one core, "
          f"{used / looks * 1e3:.1f} ms a look, pinfoldd {daemons / wall:.2%} (reach <= {MOST:.0%})", flush=True)
    return ok


def main():
    run("systemctl", "start", "pinfoldd")
    jobs = [subprocess.Popen(["pinfold-run", "--job", f"top.{number}", "--exec", "--", "sleep", "100000"], stdin=subprocess.DEVNULL)
            for number in range(JOBS)]
    wait_until(lambda: sum(job["state"] == "running" for job in live_jobs().values()) == JOBS, f"{JOBS} jobs running", deadline=180)
    files = sorted(path.name for path in (BATCH / "batch-top.0.slice").iterdir() if path.is_file())
    print(f"        controllers: {(BATCH / 'batch-top.0.slice/cgroup.controllers').read_text().split()}, {len(files)} files a job")
    measure(["-b", "-n", "1"])
    ok = report("plain lines", 10, measure(["-b", "-d", "1", "-n", "10"]))
    with large_screen() as screen:
        ok = report("a screen with histories", 60, measure(["-d", "1", "-n", "60"], screen)) and ok
    for job in jobs:
        job.kill()
    for job in jobs:
        job.wait()
    wait_until(lambda: not live_jobs(), "all over", deadline=180)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
