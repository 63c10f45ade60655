# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the CPU time and the memory peak of each task in a receipt, on a kernel that counts memory."""

import json

from jobs import expect_nothing_left, finish, receipts, run, start_job, wait_running

MIB = 1024 * 1024

# Takes memory, and spends CPU time in this process and in two children. Prints the sum of the CPU times that the kernel counted for the three
# processes. The CPU time of a loop depends on the machine, so each process measures its own CPU time.
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


# Each pair describes one process: its memory in MiB, and its CPU time in seconds.
PLAN = [(80, 0.2), (8, 1), (80, 0.1), (8, 0.1), (80, 0.2), (8, 0.5)]
MOST_JOBS = 6


def job_of_tasks(key):
    """Runs a job with the tasks of PLAN. Because the tasks run one after the other, the test knows the number of each task. Returns the CPU times
    that the tasks have printed, and the receipt."""
    batch = start_job(key, "sleep", "1000", options=["--memory-max=400M"])
    wait_running(key)
    truths = []
    for mib, seconds in PLAN:
        code, out, err = finish(start_job(key, "/usr/bin/python3", "-c", SPEND, mib, seconds, options=["--task"]))
        assert code == 0, err
        truths.append(float(out))
    run("pinfold", "stop", "--wait", key)
    finish(batch)
    [receipt] = receipts(key)
    return truths, receipt


def exact_after_checks(truths, receipt):
    """Compares the receipt's figures of the tasks with PLAN and with the CPU times in `truths`. For each task whose figures are exact,
    the result contains the memory of the task in MiB."""
    tasks = {task["number"]: task for task in receipt["task_list"]}
    assert sorted(tasks) == list(range(len(PLAN) + 1))
    report = json.dumps([truths, receipt["task_list"]])
    for number, truth in enumerate(truths, 1):
        figures = tasks[number]
        mib = PLAN[number - 1][0]
        assert (figures["exit_status"], figures["command"][:6]) == (0, "python"), report
        # The cgroup of a scope begins to count a process when the process enters the scope. The cgroup's figures include the CPU time that each
        # process needs for its exit. The cgroup's figures include pinfoldd's placeholder process, which enters the new scope before the leader.
        assert (figures["cpu"] or 0) / 1e6 <= 1.1 * truth + 0.5, report
        assert (figures["memory_peak"] or 0) <= (mib + 50) * MIB, report
        if figures["exact"]:
            assert figures["cpu"] / 1e6 >= 0.9 * truth - 0.2, report
            assert figures["memory_peak"] >= mib * MIB, report
    assert (tasks[0]["memory_peak"] or 0) < 60 * MIB, report
    assert max(task["memory_peak"] or 0 for task in tasks.values()) <= receipt["memory_peak"], report
    assert sum(task["cpu"] or 0 for task in tasks.values()) <= receipt["cpu_user"] + receipt["cpu_system"] + 10_000, report
    print(report)
    return {PLAN[number - 1][0] for number, task in tasks.items() if number > 0 and task["exact"]}


def test_each_task_has_its_cpu_time_and_its_memory_peak():
    exact = set()
    # On a busy machine, systemd often removes the cgroup of a task before pinfoldd has read the cgroup. The test runs more and more jobs until it has
    # exact figures for a large task and for a small task.
    for number in range(MOST_JOBS):
        exact |= exact_after_checks(*job_of_tasks(f"figures.vm{number}"))
        if exact == {8, 80}:
            break
    assert exact == {8, 80}, "at least one exact task of each kind"
    expect_nothing_left()
