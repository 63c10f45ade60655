# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how much pinfold slows down a batch system on node1 of the cluster. `tools/bench --cluster` runs this program.

Slurm and Grid Engine run arrays of empty jobs. Turns without pinfold alternate with turns with pinfold. For each pair of successive turns, the
program computes a ratio: the jobs per second with pinfold, divided by the jobs per second without pinfold. The result is the median of these ratios.
Other programs on the machine change the result. The program also measures the CPU time per job, because other programs have little effect on the CPU
time. The program prints the CPU time of the batch system, of some services, and of all other processes.

The node of Slurm has as many slots as the machine has processors. If the node had many more slots, many jobs would start at once. If many jobs start
at once, slurmctld sometimes pauses for 2 seconds before it sends more jobs (agent_retry() in its source). If Slurm had more slots, the fastest turn
would have 63 jobs per second, and the slowest turn 28 jobs per second. For Slurm, there is a third kind of turn: Slurm runs without pinfold, but with
an empty epilogue. Without an epilogue, slurmctld waits up to a second before it gives an ended job's slot to the next job.

At the start of a job, the kernel makes pinfold wait once, and pinfold cannot avoid this wait. Before it moves a process to a different cgroup, the
kernel waits for an RCU grace period on all processors. (See favordynmods in Documentation/admin-guide/cgroup-v2.rst.) The program prints how long the
kernel needs to move a process."""

import dataclasses
import os
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container", "cluster")]
import cpu_time
import disposable
import grid_engine
import slurm
from jobs import CGROUP, leftovers_of_pinfold, receipts, run, wait_until
from nodes import set_site

disposable.require()

JOBS = 60
TURNS = 6
REACH = 0.95
PLAIN, OURS = "without pinfold", "with pinfold"
UNITS = ("slurmctld", "munge", "gridengine-master", "pinfoldd", "dbus", "systemd-journald", "init.scope")
ACCOUNTING = Path("/var/lib/gridengine/default/common/accounting")


def lines(file):
    return file.read_bytes().count(b"\n") if file.exists() else 0


def cpu_of_parts(daemon):
    """Returns the CPU time of each part of the node in milliseconds. The parts are the batch system's daemon, the ended children of the daemon, some
    services, and all other processes."""
    fields = Path(f"/proc/{run('pgrep', '-xo', daemon).stdout.strip()}/stat").read_text().rsplit(")", 1)[1].split()
    own, children = (sum(map(int, times)) * 1e3 / os.sysconf("SC_CLK_TCK") for times in (fields[11:13], fields[13:15]))
    parts = {daemon: own, f"children of {daemon}": children}
    for unit in UNITS:
        cgroup = cpu_time.cgroup_of(unit)
        parts[unit] = cpu_time.of_cgroup(cgroup) / 1e3 if cgroup else 0
    return {**parts, "rest": cpu_time.of_cgroup(CGROUP) / 1e3 - sum(parts.values())}


@dataclasses.dataclass(frozen=True)
class Turn:
    rate: float  # jobs per second
    cpu: dict[str, float]  # the CPU time of each part in milliseconds per job


def turn(daemon, file, submit, settle):
    """Counts the lines that the batch system writes when a job is over."""
    before, spent = lines(file), cpu_of_parts(daemon)
    begun = time.monotonic()
    submit()
    wait_until(lambda: lines(file) >= before + JOBS, f"{JOBS} jobs over", 300)
    rate = JOBS / (time.monotonic() - begun)
    settle()
    wait_until(lambda: not leftovers_of_pinfold(), "nothing left")
    return Turn(rate, {part: (now - spent[part]) / JOBS for part, now in cpu_of_parts(daemon).items()})


def time_of_a_move():
    """Returns the median time in milliseconds that the kernel needs to move a process to a cgroup. The function moves this process to the cgroup that
    already contains the process. For a move to the same cgroup, the kernel does nothing but wait for all other processors. The function pauses before
    each move, because a move right after another move is faster."""
    own = next(line.removeprefix("0::/").strip() for line in open("/proc/self/cgroup") if line.startswith("0::"))
    taken = []
    for _ in range(20):
        time.sleep(0.1)
        begun = time.monotonic()
        (CGROUP / own / "cgroup.procs").write_text(str(os.getpid()))
        taken.append((time.monotonic() - begun) * 1e3)
    return statistics.median(taken)


def slurm_array(pinfold, **settings):
    slurm.start(pinfold=pinfold, NodeName=f"node1 CPUs={os.cpu_count()} RealMemory=1000 State=UNKNOWN", **settings)
    slurm.submit("true", "--output=/dev/null")  # a slurmd needs more time for its first job than for later jobs
    slurm.wait_idle()
    return turn("slurmd", slurm.COMPLETED, lambda: slurm.submit("true", f"--array=1-{JOBS}", "--output=/dev/null"), slurm.wait_idle)


def grid_engine_array(shepherd):
    grid_engine.configure(shepherd_cmd=shepherd)
    return turn("sge_execd", ACCOUNTING, lambda: grid_engine.Job("true", "-t", f"1-{JOBS}", errors="/dev/null"), lambda: None)


def compare(name, sides):
    """`sides` maps the name of each kind of turn to the function that runs one turn of this kind. In turns of the kind OURS, pinfold runs. The
    function compares the kind OURS with each of the other kinds. Returns true if OURS is fast enough in comparison with PLAIN, the kind without
    pinfold."""
    turns = {side: [] for side in sides}
    for number in range(TURNS):
        for side, run_turn in sides.items():
            known = len(receipts())
            turns[side].append(run_turn())
            assert (len(receipts()) >= known + JOBS) == (side == OURS), f"{len(receipts()) - known} new receipts of {name}'s jobs {side}"
        print(f"{name}, turn {number + 1}: " + ", ".join(f"{taken[-1].rate:.1f} a second {side} (CPU {sum(taken[-1].cpu.values()):.1f} ms a job)"
                                                        for side, taken in turns.items()), flush=True)
    for part in turns[OURS][0].cpu:
        print(f"        {part}: CPU " + ", ".join(f"{statistics.median(taken.cpu[part] for taken in turns[side]):.1f} ms a job {side}"
                                                  for side in sides))
    ratios = {side: statistics.median(ours.rate / theirs.rate for ours, theirs in zip(turns[OURS], turns[side]))
              for side in sides if side != OURS}
    ok = ratios[PLAIN] >= REACH
    print(f"{'meets ' if ok else 'MISSES'}  {name}, {JOBS} empty jobs of an array, with pinfold against without: {ratios.pop(PLAIN):.2f} (reach >= {REACH})")
    for side, ratio in ratios.items():
        print(f"        {name}, with pinfold against {side}: {ratio:.2f}", flush=True)
    return ok


def main():
    print(f"a move of a process to a cgroup takes {time_of_a_move():.1f} ms (median of 20)", flush=True)
    # Slurm sets a memory limit for each job, and a container cannot enforce a memory limit.
    set_site("node1", '[jobs]\nunenforced_limits = "warn"\n')
    met = compare("Slurm", {PLAIN: lambda: slurm_array(False),
                            "with an empty epilogue": lambda: slurm_array(False, Epilog="/usr/bin/true"),
                            OURS: lambda: slurm_array(True)})
    run("systemctl", "stop", "slurmd", "slurmctld", "munge")
    grid_engine.start("node1")
    grid_engine.store("-Mq", grid_engine.QUEUE, {**grid_engine.shown("-sq", grid_engine.QUEUE), "slots": JOBS})
    met &= compare("Grid Engine", {PLAIN: lambda: grid_engine_array(grid_engine.PLAIN),
                                  OURS: lambda: grid_engine_array(grid_engine.PINFOLD)})
    return 0 if met else 1


sys.exit(main())
