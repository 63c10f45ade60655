# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how the kernel enforces the limits of jobs. The kernel must have all controllers. The cgroup files contain the limits, systemd shows the
limits, and the limits have an effect."""

import json
import re
import statistics
from pathlib import Path

import pytest

from jobs import BATCH, expect_nothing_left, finish, receipts, run, start_job, systemd_version, wait_running, wait_until

MIB = 1024 * 1024

DISK = "/dev/vda"
NUMBER = Path("/sys/block/vda/dev").read_text().strip()

# Maps each limit to five texts: an option with a value, the cgroup file, the file's text, systemd's property, and the property's text.
LIMITS = {
    "memory_max": ("--memory-max=64M", "memory.max", str(64 * MIB), "MemoryMax", str(64 * MIB)),
    "memory_high": ("--memory-high=48M", "memory.high", str(48 * MIB), "MemoryHigh", str(48 * MIB)),
    "memory_low": ("--memory-low=8M", "memory.low", str(8 * MIB), "MemoryLow", str(8 * MIB)),
    "memory_swap_max": ("--memory-swap-max=4M", "memory.swap.max", str(4 * MIB), "MemorySwapMax", str(4 * MIB)),
    "allowed_memory_nodes": ("--allowed-memory-nodes=0", "cpuset.mems", "0", "AllowedMemoryNodes", "0"),
    "io_weight": ("--io-weight=50", "io.weight", "default 50", "IOWeight", "50"),
    "io_read_bandwidth_max": (f"--io-read-bandwidth-max={DISK} 2M", "io.max", f"{NUMBER} rbps=2097152 wbps=max riops=max wiops=max",
                              "IOReadBandwidthMax", f"{DISK} 2097152"),
    "io_write_bandwidth_max": (f"--io-write-bandwidth-max={DISK} 3M", "io.max", f"{NUMBER} rbps=max wbps=3145728 riops=max wiops=max",
                               "IOWriteBandwidthMax", f"{DISK} 3145728"),
    "io_read_iops_max": (f"--io-read-iops-max={DISK} 40", "io.max", f"{NUMBER} rbps=max wbps=max riops=40 wiops=max",
                         "IOReadIOPSMax", f"{DISK} 40"),
    "io_write_iops_max": (f"--io-write-iops-max={DISK} 30", "io.max", f"{NUMBER} rbps=max wbps=max riops=max wiops=30",
                          "IOWriteIOPSMax", f"{DISK} 30"),
    "cpu_quota": ("--cpu-quota=30%", "cpu.max", "30000 100000", "CPUQuotaPerSecUSec", "300ms"),
    "cpu_weight": ("--cpu-weight=50", "cpu.weight", "50", "CPUWeight", "50"),
    "allowed_cpus": ("--allowed-cpus=1", "cpuset.cpus", "1", "AllowedCPUs", "1"),
    "tasks_max": ("--tasks-max=20", "pids.max", "20", "TasksMax", "20"),
}

HOG = """
import sys
held = []
for mib in range(int(sys.argv[1])):
    held.append(bytearray(b"x" * 1024 * 1024))
print("held", len(held), flush=True)
"""

FORKS = """
import errno, os, select
children = 0
gate, hold = os.pipe()
while children < 100:
    try:
        if os.fork() == 0:
            os.close(hold)
            select.select([gate], [], [])
            os._exit(0)
    except OSError as error:
        print(errno.errorcode[error.errno], children, flush=True)
        break
    children += 1
"""

SPIN = """
import time
while time.process_time() < 0.5:
    pass
