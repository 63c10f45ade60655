# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the installed OpenPBS hook under a stand-in for MoM (tests/support/python/mom.py). The tests cover each event of MoM, and incidents between
two events."""

import contextlib
import json
import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import jobs
from jobs import BATCH, daemon_ready, drained, expect_nothing_left, live_jobs, main_pid, processes_with, read_journal, receipts, run, wait_until
from mom import NOT_LAUNCHED, make_job, mom_of_this_host
from own_server import FUSE_HANG
from test_tracer import TRACER

OVER_WALLTIME = -29  # JOB_EXEC_KILL_WALLTIME
FREE, OFFLINE = 0, 1  # the values of pbs.ND_FREE and pbs.ND_OFFLINE
PACKAGE = Path("/usr/libexec/pinfold/openpbs/pinfold_openpbs")


@pytest.fixture
def mom():
    with mom_of_this_host() as it:
        yield it


def one_host(job_id="1.srv", **more):
    return make_job(job_id, "(node1:ncpus=1)", ["node1"], **more)


def cgroup(pid):
    """Returns the cgroup in the unified hierarchy. In a container, /proc/PID/cgroup can contain lines about hierarchies of version 1, too."""
    [line] = [line for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0:")]
    return line


def become(user):
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]


def output(mom, job, suffix="OU"):
    return mom.spool(job, suffix).read_text()


def begin(mom, job):
    answer = mom.begin(job)
    assert answer.accepted, answer
    return job


def started(mom, job, *command):
    """Starts a process of the job. Returns the process as soon as the process runs the command or has ended."""
    child = mom.launch(job, *command)
    wait_until(lambda: child.poll() is not None or Path(f"/proc/{child.pid}/cmdline").read_text().startswith(command[0] + "\0"), "executed")
    assert child.poll() != NOT_LAUNCHED, output(mom, job, "ER")
    return child


def finished(mom, job, child=None, **more):
    answer = mom.epilogue(job, child, **more)
    assert answer.accepted and mom.end(job).accepted
    return answer


def test_a_job_has_no_limits_of_the_job_that_submitted_it(mom):
    """If a job submits a second job with qsub -V, the second job gets all variables of the first one."""
    job = begin(mom, one_host("41.srv"))
    finished(mom, job, mom.launch(job, "/bin/sh", "-c", "env", PINFOLD_JOB="pbs.7.srv", PINFOLD_MEMORY_MAX="9", PINFOLD_TASKS_MAX="9", MINE="1"))
    variables = dict(line.split("=", 1) for line in output(mom, job).splitlines())
    assert (variables["PINFOLD_JOB"], variables["MINE"]) == ("pbs.41.srv", "1")
    assert "9" not in (variables.get("PINFOLD_MEMORY_MAX"), variables.get("PINFOLD_TASKS_MAX"))
    expect_nothing_left()


@pytest.mark.parametrize("job_id", ["1.srv", "12[7].srv", "3456789.very-long-name.of.a-server.example.org"])
def test_a_job_on_one_host(mom, job_id):
    key, job = f"pbs.{job_id}", begin(mom, one_host(job_id, walltime="01:00:00"))
    assert live_jobs()[key]["tasks"] == 0 and live_jobs()[key]["user"] == "alice"
    limits = json.loads(run("pinfold", "limits", key, "--json").stdout)["limits"]
    assert (limits["batch_run_time_max"], limits["run_time_max"]) == (3600 * 1000000, 4200 * 1000000)
    script = "grep ^0: /proc/self/cgroup; id -un; echo $PBS_JOBID; setsid sleep 1234.5 & " \
             "until [ $(cat /proc/$!/comm) = sleep ]; do sleep 0.1; done; exit 3"
    child = mom.launch(job, "/bin/sh", "-c", script)
    answer = finished(mom, job, child)
    where, user, told = output(mom, job).split()
    live = "batch-" + run("systemd-escape", key).stdout.strip() + ".slice/"
    assert live in where, "in its scope from its first instruction on"
    assert (user, told, job["Exit_status"]) == ("alice", job_id, 3)
    assert not processes_with("sleep\x001234.5")
    [receipt] = receipts(key)
    assert receipt["leftovers"] == 1 and receipt["uid"] != 0
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 3)
    assert answer.job["resources_used"]["cput"] == (receipt["cpu_user"] + receipt["cpu_system"]) // 1000000
    expect_nothing_left()


def test_a_receipt_has_what_mom_knows_about_the_job(mom):
    job = make_job("4799[7].srv", "(node1:ncpus=2)+(node2:ncpus=1)", ["node1", "node2"])
    job.update(Job_Name="odd '$name' <b>", Account_Name="physics", queue="workq", project="_pbs_project_default", egroup="users", run_count=3,
               Variable_List={"PBS_O_WORKDIR": "/home/alice/a b"})
    begin(mom, job)
    finished(mom, job, mom.launch(job, "true"))
    [receipt] = receipts("pbs.4799[7].srv")
    assert (receipt["job_name"], receipt["account"], receipt["queue"]) == ("odd '$name' <b>", "physics", "workq")
    assert (receipt["project"], receipt["group"], receipt["submit_host"]) == (None, "users", "submit")
    assert receipt["submit_directory"] == "/home/alice/a b"
    assert (receipt["array_job"], receipt["array_task"], receipt["run"], receipt["slots"]) == (4799, 7, 2, 2)
    assert receipt["nodes"] == ["node1.example.org", "node2.example.org"] and receipt["node_count"] == 2
    expect_nothing_left()


@pytest.mark.parametrize("join, suffix", [("n", "ER"), ("oe", "OU")])
def test_the_output_says_who_stopped_the_job(mom, join, suffix):
    job = one_host(f"stopped-{join}.srv")
    job["Join_Path"] = join
    begin(mom, job)
    child = started(mom, job, "sleep", "1000")
    run("pinfold", "stop", f"pbs.stopped-{join}.srv")
    finished(mom, job, child)
    [receipt] = receipts(f"pbs.stopped-{join}.srv")
    told = output(mom, job, suffix)
    assert re.fullmatch(rf"pinfold: job pbs\.stopped-{join}\.srv on {re.escape(os.uname().nodename)} was stopped on request of user root\. It ran for .*\n", told)
    assert told == receipt["stop_line"] + "\n"


def test_a_warning_is_in_the_error_file_while_the_job_runs(mom):
    job = begin(mom, one_host("warned.srv"))
    child = started(mom, job, "sleep", "1000")
    run("pinfold", "limits", "pbs.warned.srv", "--run-time-max", "1h", "--run-time-warning", "59min 59s 999ms")
    wait_until(lambda: output(mom, job, "ER").endswith("\n"), "the warning")
    run("pinfold", "stop", "pbs.warned.srv")
    finished(mom, job, child)
    warning, end = output(mom, job, "ER").splitlines()
    assert warning.startswith(f"pinfold: job pbs.warned.srv on {os.uname().nodename} reaches its run time limit of 1h in "), warning
    assert " was stopped on request of user root. " in end, "the epilogue has written the line about the end, and pinfoldd has not"
    assert output(mom, job, "OU") == ""
    expect_nothing_left()


def test_the_output_says_nothing_about_an_end_of_the_jobs_own(mom):
    job = begin(mom, one_host("own-end.srv"))
    finished(mom, job, mom.launch(job, "/bin/sh", "-c", "exit 3"))
    assert [output(mom, job, suffix) for suffix in ("OU", "ER")] == ["", ""]
    assert receipts("pbs.own-end.srv")[0]["stop_line"] is None


ENDINGS = [("exit 0", 0, ("exited", 0, None)), ("exit 3", 3, ("exited", 3, None)),
           ("kill -KILL $$", 256 + signal.SIGKILL, ("signaled", None, signal.SIGKILL))]


def seen_and_then_reported(mom, job, script, _):
    child = mom.launch(job, "/bin/sh", "-c", script)
    child.wait(60)
    wait_until(lambda: live_jobs()[f"pbs.{job['id']}"]["state"] == "ending", "pinfoldd has seen the end")
    finished(mom, job, child)


def reported_and_then_seen(mom, job, _, status):
    """MoM reports the status while the leader lives. If pinfoldd is busy, it can notice the leader's end so late that the report of MoM comes
    first."""
    child = started(mom, job, "sleep", "1000")
    job["Exit_status"] = status
    finished(mom, job)
    child.wait(60)


@pytest.mark.parametrize("order", [seen_and_then_reported, reported_and_then_seen])
def test_each_receipt_says_how_its_job_ended(mom, order):
    """The test runs PINFOLD_MOM_RUNS jobs for each order of the events."""
    def one(number):
        script, status, expected = ENDINGS[number % len(ENDINGS)]
        order(mom, begin(mom, one_host(f"{number}.{order.__name__}")), script, status)
        return f"pbs.{number}.{order.__name__}", expected

    runs = int(os.environ.get("PINFOLD_MOM_RUNS", "6"))
    with ThreadPoolExecutor(8) as pool:
        wanted = dict(pool.map(one, range(runs)))
    told = [(receipt["key"], (receipt["result"], receipt["exit_status"], receipt["exit_signal"])) for receipt in receipts()
            if receipt["key"] in wanted]
    wrong = [(key, outcome) for key, outcome in told if outcome != wanted[key]]
    print(f"{order.__name__}: {len(wanted)} jobs, {len(told)} receipts, {len(wrong)} of them wrong")
    assert (len(wanted), len(told), wrong) == (runs, runs, [])
    expect_nothing_left()


def test_a_mom_that_was_restarted_knows_no_exit_status(mom):
    job = begin(mom, one_host("26.srv"))
    child = mom.launch(job, "/bin/sh", "-c", "echo ready; sleep 1000")
    wait_until(lambda: "ready" in output(mom, job), "it runs")
    job["stime"] -= 60
    mom.restart()
    child.kill()
    finished(mom, job, child)
    assert job["Exit_status"] == 0, "so says MoM"
    [receipt] = receipts("pbs.26.srv")
    assert (receipt["result"], receipt["exit_status"], receipt["exit_signal"]) == ("exited", None, None)
    expect_nothing_left()


CLEANS_UP = """trap 'echo got term; sleep 2; echo cleaned up; exit 9' TERM
echo ready
while :; do sleep 0.1; done
"""


@pytest.mark.parametrize("over_limit", [None, OVER_WALLTIME], ids=["deleted", "walltime"])
def test_a_job_that_cleans_up_when_mom_ends_it_has_the_time_that_she_gives_it(mom, over_limit):
    """MoM's SIGTERM ends the login shell at once. The script that cleans up does not count as a leftover."""
    job = begin(mom, one_host("21.srv"))
    child = mom.script(job, CLEANS_UP)
    wait_until(lambda: "ready" in output(mom, job), "the script runs")
    mom.terminate(child)
    finished(mom, job, child, over_limit=over_limit)
    assert output(mom, job).splitlines() == ["ready", "got term", "cleaned up"]
    receipt = receipts("pbs.21.srv")[0]
    assert (receipt["leftovers"], receipt["leftover_commands"]) == (0, [])
    assert (receipt["result"], receipt["exit_signal"]) == ("signaled", signal.SIGTERM), receipt
    expect_nothing_left()


