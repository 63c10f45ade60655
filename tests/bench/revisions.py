# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares two builds of pinfold in one container. `tools/bench --against` runs this program.

The directories /payload/packages/before and /payload/packages/now contain the files that each build installs. The program takes turns: it
installs one build, measures it, and removes it again. In each round, the program installs and measures the new build twice. The two measurements of
the new build show how much a figure differs by chance.

Each figure of a build is the median of the figures from all rounds. For each ratio of two builds, the program computes a confidence interval of 95 %.
To get the interval, the program chooses rounds at random and computes the ratio from them, 2000 times (bootstrap). The new build is worse in a figure
if the whole confidence interval of this figure's ratio is above 1."""

import collections
import functools
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import cpu_time
from compare import asleep, private_memory
from jobs import CGROUP, RECORDS, expect_nothing_left, main_pid, preloaded, run, wait_until

BUILDS = Path("/payload/packages")
SIDES = {"before": BUILDS / "before", "now": BUILDS / "now", "now again": BUILDS / "now"}
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
    """Removes the files and the state of a build, because an older build cannot always read the database of a newer build."""
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
    """Returns the milliseconds that run_many() needs for each job."""
    begun = time.perf_counter()
    run_many()
    return (time.perf_counter() - begun) / MANY * 1e3


def run_many():
    subprocess.run(["xargs", "-P", str(AT_ONCE), "-I", "{}", "pinfold-run", "--", "true"], input="\n".join(map(str, range(MANY))), text=True,
                   check=True)
    expect_nothing_left()


def cpu_of_wrappers():
    """Returns the CPU time of the ended wrappers and of their commands."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e6)


def cpu_clocks():
    """Returns a dictionary that maps the name of a part of the node to a function. The function returns the CPU time of this part in microseconds."""
    cgroups = {**{unit: cpu_time.cgroup_of(unit) for unit in ("pinfoldd", "systemd-journald", "dbus")}, "all processes": CGROUP}
    return {**{part: functools.partial(cpu_time.of_cgroup, cgroup) for part, cgroup in cgroups.items()},
            "PID 1": cpu_time.of_pid1, "pinfold-run and the command": cpu_of_wrappers}


def live_memory():
    """Returns the private memory of two processes: of a pinfoldd that has live jobs, and of the supervisor of one job."""
    jobs = [subprocess.Popen(["pinfold-run", "--job", f"live.{number}", "--", "sleep", "1000"], stdin=subprocess.DEVNULL)
            for number in range(LIVE)]
    wait_until(lambda: len(list(RECORDS.glob("live.*.json"))) == LIVE and
               all(asleep(job.pid) for job in jobs), f"{LIVE} jobs, and their supervisors asleep")
    memory = private_memory(main_pid()), statistics.median(private_memory(job.pid) for job in jobs)
    for job in jobs:
        job.terminate()
    for job in jobs:
        job.wait()
    expect_nothing_left()
    return memory


def measured():
    """Measures the installed build, and returns its figures. In every figure of a build, a smaller value is better."""
    run_many()
    figures = {"time of one job, supervised, in ms": median_time("pinfold-run", "--", "true") * 1e3,
               "time of one job with --exec, in ms": median_time("pinfold-run", "--exec", "--", "true") * 1e3}
    expect_nothing_left()
    clocks = cpu_clocks()
    before = {name: clock() for name, clock in clocks.items()}
    figures[f"time per job, {AT_ONCE} at a time, in ms"] = time_of_many()
    for name, clock in clocks.items():
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


def median(rounds, *sides):
    return statistics.median(figures[side] for figures in rounds for side in sides)


def interval(rounds, ratio):
    """Computes the ratio of two builds from all rounds. Returns the ratio, and the two bounds of its confidence interval of 95 %."""
    choice = random.Random(1)
    ratios = sorted(ratio(choice.choices(rounds, k=len(rounds))) for _ in range(2000))
    return ratio(rounds), ratios[50], ratios[-51]


def main():
    count = int(sys.argv[1])
    results = collections.defaultdict(lambda: [{} for _ in range(count)])
    names = list(SIDES)
    for number in range(count):
        for name in names[number % 3:] + names[:number % 3]:
            installed(SIDES[name])
            for figure, value in measured().items():
                results[figure][number][name] = value
            removed(SIDES[name])
        print(f"round {number + 1} of {count} done", flush=True)
    worse = 0
    for figure, rounds in results.items():
        ratio, low, high = interval(rounds, lambda chosen: median(chosen, "now", "now again") / median(chosen, "before"))
        _, self_low, self_high = interval(rounds, lambda chosen: median(chosen, "now") / median(chosen, "now again"))
        worse += low > 1
        print(f"{'WORSE    ' if low > 1 else 'not worse'}  {figure}: {median(rounds, 'before'):.2f}, now {ratio:.3f} of that "
              f"({low:.3f} to {high:.3f}; the new build against itself {self_low:.3f} to {self_high:.3f})")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
