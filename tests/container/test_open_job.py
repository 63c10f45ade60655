# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests jobs that are opened before their first process exists. The tests cover the tasks and the shepherds of an opened job."""

import contextlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import dbus
import pytest

from jobs import (BATCH, ESCAPIST, batch_script, daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, processes_with, receipts,
                  run, wait_for_entries, wait_until)

MANAGER = "org.pinfold1.Manager"


def manager():
    # The function uses a new connection, because the bus may have been restarted since the shared connection was made.
    return dbus.Interface(dbus.SystemBus(private=True).get_object("org.pinfold1", "/org/pinfold1"), MANAGER)


def leader_of(path):
    job = dbus.SystemBus(private=True).get_object("org.pinfold1", path)
    return job.Get("org.pinfold1.Job", "Leader", dbus_interface="org.freedesktop.DBus.Properties")


def pidfd(process):
    return dbus.types.UnixFd(os.pidfd_open(process.pid))


def join(key, *command, role="--batch", options=(), user="alice"):
    """Acts like a wrapper: runs pinfold-run as the job's owner."""
    return subprocess.Popen(["runuser", "-u", user, "--", "pinfold-run", "--job", key, role, *options, "--", *command], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(key, *options):
    return json.loads(run("pinfold", "end", key, "--json", *options).stdout)["receipt"]


@pytest.mark.parametrize("options", [(), ("--exec",)], ids=["supervise", "exec"])
def test_opened_by_root_and_joined_by_the_owner(options):
    key = f"pbs.open{len(options)}"
    run("pinfold", "open", key, "--uid", "alice", "--linger", "infinity")
    assert live_jobs()[key]["leader"] is None
    job = join(key, "sh", "-c", f"{ESCAPIST} set-sid; cat /proc/self/cgroup; exit 3", options=options)
    status, out, err = finish(job)
    assert status == 3, err
    assert f"0::/batch.slice/batch-{key}.slice/job-{key}.scope" in out
    receipt = end(key)
    assert (receipt["uid"], receipt["result"], receipt["leftovers"], receipt["tasks"]) == (1000, "exited", 1, 1)
    assert receipt["exit_status"] == (None if options else 3)
    assert end(key) == receipt, "an epilogue may run twice"
    expect_nothing_left()


def test_a_job_without_a_batch_script_shows_no_scope_and_to_others_not_its_use():
    run("pinfold", "open", "pbs.opened", "--uid", "alice", "--linger", "infinity")

    def unit():
        return run("pinfold", "list", "--no-legend", "-o", "unit").stdout.strip(), live_jobs()["pbs.opened"]["unit"]
    assert unit() == ("-", None)
    private = "only the job's owner, root and the members of pinfold-admin and pinfold-audit may see the job's usage"

    def page(user):
        return " ".join(run("runuser", "-u", user, "--", "pinfold", "status", "pbs.opened").stdout.split())
    assert private in page("bob")
    assert " scope - tasks 0 " in page("alice") and private not in page("alice")
    script = batch_script("pbs.opened", "alice")
    assert unit() == ("job-pbs.opened.scope",) * 2
    end("pbs.opened")
    finish(script)
    expect_nothing_left()


def test_a_further_host_has_tasks_and_no_batch_script():
    run("pinfold", "open", "pbs.sister", "--uid", "alice", "--linger", "infinity")
    first = join("pbs.sister", "sh", "-c", f"{ESCAPIST} double-fork 9101; exit 5", role="--task")
    assert finish(first)[0] == 5
    assert not processes_with("9101"), "the task's wrapper leaves after its task's last process"
    assert live_jobs()["pbs.sister"]["tasks"] == 0
    second = join("pbs.sister", "sleep", "1000", role="--task", options=("--exec",))
    wait_until(lambda: "sleep 1000" in run("pinfold", "ps", "pbs.sister").stdout, "second task")
    receipt = end("pbs.sister", "--exit-status", "7")
    assert (receipt["tasks"], receipt["leftovers"], receipt["exit_status"]) == (2, 2, 7)
    assert finish(second)[0] != 0
    assert len(receipts("pbs.sister")) == 1
    expect_nothing_left()


def test_open_takes_processes_and_ends_a_former_run():
    def opened(*options):
        return json.loads(run("pinfold", "open", "pbs.taken", "--uid", "alice", "--linger", "infinity", "--json", *options).stdout)
    first, second = (subprocess.Popen(["sleep", "1000"]) for _ in range(2))
    job_slice = opened(f"--adopt={first.pid}")["slice"]
    assert opened(f"--adopt={first.pid}", f"--adopt={second.pid}")["environment"].keys() == {"PINFOLD_JOB"}
    for process, scope in ((first, "job-pbs.taken-1.scope"), (second, "job-pbs.taken-2.scope")):
        assert f"/{job_slice}/{scope}\n" in Path(f"/proc/{process.pid}/cgroup").read_text(), "the first stays where it was"
    refused = run("pinfold", "open", "pbs.taken", "--uid=alice", "--owner=alice", f"--adopt={os.getpid()}", check=False)
    assert refused.returncode == 5 and "not to user 1000 (--owner)" in refused.stderr
    third = subprocess.Popen(["sleep", "1000"])
    opened("--replace", f"--adopt={third.pid}", "--batch")
    assert first.wait(30) != 0 and second.wait(30) != 0 and len(receipts("pbs.taken")) == 1
    assert live_jobs()["pbs.taken"]["leader"] == third.pid
    [live] = json.loads(run("pinfold", "status", "--jobs", "--json").stdout)["live"]
    assert (live["key"], live["tasks"], live["processes"]) == ("pbs.taken", 1, None) and live["usage"]
    end("pbs.taken")
    assert third.wait(30) != 0
    expect_nothing_left()


def test_it_goes_by_itself_some_time_after_its_last_task():
    run("pinfold", "open", "pbs.linger", "--uid", "alice", "--linger", "300ms")
    wait_until(lambda: receipts("pbs.linger"), "a receipt")
    expect_nothing_left()


def test_nobody_else_opens_joins_or_ends_it():
    denied = run("runuser", "-u", "alice", "--", "pinfold", "open", "pbs.1", "--uid", "alice", check=False)
    assert denied.returncode != 0 and "only root and pinfold-admin" in denied.stderr
    run("pinfold", "open", "pbs.1", "--uid", "alice")
    status, _, err = finish(join("pbs.1", "true", user="bob"))
    assert status == 125 and "belongs to another user" in err
    assert run("runuser", "-u", "bob", "--", "pinfold", "end", "pbs.1", check=False).returncode != 0
    again = run("pinfold", "open", "pbs.1", "--uid", "bob", check=False)
    assert "live already" in again.stderr
    end("pbs.1")


def test_what_the_words_must_be():
    assert "no live job" in finish(join("pbs.none", "true"))[2]
    for wrong in (["--task", "--", "true"], ["--job", "pbs.1", "--batch", "--tasks-max", "5", "--", "true"]):
        done = run("pinfold-run", *wrong, check=False)
        assert done.returncode == 125 and "--task and --batch" in done.stderr
    assert run("pinfold", "end", "pbs.none", check=False).returncode != 0


def test_open_and_end_wait_for_a_daemon_that_restarts():
    run("systemctl", "kill", "--signal=KILL", "pinfoldd")
    run("pinfold", "open", "pbs.restart", "--uid", "alice", "--linger", "infinity")
    before = main_pid()
    run("systemctl", "kill", "--signal=KILL", "pinfoldd")
    daemon_ready(before)
    assert live_jobs()["pbs.restart"]["state"] == "running", "an empty slice is no end"
    assert end("pbs.restart")["tasks"] == 0
    expect_nothing_left()


def test_on_the_bus():
    key, path, unit = manager().OpenJob("site.open", {"uid": dbus.UInt32(1000), "linger": dbus.UInt64(2**64 - 1), "slots": dbus.UInt32(2)})
    assert (key, unit) == ("site.open", "batch-site.open.slice")
    assert leader_of(path) == 0
    script, helper = subprocess.Popen(["sleep", "1000"]), subprocess.Popen(["sleep", "1000"])
    assert manager().AddTask(key, pidfd(helper), {}) == (1, "job-site.open-1.scope")
    assert manager().AddTask(key, pidfd(script), {"batch": True}) == (0, "job-site.open.scope")
    assert manager().AddTask(key, pidfd(script), {"batch": True}) == (0, "job-site.open.scope"), "asked again"
    assert leader_of(path) == script.pid
    helper.kill()
    helper.wait()
    manager().WaitTask(key, dbus.UInt32(1))
    assert live_jobs()[key]["tasks"] == 1
    script.kill()
    script.wait()
    assert manager().WaitJob(key)["tasks"] == 2
    with pytest.raises(dbus.DBusException) as refused:
        manager().OpenJob("site.open", {})
    assert refused.value.get_dbus_name() == "org.pinfold1.Error.InvalidArgument"
    expect_nothing_left()


# This shepherd waits until it is in its scope, starts a child in a new session, and reports how the child ended.
SHEPHERD = """
import subprocess, sys
sys.stdin.readline()
child = subprocess.Popen(["sh", "-c", sys.argv[2]], start_new_session=True)
with open(sys.argv[1], "w") as report:
    report.write(f"{child.wait()}")
"""


def in_scope(key, text):
    return [pid for pid, (_, cgroup) in processes_with(text).items() if f"batch-{key}.slice" in cgroup]


@pytest.fixture
def shepherd(tmp_path):
    """Gives a test the function start(), which creates a job with a shepherd. start() returns the shepherd's process, and the file to which the
    shepherd reports."""
    def start(key, script):
        report = tmp_path / "report"
        process = subprocess.Popen(["python3", "-c", SHEPHERD, str(report), script], stdin=subprocess.PIPE)
        manager().CreateJob(key, pidfd(process), {"shepherd": True, "uid": dbus.UInt32(1000)})
        process.stdin.close()
        wait_until(lambda: len(in_scope(key, "")) > 1, "the shepherd's child")
        return process, report
    return start


def ignores_sigterm(pid):
    with contextlib.suppress(OSError):
        return int(re.search(r"^SigIgn:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[1], 16) >> (signal.SIGTERM - 1) & 1
    return False


@pytest.mark.parametrize("script", ["trap '' TERM; while :; do sleep 0.01; done", f"trap '' TERM; {ESCAPIST} storm; while :; do sleep 0.01; done"],
                         ids=["stubborn", "storm"])
def test_a_stop_spares_the_shepherd_until_it_has_reported(shepherd, script):
    key = f"sge.stop{len(script)}"
    process, report = shepherd(key, script)
    wait_until(lambda: any(ignores_sigterm(pid) for pid in in_scope(key, "")), "its trap")
    run("pinfold", "stop", key, "--grace", "100ms", "--wait")
    assert process.wait(timeout=10) == 0
    assert report.read_text() == "-9"
    receipt, = receipts(key)
    assert receipt["result"] == "stopped"
    expect_nothing_left()


def test_a_shepherd_that_hangs_is_killed_in_the_end():
    os.makedirs("/etc/pinfold/pinfold.toml.d", exist_ok=True)
    with open("/etc/pinfold/pinfold.toml.d/shepherd.toml", "w", encoding="utf-8") as file:
        file.write('[jobs]\nshepherd_grace = "200ms"\n')
    run("systemctl", "reload", "pinfoldd")
    try:
        process = subprocess.Popen(["sleep", "1000"])
        manager().CreateJob("sge.8", pidfd(process), {"shepherd": True})
        run("pinfold", "stop", "sge.8", "--grace", "0s", "--wait")
        assert process.wait(timeout=10) == -signal.SIGKILL
        expect_nothing_left()
    finally:
        os.unlink("/etc/pinfold/pinfold.toml.d/shepherd.toml")
        run("systemctl", "reload", "pinfoldd")


def test_the_time_limit_spares_it_too(shepherd):
    process, report = shepherd("sge.9", "sleep 1000")
    # The time limit is already exceeded. If the job had the time limit from its start, SIGTERM could come before the shepherd starts its child.
    run("pinfold", "limits", "sge.9", "--run-time-max", "1ms")
    assert process.wait(timeout=20) == 0
    assert report.read_text() == "-15"
    wait_until(lambda: receipts("sge.9"), "receipt")
    assert receipts("sge.9")[0]["result"] == "timeout"


def test_the_kernel_kills_one_process_and_never_the_scope(shepherd):
    # The child ignores SIGTERM, because SIGTERM can come before a busy pinfoldd has read the child's command line.
    script = "trap '' TERM; sleep 1000"
    process, _ = shepherd("sge.10", script)
    wait_until(lambda: in_scope("sge.10", "sh\0-c\0"), "the shepherd's child has executed its program")
    assert run("systemctl", "show", "-P", "OOMPolicy", "job-sge.10.scope").stdout.strip() == "continue"
    assert (BATCH / "batch-sge.10.slice" / "job-sge.10.scope").is_dir()
    process.kill()
    process.wait()
    wait_until(lambda: receipts("sge.10"), "receipt")
    assert f"sh -c {script}" in " ".join(receipts("sge.10")[0]["leftover_commands"])
    assert any("rogue process(es) found for task sge.10" in entry["MESSAGE"] for entry in wait_for_entries("sge.10", "leftovers"))
    expect_nothing_left()