def test_moms_own_helper_in_the_jobs_session_is_not_left_behind(mom):
    """In a job with several hosts, pbs_demux is in the session of the job, and ends a moment after the script."""
    job = begin(mom, one_host("22.srv"))
    child = mom.script(job, "sh -c 'sleep 1; exit 0' pbs_demux & exit 3\n")
    child.wait(30)
    wait_until(lambda: not processes_with("pbs_demux"), "the helper has ended by itself")
    finished(mom, job, child)
    [receipt] = receipts("pbs.22.srv")
    assert (receipt["leftovers"], receipt["exit_status"]) == (0, 3)
    expect_nothing_left()


def test_a_task_that_is_rejected_does_not_have_its_job_run_again(mom, outage):
    job = begin(mom, one_host("23.srv"))
    child = started(mom, job, "sleep", "1000")
    outage()
    task = mom.launch(job, "true")
    assert task.wait(60) == NOT_LAUNCHED and output(mom, job, "ER").split()[-1] != "rerun"
    up()
    child.kill()
    finished(mom, job, child)
    expect_nothing_left()


@pytest.fixture
def starts():
    """Returns a function. Each call of the function lists the commands of `pinfold` that were started since the last call."""
    program, real, log = Path("/usr/bin/pinfold"), Path("/usr/bin/pinfold.real"), Path("/run/pinfold-starts")
    program.rename(real)
    program.write_text(f'#!/bin/sh\necho "$1" >>{log}\nexec {real} "$@"\n')
    program.chmod(0o755)

    def verbs():
        found = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return found
    yield verbs
    real.rename(program)