"""


def units_of(key):
    return BATCH / f"batch-{key}.slice", BATCH / f"batch-{key}.slice" / f"job-{key}.scope"


def values(path):
    return dict(line.split() for line in path.read_text().splitlines())


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_in_the_cgroup_and_in_what_systemd_shows(limit):
    option, file, in_file, name, shown = LIMITS[limit]
    key = f"limit.{limit.replace('_', '')}"
    job = start_job(key, "sleep", "1000", options=[option])
    wait_running(key)
    for cgroup in units_of(key):
        assert (cgroup / file).read_text().strip() == in_file
        assert run("systemctl", "show", "-P", name, cgroup.name).stdout.strip() == shown
    run("pinfold", "stop", key)
    finish(job)
    expect_nothing_left()


def test_memory_max_kills_the_hog_and_nobody_else():
    witness = start_job("limit.witness", "sh", "-c", "read word; exit 6", stdin=-1)
    wait_running("limit.witness")
    status, out, err = finish(start_job("limit.hog", "python3", "-c", HOG, "200", options=["--memory-max=64M"]))
    assert (status, out) != (0, "held 200\n")
    assert "held" not in out, err
    receipt = receipts("limit.hog")[0]
    assert receipt["oom_kills"] >= 1
    # If an allocation must not fail, the kernel can charge a few pages more than memory.max (cgroup-v2.rst, "memory.max").
    assert 32 * MIB <= receipt["memory_peak"] <= 65 * MIB
    assert receipt["memory_max"] == 64 * MIB
    witness.stdin.write("go\n")
    assert finish(witness)[0] == 6
    assert receipts("limit.witness")[0]["oom_kills"] == 0
    expect_nothing_left()


def test_a_job_below_its_memory_max_is_left_alone():
    status, out, err = finish(start_job("limit.modest", "python3", "-c", HOG, "20", options=["--memory-max=64M"]))
    assert (status, out) == (0, "held 20\n"), err
    assert receipts("limit.modest")[0]["oom_kills"] == 0


def test_tasks_max_stops_forks():
    status, out, err = finish(start_job("limit.forks", "python3", "-c", FORKS, options=["--tasks-max=20"]))
    assert status == 0, err
    assert out == "EAGAIN 19\n"
    assert receipts("limit.forks")[0]["tasks_peak"] == 20
    expect_nothing_left()


def cpu_time_above_quota(key):
    """Runs a job that uses more CPU time than its quota for a while. Returns how many microseconds of CPU time the job used in addition to its
    quota."""
    script = f"python3 -c '{SPIN}'; echo spun; read word"
    job = start_job(key, "sh", "-c", script, options=["--cpu-quota=20%"], stdin=-1)
    assert job.stdout.readline() == "spun\n"
    cgroup, _ = units_of(key)
    stat = values(cgroup / "cpu.stat")
    assert int(stat["nr_throttled"]) > 0
    assert int(stat["throttled_usec"]) > 0
    job.stdin.write("go\n")
    assert finish(job)[0] == 0
    receipt = receipts(key)[0]
    used = receipt["cpu_user"] + receipt["cpu_system"]
    assert used >= 500_000
    return used - receipt["wall"] / 5


def test_cpu_quota_throttles():
    """The quota is a fifth of a CPU. A job can end in the middle of a period, and can then have used the period's whole quota. If a virtual CPU
    stands still while a process exits, the kernel counts this time as CPU time of the job, and the exited process does not wait for new quota. So the
    test looks at the median of three jobs."""
    assert statistics.median(cpu_time_above_quota(f"limit.quota{number}") for number in range(3)) <= 100_000


@pytest.mark.parametrize("cpu", ["0", "1"])
def test_allowed_cpus_are_the_processes_own(cpu):
    status, out, err = finish(start_job(f"limit.cpus{cpu}", "cat", "/proc/self/status", options=[f"--allowed-cpus={cpu}"]))
    assert status == 0, err
    assert re.search(r"^Cpus_allowed_list:\s*(\S+)$", out, re.M).group(1) == cpu


WHERE = """
page = bytearray(b"x" * (32 << 20))
nodes = [sum(int(word[3:]) for line in open("/proc/self/numa_maps") for word in line.split() if word.startswith("N%d=" % node))
         for node in (0, 1)]
