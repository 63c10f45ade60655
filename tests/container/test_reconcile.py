# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what pinfoldd does with real orphans of each kind, both at its start and on request. If an orphan has processes, pinfoldd does not touch
the orphan."""

import itertools
import json
import subprocess
import threading
from pathlib import Path

import pytest

from jobs import (BATCH, RECORDS, daemon_ready, expect_nothing_left, finish, live_jobs, read_journal, receipts, run, start_job, units,
                  wait_running, wait_until)
from test_metrics import figures, textfile  # noqa: F401

NOTHING = {kind: [] for kind in ("units_stopped", "units_left", "cgroups_removed", "cgroups_left", "records_ended", "records_taken_up",
                                 "records_unreadable")}


@pytest.fixture(autouse=True)
def clean_node():
    expect_nothing_left()
    yield
    for unit in units():
        run("systemctl", "stop", unit, check=False)
    for record in RECORDS.iterdir():
        record.unlink()
    run("systemctl", "restart", "pinfoldd")
    expect_nothing_left()


def reconcile(*options):
    """Runs `pinfold reconcile`, and returns the lists in its output. The result does not contain empty lists."""
    done = run("pinfold", "reconcile", "--json", *options, check=False)
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["clean"] else 1), done.stderr
    assert NOTHING.keys() <= found.keys()
    return {kind: found[kind] for kind in NOTHING if found[kind]}


def restart():
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()


def told_at_the_start():
    """Returns what the journal of the running pinfoldd says about its start."""
    found = {}
    invocation = run("systemctl", "show", "-P", "InvocationID", "pinfoldd").stdout.strip()
    for line in read_journal("-o", "json", "PINFOLD_EVENT=orphan", f"_SYSTEMD_INVOCATION_ID={invocation}").splitlines():
        entry = json.loads(line)
        found.setdefault(entry["PINFOLD_ORPHAN_KIND"], []).append(entry["PINFOLD_ORPHAN"])
    return found


def empty_slice(key):
    """Makes an empty slice. systemd keeps a slice whose last process has ended."""
    name = f"batch-{key}.slice"
    run("systemd-run", "--quiet", "--wait", f"--slice={name}", "true")
    wait_until(lambda: "populated 0" in (BATCH / name / "cgroup.events").read_text(), "empty")
    return name


def inhabited(key):
    """Makes a slice and a scope that have the same names as the units of a job. Returns the process in the scope."""
    process = subprocess.Popen(["systemd-run", "--quiet", "--scope", f"--slice=batch-{key}.slice", f"--unit=job-{key}.scope", "sleep", "1000"])
    wait_until(lambda: (BATCH / f"batch-{key}.slice" / f"job-{key}.scope").exists(), "its scope")
    wait_until(lambda: "sleep\0" in Path(f"/proc/{process.pid}/cmdline").read_text(), "its process")
    return process


def lose_record(key):
    """Removes the record of a live job while pinfoldd does not run."""
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    text = (RECORDS / f"{key}.json").read_text()
    (RECORDS / f"{key}.json").unlink()
    return text


@pytest.mark.parametrize("at_start", [True, False])
def test_units_without_record(at_start):
    process = inhabited("orphan.2")
    if at_start:
        run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    name = empty_slice("orphan.1")
    expected = {"units_stopped": [name], "units_left": ["batch-orphan.2.slice"]}
    if at_start:
        run("systemctl", "start", "pinfoldd")
        wait_until(lambda: told_at_the_start() == expected, "told")
    else:
        assert reconcile("--dry-run") == expected and name in units()
        assert reconcile() == expected
    assert name not in units() and not (BATCH / name).exists()
    assert process.poll() is None and reconcile() == {"units_left": ["batch-orphan.2.slice"]}
    out = run("pinfold", "reconcile", check=False).stdout
    [remedy] = [line.split("`")[1] for line in out.splitlines() if "`systemctl stop" in line]
    run("sh", "-c", remedy)
    process.wait(30)
    wait_until(lambda: reconcile() == {}, "in order")


def test_a_scope_of_our_name_in_another_slice_is_left():
    process = subprocess.Popen(["systemd-run", "--quiet", "--scope", "--slice=system.slice", "--unit=job-orphan.3.scope", "sleep", "1000"])
    wait_until(lambda: "job-orphan.3.scope" in units(), "the scope")
    assert reconcile() == {"units_left": ["job-orphan.3.scope"]}
    assert process.poll() is None
    process.kill()
    process.wait(30)


def test_a_task_of_a_live_job_that_no_record_knows():
    job = start_job("orphan.4", "cat", stdin=subprocess.PIPE)
    wait_running("orphan.4")
    command = ["systemd-run", "--quiet", "--scope", "--slice=batch-orphan.4.slice", "--unit=job-orphan.4-7.scope", "sleep", "1000"]
    process = subprocess.Popen(command)
    wait_until(lambda: "job-orphan.4-7.scope" in units(), "the scope")
    assert reconcile() == {"units_left": ["job-orphan.4-7.scope"]}
    assert process.poll() is None and live_jobs()["orphan.4"]["state"] == "running"
    assert finish(job)[0] == 0
    process.wait(30)


def test_cgroups_without_unit():
    empty, used = BATCH / "batch-orphan.5.slice", BATCH / "batch-orphan.6.slice"
    (empty / "job-orphan.5.scope/nested").mkdir(parents=True)
    used.mkdir()
    process = subprocess.Popen(["sleep", "1000"])
    (used / "cgroup.procs").write_text(str(process.pid))
    expected = {"cgroups_removed": [f"/batch.slice/{empty.name}"], "cgroups_left": [f"/batch.slice/{used.name}"]}
    assert reconcile("--dry-run") == expected and empty.exists()
    assert reconcile() == expected
    assert not empty.exists() and process.poll() is None
    process.kill()
    process.wait(30)
    assert reconcile() == {"cgroups_removed": [f"/batch.slice/{used.name}"]}


def test_records_without_unit(textfile):  # noqa: F811
    job = start_job("orphan.7", "cat", stdin=subprocess.PIPE)
    wait_running("orphan.7")
    record = RECORDS / "orphan.7.json"
    text = record.read_text()
    run("pinfold", "stop", "--wait", "orphan.7")
    job.wait(30)
    key = text.replace('"key":"orphan.7"', '"key":"orphan.8"').replace('"id":"', '"id":"0000')
    expected = {"records_ended": ["orphan.8"]}
    for number, plant in enumerate((restart, reconcile)):
        (RECORDS / "orphan.8.json").write_text(key.replace('"id":"', f'"id":"{number}'))
        found = plant()
        if plant is restart:  # a thread writes to the journal, so the entry may come after pinfoldd is ready
            wait_until(lambda: told_at_the_start() == expected, "told")
        else:
            assert found == expected
        wait_until(lambda: len(receipts("orphan.8")) == number + 1, "its receipt")
        expect_nothing_left()
        if plant is restart:
            wait_until(lambda: figures().get('pinfold_orphans_total{kind="records_ended"}') == 1, "counted")


def test_an_unreadable_record_touches_nothing_and_is_taken_up_once_it_is_mended():
    job = start_job("orphan.9", "cat", stdin=subprocess.PIPE)
    wait_running("orphan.9")
    text = lose_record("orphan.9")
    (RECORDS / "orphan.9.json").write_text(text[:100])
    name = empty_slice("orphan.10")
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    daemon_ready()
    for _ in range(2):
        found = reconcile()
        assert sorted(found) == ["records_unreadable", "units_left"] and "orphan.9.json" in found["records_unreadable"][0]
        assert sorted(found["units_left"]) == [name, "batch-orphan.9.slice"]
    assert job.poll() is None and name in units()
    (RECORDS / "orphan.9.json").write_text(text)
    assert reconcile() == {"records_taken_up": ["orphan.9"], "units_stopped": [name]}
    assert finish(job)[0] == 0 and receipts("orphan.9")[0]["result"] == "exited"


def test_beside_jobs_that_come_and_go():
    """Runs at least 200 short jobs and calls reconcile more than ten times. reconcile must find no orphans, and must not disturb a job."""
    outcomes, enough = [], threading.Event()

    def come_and_go(lane):
        for number in itertools.count():
            if number >= 50 and enough.is_set():
                return
            outcomes.append(finish(start_job(f"busy.{lane}.{number}", "sh", "-c", "sleep 0.01 & exit 3"))[0])
    lanes = [threading.Thread(target=come_and_go, args=(lane,)) for lane in range(4)]
    for lane in lanes:
        lane.start()
    rounds = 0
    try:
        while any(lane.is_alive() for lane in lanes):
            assert reconcile() == {}
            rounds += 1
            if rounds > 10:
                enough.set()
    finally:
        enough.set()
        for lane in lanes:
            lane.join()
    assert set(outcomes) == {3} and len(outcomes) >= 200 and rounds > 10
    for lane in range(4):
        assert {len(receipts(f"busy.{lane}.{number}")) for number in range(0, 50, 7)} == {1}


def test_only_administrators():
    for user, status in (("alice", 5), ("carol", 0)):
        assert run("runuser", "-u", user, "--", "pinfold", "reconcile", check=False).returncode == status
