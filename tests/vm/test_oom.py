# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests out-of-memory kills: which limit causes the kill, which process the kernel kills, and where pinfold reports the kill. In each test,
the real kernel kills a process."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import (
    BATCH,
    expect_nothing_left,
    finish,
    main_pid,
    receipts,
    run,
    start_job,
    stopped,
    systemd_stopped,
    text_of,
    wait_for_entries,
    wait_for_journal,
    wait_running,
    wait_until,
)

MIB = 1024 * 1024

# The kernel counts an out-of-memory kill before it sends SIGKILL. As soon as PID 1 has seen the count, PID 1 sends SIGTERM to the scope. With the
# word "deaf", the program handles SIGTERM, so only SIGKILL ends the program.
HOG = """
import signal, sys
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: print("heard", flush=True))
if "wait" in sys.argv:
    sys.stdin.readline()
held = []
for mib in range(int(sys.argv[1])):
    held.append(b"x" * (1 << 20))
print("held", len(held), flush=True)
if "stay" in sys.argv:
    signal.pause()
"""
WITNESS = 'import signal; print("witness", flush=True); signal.pause()'

# The program LATE leaves a child behind. The child lives longer than the leader. When the child gets SIGTERM, the child allocates memory.
LATE = """
import os, signal, sys
if os.fork() == 0:
    def eat(*_):
        held = [b"x" * (1 << 20) for _ in range(200)]
        print("held", flush=True)
    signal.signal(signal.SIGTERM, eat)
    print("child", flush=True)
    while True:
        signal.pause()
sys.stdin.readline()
"""


def python(program, *arguments):
    return ["python3", "-c", program, *arguments]


def verdict(key):
    [receipt] = receipts(key)
    return receipt


def expect_said(err, cause, receipt):
    """The line in the job's own output, the journal, the receipt and `why` name the same process."""
    beginning = {"own-limit": "Cgroup memory limit exceeded: Killed process",
                 "node": "Node out of memory, the job was within its own limit: Killed process",
                 "administrator": "The administrator lowered the memory limit or triggered a kill: Killed process"}[cause]
    [line] = [line for line in err.splitlines() if line.startswith(beginning)]
    assert (receipt["result"], receipt["oom_cause"]) == ("out-of-memory", cause)
    assert f"Killed process {receipt['oom_victim']} ({receipt['oom_victim_name']})" in line
    [event] = wait_for_entries(receipt["key"], "out-of-memory")
    figures, place = line.split(", job ")
    assert figures in event["MESSAGE"]
    assert place.startswith(f"{receipt['key']} on {os.uname().nodename}, 20")
    assert event["PINFOLD_OOM_CAUSE"] == cause
    assert receipt["oom_victim_name"] in run("pinfold", "why", receipt["key"]).stdout
    return line


MODES = [[], ["--exec"]]


@pytest.mark.parametrize("mode", MODES, ids=["supervise", "exec"])
def test_the_leader_over_its_own_limit(mode):
    key = f"oom.own{len(mode)}"
    job = start_job(key, *python(HOG, "200", "deaf"), options=[*mode, "--memory-max=48M"])
    pid = None if not mode else job.pid
    status, out, err = finish(job)
    assert (status, out) == (-signal.SIGKILL, "")
    receipt = verdict(key)
    line = expect_said(err, "own-limit", receipt)
    assert "limit 48M" in line and "anonymous" in line and "shared" in line and "page cache" in line
    assert receipt["oom_victim_name"] == "python3"
    assert pid in (None, receipt["oom_victim"])
    assert 40 * MIB <= receipt["oom_victim_rss"] <= 64 * MIB, "with libraries that others are charged for"
    assert 40 * MIB <= receipt["oom_anon"] <= 48 * MIB
    assert receipt["memory_peak_anon"] == receipt["oom_anon"]
    assert receipt["memory_need"] == receipt["oom_anon"] + receipt["oom_shmem"]
    # If an allocation must not fail, the kernel can charge a few pages more than memory.max (cgroup-v2.rst, "memory.max").
    assert 47 * MIB <= receipt["memory_peak"] <= 49 * MIB
    assert "more memory than its limit of 48M" in run("pinfold", "why", key).stdout
    expect_nothing_left()


