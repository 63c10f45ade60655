# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures in the container how much CPU time pinfoldd uses to look at live jobs. tools/bench runs this program.

During the measurement, the watchdog of pinfoldd is off, so pinfoldd uses CPU time only for the looks at the jobs. At first, no job is live, so
pinfoldd must not wake up. Later, 100 jobs sleep. All jobs of the measurement are older than 16 seconds. Once in each interval, pinfoldd wakes up and
looks at all jobs that are older than 16 seconds. The program counts the CPU time of all threads of pinfoldd. The program measures during five
intervals, because pinfoldd writes down a job's profile only at every fifth look.

For one look at a job, pinfoldd reads five files. The controllers io, memory and pids provide three of the files that pinfoldd reads for a job. If the
container lacks the controller io, memory or pids, pinfoldd needs less CPU time than on a node. The program prints which controllers the container
lacks. The virtual machine has all controllers, but it is emulated and slow. For comparison, the program reads a small file of a cgroup, and measures
the time of this read. The program divides the time of one look of pinfoldd by the time of one read, and prints this ratio. The ratio of look to read
is about the same on slow and fast machines. Measure the time of a read in the container, and multiply it by the ratio from the virtual machine. The
result of the multiplication estimates how long pinfoldd looks at a job in a container with all controllers.

The program also measures the CPU time of a fixed loop in Python, which makes no system calls. Divide the time of the loop in the virtual machine by
the time of the loop in the container. The result says how much slower the emulator computes."""

import os
import re
import select
import sys
import time
from pathlib import Path

from compare import end, live, report, rows

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import cpu_time
from jobs import BATCH, expect_nothing_left, main_pid, run, wait_until

DROP_IN = Path("/run/systemd/system/pinfoldd.service.d/bench.conf")
JOBS = 100
INTERVAL = 30  # the default of profile.interval
ROUNDS = 5
EARLY_LOOKS = 17  # during the first 16 seconds of a job, pinfoldd looks at the job more than once per INTERVAL
MOST = 0.0005  # the highest share of one CPU that pinfoldd is allowed to use


def without_watchdog():
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text("[Service]\nWatchdogSec=0\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", "pinfoldd")


def wait(seconds):
    select.select([], [], [], seconds)


def wake_ups():
    """Returns how often the threads of pinfoldd have gone to sleep. A thread must wake up before it can go to sleep again, so the result is
    the number of wake-ups."""
    texts = [status.read_text() for status in Path(f"/proc/{main_pid()}/task").glob("*/status")]
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1]) for text in texts)


def spend(seconds):
    """Waits, and returns the wake-ups and the CPU seconds of pinfoldd during the wait."""
    service = cpu_time.cgroup_of("pinfoldd")
    woken, cpu = wake_ups(), cpu_time.of_cgroup(service)
    wait(seconds)
    return wake_ups() - woken, (cpu_time.of_cgroup(service) - cpu) / 1e6


def idle():
    return spend(2)[0] == 0


def until_between_two_rounds():
    """Waits until pinfoldd has looked at all jobs and five more seconds have passed."""
    wait(INTERVAL - time.clock_gettime(time.CLOCK_BOOTTIME) % INTERVAL + 5)


def read_cost(rounds=20000):
    """Returns the CPU seconds that this program needs to open, read and close a small file of a cgroup."""
    file = str(BATCH / "cgroup.controllers")
    begun = time.process_time()
    for _ in range(rounds):
        descriptor = os.open(file, os.O_RDONLY)
        os.read(descriptor, 4096)
        os.close(descriptor)
    return (time.process_time() - begun) / rounds


def loop_cost(rounds=2_000_000):
    """Returns the CPU seconds of a loop that only computes."""
    begun, total = time.process_time(), 0
    for number in range(rounds):
        total += number % 7
    return time.process_time() - begun


def main():
    without_watchdog()
    wait_until(idle, "pinfoldd has done all that its start leaves to do")
    woken, _ = spend(INTERVAL)
    report(f"pinfoldd's wake-ups in {INTERVAL} s without jobs and without the watchdog", str(woken), "0", woken == 0)

    started = live("sampler", JOBS)
    missing = {"io", "memory", "pids"} - set((BATCH / "batch-sampler.0.slice/cgroup.controllers").read_text().split())
    print(f"        controllers that the box lacks: {sorted(missing)}", flush=True)
    wait(EARLY_LOOKS)
    until_between_two_rounds()
    woken, cpu = spend(ROUNDS * INTERVAL)
    share = cpu / (ROUNDS * INTERVAL)
    look, read = cpu / ROUNDS / JOBS, read_cost()
    print(f"        a job and look: {look * 1e6:.0f} us, {look / read:.1f} times the {read * 1e6:.1f} us for a small file", flush=True)
    print(f"        a loop of Python that only computes: {loop_cost():.3f} s", flush=True)
    report(f"pinfoldd's CPU time with {JOBS} live, quiet jobs, in {ROUNDS} intervals of {INTERVAL} s without the watchdog",
           f"{share:.3%} of a CPU, {woken} wake-ups", f"<= {MOST:.2%}", share <= MOST)
    end(started)
    expect_nothing_left()
    return 1 if any(not row[3] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