def test_each_event_starts_pinfold_once(mom, starts):
    job = begin(mom, one_host("24.srv", walltime="3600"))
    assert starts() == ["open"]
    child = started(mom, job, "sleep", "1000")
    assert starts() == ["open"]
    assert started(mom, job, "true").wait(30) == 0 and starts() == ["open"], "a task"
    attached = subprocess.Popen([*become("alice"), "sleep", "1000"], start_new_session=True)
    wait_until(lambda: Path(f"/proc/{attached.pid}/cmdline").read_text().startswith("sleep\0"), "executed")
    assert mom.attach(job, attached.pid).accepted and starts() == ["open"]
    assert mom.attach(job, attached.pid).accepted and starts() == ["open"], "it is there already"
    for event, verb in (("execjob_postsuspend", "suspend"), ("execjob_preresume", "resume")):
        assert mom.event(event, job).accepted and starts() == [verb]
    assert mom.event("execjob_resize", job).accepted and starts() == ["limits"]
    assert mom.periodic().accepted and starts() == ["status"]
    child.kill()
    assert mom.epilogue(job, child).accepted and starts() == ["end"]
    assert mom.end(job).accepted and starts() == ["end"]
    attached.wait(30)
    assert mom.abort(begin(mom, one_host("25.srv"))).accepted and starts() == ["open", "end"]
    expect_nothing_left()