def test_a_child_after_the_leaders_exit():
    job = start_job("oom.late", *python(LATE), options=["--memory-max=48M", "--kill-grace=60s"], stdin=subprocess.PIPE)
    assert job.stdout.readline() == "child\n"
    job.stdin.write("go\n")
    status, out, err = finish(job)
    assert (status, out) == (0, "")
    [receipt] = receipts("oom.late")
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 0), "the leader had ended before, and well"
    assert receipt["oom_cause"] == "own-limit"
    assert err.startswith("Cgroup memory limit exceeded: Killed process")
    expect_nothing_left()


def test_two_tasks_together_while_each_is_below():
    first = start_job("oom.two", *python(HOG, "40", "stay"), options=["--memory-max=80M"])
    assert first.stdout.readline() == "held 40\n"
    second = subprocess.Popen(python(HOG, "60", "wait", "stay"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    run("pinfold", "adopt", "oom.two", second.pid)
    second.stdin.write("go\n")
    second.stdin.flush()
    _, _, err = finish(first)
    # When the first task ends, the job ends. The second task can get the job's SIGTERM before the kernel's SIGKILL.
    assert second.wait(60) in (-signal.SIGKILL, -signal.SIGTERM), "the whole job goes, whichever task the kernel picked"
    expect_said(err, "own-limit", verdict("oom.two"))
    second.stdin.close()
    second.stdout.close()
    expect_nothing_left()


def test_the_share_that_jobs_have_of_the_node():
    run("systemctl", "set-property", "--runtime", "batch.slice", "MemoryMax=100M")
    try:
        _, out, err = finish(start_job("oom.share", *python(HOG, "200"), options=["--memory-max=1G"]))
    finally:
        run("systemctl", "set-property", "--runtime", "batch.slice", "MemoryMax=infinity")
    assert out == ""
    line = expect_said(err, "node", verdict("oom.share"))
    assert "limit 1G" in line
    expect_nothing_left()


@pytest.fixture
def no_thrashing():
    """Without swap, the kernel first drops the pages of all programs, and reads the pages again when a program needs them. In the emulated machine,
    the kernel drops and reads pages for minutes before it kills a process. With min_ttl_ms, the kernel kills a process much earlier than
    without min_ttl_ms (Documentation/admin-guide/mm/multigen_lru.rst)."""
    settings = {Path("/sys/kernel/mm/lru_gen/enabled"): "y", Path("/sys/kernel/mm/lru_gen/min_ttl_ms"): "1000"}
    before = {file: file.read_text() for file in settings}
    for file, text in settings.items():
        file.write_text(text)
    yield
    for file, text in before.items():
        file.write_text(text)


def test_the_nodes_memory(no_thrashing):
    """The job uses all of the node's memory, so the kernel cannot choose a process outside of the job."""
    total = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text()).group(1)) // 1024
    _, out, err = finish(start_job("oom.node", "choom", "-n", "1000", "--", *python(HOG, str(total + 200))), 600)
    assert out == ""
    expect_said(err, "node", verdict("oom.node"))
    expect_nothing_left()


def test_a_file_of_four_times_the_limit_is_none():
    status, _, err = finish(start_job("oom.cache", "dd", "if=/dev/zero", "of=/var/tmp/big", "bs=1M", "count=192", options=["--memory-max=48M"]))
    Path("/var/tmp/big").unlink()
    assert status == 0, err
    assert "memory" not in err
    receipt = verdict("oom.cache")
    assert (receipt["oom_cause"], receipt["oom_kills"], receipt["oom_events"]) == (None, 0, 0)
    assert receipt["memory_max_events"] > 0 and receipt["result"] == "exited"


def test_tmpfs_counts_as_memory():
    _, _, err = finish(start_job("oom.tmpfs", "dd", "if=/dev/zero", "of=/dev/shm/big", "bs=1M", "count=100", options=["--memory-max=48M"]))
    Path("/dev/shm/big").unlink()
    receipt = verdict("oom.tmpfs")
    expect_said(err, "own-limit", receipt)
    assert receipt["oom_victim_name"] == "dd"
    assert receipt["oom_file"] > 30 * MIB, "shared memory is counted with the files"