print(*nodes, flush=True)
"""


@pytest.mark.parametrize("node", [0, 1])
def test_allowed_memory_nodes_are_where_the_memory_is(node):
    status, out, err = finish(start_job("limit.node", "/usr/bin/python3", "-c", WHERE, options=[f"--allowed-memory-nodes={node}"]))
    assert status == 0, err
    pages = [int(word) for word in out.split()]
    assert pages[node] >= 32 * MIB // 4096
    assert pages[1 - node] < 4096, "libraries that others have loaded stay where they are"


def test_run_time_max_ends_the_job():
    status, _, err = finish(start_job("limit.time", "sleep", "1000", options=["--run-time-max=2s"]))
    assert status != 0, err
    receipt = receipts("limit.time")[0]
    assert receipt["result"] == "timeout"
    assert receipt["wall"] >= 2_000_000
    assert receipt["run_time_max"] == 2_000_000
    expect_nothing_left()


# The test raises each limit, and then lowers the limits in the opposite order. CHANGES maps each limit to pairs of texts. The
# first text of a pair is a value of the limit. The second text of the pair is the content of the cgroup's file for this value.
CHANGES = {
    "memory_max": [("256M", str(256 * MIB)), ("32M", str(32 * MIB)), ("infinity", "max")],
    "memory_high": [("256M", str(256 * MIB)), ("32M", str(32 * MIB))],
    "memory_low": [("16M", str(16 * MIB)), ("0", "0")],
    "memory_swap_max": [("16M", str(16 * MIB)), ("0", "0")],
    "cpu_quota": [("80%", "80000 100000"), ("10%", "10000 100000"), ("infinity", "max 100000")],
    "cpu_weight": [("500", "500"), ("5", "5")],
    "allowed_cpus": [("0-1", "0-1"), ("0", "0")],
    "tasks_max": [("400", "400"), ("5", "5"), ("infinity", "max")],
    "io_weight": [("500", "default 500"), ("5", "default 5")],
    "io_read_bandwidth_max": [(f"{DISK} 8M", f"{NUMBER} rbps=8388608 wbps=max riops=max wiops=max"),
                              (f"{DISK} 1M", f"{NUMBER} rbps=1048576 wbps=max riops=max wiops=max")],
    "io_write_iops_max": [(f"{DISK} 90", f"{NUMBER} rbps=max wbps=max riops=max wiops=90"),
                          (f"{DISK} 9", f"{NUMBER} rbps=max wbps=max riops=max wiops=9")],
}


def text_or(path, otherwise):
    """If no cgroup needs a controller any more, systemd removes the controller some time later."""
    try:
        return path.read_text().strip()
    except OSError:
        return otherwise


@pytest.mark.parametrize("limit", CHANGES)
def test_a_limit_is_raised_and_lowered_while_the_job_runs(limit):
    option, file, *_ = LIMITS[limit]
    key = f"change.{limit.replace('_', '')}"
    job = start_job(key, "sleep", "1000", options=[option])
    wait_running(key)
    for value, in_file in CHANGES[limit]:
        run("pinfold", "limits", key, f"--{limit.replace('_', '-')}", value)
        for cgroup in units_of(key):
            wait_until(lambda: text_or(cgroup / file, in_file) == in_file, f"{in_file} in {cgroup / file}")
    shown = json.loads(run("pinfold", "limits", key, "--json").stdout)["limits"][limit]
    assert shown is not None
    run("pinfold", "stop", key)
    finish(job)
    assert receipts(key)[0][limit] == shown
    expect_nothing_left()


REFUSED = {
    "memory below use": (["--memory-max", "8M"], "force"),
    "CPUs that are not there": (["--allowed-cpus", "0,63"], "63"),
    "memory nodes that are not there": (["--allowed-memory-nodes", "7"], "7"),
    "no disk": (["--io-read-iops-max", "/dev/null 5"], "/dev/null"),
    "fixed at the start": (["--oom-policy", "process"], "oom_policy"),
    # The kernel of the virtual machine has no zswap.
    "not enforced": (["--memory-zswap-max", "0"], "systemd 253" if systemd_version() < 253 else "memory.zswap.max"),
    "one of two": (["--tasks-max", "50", "--allowed-cpus", "63"], "63"),
}


@pytest.fixture(scope="class")
def holder():
    """Runs a job that holds 40 MiB of memory."""
    job = start_job("limit.holder", "python3", "-c", "held = b'x' * (40 << 20); print('held', flush=True); import signal; signal.pause()",
                    options=["--memory-max=64M", "--tasks-max=20"])
    assert job.stdout.readline() == "held\n"
    yield "limit.holder"
    run("pinfold", "stop", "limit.holder")
    finish(job)


class TestAChangeThatCanNotBe:
    @pytest.mark.parametrize("case", REFUSED)
    def test_changes_nothing(self, holder, case):
        options, word = REFUSED[case]
        before = run("pinfold", "limits", holder, "--json").stdout
        refused = run("pinfold", "limits", holder, *options, check=False)
        assert refused.returncode != 0
        assert word in refused.stderr and refused.stderr.count("\n") == 1
        assert run("pinfold", "limits", holder, "--json").stdout == before
        for cgroup in units_of(holder):
            assert (cgroup / "memory.max").read_text().strip() == str(64 * MIB)
            assert (cgroup / "pids.max").read_text().strip() == "20"


def test_memory_high_slows_down_and_kills_nobody():
    """At the limit, the kernel reclaims page cache. The job can write a file that is three times as large as the limit."""
    status, _, err = finish(start_job("limit.high", "dd", "if=/dev/zero", "of=/var/tmp/high", "bs=1M", "count=96",
                                      options=["--memory-high=32M"]))
    Path("/var/tmp/high").unlink()
    assert status == 0, err
    receipt = receipts("limit.high")[0]
    assert receipt["memory_high_events"] > 0
    assert receipt["memory_peak"] < 40 * MIB
    assert receipt["oom_kills"] == 0 and receipt["result"] == "exited"


def test_swap_is_used_up_to_its_limit():
    run("dd", "if=/dev/zero", "of=/swapfile", "bs=1M", "count=128")
    run("chmod", "600", "/swapfile")
    run("mkswap", "/swapfile")
    run("swapon", "/swapfile")
    try:
        options = ["--memory-max=32M"]
        status, out, err = finish(start_job("limit.swap", "python3", "-c", HOG, "64", options=[*options, "--memory-swap-max=100M"]), 120)
        assert (status, out) == (0, "held 64\n"), err
        status, out, err = finish(start_job("limit.noswap", "python3", "-c", HOG, "64", options=[*options, "--memory-swap-max=0"]), 120)
        assert status != 0 and "held" not in out
        assert receipts("limit.noswap")[0]["oom_kills"] >= 1
    finally:
        run("swapoff", "/swapfile")
        Path("/swapfile").unlink()


def test_cpu_weight_shares():
    """The two jobs share one CPU. The job with the higher weight gets three times as much CPU time as the other job.

    The test measures the jobs' CPU time only while both jobs spin. On a busy host, the emulated machine needs more than a second to start a job."""
    spin = "print('spins', flush=True)\nwhile True: pass"
    jobs = {weight: start_job(f"limit.weight{weight}", "python3", "-c", spin, options=[f"--cpu-weight={weight}", "--allowed-cpus=0"])
            for weight in (100, 300)}
    for job in jobs.values():
        assert job.stdout.readline() == "spins\n"

    def used_by(weight):
        return int(values(units_of(f"limit.weight{weight}")[0] / "cpu.stat")["usage_usec"])
    before = {weight: used_by(weight) for weight in jobs}

    def shares():
        """Returns both CPU times if they are in the ratio of the weights. If the virtual CPU stands still, the kernel counts this time as CPU time
        of one job. The kernel then gives the other job more CPU time until the ratio is right again. The virtual CPU can also stand still between
        the two readings."""
        light, heavy = (used_by(weight) - before[weight] for weight in (100, 300))
        return (light, heavy) if heavy >= 3_000_000 and 2 < heavy / light < 4.5 else None
    light, heavy = wait_until(shares, "three times as much CPU time used by the heavier")
    for weight, job in jobs.items():
        run("pinfold", "stop", f"limit.weight{weight}")
        finish(job)
        receipt = receipts(f"limit.weight{weight}")[0]
        assert receipt["cpu_user"] + receipt["cpu_system"] >= {100: light, 300: heavy}[weight]