def test_two_chunks_on_a_host_are_one_job(mom):
    job = begin(mom, make_job("2.srv", "(node1:ncpus=1)+(node2:ncpus=1)+(node1:ncpus=2)", ["node1", "node2", "node1"]))
    child = started(mom, job, "sleep", "1000")
    task = started(mom, job, "sleep", "1000")
    job_slice = live_jobs()["pbs.2.srv"]["slice"]
    assert cgroup(child.pid).endswith(f"/{job_slice}/job-pbs.2.srv.scope")
    assert cgroup(task.pid).endswith(f"/{job_slice}/job-pbs.2.srv-1.scope")
    task.terminate()
    task.wait(30)
    wait_until(lambda: live_jobs()["pbs.2.srv"]["tasks"] == 1, "the task is over, and the job is not")
    child.terminate()
    finished(mom, job, child)
    expect_nothing_left()


def test_a_sister_host(mom):
    """The batch script of the job does not run on this host. On this host, tasks begin and end, pbs_attach adds a session, and the mother superior
    reports the end of the job."""
    job = begin(mom, make_job("3.srv", "(node2:ncpus=1)+(node1:ncpus=1)", ["node2", "node1"], primary=False))
    assert started(mom, job, "true").wait(30) == 0
    wait_until(lambda: live_jobs()["pbs.3.srv"]["tasks"] == 0, "the task is over")
    attached = subprocess.Popen([*become("alice"), "sh", "-c", "sleep 1000.1 & echo $!; wait"], start_new_session=True,
                                stdout=subprocess.PIPE, text=True)
    child = int(attached.stdout.readline())
    answer = mom.attach(job, attached.pid)
    assert answer.accepted, answer
    assert "batch-pbs.3.srv.slice" in cgroup(attached.pid) and "batch-pbs.3.srv.slice" in cgroup(child)
    assert mom.attach(job, attached.pid).accepted, "it is there already"
    bobs = subprocess.Popen([*become("bob"), "sleep", "1000"], start_new_session=True)
    wait_until(lambda: Path(f"/proc/{bobs.pid}/cmdline").read_text().startswith("sleep\0"), "executed")
    try:
        assert not mom.attach(job, bobs.pid).accepted and "batch" not in cgroup(bobs.pid)
    finally:
        bobs.kill()
        bobs.wait()
    answer = finished(mom, job)
    attached.wait(30)  # if the `sleep` is killed before the shell, the shell exits with 0
    assert not processes_with("1000.1")
    assert answer.job["resources_used"]["cput"] >= 0 and "stderr" not in answer.message
    assert receipts("pbs.3.srv")[0]["exit_status"] is None, "nobody knows it here"
    attached.stdout.close()
    expect_nothing_left()


def test_suspend_and_resume(mom):
    job = begin(mom, one_host("4.srv"))
    child = mom.launch(job, "/bin/sh", "-c", "setsid sh -c 'echo running; exec sleep 1000' & wait")
    wait_until(lambda: output(mom, job) == "running\n", "the process in another session runs")  # it would join a frozen job without being frozen
    events = BATCH / "batch-pbs.4.srv.slice/cgroup.events"
    assert mom.event("execjob_postsuspend", job).accepted
    assert live_jobs()["pbs.4.srv"]["state"] == "suspended" and "frozen 1" in events.read_text()
    assert mom.event("execjob_preresume", job).accepted
    assert live_jobs()["pbs.4.srv"]["state"] == "running" and "frozen 0" in events.read_text()
    child.kill()
    finished(mom, job, child)
    assert mom.event("execjob_preresume", job).accepted, "what has no scope here is not held up"
    expect_nothing_left()


def test_resize_and_qalter(mom):
    def limit():
        limits = json.loads(run("pinfold", "limits", "pbs.5.srv", "--json").stdout)["limits"]
        assert limits["run_time_max"] == limits["batch_run_time_max"] + 600 * 1000000
        return limits["batch_run_time_max"] // 1000000
    job = begin(mom, one_host("5.srv", walltime="3600"))
    child = started(mom, job, "sleep", "1000")
    job["Resource_List"]["walltime"] = "7200"
    assert mom.event("execjob_resize", job).accepted and limit() == 7200
    job["Resource_List"]["walltime"] = "60"
    assert mom.periodic().accepted and limit() == 60
    job["exec_vnode"], job["exec_host2"] = "(node2:ncpus=1)", "node2:15002/0"
    assert mom.event("execjob_resize", job).accepted and limit() == 60, "this host is released: the end will come"
    child.kill()
    finished(mom, job, child)
    expect_nothing_left()


