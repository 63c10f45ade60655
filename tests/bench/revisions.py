# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares two builds of pinfold in one container. `tools/bench --against` runs this program.

/payload/packages/before and /payload/packages/now are the files that each build installs. The program takes turns: it installs one build,
measures it, and removes it again. A third side is the new build once more, which shows how much the same build differs from itself.

A figure is the median of all rounds. The ratio of two sides has an interval that contains it with a probability of 95 %, computed from
random choices of the rounds (bootstrap). A figure is worse if the whole interval is above 1."""

import collections
import functools
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import disposable
from jobs import CGROUP, RECORDS, expect_nothing_left, main_pid, preloaded, run, wait_until

disposable.require()

BUILDS = Path("/payload/packages")
SIDES = {"before": BUILDS / "before", "now": BUILDS / "now", "now again": BUILDS / "now"}
ROUNDS = int(os.environ.get("PINFOLD_BENCH_ROUNDS", "9"))
LEAST_ROUNDS = 6  # an interval of fewer rounds is too short
ONE_BY_ONE = 60
MANY = 400
AT_ONCE = 16
LIVE = 200
DISK = Path("/run/pinfold-bench-disk")
FSYNC_MS = 25


def files_of(tree):
    return [path.relative_to(tree) for path in tree.rglob("*") if not path.is_dir() or path.is_symlink()]


def installed(tree):
    shutil.copytree(tree, "/", dirs_exist_ok=True, symlinks=True)
    run("systemd-sysusers")
    run("systemctl", "daemon-reload")
    run("systemctl", "reload", "dbus")
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")


def removed(tree):
    """Removes the files and the state of a build, because the older build may not be able to read the newer database."""
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
    for file in files_of(tree):
        (Path("/") / file).unlink()
    for state in ("/var/lib/pinfold", "/run/pinfold"):
        shutil.rmtree(state, ignore_errors=True)


def median_time(*command):
    def once():
        begun = time.perf_counter()
        subprocess.run(command, check=True)
        return time.perf_counter() - begun
    once()
    return statistics.median(once() for _ in range(ONE_BY_ONE))


def time_of_many():
    """Returns the milliseconds per job."""
    begun = time.perf_counter()
    run_many()
    return (time.perf_counter() - begun) / MANY * 1e3


def run_many():
    subprocess.run(["xargs", "-P", str(AT_ONCE), "-I", "{}", "pinfold-run", "--", "true"], input="\n".join(map(str, range(MANY))), text=True,
                   check=True)
    expect_nothing_left()


def cpu_of(cgroup):
    return int(re.search(r"usage_usec (\d+)", (CGROUP / cgroup.lstrip("/") / "cpu.stat").read_text())[1])


def cpu_of_unit(unit):
    return cpu_of(run("systemctl", "show", "-P", "ControlGroup", unit).stdout.strip())


def cpu_of_pid1():
    return int(Path("/proc/1/schedstat").read_text().split()[0]) // 1000


def cpu_of_wrappers():
    """Returns the CPU time of the wrappers and their commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e6)


CLOCKS = {**{unit: functools.partial(cpu_of_unit, unit) for unit in ("pinfoldd", "systemd-journald", "dbus")},
          "PID 1": cpu_of_pid1, "pinfold-run and the command": cpu_of_wrappers, "all processes": functools.partial(cpu_of, "/")}


def private_memory(pid):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kilobytes) for kilobytes in re.findall(r"Private_(?:Clean|Dirty):\s+(\d+) kB", text)) * 1024


def live_memory():
    """Returns the private memory of pinfoldd with live jobs, and of one of their supervisors."""
    jobs = [subprocess.Popen(["pinfold-run", "--job", f"live.{number}", "--", "sleep", "1000"], stdin=subprocess.DEVNULL)
            for number in range(LIVE)]
    wait_until(lambda: len(list(RECORDS.glob("live.*.json"))) == LIVE and
               all(not holds_socket(job.pid) for job in jobs), f"{LIVE} jobs, and their supervisors asleep")
    memory = private_memory(main_pid()), statistics.median(private_memory(job.pid) for job in jobs)
    for job in jobs:
        job.terminate()
    for job in jobs:
        job.wait()
    expect_nothing_left()
    return memory


def holds_socket(pid):
    """Returns true until the supervisor has closed its connection to pinfoldd."""
    try:
        return any("socket" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:  # the supervisor has closed a descriptor meanwhile
        return True


def measured():
    """Returns all figures of the installed build. Smaller is better in each of them."""
    run_many()
    figures = {"time of one job, supervised, in ms": median_time("pinfold-run", "--", "true") * 1e3,
               "time of one job with --exec, in ms": median_time("pinfold-run", "--exec", "--", "true") * 1e3}
    expect_nothing_left()
    before = {name: clock() for name, clock in CLOCKS.items()}
    figures[f"time per job, {AT_ONCE} at a time, in ms"] = time_of_many()
    for name, clock in CLOCKS.items():
        figures[f"CPU time per job, {name}, in ms"] = (clock() - before[name]) / MANY / 1e3
    # The container's files are in memory, where fsync(2) costs nothing.
    DISK.write_text(str(FSYNC_MS))
    with preloaded("slowsync.so", SLOWSYNC_FILE=str(DISK)):
        run_many()
        figures[f"time per job, {AT_ONCE} at a time, on a disk that needs {FSYNC_MS} ms for an fsync, in ms"] = time_of_many()
    daemon, supervisor = live_memory()
    figures[f"private memory of pinfoldd with {LIVE} live jobs, in KiB"] = daemon / 1024
    figures["private memory of a supervisor, in KiB"] = supervisor / 1024
    return figures


def median_of(rounds, side):
    """Returns the median of one side of (before, (now, now again))."""
    return statistics.median(value for pair in rounds for value in (pair[side] if side else [pair[side]]))


def interval(rounds, figure):
    """Returns the figure of all rounds, and the bounds of its interval of 95 %."""
    choice = random.Random(1)
    figures = sorted(figure(choice.choices(rounds, k=len(rounds))) for _ in range(2000))
    return figure(rounds), figures[50], figures[-51]


def main():
    if ROUNDS < LEAST_ROUNDS:
        sys.exit(f"PINFOLD_BENCH_ROUNDS is {ROUNDS}, but must be at least {LEAST_ROUNDS}")
    results = collections.defaultdict(dict)
    names = list(SIDES)
    for number in range(ROUNDS):
        for name in names[number % 3:] + names[:number % 3]:
            installed(SIDES[name])
            for figure, value in measured().items():
                results[figure].setdefault(name, []).append(value)
            removed(SIDES[name])
        print(f"round {number + 1} of {ROUNDS} done", flush=True)
    worse = 0
    for figure, values in results.items():
        before, both = values["before"], list(zip(values["now"], values["now again"]))
        ratio, low, high = interval(list(zip(before, both)), lambda rounds: median_of(rounds, 1) / median_of(rounds, 0))
        _, self_low, self_high = interval(both, lambda rounds: statistics.median(a for a, _ in rounds) / statistics.median(b for _, b in rounds))
        worse += low > 1
        print(f"{'WORSE    ' if low > 1 else 'not worse'}  {figure}: {statistics.median(before):.2f}, now {ratio:.3f} of that "
              f"({low:.3f} to {high:.3f}; the new build against itself {self_low:.3f} to {self_high:.3f})")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