def read_disk(count, size):
    return ["dd", f"if={DISK}", "of=/dev/null", "iflag=direct", f"bs={size}", f"count={count}"]


def test_read_bandwidth_is_held_and_counted():
    status, _, err = finish(start_job("limit.rbps", *read_disk(8, "1M"), options=[f"--io-read-bandwidth-max={DISK} 4M"]))
    assert status == 0, err
    receipt = receipts("limit.rbps")[0]
    assert receipt["wall"] > 1_400_000, "8 MiB at 4 MiB a second, less the burst of the first slice"
    [disk] = [io for io in receipt["io_devices"] if io["device"] == NUMBER]
    assert disk["io_read"] == 8 * MIB
    assert receipt["io_read"] >= 8 * MIB


def test_read_operations_are_held_and_counted():
    status, _, err = finish(start_job("limit.riops", *read_disk(80, "4k"), options=[f"--io-read-iops-max={DISK} 40"]))
    assert status == 0, err
    receipt = receipts("limit.riops")[0]
    assert receipt["wall"] > 1_400_000
    [disk] = [io for io in receipt["io_devices"] if io["device"] == NUMBER]
    assert (disk["io_read"], disk["io_reads"]) == (80 * 4096, 80)


@pytest.fixture
def shared_disk():
    """The kernel shares a disk by weight only if the kernel knows the speed of the disk. The test tells the kernel a speed of 1 MiB per second. The
    weights have an effect only if jobs wait for the disk. Even on a busy host, the emulated machine reads faster than 1 MiB per second, so the jobs
    wait for the disk."""
    qos, model = Path("/sys/fs/cgroup/io.cost.qos"), Path("/sys/fs/cgroup/io.cost.model")
    model.write_text(f"{NUMBER} ctrl=user model=linear rbps={MIB} rseqiops=250 rrandiops=250 wbps={MIB} wseqiops=250 wrandiops=250")
    qos.write_text(f"{NUMBER} enable=1 ctrl=user min=100.00 max=100.00")
    yield
    qos.write_text(f"{NUMBER} enable=0")