def test_abort_and_rerun(mom):
    job = begin(mom, one_host("6.srv"))
    assert mom.abort(job).accepted
    expect_nothing_left()
    for run_count in (1, 2):
        begin(mom, job)
        answer = finished(mom, job, started(mom, job, "sh", "-c", f"exit {run_count}"))
        assert "resources_used" in answer.job and job["Exit_status"] == run_count
    assert len(receipts("pbs.6.srv")) == 3
    expect_nothing_left()


def test_what_a_former_run_left_is_gone_when_the_next_begins(mom):
    """MoM was killed, and the server has requeued the job to this host."""
    job = begin(mom, one_host("20.srv"))
    stale = started(mom, job, "sleep", "1000")
    begin(mom, one_host("20.srv"))
    assert stale.wait(30) != 0
    assert live_jobs()["pbs.20.srv"]["tasks"] == 0 and len(receipts("pbs.20.srv")) == 1
    mom.abort(job)
    expect_nothing_left()


def test_a_receipt_of_an_earlier_run_is_not_reported(mom):
    job = begin(mom, one_host("7.srv"))
    finished(mom, job, started(mom, job, "true"))
    job["stime"] = 4102444800  # this start of the job is later than the end in the earlier run's receipt
    answer = mom.epilogue(job)
    assert answer.accepted and answer.job["resources_used"] == {} and "no scope" in answer.log[0]


def test_an_end_that_comes_twice_or_for_nobody(mom):
    job = begin(mom, one_host("8.srv"))
    finished(mom, job, started(mom, job, "true"))
    for event in ("execjob_epilogue", "execjob_end", "execjob_abort"):
        assert mom.event(event, job).accepted
        answer = mom.event(event, one_host("88.srv"))
        assert answer.accepted and not any("88" in line and "Error" in line for line in answer.log)
    expect_nothing_left()


def test_jobs_survive_a_restart_of_the_daemon(mom):
    job = begin(mom, one_host("9.srv"))
    child = started(mom, job, "sleep", "1000")
    before = main_pid()
    run("systemctl", "kill", "--signal=KILL", "pinfoldd")
    daemon_ready(other_than=before)
    assert mom.periodic().accepted and "pbs.9.srv" in live_jobs()
    child.kill()
    finished(mom, job, child)
    assert len(receipts("pbs.9.srv")) == 1
    expect_nothing_left()


@pytest.fixture
def site():
    """Gives the test jobs.site(). The settings are in force until the test ends."""
    with contextlib.ExitStack() as settings:
        yield lambda text: settings.enter_context(jobs.site(text))


def test_a_job_is_told_of_its_gpus(mom, site):
    site('[gpus]\ndevices = ["/dev/full", "/dev/zero"]\n')
    job = begin(mom, make_job("7.srv", "(node1:ncpus=1:ngpus=1)+(node1:ncpus=1:ngpus=1)", ["node1", "node1"]))
    child = mom.launch(job, "/bin/sh", "-c", "echo $CUDA_VISIBLE_DEVICES; sleep 1000")
    wait_until(lambda: output(mom, job) == "0,1\n", "told")
    answer = mom.begin(make_job("8.srv", "(node1:ncpus=1:ngpus=1)", ["node1"]))
    assert (answer.accepted, answer.job["rerun"]) == (False, True), "both are taken"
    child.kill()
    finished(mom, job, child)
    assert receipts("pbs.7.srv")[0]["allocated_gpus"] == "0-1"
    expect_nothing_left()


def test_a_job_knows_its_walltime_and_is_warned_of_it(mom, site):
    site('[defaults]\nrun_time_warning = "55s"\n')
    key, job = "pbs.walltime.srv", begin(mom, one_host("walltime.srv", walltime="01:00:00"))
    child = mom.launch(job, "/bin/sh", "-c", "echo $PINFOLD_END_TIME; exec sleep 1000")
    wait_until(lambda: output(mom, job).endswith("\n"), "the job runs")
    assert int(output(mom, job)) == (live_jobs()[key]["created"] + 3600 * 1000000) // 1000000
    job["Resource_List"]["walltime"] = "56"
    assert mom.periodic().accepted
    line = wait_until(lambda: output(mom, job, "ER"), "the warning before the end of the walltime")
    assert line.startswith(f"pinfold: job {key} on {os.uname().nodename} reaches its run time limit of 56s in "), line
    assert line.endswith("Z). The batch system ends the job at the limit.\n"), line
    job["Resource_List"]["walltime"] = "1"
    assert mom.periodic().accepted
    limits = json.loads(run("pinfold", "limits", key, "--json").stdout)["limits"]
    assert limits["batch_run_time_max"] == 1000000 and live_jobs()[key]["state"] == "running", "MoM ends the job, and pinfold does not"
    child.kill()
    finished(mom, job, child)
    expect_nothing_left()


