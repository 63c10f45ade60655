# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the speed of pinfold with the speed of systemd-run in the container. The program also measures several ways to use pinfold. tools/bench
runs this program. To compare two commands, the program runs the two commands alternately."""

import os
import re
import select
import statistics
import subprocess
import sys
import time
from pathlib import Path

import dbus

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / part) for part in ("support/python", "container")]
import disposable
from jobs import ESCAPIST, expect_nothing_left, live_jobs, main_pid, run, start_job, wait_running, wait_until

disposable.require()

SYSTEMD_RUN = ["systemd-run", "--scope", "-q", "--", "true"]
SUPERVISE = ["pinfold-run", "--", "true"]
IN_PLACE = ["pinfold-run", "--exec", "--", "true"]
ROUNDS = 60
rows = []


def report(figure, value, reach, ok):
    rows.append((figure, value, reach, ok))
    print(f"{'meets ' if ok else 'MISSES'}  {figure}: {value} (reach {reach})", flush=True)


def settle(live):
    """Waits until pinfoldd and PID 1 have finished their work for the previous measurement."""
    bus = dbus.SystemBus()
    pinfold = dbus.Interface(bus.get_object("org.pinfold1", "/org/pinfold1", introspect=False), "org.freedesktop.DBus.Properties")
    wait_until(lambda: pinfold.Get("org.pinfold1.Manager", "JobCount") == live, f"{live} jobs")
    bus.get_object("org.freedesktop.systemd1", "/org/freedesktop/systemd1", introspect=False).Ping(
        dbus_interface="org.freedesktop.DBus.Peer")
    # When a process moves to another cgroup, the kernel waits for an RCU grace period, which takes at least 10 ms. If the kernel has just moved
    # another process, the kernel moves the next process without this wait. settle() moves this process into its own cgroup, so that each measurement
    # begins right after a move.
    own = re.search(r"^0::(.*)$", Path("/proc/self/cgroup").read_text(), re.M)[1]
    Path(f"/sys/fs/cgroup{own}/cgroup.procs").write_text(str(os.getpid()))


def seconds(command, live):
    settle(live)
    begun = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status = os.waitpid(process, 0)
    assert status == 0, command
    return time.perf_counter() - begun


def in_turns(*commands, rounds=ROUNDS, live=0):
    """Returns the median time of each command while `live` jobs are live."""
    times = [[] for _ in commands]
    for command in commands:
        seconds(command, live)
    for _ in range(rounds):
        for command, taken in zip(commands, times):
            taken.append(seconds(command, live))
    return [statistics.median(taken) for taken in times]


def start_to_exit():
    in_place, supervise, systemd = in_turns(IN_PLACE, SUPERVISE, SYSTEMD_RUN)
    report("pinfold-run --exec, start to exit, against systemd-run --scope", f"{in_place / systemd:.2f} ({in_place * 1e3:.1f} ms)", "<= 0.6",
           in_place / systemd <= 0.6)
    report("pinfold-run, all gone and receipt durable, against systemd-run --scope",
           f"{supervise / systemd:.2f} ({supervise * 1e3:.1f} ms)", "<= 1.0", supervise / systemd <= 1.0)
    return in_place, supervise


def throughput(jobs=400, at_once=16):
    def batch(command):
        settle(0)
        begun = time.perf_counter()
        for number in range(jobs + at_once):
            if number >= at_once:
                assert os.wait()[1] == 0, command
            if number < jobs:
                os.posix_spawnp(command[0], command, os.environ)
        return jobs / (time.perf_counter() - begun)

    # Each ratio compares two successive runs, because the load of the machine changes from one second to the next.
    pairs = [(batch(SUPERVISE), batch(SYSTEMD_RUN)) for _ in range(9)]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    report("jobs a second, 16 at a time, against systemd-run --scope",
           f"{ratio:.2f} ({statistics.median(ours for ours, _ in pairs):.0f} a second)", ">= 1.5", ratio >= 1.5)


def private_memory(pid):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kilobytes) * 1024 for kilobytes in re.findall(r"Private_(?:Clean|Dirty):\s+(\d+) kB", text))


def asleep(pid):
    """Returns true if the process has closed its connection to pinfoldd."""
    try:
        return not any("socket" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:  # the process has closed a descriptor meanwhile
        return False


def supervisor_memory():
    """Measures the memory of one pinfold-run while a second one runs. While only one pinfold-run is running, the kernel counts the
    memory pages of the program file as private. While two pinfold-run are running, the kernel counts these memory pages as shared."""
    jobs = [start_job(key, "sleep", "1000", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for key in ("bench.one", "bench.two")]
    for key, job in zip(("bench.one", "bench.two"), jobs):
        wait_running(key)
        wait_until(lambda: asleep(job.pid), "the supervisor asleep")
    used = private_memory(jobs[0].pid)
    report("supervisor's private memory, with another one beside it", f"{used / 1024:.0f} KiB", "<= 1024 KiB", used <= 1 << 20)
    for job in jobs:
        job.terminate()
        job.wait()


def ping(interface):
    begun = time.perf_counter()
    interface.Ping(timeout=60)
    return time.perf_counter() - begun


def storm():
    bus = dbus.SystemBus()
    pid1 = dbus.Interface(bus.get_object("org.freedesktop.systemd1", "/org/freedesktop/systemd1"), "org.freedesktop.DBus.Peer")
    job = start_job("bench.storm", "sh", "-c", f"{ESCAPIST} storm; read line", stdin=subprocess.PIPE)
    assert "ready" in job.stdout.readline()
    pings = []
    end = time.monotonic() + 5
    while time.monotonic() < end:
        pings.append(ping(pid1))
    begun = time.perf_counter()
    job.communicate("\n")
    gone = time.perf_counter() - begun
    p99 = sorted(pings)[int(len(pings) * 0.99)]
    report("storm of pid-hopping daemons: PID 1's answer to a ping, 99th percentile", f"{p99 * 1e3:.0f} ms of {len(pings)}", "<= 100 ms", p99 <= 0.1)
    report("storm: leader's exit to all gone", f"{gone:.2f} s", "<= 2 s", gone <= 2)

    # `systemctl stop` waits until the storm of processes has ended. In the run without pinfold, the storm ends by itself after 10 seconds.
    theirs = subprocess.Popen(["systemd-run", "--scope", "-q", "--unit=bench-storm", "--", "sh", "-c", f"{ESCAPIST} storm 10; sleep 1000"],
                              stdout=subprocess.PIPE, text=True)
    assert "ready" in theirs.stdout.readline()
    begun = time.perf_counter()
    run("systemctl", "stop", "bench-storm.scope", timeout=300)
    print(f"        for comparison: systemctl stop of such a scope, storm of 10 s: {time.perf_counter() - begun:.2f} s", flush=True)
    theirs.wait()


def until_empty(directory):
    events = directory / "cgroup.events"
    while True:
        try:
            if "populated 0" in events.read_text():
                return time.perf_counter()
        except OSError:
            return time.perf_counter()


def thousand_leftovers(count=1000):
    drop_in = Path("/etc/pinfold/pinfold.toml.d/bench.toml")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text('[jobs]\nkill_grace = "0s"\n')
    run("systemctl", "reload", "pinfoldd")
    ours, kernel = [], []
    for number in range(5):
        key = f"bench.many{number}"
        job = start_job(key, ESCAPIST, "many", str(count), stdin=subprocess.PIPE)
        assert "ready" in job.stdout.readline()
        begun = time.perf_counter()
        job.stdin.write("\n")
        job.stdin.flush()
        ours.append(until_empty(Path(f"/sys/fs/cgroup/batch.slice/batch-{key}.slice")) - begun)
        job.communicate()

        directory = Path("/sys/fs/cgroup/bench")
        directory.mkdir()
        tree = subprocess.Popen([ESCAPIST, "many", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                preexec_fn=lambda: (directory / "cgroup.procs").write_text("0"))
        assert "ready" in tree.stdout.readline()
        begun = time.perf_counter()
        (directory / "cgroup.kill").write_text("1")
        kernel.append(until_empty(directory) - begun)
        tree.wait()
        wait_until(lambda: rmdir(directory), "cgroup removed")
    drop_in.unlink()
    run("systemctl", "reload", "pinfoldd")
    ratio = statistics.median(ours) / statistics.median(kernel)
    report(f"{count} leftovers, leader's exit to empty cgroup, against cgroup.kill",
           f"{ratio:.2f} ({statistics.median(ours) * 1e3:.0f} ms)", "<= 3", ratio <= 3)


def rmdir(directory):
    try:
        directory.rmdir()
    except OSError:
        return False
    return True


def resident():
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{main_pid()}/status").read_text()).group(1)) * 1024


def switches():
    text = Path(f"/proc/{main_pid()}/status").read_text()
    return sum(int(number) for number in re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M))


def sleeps(seconds=2):
    before = switches()
    select.select([], [], [], seconds)
    return switches() == before


def live(prefix, count):
    started = [subprocess.Popen(["pinfold-run", "--job", f"{prefix}.{number}", "--exec", "--", "sleep", "100000"], stdin=subprocess.DEVNULL)
               for number in range(count)]
    wait_until(lambda: sum(job["state"] == "running" for job in live_jobs().values()) >= count, f"{count} jobs running", deadline=180)
    return started


def end(started):
    for process in started:
        process.kill()
    for process in started:
        process.wait()
    wait_until(lambda: not live_jobs(), "all over", deadline=180)


def quiet():
    started = live("quiet", 100)
    born = time.monotonic()
    run("journalctl", "--sync")
    # pinfoldd looks at each job 1, 2, 4, 8 and 16 seconds after the job's start.
    wait_until(lambda: time.monotonic() - born > 17 and sleeps(), "pinfoldd has done all that starts leave to do", deadline=60)
    before = switches()
    # The test reads a counter of the kernel, because a tracer would wake up the process. A process that does not wake up makes no system call.
    select.select([], [], [], 10)
    woken = switches() - before
    report("pinfoldd's wake-ups in 10 s with 100 live, quiet jobs", str(woken),
           "0 besides the watchdog, which comes every 15 s or so, and the look at all jobs, which comes every 30 s", woken <= 2)
    end(started)


def thousand_live(at_none):
    started = live("live", 1000)
    used = resident()
    report("pinfoldd's memory at 1,000 live jobs", f"{used / (1 << 20):.1f} MiB", "<= 24 MB", used <= 24_000_000)
    in_place, supervise = in_turns(IN_PLACE, SUPERVISE, rounds=30, live=1000)
    report("--exec at 1,000 live jobs against itself at none", f"{in_place / at_none[0]:.2f}", "<= 2.0", in_place / at_none[0] <= 2)
    report("supervised at 1,000 live jobs against itself at none", f"{supervise / at_none[1]:.2f}", "<= 2.0", supervise / at_none[1] <= 2)
    end(started)


def many_jobs():
    def jobs(count):
        subprocess.run(["xargs", "-P", "16", "-I", "{}", *SUPERVISE], input="\n".join(map(str, range(count))), text=True, check=True)

    jobs(1000)
    early = resident()
    jobs(19000)
    late = resident()
    report("pinfoldd's memory after 20,000 jobs against after 1,000", f"{late / early:.3f} ({late / (1 << 20):.1f} MiB)", "<= 1.05", late / early <= 1.05)


def main():
    run("systemctl", "start", "pinfoldd")
    if "--long" in sys.argv:
        run("systemctl", "restart", "pinfoldd")
        many_jobs()
    at_none = start_to_exit()
    throughput()
    supervisor_memory()
    thousand_leftovers()
    storm()
    quiet()
    thousand_live(at_none)
    expect_nothing_left()
    missed = [row for row in rows if not row[3]]
    print(f"{len(rows) - len(missed)} of {len(rows)} figures reach what is wanted")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