def test_io_weight_shares(shared_disk):
    jobs = {weight: start_job(f"limit.io{weight}", *read_disk(10000, "16k"), options=[f"--io-weight={weight}"])
            for weight in (100, 400)}
    for weight in jobs:
        wait_running(f"limit.io{weight}")

    def read_by(weight):
        lines = text_or(units_of(f"limit.io{weight}")[0] / "io.stat", "").splitlines()
        return sum(int(word[7:]) for line in lines if line.startswith(NUMBER) for word in line.split() if word.startswith("rbytes="))
    wait_until(lambda: all(read_by(weight) > 0 for weight in jobs), "both jobs read")  # a running job has perhaps not executed dd yet
    before = {weight: read_by(weight) for weight in jobs}

    def shares():
        light, heavy = (read_by(weight) - before[weight] for weight in (100, 400))
        return heavy >= 4 * MIB and 2 < heavy / max(light, 1) < 8
    wait_until(shares, "four times as much read by the heavier")
    for weight, job in jobs.items():
        run("pinfold", "stop", f"limit.io{weight}")
        finish(job)


def write_disk(count, size):
    return ["dd", "if=/dev/zero", "of=/var/tmp/written", "oflag=direct", f"bs={size}", f"count={count}"]


@pytest.mark.parametrize("option, count, size", [(f"--io-write-bandwidth-max={DISK} 4M", 8, "1M"), (f"--io-write-iops-max={DISK} 40", 80, "4k")])
def test_writes_are_held_and_counted(option, count, size):
    key = f"limit.write{size}"
    status, _, err = finish(start_job(key, *write_disk(count, size), options=[option]))
    Path("/var/tmp/written").unlink()
    assert status == 0, err
    receipt = receipts(key)[0]
    assert receipt["wall"] > 1_400_000
    [disk] = [io for io in receipt["io_devices"] if io["device"] == NUMBER]
    assert disk["io_written"] >= count * {"1M": MIB, "4k": 4096}[size]