def test_shared_memory_counts_too():
    program = "import mmap; m = mmap.mmap(-1, 100 << 20); [m.write(b'x' * (1 << 20)) for _ in range(100)]; print('held')"
    _, out, err = finish(start_job("oom.shared", *python(program), options=["--memory-max=48M"]))
    assert out == ""
    expect_said(err, "own-limit", verdict("oom.shared"))


def test_catching_sigterm_helps_nobody():
    status, out, err = finish(start_job("oom.deaf", *python(HOG, "200", "deaf"), options=["--memory-max=48M", "--kill-grace=60s"]))
    assert (status, out) == (-signal.SIGKILL, ""), "SIGKILL, and at once"
    expect_said(err, "own-limit", verdict("oom.deaf"))


@contextlib.contextmanager
def nobody_but_the_kernel():
    """Stops PID 1 and pinfoldd. The kernel kills the processes of a scope one after the other. As soon as PID 1 has seen the first kill, PID 1 sends
    SIGTERM to the scope. As soon as pinfoldd has seen the first kill, pinfoldd kills all processes of the job. The kernel counts only its own
    kills."""
    daemon = main_pid()
    with systemd_stopped(), stopped(daemon):
        yield


@pytest.mark.parametrize("policy", ["job", "process"])
def test_whole_job_or_one_process(policy):
    script = f"python3 -c '{WITNESS}' & python3 -c '{HOG}' 200 wait; echo after $?; kill %1; wait; exit 5"
    key = f"oom.{policy}"
    job = start_job(key, "bash", "-c", script, options=["--memory-max=64M", f"--oom-policy={policy}"], stdin=subprocess.PIPE)
    assert job.stdout.readline() == "witness\n"
    with nobody_but_the_kernel():
        job.stdin.write("go\n")
        job.stdin.flush()
        wait_until(lambda: "oom_kill 0" not in text_of(BATCH / f"batch-{key}.slice/memory.events"), "an out-of-memory kill")
        if policy == "job":
            wait_until(lambda: "populated 0" in text_of(BATCH / f"batch-{key}.slice/cgroup.events"), "the end of all processes")
    status, out, err = finish(job)
    receipt = verdict(key)
    if policy == "job":
        assert (status, out) == (-signal.SIGKILL, "")
        expect_said(err, "own-limit", receipt)
        assert receipt["oom_group_kills"] == 1 and receipt["oom_kills"] >= 3
    else:
        assert status == 5 and "after 137" in out
        assert (receipt["result"], receipt["oom_cause"], receipt["oom_kills"]) == ("exited", "own-limit", 1)
        assert receipt["oom_group_kills"] == 0
        assert "Cgroup memory limit exceeded: Killed process" in err
        assert "killed" in run("pinfold", "why", key).stdout
    expect_nothing_left()


def test_pid_1_leaves_the_scope_alone():
    """With the default OOMPolicy, systemd 252 would stop the scope by SIGTERM after the kernel has killed one process. pinfold always sets OOMPolicy,
    so that systemd does not stop the scope."""
    job = start_job("oom.scope", *python(HOG, "200", "wait", "deaf"), options=["--memory-max=48M"], stdin=subprocess.PIPE)
    wait_running("oom.scope")
    assert run("systemctl", "show", "-P", "OOMPolicy", "job-oom.scope.scope").stdout.strip() == "kill"
    assert (BATCH / "batch-oom.scope.slice/job-oom.scope.scope/memory.oom.group").read_text().strip() == "1"
    job.stdin.write("go\n")
    assert finish(job)[0] == -signal.SIGKILL


def test_a_limit_lowered_by_force_is_the_administrators():
    job = start_job("oom.lowered", *python(HOG, "40", "stay"), options=["--memory-max=128M"])
    assert job.stdout.readline() == "held 40\n"
    refused = run("pinfold", "limits", "oom.lowered", "--memory-max=16M", check=False)
    assert refused.returncode == 2 and "the kernel would kill the job at once" in refused.stderr
    assert job.poll() is None
    run("pinfold", "limits", "oom.lowered", "--memory-max=16M", "--force", check=False)
    _, _, err = finish(job)
    expect_said(err, "administrator", verdict("oom.lowered"))
    expect_nothing_left()


