# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how much CPU time pinfoldd needs for the end of a job. tools/bench runs this program in the container.

The program first starts all jobs, and then ends them. The result is the CPU time that pinfoldd uses while the jobs end, divided by the number of
jobs. At the end of a job, pinfoldd looks for leftovers, reads the job's usage, and makes the receipt durable. When the receipt is durable, systemd
removes the units, and pinfoldd removes the record. For comparison, the program prints the CPU time that PID 1 uses while the jobs end. For the starts
of the jobs, the program prints the CPU times of pinfoldd and of PID 1. The program measures two cases: the jobs end one at a time, or all jobs end
together."""

import statistics
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import cpu_time
import disposable
from jobs import RECORDS, expect_nothing_left, run, wait_until

disposable.require()

JOBS = 200
ROUNDS = 5


def cpu(service):
    """Returns two CPU times in microseconds: the time of all threads of pinfoldd's service, and the time of PID 1."""
    return cpu_time.of_cgroup(service), cpu_time.of_pid1()


def start():
    """Starts the jobs, and waits until they execute their command. The function does not ask pinfoldd, because pinfoldd's answers would
    cost CPU time that the program measures."""
    jobs = [subprocess.Popen(["pinfold-run", "--job", f"cost.{number}", "--exec", "--", "sleep", "100000"], stdin=subprocess.DEVNULL)
            for number in range(JOBS)]
    wait_until(lambda: all(Path(f"/proc/{job.pid}/comm").read_text() == "sleep\n" for job in jobs), "all running", 120)
    return jobs


def end_together(jobs):
    for job in jobs:
        job.kill()
    wait_until(lambda: not any(RECORDS.glob("cost.*.json")), "all forgotten: the record is what goes last", 120)


def end_in_turn(jobs):
    for number, job in enumerate(jobs):
        job.kill()
        wait_until(lambda: not (RECORDS / f"cost.{number}.json").exists(), f"job {number} forgotten")


def spent(service, act, *arguments):
    """Calls `act`. Returns the result of `act`, and the CPU time that pinfoldd and PID 1 used during the call, in microseconds per job."""
    before = cpu(service)
    result = act(*arguments)
    return result, [(after - earlier) / JOBS for earlier, after in zip(before, cpu(service))]


def cycle(service, end):
    """Starts and ends jobs. Returns four CPU times in microseconds per job: of pinfoldd and of PID 1 while the jobs start, and of pinfoldd and of
    PID 1 while the jobs end."""
    jobs, starting = spent(service, start)
    _, ending = spent(service, end, jobs)
    for job in jobs:
        job.wait()
    expect_nothing_left()
    return starting + ending


def main():
    run("systemctl", "start", "pinfoldd")
    service = cpu_time.cgroup_of("pinfoldd")
    ways = {"one at a time": end_in_turn, f"{JOBS} together": end_together}
    cycles = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, end in ways.items():
            cycles[way].append(cycle(service, end))
    for way, rounds in cycles.items():
        start_daemon, start_pid1, end_daemon, end_pid1 = (statistics.median(column) for column in zip(*rounds))
        print(f"        accounting, ends {way}: pinfoldd {end_daemon:.0f} us of CPU a job end, {end_daemon / (start_daemon + end_daemon):.0%} of all "
              f"that it does for a job, {end_daemon / end_pid1:.2f} of PID 1's {end_pid1:.0f} us for the same end "
              f"(start: {start_daemon:.0f} and {start_pid1:.0f} us)", flush=True)


if __name__ == "__main__":
    main()