def down():
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    run("systemctl", "mask", "--runtime", "pinfoldd")


def up():
    run("systemctl", "unmask", "--runtime", "pinfoldd")
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    daemon_ready()


@pytest.fixture
def outage():
    yield down
    up()


def test_without_the_daemon_a_job_is_requeued(mom, outage):
    job = begin(mom, one_host("10.srv"))
    outage()
    answer = mom.begin(one_host("11.srv"))
    assert (answer.accepted, answer.job["rerun"], answer.job["delete"]) == (False, True, False)
    assert "not reachable" in answer.message
    child = mom.launch(job, "touch", "/tmp/must-not-run")
    assert child.wait(60) == NOT_LAUNCHED and output(mom, job, "ER").split()[-1] == "rerun"
    assert not Path("/tmp/must-not-run").exists()
    assert mom.periodic().accepted and mom.server_vnodes["node1"]["state"] == OFFLINE
    assert "not reachable" in mom.server_vnodes["node1"]["comment"]
    up()
    assert mom.periodic().accepted and mom.server_vnodes["node1"]["state"] == FREE
    assert mom.abort(job).accepted
    expect_nothing_left()


def test_where_the_site_says_so_a_job_runs_without_a_scope(mom, site, outage):
    site('[jobs]\non_failure = "run-unconfined"\n')
    wait_until(lambda: Path("/run/pinfold/on-failure").read_text() == "run-unconfined\n", "policy published")
    outage()
    job, late = begin(mom, one_host("12.srv")), begin(mom, one_host("13.srv"))
    script = started(mom, job, "sleep", "1000")
    assert "batch" not in cgroup(script.pid)
    warnings = read_journal("-o", "json", "PINFOLD_EVENT=run-unconfined", "PINFOLD_JOB=pbs.12.srv").splitlines()
    assert [json.loads(line)["PRIORITY"] for line in warnings] == ["4", "4"], "at its begin and at its launch"
    up()
    child = started(mom, late, "sleep", "1000")
    assert "batch-pbs.13.srv.slice" in cgroup(child.pid), "in its scope by the launch"
    assert started(mom, job, "true").wait(30) == 0
    wait_until(lambda: live_jobs()["pbs.12.srv"]["tasks"] == 0, "a task is over, which was not taken for the job script")
    for ending, process in ((job, script), (late, child)):
        process.kill()
        finished(mom, ending, process)
    expect_nothing_left()


def test_a_drained_node_requeues_what_begins_and_launches_what_has_begun(mom):
    job = begin(mom, one_host("15.srv"))
    with drained():
        answer = mom.begin(one_host("16.srv"))
        assert (answer.accepted, answer.job["rerun"], answer.job["delete"]) == (False, True, False)
        assert "takes no jobs for now" in answer.message
        offline = {"state": OFFLINE, "comment": "pinfold: this node takes no jobs for now: test"}
        assert mom.server_vnodes["node1"] == offline, "or the scheduler would send each job here again, 21 times"
        assert mom.periodic().accepted and mom.server_vnodes["node1"] == offline
        child = started(mom, job, "true")
        finished(mom, job, child)
    assert mom.periodic().accepted and mom.server_vnodes["node1"] == {"state": FREE, "comment": None}
    begun = begin(mom, one_host("16.srv"))
    finished(mom, begun, started(mom, begun, "true"))
    expect_nothing_left()


TAKES_JOBS = {"state": FREE, "comment": None}


def refused(mom, job_id, exec_vnode, *hosts):
    answer = mom.begin(make_job(job_id, exec_vnode, list(hosts)))
    assert not answer.accepted, answer


def test_each_vnode_that_the_hook_has_taken_away_comes_back(mom):
    """The hook can set vnodes offline for different reasons. For each job of this test, the hook sets a different vnode offline."""
    mom.add_vnode("second")
    mom.add_vnode("third", by_qmgr=True)
    mom.add_vnode("admins", state=OFFLINE)
    mom.others["node2"] = dict(TAKES_JOBS)
    with drained():
        refused(mom, "27.srv", "(node1:ncpus=1)+(node2:ncpus=1)", "node1", "node2")
        run("pinfold", "drain", "--reason", "another disk")
        refused(mom, "28.srv", "(second:ncpus=1)+(third:ncpus=1)", "node1", "node1")
    reasons = {name: vnode["comment"].rpartition(": ")[2] for name, vnode in mom.server_vnodes.items() if vnode["comment"]}
    assert reasons == {"node1": "test", "second": "another disk", "third": "another disk"}
    assert mom.periodic().accepted
    assert mom.server_vnodes == {**dict.fromkeys(("node1", "second", "third"), TAKES_JOBS), "admins": {"state": OFFLINE, "comment": None}}
    expect_nothing_left()


