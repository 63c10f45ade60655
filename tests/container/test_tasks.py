# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what a receipt says about each task of a job."""

import json
import signal
import subprocess

from jobs import daemon_ready, expect_nothing_left, finish, main_pid, receipts, run, start_job, wait_running, wait_until

# BURN uses the given CPU time, prints the CPU time that it has used, and exits with the given status.
BURN = """
import os, sys, time
while time.process_time() < float(sys.argv[1]):
    pass
print(time.process_time(), flush=True)
os._exit(int(sys.argv[2]))
"""


def start_task(key, *command, **popen):
    return start_job(key, *command, options=["--task"], **popen)


def burn(cpu, status=0):
    return ["/usr/bin/python3", "-c", BURN, str(cpu), str(status)]


def live_tasks(key):
    return {process["task"] for process in json.loads(run("pinfold", "ps", "--json", key).stdout)["processes"]}


def tasks_of(key):
    [receipt] = receipts(key)
    assert all(receipt["started"] <= task["started"] <= task["ended"] <= receipt["ended"] for task in receipt["task_list"])
    return {task["number"]: task for task in receipt["task_list"]}


def expect_cpu(task, truth):
    """`truth` is the CPU time that the process itself has measured since its fork. The task's cgroup does not count the CPU time that the process
    used before the process entered the scope. On a busy machine, systemd may remove the cgroup before pinfoldd reads the CPU time."""
    assert (task["cpu"] or 0) / 1e6 <= truth + 0.3, (task, truth)
    assert not task["exact"] or task["cpu"] / 1e6 >= truth - 0.05, (task, truth)


def test_each_task_has_its_own_figures():
    batch = start_job("tasks.several", "sleep", "1000")
    wait_running("tasks.several")
    little, much = start_task("tasks.several", *burn(0.2, 3)), start_task("tasks.several", *burn(0.8))
    killed = start_task("tasks.several", "sh", "-c", "kill -KILL $$")
    truths = [(process, finish(process)) for process in (little, much, killed)]
    rest = start_task("tasks.several", "sleep", "1001")
    wait_until(lambda: 4 in live_tasks("tasks.several"), "the last task")
    batch.send_signal(signal.SIGTERM)
    finish(batch)
    finish(rest)
    tasks = tasks_of("tasks.several")
    assert sorted(tasks) == [0, 1, 2, 3, 4]
    assert [tasks[number]["kind"] for number in range(5)] == ["batch"] + ["task"] * 4
    assert tasks[0]["command"] == "sleep" and tasks[0]["exit_signal"] == signal.SIGTERM
    by_status = {(task["exit_status"], task["exit_signal"]): task for number, task in tasks.items() if number in (1, 2, 3)}
    assert set(by_status) == {(3, None), (0, None), (None, signal.SIGKILL)}
    assert by_status[None, signal.SIGKILL]["command"] == "sh"
    for process, status in ((little, 3), (much, 0)):
        out = next(out for other, (_, out, _) in truths if other is process)
        assert by_status[status, None]["command"].startswith("python3")
        expect_cpu(by_status[status, None], float(out))
    assert tasks[4]["command"] == "sleep" and tasks[4]["exit_status"] is None
    page = run("pinfold", "why", "tasks.several").stdout
    assert "task  kind   command" in page and "signal 9" in page
    expect_nothing_left()


def test_most_figures_are_exact():
    batch = start_job("tasks.exact", "sleep", "1000")
    wait_running("tasks.exact")
    for _ in range(20):
        assert finish(start_task("tasks.exact", "true"))[0] == 0
    batch.send_signal(signal.SIGTERM)
    finish(batch)
    exact = [task["exact"] for number, task in tasks_of("tasks.exact").items() if number > 0]
    print(f"{sum(exact)} of {len(exact)} are exact")
    assert sum(exact) >= 5, "most of them, but systemd and pinfoldd race, and this machine may be busy"
    expect_nothing_left()


def test_a_batch_script_alone_has_the_figures_of_its_job():
    code, out, _ = finish(start_job("tasks.alone", *burn(0.2, 3)))
    assert code == 3
    [task] = tasks_of("tasks.alone").values()
    [receipt] = receipts("tasks.alone")
    assert (task["number"], task["kind"], task["exit_status"], task["exact"]) == (0, "batch", 3, True)
    assert (task["started"], task["ended"]) == (receipt["started"], receipt["ended"])
    assert task["cpu"] == receipt["cpu_user"] + receipt["cpu_system"] >= float(out) * 1e6
    assert task["command"].startswith("python3")
    assert "    task  kind" not in run("pinfold", "why", "tasks.alone").stdout
    expect_nothing_left()


def test_the_name_of_a_very_short_program_is_known():
    assert finish(start_job("tasks.short", "/bin/true"))[0] == 0
    [task] = tasks_of("tasks.short").values()
    assert task["command"] == "true"
    expect_nothing_left()


def test_the_program_that_took_the_place_of_pinfold_run_is_known_after_a_look():
    job = start_job("tasks.exec", "cat", options=["--exec"], stdin=subprocess.PIPE)
    wait_until(lambda: json.loads(run("pinfold", "plot", "--json", "tasks.exec", check=False).stdout or "{}").get("lengths"), "a look")
    job.communicate("")
    [task] = wait_until(lambda: receipts("tasks.exec"), "the receipt")[0]["task_list"]
    assert task["command"] == "cat"
    expect_nothing_left()


def test_the_tasks_survive_a_restart_of_pinfoldd():
    batch = start_job("tasks.restart", "sleep", "1000")
    wait_running("tasks.restart")
    code, out, _ = finish(start_task("tasks.restart", *burn(0.2, 3)))
    assert code == 3
    live = start_task("tasks.restart", "sh", "-c", "read line; exit 4", stdin=subprocess.PIPE)
    wait_until(lambda: 2 in live_tasks("tasks.restart"), "the second task")
    before = main_pid()
    run("systemctl", "kill", "-s", "KILL", "pinfoldd")
    daemon_ready(before)
    live.communicate("go\n")
    assert live.returncode == 4
    batch.send_signal(signal.SIGTERM)
    finish(batch)
    tasks = tasks_of("tasks.restart")
    assert tasks[1]["exit_status"] == 3
    expect_cpu(tasks[1], float(out))
    assert (tasks[2]["command"], tasks[2]["exit_status"]) == ("sh", 4)
    assert tasks[0]["command"] == "sleep"
    expect_nothing_left()