def test_a_lowered_limit_bites_at_once():
    key = "limit.live"
    job = start_job(key, "sh", "-c", "read word; exec python3 -c 'import sys; b = b\"x\" * (50 << 20); print(len(b))'", stdin=-1,
                    options=["--memory-max=256M"])
    wait_running(key)
    run("pinfold", "limits", key, "--memory-max", "24M")
    job.stdin.write("go\n")
    status, out, _ = finish(job)
    assert status != 0 and out == ""
    assert receipts(key)[0]["oom_kills"] >= 1


def test_a_device_profile_is_all_that_can_be_opened():
    script = "head -c1 /dev/vda >/dev/null && echo disk; head -c1 /dev/zero >/dev/null && echo zero; head -c1 /dev/vdb >/dev/null && echo second"
    assert finish(start_job("limit.nodevices", "sh", "-c", script))[1] == "disk\nzero\nsecond\n"
    drop_in = Path("/etc/pinfold/pinfold.toml.d/devices.toml")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text('[devices]\nsecond = { allow = ["/dev/vdb r"] }\n')
    run("systemctl", "reload", "pinfoldd")
    try:
        out = finish(start_job("limit.devices", "sh", "-c", script, options=["--device-profile=second"]))[1]
        assert out == "zero\nsecond\n"
    finally:
        drop_in.unlink()
        run("systemctl", "reload", "pinfoldd")


@pytest.mark.parametrize("result", ["timeout", "stopped"])
def test_the_kill_signal_and_its_grace(result):
    key = "limit.signal"
    script = "trap 'echo usr1; sleep 0.5; echo saved; exit 7' USR1; echo ready; while :; do sleep 0.1; done"
    grace, end = {"timeout": ("--run-time-grace=30s", ["limits", "--run-time-max=1s"]), "stopped": ("--kill-grace=30s", ["stop"])}[result]
    job = start_job(key, "sh", "-c", script, options=["--kill-signal=USR1", grace])
    assert job.stdout.readline() == "ready\n"
    run("pinfold", *end, key)  # if `end` sets a time limit, the shell must set its trap before the job reaches the limit
    status, out, _ = finish(job)
    assert out == "usr1\nsaved\n" and status == 7
    assert receipts(key)[0]["result"] == result


def test_all_limits_together():
    key = "limit.all"
    together = [limit for limit in LIMITS if not limit.startswith("io_") or limit == "io_weight"]  # one line contains all limits of a disk
    job = start_job(key, "sleep", "1000", options=[LIMITS[limit][0] for limit in together])
    wait_running(key)
    for _, file, in_file, _, _ in (LIMITS[limit] for limit in together):
        for cgroup in units_of(key):
            assert (cgroup / file).read_text().strip() == in_file
    leader = Path(units_of(key)[1] / "cgroup.procs").read_text().split()
    assert len(leader) == 1
    run("pinfold", "stop", key)
    finish(job)
    expect_nothing_left()
