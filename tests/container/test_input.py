# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wrong input gets one clear line that says what is wrong and what to do."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from calls import timed
from jobs import busy, daemon_ready, drained, finish, read_journal, receipts, run, start_job, wait_for_journal, wait_running, wait_until

CONFIG = Path("/etc/pinfold/pinfold.toml.d/test.toml")
RELOAD = "busctl", "call", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Reload"


def one_line(done, status, *words):
    assert done.returncode == status, (done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize("options, words", [
    (["--nonsense", "--", "true"], ["unknown option '--nonsense'", "--help"]),
    (["--memory-max", "much", "--", "true"], ["--memory-max", "'much'", "K, M, G"]),
    (["--cpu-quota", "2", "--", "true"], ["--cpu-quota", "150%"]),
    (["--allowed-cpus", "3-1", "--", "true"], ["'3-1'", "0-3,8"]),
    (["--run-time-max", "soon", "--", "true"], ["'soon'", "2h 30min"]),
    (["--job"], ["needs a value"]),
    ([], ["no command"]),
    (["--cpu-weight", "0", "--", "true"], ["cpu_weight 0 is out of range", "1 to 10000"]),
])
def test_pinfold_run(options, words):
    one_line(run("pinfold-run", *options, check=False), 125, *words)


@pytest.mark.parametrize("arguments, status, words", [
    (["lits"], 2, ["unknown command 'lits'", "did you mean 'list'"]),
    (["list", "--nonsense"], 2, ["--nonsense"]),
    (["list", "-o", "kye"], 2, ["'kye' is not valid", "did you mean 'key'"]),
    (["status", "no.such"], 4, ["no.such", "pinfold history"]),
    (["show", "no.such"], 4, ["no.such", "pinfold list"]),
    (["why", "no.such"], 4, ["no.such", "pinfold history"]),
    (["stop", "no.such"], 4, ["no.such"]),
    (["kill", "-s", "NOPE", "no.such"], 2, ["'NOPE'"]),
    (["adopt", "no.such", "x"], 2, ["'x' is not a process id: use a number from 2 to 2147483647"]),
    (["history", "-S", "yesteryear"], 2, ["'yesteryear'", "-1h"]),
    (["status", "1"], 2, ["process 1"]),
])
def test_pinfold(arguments, status, words):
    one_line(run("pinfold", *arguments, check=False), status, *words)


def test_a_duplicate_job():
    job = start_job("dup.1", "sleep", "1000")
    wait_running("dup.1")
    one_line(run("pinfold-run", "--job", "dup.1", "--", "true", check=False), 125, "dup.1", "live already")
    run("pinfold", "stop", "dup.1")
    finish(job)


def test_not_found_and_not_executable(tmp_path):
    for mode in ([], ["--exec"]):
        one_line(run("pinfold-run", *mode, "--", "/no/such/program", check=False), 127, "/no/such/program", "No such file")
        one_line(run("pinfold-run", *mode, "--", tmp_path, check=False), 126, "Permission denied")


@pytest.fixture
def config():
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    yield CONFIG
    CONFIG.unlink(missing_ok=True)
    run("systemctl", "reload-or-restart", "pinfoldd")


def test_a_wrong_value_keeps_the_old_configuration(config):
    config.write_text('[jobs]\nkill_grace = "60s"\n')
    run("systemctl", "reload", "pinfoldd")
    config.write_text('[jobs]\nkill_grace = "never"\n')
    one_line(run("pinfold", "check-config", check=False), 1, f"{config}:2:", "kill_grace", "'never'")
    reload = run("busctl", "call", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Reload", check=False)
    assert reload.returncode != 0 and f"{config}:2:" in reload.stderr
    wait_for_journal(f"{config}:2:", "-o", "cat", "-u", "pinfoldd", "PINFOLD_EVENT=config-rejected")
    # The grace time of the earlier configuration is still in force, so a job that ignores SIGTERM lives for more than a second. The default grace
    # time is one second.
    job = start_job("config.old", "sh", "-c", "trap '' TERM; echo deaf; while :; do read line; done", stdin=subprocess.PIPE)
    assert job.stdout.readline() == "deaf\n"
    wait_running("config.old")
    run("pinfold", "stop", "config.old")
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(timeout=2)
    run("pinfold", "stop", "--grace", "0", "config.old")
    job.wait(timeout=20)


def status_text():
    return run("systemctl", "show", "-P", "StatusText", "pinfoldd").stdout.strip()


def test_a_reload_with_a_wrong_file_fails_and_says_where(config):
    config.write_text("[jobs]\nkill_grace = 'never'\n")
    assert run("systemctl", "reload", "pinfoldd", check=False).returncode != 0
    assert f"configuration rejected: {config}:2:" in status_text()
    one_line(run("pinfold", "reload", check=False), 1, f"{config}:2:", "kill_grace")
    config.write_text("[jobs]\nkill_grace = '2s'\n")
    run("systemctl", "reload", "pinfoldd")
    assert "rejected" not in status_text()
    run("pinfold", "reload")
    assert run("systemctl", "is-active", "pinfoldd").stdout == "active\n"


def test_a_pinfoldd_that_is_down_for_its_configuration_is_told_at_once(config):
    config.write_text("[jobs]\nkill_grace = 'never'\n")
    assert run("systemctl", "restart", "pinfoldd", check=False).returncode != 0
    try:
        for verb in (["status"], ["list"], ["why", "gone.1"], ["version"]):
            for user in ("root", "alice"):
                took = []
                for _ in range(3):
                    begun = time.monotonic()
                    done = run("runuser", "-u", user, "--", "pinfold", *verb, check=False)
                    took.append(time.monotonic() - begun)
                said = done.stdout if verb == ["version"] else done.stderr
                assert "pinfoldd is not reachable: it does not start: " in said and f"{config}:2:" in said, done
                assert min(took) < 0.3 * busy(), "if pinfold waited for the bus, each call would take longer"
    finally:
        config.unlink()
        run("systemctl", "restart", "pinfoldd")
    assert run("pinfold", "list").returncode == 0


def test_systemctl_status_says_how_many_jobs_there_are_and_whether_more_may_come():
    wait_until(lambda: status_text() == "0 jobs", "none")
    job = start_job("status.1", "sleep", "1000")
    wait_until(lambda: status_text() == "1 job", "one")
    with drained():
        wait_until(lambda: status_text() == "1 job; takes no new jobs: test", "drained")
    run("pinfold", "kill", "-9", "status.1")
    finish(job)
    run("pinfold", "wait", "status.1")
    wait_until(lambda: status_text() == "0 jobs", "none again")


def test_a_job_can_be_named_by_its_id_or_its_unit():
    job = start_job("sge.471101", "sleep", "1000")
    wait_running("sge.471101")
    for name in ("471101", "job-sge.471101.scope", "batch-sge.471101.slice", "sge.471101"):
        assert run("pinfold", "show", name, "-p", "key", "--value").stdout == "sge.471101\n", name
    assert "Job sge.471101 " in run("pinfold", "status", "471101").stdout
    other = start_job("own.471101", "sleep", "1000")
    wait_running("own.471101")
    one_line(run("pinfold", "stop", "471101", check=False), 2, "several jobs", "own.471101 or sge.471101")
    one_line(run("pinfold", "stop", "ssh.scope", check=False), 2, "is neither the key nor a unit of a job")
    for process, key in ((job, "sge.471101"), (other, "own.471101")):
        run("pinfold", "stop", key)
        finish(process)
        run("pinfold", "wait", key)
    assert "Job sge.471101 " in run("pinfold", "why", "471101").stdout
    assert "Job sge.471101 " in run("pinfold", "status", "471101", check=False).stdout, "no process has this id"
    for name in ("471199", "99999999999"):
        for verb in ("why", "status"):
            one_line(run("pinfold", verb, name, check=False), 4, f"no job '{name}'")


@pytest.mark.parametrize("key, names", [("pbs.471103.server", ("471103", "471103.server")),
                                        ("torque.471104[7].server", ("471104[7]", "471104[7].server"))])
def test_a_job_of_openpbs_or_torque_can_be_named_without_its_server(key, names):
    job = start_job(key, "sleep", "1000")
    wait_running(key)
    for name in names:
        assert run("pinfold", "show", name, "-p", "key", "--value").stdout == f"{key}\n", name
    assert json.loads(run("pinfold", "adopt", "--dry-run", "--json", names[0], str(os.getpid())).stdout)["job"] == key
    assert run("pinfold", "end", names[1], "--exit-status", "3").returncode == 0
    finish(job)
    assert f"Job {key} " in run("pinfold", "why", names[1]).stdout


def test_why_of_a_live_job_is_json_where_that_is_asked():
    job = start_job("why.1", "sleep", "1000")
    wait_running("why.1")
    told = json.loads(run("pinfold", "why", "why.1", "--json").stdout)
    assert (told["receipt"], told["live"]) == (None, True)
    waiting = subprocess.Popen(["pinfold", "wait", "why.1", "--json"], stdout=subprocess.PIPE, text=True)
    run("pinfold", "stop", "why.1")
    finish(job)
    assert json.loads(waiting.communicate(timeout=60)[0])["receipt"]["result"] == "stopped"


def test_an_unknown_key_keeps_the_old_configuration(config):
    config.write_text('[jobs]\nallow_user_jobs = false\nkill_grease = "7s"\n')
    told = f"{config}:3:1: unknown key 'kill_grease' in [jobs]"
    one_line(run("pinfold", "check-config", check=False), 1, told)
    checked = json.loads(run("pinfold", "check-config", "--json", check=False).stdout)
    assert checked["ok"] is False and told in checked["warnings"][0]
    config.write_text("[jobs]\nallow_user_jobs = true\n")
    run(*RELOAD)
    config.write_text('[jobs]\nallow_user_jobs = false\nkill_grease = "7s"\n')
    reload = run(*RELOAD, check=False)
    assert reload.returncode != 0 and told in reload.stderr
    assert run("runuser", "-u", "alice", "--", "pinfold-run", "--", "true").returncode == 0, "the old one is in force: users may"
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()
    one_line(run("runuser", "-u", "alice", "--", "pinfold-run", "--", "true", check=False), 125, "may not create jobs")
    wait_for_journal(told, "-o", "cat", "-u", "pinfoldd")


def test_a_wrong_configuration_at_start_is_said_once(config):
    config.write_text("[jobs\n")
    run("systemctl", "restart", "pinfoldd", check=False)
    assert run("systemctl", "show", "-P", "ExecMainStatus", "pinfoldd").stdout.strip() == "78"
    assert run("systemctl", "is-active", "pinfoldd", check=False).stdout.strip() == "failed"
    one_line(run("pinfold", "list", check=False), 6, "not reachable", "it does not start", "systemctl restart pinfoldd")
    for mode in ([], ["--exec"]):
        done, seconds = timed(lambda: run("pinfold-run", *mode, "--", "touch", "/tmp/must-not-run", check=False))
        one_line(done, 125, "does not start", f"{config}:1:")
        assert seconds < 4, "said at once, and not after a time-out"
    assert not Path("/tmp/must-not-run").exists()
    config.unlink()
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()


@pytest.fixture
def no_daemon():
    run("systemctl", "stop", "pinfoldd")
    run("systemctl", "mask", "--runtime", "pinfoldd")
    yield
    run("systemctl", "unmask", "--runtime", "pinfoldd")
    run("systemctl", "start", "pinfoldd")


def test_daemon_not_reachable(no_daemon):
    one_line(run("pinfold", "list", check=False), 6, "not reachable", "systemctl status pinfoldd")
    for mode in ([], ["--exec"]):
        one_line(run("pinfold-run", *mode, "--", "touch", "/tmp/must-not-run", check=False), 125, "not reachable")
    assert not Path("/tmp/must-not-run").exists(), "fail closed"


def test_a_wait_for_nobody_can_be_ended(no_daemon):
    """At a shutdown, pinfoldd and the bus may have ended before pinfold-run."""
    waiting = start_job("shut.down", "true")
    wait_until(lambda: "pinfold-run" in Path(f"/proc/{waiting.pid}/cmdline").read_text(), "exec")
    wait_until(lambda: len(list(Path(f"/proc/{waiting.pid}/task/{waiting.pid}/children").read_text().split())) == 1, "the waiting child")
    waiting.terminate()
    assert finish(waiting)[0] == -signal.SIGTERM


def test_receipts_can_be_read_without_the_daemon(no_daemon):
    done = run("pinfold", "history")
    assert "the receipts are read from /var/lib/pinfold/history.db" in done.stderr and "KEY" in done.stdout


def test_why_says_that_a_job_may_still_run(no_daemon):
    """root can read the history's file, but the file has no receipt of the job. alice does not have permission to read the history's file."""
    for become in ([], ["runuser", "-u", "alice", "--"]):
        done = run(*become, "pinfold", "why", "still.1", check=False)
        assert done.returncode == 6 and "the job may still run: see `systemctl status 'batch-still.1.slice'`" in done.stderr, done.stderr
        assert "not reachable" in done.stderr and done.stdout == ""


def test_run_unconfined_where_the_site_says_so(config):
    config.write_text('[jobs]\non_failure = "run-unconfined"\n')
    run("systemctl", "reload", "pinfoldd")
    wait_until(lambda: Path("/run/pinfold/on-failure").read_text() == "run-unconfined\n", "policy published")
    run("systemctl", "stop", "pinfoldd")
    run("systemctl", "mask", "--runtime", "pinfoldd")
    try:
        for mode in ([], ["--exec"]):
            done = run("pinfold-run", *mode, "--", "sh", "-c", "cat /proc/self/cgroup; exit 9", check=False)
            assert done.returncode == 9 and "batch" not in done.stdout
            assert "without a scope" in done.stderr
        assert finish(start_job("no/key", "true"))[0] == 0, "an outage comes before any question of the key"
    finally:
        run("systemctl", "unmask", "--runtime", "pinfoldd")
        run("systemctl", "start", "pinfoldd")
    warnings = read_journal("-o", "json", "PINFOLD_EVENT=run-unconfined").splitlines()
    assert len(warnings) == 3 and all(json.loads(line)["PRIORITY"] == "4" for line in warnings)


def test_tables_are_not_cut_when_piped():
    key = "wide." + "x" * 150
    job = start_job(key, "sleep", "1000")
    wait_running(key)
    out = run("pinfold", "list", env={**os.environ, "COLUMNS": "40"}).stdout
    assert key in out and "\x1b" not in out
    assert run("pinfold", "list", "--color=always", "--no-legend", "-o", "key").stdout == key + "\n"
    assert run("pinfold", "show", key, "-p", "state", "--value").stdout == "running\n"
    leader = run("pinfold", "show", key, "-p", "leader", "--value").stdout.strip()
    assert run("pinfold", "status", leader).stdout.startswith(f"Job {key} of user root: running")
    run("pinfold", "stop", "--wait", key)
    finish(job)
    assert run("pinfold", "status", key, check=False).returncode == 3


DRY_RUNS = [(("stop", "dry.2"), "send SIGTERM to all processes of batch-dry.2.slice"), (("kill", "dry.2"), "send SIGTERM to"),
            (("limits", "dry.2", "--run-time-max", "4h"), "run_time_max: - -> 4:00:00"), (("suspend", "dry.2"), "freeze all processes"),
            (("resume", "dry.2"), "thaw all processes"), (("undrain",), "let the node take jobs again"),
            (("adopt", "dry.2", str(os.getpid())), "move 1 process into")]


def test_dry_run_says_what_would_be():
    out = run("pinfold", "run", "--dry-run", "--job", "dry.1", "--tasks-max", "7", "--", "true").stdout
    assert "[batch-dry.1.slice]" in out and "[job-dry.1.scope]" in out and out.count("TasksMax=7\n") == 2
    assert receipts("dry.1") == []
    job = start_job("dry.2", "sleep", "1000")
    wait_running("dry.2")
    assert "would send SIGTERM" in run("pinfold", "stop", "--dry-run", "dry.2").stdout
    assert "would send SIGUSR1" in run("pinfold", "kill", "-s", "USR1", "--dry-run", "dry.2").stdout
    assert "would move 1 process into" in run("pinfold", "adopt", "--dry-run", "dry.2", str(os.getpid())).stdout
    for words, would in DRY_RUNS:
        document = json.loads(run("pinfold", *words, "--dry-run", "--json").stdout)
        assert (document["job"], document["dry_run"]) == ("dry.2" if "dry.2" in words else None, True)
        assert document["would"][0].startswith(would), document
    assert job.poll() is None
    run("pinfold", "stop", "dry.2")
    finish(job)
