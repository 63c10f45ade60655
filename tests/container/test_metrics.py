# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the figures in pinfoldd's file for node_exporter. pinfoldd runs in the sandbox of its installed unit."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from jobs import (RECORDS, busy, daemon_ready, expect_nothing_left, finish, main_pid, read_journal, receipts, run, start_job, wait_running,
                  wait_until)
from test_smoke import LEAVES_SLEEP

CONFIG = Path("/etc/pinfold/pinfold.toml.d/metrics.toml")
STANDARD = Path("/var/lib/node_exporter/textfile_collector/pinfold.prom")
DEBOUNCE = 2  # the maximum age of the file in seconds


def configure(path, per_job=False):
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(f'[metrics]\ntextfile = "{path}"\nper_job = {str(per_job).lower()}\n')


def figures(path=STANDARD):
    """Returns a dictionary that maps each series to its figure. The dictionary is empty while the file does not exist."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    series = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    assert len({name for name, _ in series}) == len(series)
    return {name: float(value) for name, value in series}


def ended(result):
    return f'pinfold_jobs_ended_total{{result="{result}"}}'


def warnings_since(start):
    lines = read_journal("-o", "cat", "-u", "pinfoldd", "-p", "warning", f"--since=@{start:.6f}")
    return [line for line in lines.splitlines() if line.startswith("cannot write the metrics")]


@pytest.fixture
def textfile():
    """Starts a new pinfoldd that writes its metrics file to STANDARD, where node_exporter looks by default."""
    STANDARD.parent.mkdir(parents=True, exist_ok=True)
    configure(STANDARD)
    run("systemctl", "restart", "pinfoldd")
    wait_until(figures, "the first figures")
    yield STANDARD
    CONFIG.unlink()
    run("systemctl", "reload", "pinfoldd")
    wait_until(lambda: not STANDARD.exists(), "switched off and removed")
    expect_nothing_left()


def test_the_figures_are_what_happened(textfile):
    before = time.monotonic()
    assert finish(start_job("metrics.good", "true"))[0] == 0
    assert finish(start_job("metrics.bad", "sh", "-c", "exit 7"))[0] == 7
    assert finish(start_job("metrics.killed", "sh", "-c", "kill -TERM $$"))[0] == -signal.SIGTERM
    assert finish(start_job("metrics.leaves", "sh", "-c", LEAVES_SLEEP))[0] == 0
    assert finish(start_job("metrics.none", "/nonexistent"))[0] != 0
    took = time.monotonic() - before
    wait_until(lambda: sum(figures()[ended(r)] for r in ("exited", "signaled")) == 5, "the figures", deadline=(DEBOUNCE + 3) * busy())
    seen = figures()
    told = [receipt for name in ("good", "bad", "killed", "leaves", "none") for receipt in receipts(f"metrics.{name}")]
    for result in {receipt["result"] for receipt in told}:
        assert seen[ended(result)] == len([receipt for receipt in told if receipt["result"] == result])
    assert sum(value for name, value in seen.items() if name.startswith("pinfold_jobs_ended_total")) == len(told) == 5
    assert (seen["pinfold_leftover_jobs_total"], seen["pinfold_leftover_processes_total"]) == (1, 1)
    assert seen["pinfold_scope_start_seconds_count"] == seen['pinfold_scope_start_seconds_bucket{le="+Inf"}'] == 5
    assert 0 < seen["pinfold_scope_start_seconds_sum"] < took
    assert seen["pinfold_jobs"] == 0
    assert {value for name, value in seen.items() if name.startswith("pinfold_errors_total")} == {0}


def test_others_may_read_it_and_nothing_else_is_left_there(textfile):
    assert textfile.stat().st_mode & 0o777 == 0o644
    # pinfoldd can write the file again at this moment, and then uses a temporary file.
    wait_until(lambda: [entry.name for entry in textfile.parent.iterdir()] == [textfile.name], "nothing else in the directory")


def test_it_is_written_again_after_a_crash(textfile):
    assert finish(start_job("metrics.before", "true"))[0] == 0
    job = start_job("metrics.over", "cat", stdin=subprocess.PIPE)
    wait_running("metrics.over")
    wait_until(lambda: (figures()["pinfold_jobs"], figures()[ended("exited")]) == (1, 1), "one live, one over")
    pid = main_pid()
    os.kill(pid, signal.SIGKILL)
    daemon_ready(other_than=pid)
    wait_until(lambda: (figures()["pinfold_jobs"], figures()[ended("exited")]) == (1, 0), "a new pinfoldd's figures")
    assert finish(job)[0] == 0
    wait_until(lambda: (figures()["pinfold_jobs"], figures()[ended("exited")]) == (0, 1), "the job's end")


def test_a_live_jobs_own_series(textfile):
    configure(textfile, per_job=True)
    run("systemctl", "reload", "pinfoldd")
    job = start_job("metrics.own[1]", "cat", stdin=subprocess.PIPE)
    slice_label = r'cgroup="/batch.slice/batch-metrics.own\\x5b1\\x5d.slice"'
    wait_until(lambda: figures().get(f'cgroup_info{{{slice_label},uid="0",jobid="metrics.own[1]",username="root"}}') == 1, "its series")
    assert figures()[f"cgroup_cpu_total_seconds{{{slice_label}}}"] > 0
    assert finish(job)[0] == 0
    wait_until(lambda: figures()[ended("exited")] == 1, "its end")
    assert [name for name in figures() if name.startswith("cgroup_")] == []


def test_a_place_that_is_not_writable_is_a_warning(textfile):
    start = time.time()
    configure("/etc/pinfold/pinfold.prom")
    run("systemctl", "reload", "pinfoldd")
    wait_until(lambda: warnings_since(start), "the warning")
    for number in range(3):
        assert finish(start_job(f"metrics.unwritable.{number}", "true"))[0] == 0
    [warning] = warnings_since(start)
    assert "Read-only file system" in warning and "pinfold.toml(5)" in warning
    assert not textfile.exists()


def test_the_drop_in_of_the_manual_opens_another_place(textfile):
    other = Path("/srv/textfile/pinfold.prom")
    other.parent.mkdir()
    drop_in = Path("/etc/systemd/system/pinfoldd.service.d/override.conf")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text(f"[Service]\nReadWritePaths={other.parent}\n")
    try:
        run("systemctl", "daemon-reload")
        configure(other)
        run("systemctl", "restart", "pinfoldd")
        assert wait_until(lambda: figures(other), "figures there")["pinfold_jobs"] == 0
    finally:
        drop_in.unlink()
        run("systemctl", "daemon-reload")
        run("systemctl", "restart", "pinfoldd")


@pytest.fixture
def report(textfile):
    """Returns a function that starts the service pinfold-doctor or pinfold-strays. The function returns the figures from the metrics file of the
    service."""
    def run_service(name):
        run("systemctl", "start", f"pinfold-{name}.service")
        return figures(textfile.with_name(f"pinfold-{name}.prom"))

    yield run_service
    for name in ("doctor", "strays"):
        textfile.with_name(f"pinfold-{name}.prom").unlink(missing_ok=True)


def test_the_service_of_doctor_finds_in_its_sandbox_what_root_finds_outside(report):
    seen = report("doctor")
    findings = json.loads(run("pinfold", "doctor", "--json", check=False).stdout)["findings"]
    assert {finding["state"] for finding in findings} >= {"ok", "fail"}, "the box lacks controllers"
    assert seen == {f'pinfold_doctor_findings{{check="{finding["id"]}",state="{finding["state"]}"}}': 1 for finding in findings}


def test_the_service_of_strays_counts_them_by_kind(report):
    # With Type=exec, systemd-run waits until the process has become a process of alice.
    run("systemd-run", "--quiet", "--property=Type=exec", "--unit=metrics-stray", "--uid=alice", "sleep", "infinity")
    CONFIG.write_text(CONFIG.read_text() + '[strays]\nmin_age = "0"\n')
    try:
        seen = report("strays")
    finally:
        run("systemctl", "stop", "metrics-stray")
    assert len(seen) > 10 and {name for name, value in seen.items() if value} == {'pinfold_strays{kind="service"}'}
    assert seen['pinfold_strays{kind="service"}'] == 1


def test_the_figures_of_strays_stay_while_pinfold_does_not_know_the_jobs(report):
    record = RECORDS / "metrics.1.json"
    before = report("strays")
    record.write_text("{")
    try:
        done = run("pinfold", "strays", "--metrics", check=False)
        assert "metrics.1.json" in done.stderr
        assert figures(STANDARD.with_name("pinfold-strays.prom")) == before
    finally:
        record.unlink()


def test_without_a_textfile_there_are_no_figures():
    assert not CONFIG.exists()
    for verb in ("doctor", "strays"):
        assert run("pinfold", verb, "--metrics", check=False).stderr == ""
        assert list(STANDARD.parent.glob(f"pinfold-{verb}.prom")) == []


def test_a_rejected_configuration_is_an_error_in_it(textfile):
    CONFIG.write_text("[metrics]\nper_job = 3\n")
    run("systemctl", "reload", "pinfoldd", check=False)
    wait_until(lambda: figures()['pinfold_errors_total{kind="config"}'] == 1, "the error")