def test_sysrq_is_the_administrators():
    job = start_job("oom.sysrq", "choom", "-n", "1000", "--", *python(HOG, "40", "stay"))
    assert job.stdout.readline() == "held 40\n"
    Path("/proc/sysrq-trigger").write_text("f")
    _, _, err = finish(job)
    expect_said(err, "administrator", verdict("oom.sysrq"))


def test_a_full_pipe_holds_pinfoldd_up_no_more_than_the_job():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    job = start_job("oom.full", *python(HOG, "200", "deaf"), options=["--memory-max=48M", "--exec"], stderr=writer)
    os.close(writer)
    assert job.wait(120) == -signal.SIGKILL
    wait_until(lambda: receipts("oom.full"), "the receipt, with nobody reading")
    run("pinfold", "list")
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    assert said.endswith(b"\n") and b"Cgroup memory limit exceeded: Killed process" in said
    job.stdout.close()


def test_it_is_said_also_when_pinfoldd_was_restarted_before():
    job = start_job("oom.restart", *python(HOG, "200", "wait"), options=["--memory-max=48M"], stdin=subprocess.PIPE)
    wait_running("oom.restart")
    run("systemctl", "restart", "pinfoldd")
    job.stdin.write("go\n")
    _, _, err = finish(job)
    expect_said(err, "own-limit", verdict("oom.restart"))


def test_it_is_found_also_when_pinfoldd_was_away():
    job = start_job("oom.away", *python(HOG, "200", "wait"), options=["--memory-max=48M"], stdin=subprocess.PIPE)
    wait_running("oom.away")
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    job.stdin.write("go\n")
    job.stdin.flush()
    wait_until(lambda: not (BATCH / "batch-oom.away.slice/job-oom.away.scope").exists(), "the kernel's kill")
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    _, _, err = finish(job)
    expect_said(err, "own-limit", verdict("oom.away"))
    expect_nothing_left()


# The user owns a cgroup, and makes a second cgroup below it. In the kernel's log, the path of the second cgroup looks like the path of a different
# user's job. A process in the new cgroup runs out of memory.
FORGER = """
import pathlib, subprocess, sys
own = pathlib.Path("/sys/fs/cgroup" + open("/proc/self/cgroup").read().partition("0::")[2].strip())
(own / "main").mkdir()
(own / "main/cgroup.procs").write_text("0")
forged = pathlib.Path(f"{own}/x,task_memcg={sys.argv[1]},task=y")
forged.mkdir(parents=True)
for above in [cgroup for cgroup in reversed(forged.parents) if cgroup.is_relative_to(own)]:
    (above / "cgroup.subtree_control").write_text("+memory")
(forged / "memory.max").write_text("8M")
ended = subprocess.run(["sh", "-c", 'echo 0 >"$0/cgroup.procs"; exec python3 -c "x = bytearray(64 << 20)"', forged])
sys.exit(0 if ended.returncode == -9 else 1)
"""


def test_a_users_name_for_a_cgroup_is_no_word_of_the_kernels():
    job = start_job("oom.other", "sh", "-c", "read -r _; kill -9 $$", options=["--exec"], stdin=subprocess.PIPE)
    wait_running("oom.other")
    others = "/batch.slice/batch-oom.other.slice/job-oom.other.scope"
    run("systemd-run", "--quiet", "--wait", "--pipe", "--uid=alice", "-pDelegate=memory", "-pOOMPolicy=continue", "--", *python(FORGER, others))
    wait_for_journal(f",task_memcg={others},task=y", "-k", "-o", "cat", "--grep", "oom-kill:")
    job.communicate("go\n", timeout=60)
    receipt = verdict("oom.other")
    assert (receipt["result"], receipt["oom_cause"]) == ("exited", None), receipt
    expect_nothing_left()