def test_a_vnode_that_an_administrator_has_set_offline_stays_so(mom, site):
    """The vnode stays offline, whether it has a comment or not. A process of the job cannot end, because root traces the process."""
    mom.add_vnode("second")
    admins = {"silent": {"state": OFFLINE, "comment": None}, "explained": {"state": OFFLINE, "comment": "new disk"}}
    for name, vnode in admins.items():
        mom.add_vnode(name, **vnode)
    site('[unkillable]\nafter = "2s"\n')
    job = begin(mom, one_host("29.srv"))
    child = started(mom, job, "sleep", "1000")
    tracer = subprocess.Popen(["python3", "-c", TRACER, str(child.pid)], stdout=subprocess.PIPE, text=True)
    try:
        assert tracer.stdout.readline() == "traces\n"
        run("pinfold", "stop", "--grace=0", "pbs.29.srv")
        wait_until(lambda: live_jobs()["pbs.29.srv"]["unkillable_since"], "unkillable")
        assert mom.periodic().accepted
        seen = {"state": OFFLINE, "comment": "pinfold: SIGKILL did not end processes of pbs.29.srv"}
        assert mom.server_vnodes == {"node1": seen, "second": seen, **admins}
    finally:
        tracer.kill()
        tracer.communicate()
    wait_until(lambda: "pbs.29.srv" not in live_jobs(), "gone")
    assert mom.periodic().accepted and mom.server_vnodes == {"node1": TAKES_JOBS, "second": TAKES_JOBS, **admins}
    finished(mom, job, child)
    expect_nothing_left()


@pytest.mark.parametrize("exec_vnode, resources, asked", [
    ("(node1:ncpus=1:vmem=4mb)", {}, "vmem=4mb"), ("(node1:ncpus=1)", {"pvmem": "4mb"}, "pvmem=4mb"),
    ("(node1:ncpus=1:vmem=63mb)+(node1:ncpus=1:vmem=1gb)", {}, "vmem=63mb"), ("(node1:ncpus=1)", {"file": "0kb"}, "file=0kb"),
    ("(node1:ncpus=1)", {"pcput": "00:00:01"}, "pcput=1")])
def test_no_job_starts_whose_limits_the_hook_cannot_run_under(mom, site, exec_vnode, resources, asked):
    site('[jobs]\nunenforced_limits = "warn"\n')
    job = make_job("30.srv", exec_vnode, ["node1"] * len(exec_vnode.split("+")), **resources)
    answer = mom.begin(job)
    if answer.accepted:  # MoM then launches the job
        child = mom.launch(job, "/bin/sh", "-c", "grep ^0: /proc/self/cgroup")
        assert (child.wait(timeout=60), "/job-pbs.30.srv.scope" in output(mom, job)) == (0, True), output(mom, job) + output(mom, job, "ER")
    assert (answer.accepted, answer.job["rerun"]) == (False, True), answer
    assert answer.message.startswith(f"pinfold: {asked} is too small for the hook"), answer
    assert mom.server_vnodes["node1"]["state"] == FREE, "it is this job's own fault"
    expect_nothing_left()


@pytest.mark.parametrize("exec_vnode, resources", [("(node1:ncpus=1:vmem=64mb)", {}), ("(node1:ncpus=1)", {"pvmem": "64mb", "file": "1mb"})])
def test_the_least_limits_are_enough_for_the_hook(mom, site, exec_vnode, resources):
    site('[jobs]\nunenforced_limits = "warn"\n')
    job = begin(mom, make_job("31.srv", exec_vnode, ["node1"], **resources))
    finished(mom, job, started(mom, job, "grep", "^0:", "/proc/self/cgroup"))
    assert "/job-pbs.31.srv.scope" in output(mom, job), output(mom, job)
    expect_nothing_left()


def test_a_refusal_requeues_whatever_the_site_says(mom, site):
    site('[jobs]\non_failure = "run-unconfined"\n')
    wait_until(lambda: Path("/run/pinfold/on-failure").read_text() == "run-unconfined\n", "policy published")
    answer = mom.begin(make_job("14.srv", "(node1:ncpus=1:ngpus=900)", ["node1"]))
    assert (answer.accepted, answer.job["rerun"]) == (False, True), answer
    assert mom.server_vnodes["node1"]["state"] == FREE, "it is this job's own fault"
    expect_nothing_left()


