# SPDX-License-Identifier: LGPL-2.1-or-later
"""While a job is not over, no other job can have its key. A job that is being started is not over. If pinfoldd does not know a job, pinfoldd must not
report that the job has ended."""

import contextlib
import json
import subprocess
from pathlib import Path

from jobs import (RECORDS, daemon_ready, drop_in, expect_nothing_left, finish, live_jobs, main_pid, processes_with, receipts, run, site, start_job,
                  systemd_stopped, units, wait_running, wait_until)

USERS = "[jobs]\nallow_user_jobs = true\n"


def as_user(user, key, *command):
    return subprocess.Popen(["runuser", "-u", user, "--", "pinfold-run", *(["--job", key] if key else []), "--", *command],
                            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def restart():
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()


def stop(*keys):
    for key in keys:
        run("pinfold", "stop", key)
    expect_nothing_left()


@contextlib.contextmanager
def unit_setting(line):
    try:
        with drop_in("pinfoldd", line):
            yield
    finally:
        run("systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
        run("systemctl", "reset-failed", "pinfoldd.service", "pinfoldd.socket", check=False)
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")


def test_a_key_that_pinfoldd_picks_is_no_live_jobs_after_a_restart():
    first = subprocess.Popen(["pinfold-run", "--", "sleep", "8101"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    key = wait_until(lambda: next(iter(live_jobs()), None), "the first job")
    wait_running(key)
    restart()
    assert run("pinfold-run", "--", "true").returncode == 0
    assert live_jobs()[key]["state"] == "running"
    assert processes_with("8101") and first.poll() is None
    stop(key)
    finish(first)


def test_a_key_that_somebody_named_is_not_picked_for_another():
    with site(USERS):
        run("pinfold-run", "--", "true")
        number = int(receipts(number=1)[0]["key"].removeprefix("manual."))
        for n in (1, 2, 3):
            status, _, err = finish(as_user("bob", f"manual.{number + n}", "sleep", "8102"))
            assert status == 125 and "may not name a job" in err
        roots = [as_user("root", f"manual.{number + n}", "sleep", "8102") for n in (1, 2, 3)]
        for n in (1, 2, 3):
            wait_running(f"manual.{number + n}")
        for _ in range(3):
            assert finish(as_user("alice", None, "true"))[0] == 0
        assert {f"manual.{number + n}" for n in (1, 2, 3)} <= live_jobs().keys()
        assert all(job.poll() is None for job in roots)
        stop(*(f"manual.{number + n}" for n in (1, 2, 3)))
        for job in roots:
            finish(job)


def test_a_job_whose_record_cannot_be_read_is_not_touched():
    with site(USERS):
        bobs = as_user("bob", "user.unread", "sleep", "8103")
        wait_running("user.unread")
        record = RECORDS / "user.unread.json"
        good = record.read_text()
        run("systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
        record.write_text(good.replace('"version":1', '"version":2'))
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")
        daemon_ready()
        status, _, err = finish(as_user("alice", "user.unread", "true"))
        assert status == 125 and "has a record that pinfoldd did not read" in err
        assert processes_with("8103") and bobs.poll() is None
        record.write_text(good)
        run("pinfold", "reconcile")
        assert live_jobs()["user.unread"]["state"] == "running"
        stop("user.unread")
        finish(bobs)


def test_a_slice_that_pinfoldd_does_not_know_is_not_touched():
    stranger = subprocess.Popen(["systemd-run", "-q", "--scope", "--slice=batch-sge.strange.slice", "sleep", "8104"])
    wait_until(lambda: any("/batch-sge.strange.slice" in cgroup for _, cgroup in processes_with("8104").values()),
               "the stranger in the slice, which is there before")
    status, _, err = finish(start_job("sge.strange", "true"))
    assert status == 125 and "has processes that pinfoldd does not know" in err
    assert stranger.poll() is None
    assert not receipts("sge.strange")
    run("systemctl", "stop", "batch-sge.strange.slice")
    stranger.wait(timeout=30)
    expect_nothing_left()


def test_an_opening_that_was_interrupted_is_answered_to_who_asks_again():
    run("pinfold", "open", "sge.again", "--uid", "alice", "--linger", "infinity")
    record = RECORDS / "sge.again.json"
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
    text = record.read_text()
    assert '"state":"running"' in text
    record.write_text(text.replace('"state":"running"', '"state":"creating"'))  # the test makes a record as if pinfoldd had been killed earlier
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")
    run("pinfold", "open", "sge.again", "--uid", "alice", "--linger", "infinity")
    assert "batch-sge.again.slice" in units()
    run("pinfold", "end", "sge.again")
    expect_nothing_left()


def test_a_batch_script_that_starts_during_a_reload_does_not_end_its_job():
    """With many units, a reload of systemd takes so long that the batch script starts during the reload."""
    for number in range(100):
        run("systemd-run", "-q", "--slice=fill.slice", f"--unit=fill{number}", "sleep", "1000")
    try:
        for number in range(5):
            key = f"sge.reload{number}"
            run("pinfold", "open", key, "--uid", "root")
            reload = subprocess.Popen(["systemctl", "daemon-reload"])
            script = subprocess.Popen(["pinfold-run", "--batch", "--job", key, "--", "sleep", "8105"], stdin=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True)
            task = subprocess.Popen(["pinfold-run", "--task", "--job", key, "--", "true"], stdin=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
            reload.wait(timeout=60)
            status, _, err = finish(task)
            assert status == 0, err
            wait_until(lambda: f"/job-{key}.scope" in "".join(c for _, c in processes_with("8105").values()), "the script runs")
            run("systemctl", "daemon-reload")
            assert live_jobs()[key]["state"] == "running"
            run("pinfold", "stop", key)
            finish(script)
            assert [receipt["result"] for receipt in receipts(key)] == ["stopped"]
    finally:
        run("systemctl", "stop", "fill.slice")
    expect_nothing_left()


def test_nothing_is_adopted_into_a_job_that_an_admin_stops():
    slow = "import signal,time,os,threading\nsignal.signal(15, lambda *a: threading.Timer(0.6, os._exit, [0]).start())\nprint('here', flush=True)\nwhile True: signal.pause()"
    job = start_job("sge.stopped", "/usr/bin/python3", "-c", slow)
    assert job.stdout.readline() == "here\n"
    wait_running("sge.stopped")
    guest = subprocess.Popen(["sleep", "8106"])
    stopping = subprocess.Popen(["systemctl", "stop", "batch-sge.stopped.slice"])
    adopted = run("pinfold", "adopt", "sge.stopped", guest.pid, check=False)
    stopping.wait(timeout=60)
    finish(job)
    # If the request to adopt the process `guest` came before the stop of the slice, pinfoldd has adopted `guest`. If the slice was stopped before
    # pinfoldd got the request, pinfoldd has refused the request. If pinfoldd refused the request, `guest` ended together with the job, or `guest` was
    # never in the job.
    wait_until(lambda: guest.poll() is not None or "batch-" not in Path(f"/proc/{guest.pid}/cgroup").read_text(), "the guest outside the job")
    if adopted.returncode == 0:
        assert guest.wait(timeout=30) < 0
    guest.kill()
    guest.wait(timeout=30)
    assert len(receipts("sge.stopped")) == 1
    expect_nothing_left()


def test_a_restart_without_descriptors_ends_no_job():
    jobs = {f"sge.few{number}": start_job(f"sge.few{number}", "sleep", "8107") for number in range(30)}
    for key in jobs:
        wait_running(key)
    needed = len(list(Path(f"/proc/{main_pid()}/fd").iterdir()))
    for limit in (needed - 40, needed - 20, needed - 5):
        with unit_setting(f"LimitNOFILE={limit}"):
            run("systemctl", "restart", "pinfoldd.service", check=False)
            # The test leaves out the 30 pinfold-run processes, because the command line of a pinfold-run also ends in `sleep 8107`.
            assert [command for command, _ in processes_with("8107").values() if command.startswith(b"sleep")] == [b"sleep\x008107\x00"] * 30
    daemon_ready()
    assert live_jobs().keys() == jobs.keys()
    stop(*jobs)
    for job in jobs.values():
        finish(job)


def test_a_record_of_many_long_command_lines_is_read_after_a_crash():
    with site("[leftovers]\nreport_max = 10000\n"):
        job = start_job("sge.long", "bash", "-c", "for i in $(seq 400); do (trap '' TERM; exec -a \"java $(printf %4050s | tr ' ' x)\""
                        " sleep 8108) & done; wait -n 2>/dev/null & exit 0", options=("--kill-grace", "5s"))
        wait_until(lambda: (RECORDS / "sge.long.json").exists()
                   and json.loads((RECORDS / "sge.long.json").read_text())["state"] == "ending", "the grace")
        old = main_pid()
        run("kill", "-9", old)
        daemon_ready(other_than=old)
        status, _, err = finish(job)
        assert status == 0, err
        assert not processes_with("8108")
        assert len(receipts("sge.long")) == 1
        expect_nothing_left()


def test_systemd_hangs_for_longer_than_anybody_waits():
    with site("[jobs]\non_failure = \"run-unconfined\"\n"):
        with systemd_stopped():
            job = start_job("sge.hang", "sleep", "8109")
            wait_until(lambda: "running without a scope" in job.stderr.readline(), "the notice", 120)
        wait_running("sge.hang")
        assert any("/job-sge.hang.scope" in cgroup for _, cgroup in processes_with("8109").values())
        assert job.poll() is None, "PID 1 is back, and the job was killed"
        run("pinfold", "stop", "--wait", "sge.hang")  # no supervisor of this job waits for the receipt
        finish(job)
        assert [receipt["result"] for receipt in receipts("sge.hang")] == ["stopped"]
        expect_nothing_left()
