# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the CPU time and the memory peak of each task in a receipt, on a kernel that counts memory."""

import json

from jobs import expect_nothing_left, finish, receipts, run, start_job, wait_running

MIB = 1024 * 1024

# Takes memory, spends CPU time in this process and in two children, and prints the CPU time that the kernel counted for them. How
# much CPU time a loop needs depends on the machine, so each process counts its own time.
SPEND = """
import os, resource, sys, time
held = b"x" * (int(sys.argv[1]) << 20)
def spend():
    end = time.process_time() + float(sys.argv[2])
    while time.process_time() < end:
        pass
for _ in range(2):
    if os.fork() == 0:
        spend()
        os._exit(0)
spend()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime, flush=True)
os._exit(0)
"""


# The memory in MiB, and the CPU time in seconds of each process. systemd may remove the cgroup of a task before pinfoldd has read it, so
# several tasks run.
PLAN = [(80, 0.2), (8, 1), (80, 0.1), (8, 0.1), (80, 0.2), (8, 0.5)]


def task(mib, seconds):
    return start_job("figures.vm", "/usr/bin/python3", "-c", SPEND, mib, seconds, options=["--task"])


def test_each_task_has_its_cpu_time_and_its_memory_peak():
    batch = start_job("figures.vm", "sleep", "1000", options=["--memory-max=400M"])
    wait_running("figures.vm")
    truths = []
    for mib, seconds in PLAN:  # one after the other, so that the numbers of the tasks are known
        process = task(mib, seconds)
        code, out, err = finish(process)
        assert code == 0, err
        truths.append(float(out))
    run("pinfold", "stop", "--wait", "figures.vm")
    finish(batch)
    [receipt] = receipts("figures.vm")
    tasks = {task["number"]: task for task in receipt["task_list"]}
    assert sorted(tasks) == list(range(len(PLAN) + 1))
    report = json.dumps([truths, receipt["task_list"]])
    for number, truth in enumerate(truths, 1):
        figures = tasks[number]
        mib = PLAN[number - 1][0]
        assert (figures["exit_status"], figures["command"][:6]) == (0, "python"), report
        # The cgroup does not count the process before it was in its scope. But the cgroup also counts the exit of each process, and
        # the process of pinfoldd that holds the place of the leader in the new scope.
        assert (figures["cpu"] or 0) / 1e6 <= 1.1 * truth + 0.5, report
        assert (figures["memory_peak"] or 0) <= (mib + 50) * MIB, report
        if figures["exact"]:
            assert figures["cpu"] / 1e6 >= 0.9 * truth - 0.2, report
            assert figures["memory_peak"] >= mib * MIB, report
    exact = {PLAN[number - 1][0] for number, task in tasks.items() if number > 0 and task["exact"]}
    assert exact == {8, 80}, f"at least one exact task of each kind: {report}"
    assert (tasks[0]["memory_peak"] or 0) < 60 * MIB, report
    assert max(task["memory_peak"] or 0 for task in tasks.values()) <= receipt["memory_peak"], report
    assert sum(task["cpu"] or 0 for task in tasks.values()) <= receipt["cpu_user"] + receipt["cpu_system"] + 10_000, report
    print(report)
    expect_nothing_left()