@pytest.fixture
def no_youth():
    """Sets YOUNG of the hook, which is 300 seconds, to zero. The hook then treats a job as forgotten as soon as MoM's list no longer contains the
    job."""
    words = PACKAGE / "words.py"
    text = words.read_text()
    assert "YOUNG = 300" in text
    words.write_text(text.replace("YOUNG = 300", "YOUNG = 0"))
    yield
    words.write_text(text)


def test_a_young_job_is_left_alone(mom):
    job = begin(mom, one_host("15.srv"))
    mom.forget(job)
    assert mom.periodic().accepted and "pbs.15.srv" in live_jobs()
    mom.abort(job)
    expect_nothing_left()


def test_jobs_that_mom_has_forgotten_are_ended(mom, no_youth):
    kept, forgotten, on_disk = (begin(mom, one_host(job_id)) for job_id in ("16.srv", "6.srv", "161.srv"))
    foreign = subprocess.Popen(["pinfold-run", "--job", "sge.16", "--", "sleep", "1000"])
    wait_until(lambda: live_jobs().get("sge.16", {}).get("state") == "running", "another batch system's job")
    mom.forget(forgotten)
    mom.jobs.pop("161.srv")
    answer = mom.periodic()
    assert answer.accepted and any("pbs.6.srv" in line for line in answer.log)
    wait_until(lambda: set(live_jobs()) == {"pbs.16.srv", "pbs.161.srv", "sge.16"}, "only what neither list nor directory has")
    (mom.home / "mom_priv/jobs").rename(mom.home / "mom_priv/moved")
    mom.jobs.clear()
    assert mom.periodic().accepted and set(live_jobs()) == {"pbs.16.srv", "pbs.161.srv", "sge.16"}, "an unreadable directory ends nothing"
    (mom.home / "mom_priv/moved").rename(mom.home / "mom_priv/jobs")
    foreign.send_signal(signal.SIGTERM)
    foreign.wait(30)
    mom.abort(kept)
    mom.abort(on_disk)
    expect_nothing_left()


def test_usage_of_live_jobs(mom):
    job = begin(mom, one_host("17.srv"))
    spin = ("import time\nbegun = time.process_time()\nwhile time.process_time() < begun + 2: pass\n"
            "print('spun', flush=True)\ntime.sleep(1000)")
    child = started(mom, job, "/usr/bin/python3", "-c", spin)
    wait_until(lambda: "spun" in output(mom, job), "CPU used")
    assert mom.periodic().accepted
    assert 2 <= job["resources_used"]["cput"] <= 60
    child.kill()
    answer = finished(mom, job, child)
    assert answer.job["resources_used"]["cput"] >= 2 and answer.job["resources_used"]["cpupercent"] >= 1
    assert job["Exit_status"] == 256 + signal.SIGKILL
    assert receipts("pbs.17.srv")[0]["exit_signal"] == signal.SIGKILL
    expect_nothing_left()


def test_a_hook_that_takes_too_long_is_a_rejection(mom, tmp_path):
    """Tests what the stand-in does if a hook runs too long, and if a hook raises an exception."""
    hook = tmp_path / "hook.py"
    for script, status in (("import time\ntime.sleep(100)", 253), ("1 / 0", 254), ("import pbs\npbs.event().pid", 254),
                           ("import pbs\npbs.event().reject('no')", 0)):
        hook.write_text(script)
        # On a busy machine, Python may need a second to start.
        mom.hook, mom.alarm = str(hook), 1 if status == 253 else 90
        answer = mom.begin(one_host("18.srv"))
        assert (answer.status, answer.accepted) == (status, False)


def test_a_line_for_a_file_server_that_hangs_holds_up_no_hook():
    """SIGKILL does not end a process that waits for the server."""
    mount = Path("/tmp/hooks-server")
    server = subprocess.Popen([FUSE_HANG, "serve", mount], stdout=subprocess.PIPE, text=True)
    append = (f"import pwd, sys; sys.path.insert(0, '{PACKAGE.parent}'); from pinfold_openpbs.processes import append_as; "
              f"append_as(pwd.getpwnam('alice'), '{mount}/unclosed', 'out of memory')")
    try:
        assert server.stdout.readline() == "mounted\n"
        done = run("/usr/bin/python3", "-I", "-c", append, check=False, timeout=60)
        assert f"Failure: {mount}/unclosed could not be written within 10 s" in done.stderr, done.stderr
    finally:
        server.kill()
        server.communicate()
        run("umount", "-l", mount)
        mount.rmdir()
