# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold strays` with real stray processes of each kind."""

import contextlib
import grp
import json
import os
import pty
import pwd
import re
import select
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import (BATCH, CGROUP, ESCAPIST, RECORDS, as_alice, daemon_ready, expect_nothing_left, finish, live_jobs, main_pid, read_journal,
                  receipts, run, site, start_job, stopped, wait_running, wait_until)
from own_server import locked_memories
from without_first import WITHOUT_FIRST

ALICE, BOB = pwd.getpwnam("alice").pw_uid, pwd.getpwnam("bob").pw_uid
NOW = ("--min-age", "0")
PAM = Path("/etc/pam.d/su-l")


def strays(*options, check=True, **popen):
    return {stray["pid"]: stray for stray in document(*options, check=check, **popen)["strays"]}


def document(*options, check=True, **popen):
    return json.loads(run("pinfold", "strays", "--json", *NOW, *options, check=check, **popen).stdout)


def sleeper(number):
    """Returns the process id of the command `sleep NUMBER`. The program `sleep` may have any path."""
    wanted = f"sleep\0{number}\0".encode()

    def find():
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and (entry / "cmdline").read_bytes().rsplit(b"/")[-1] == wanted:
                    return int(entry.name)
    return wait_until(find, f"sleep {number}")


def alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def as_user(user, *command, **popen):
    environment = {"XDG_RUNTIME_DIR": f"/run/user/{pwd.getpwnam(user).pw_uid}", "PATH": os.environ["PATH"], "HOME": f"/home/{user}"}
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "env", "-i", *(f"{k}={v}" for k, v in environment.items()),
            *command]


def move(pid, cgroup):
    path = CGROUP / cgroup
    path.mkdir(exist_ok=True)
    (path / "cgroup.procs").write_text(str(pid))


class Terminal:
    """Logs alice in at her own terminal, where `sleep NUMBER` runs."""

    def __init__(self, number):
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.execvp("su", ["su", "--session-command", f"exec sleep {number}", "-l", "alice"])
        self.pid = sleeper(number)
        name = os.readlink(f"/proc/{self.pid}/fd/0")
        os.chown(name, ALICE, grp.getgrnam("tty").gr_gid)  # sshd and login make the user the owner of the terminal
        os.chmod(name, 0o620)

    def read_until(self, text):
        seen = b""
        while text not in seen:
            assert select.select([self.fd], [], [], 30)[0], seen
            seen += os.read(self.fd, 4096)
        return seen.decode()

    def close(self):
        with contextlib.suppress(OSError):
            os.kill(self.child, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.child, 0)


@pytest.fixture(scope="module", autouse=True)
def sessions():
    """Adds a line to the PAM file of `su -l`, so that `su -l` makes sessions of systemd-logind, as sshd does."""
    before = PAM.read_text()
    PAM.write_text(before + "session required pam_systemd.so\n")
    yield
    PAM.write_text(before)


@pytest.fixture
def goes_on():
    """Returns a file. The jobs of a test come and go at least until the test has removed the file. The fixture removes the file if a test fails."""
    file = Path("/run/strays-jobs-come-and-go")
    file.touch()
    yield file
    file.unlink(missing_ok=True)


@pytest.fixture
def node(request):
    """Gives the test a stack of functions. To clean up at the end of the test, the fixture calls these functions, beginning with the newest one."""
    with contextlib.ExitStack() as stack:
        yield stack
    expect_nothing_left()


def loaded(name):
    return run("systemctl", "list-units", "--all", "--no-legend", name).stdout != ""


def unit(node, name, number, *options, user="alice"):
    def end():
        """Waits until systemd has forgotten the unit, because the next test can use the same name."""
        run("systemctl", "kill", "--signal=KILL", f"{name}.service", check=False)
        wait_until(lambda: not loaded(f"{name}.service"), f"{name}.service gone")
    run("systemd-run", "--quiet", f"--unit={name}", f"--uid={user}", "--collect", *options, "sleep", number)
    node.callback(end)
    return sleeper(number)


def scope(node, name, number, *options, user="alice"):
    process = subprocess.Popen(["systemd-run", "--quiet", "--scope", f"--unit={name}", f"--uid={user}", "--collect", *options,
                                "sleep", str(number)])
    # The kernel tells PID 1 some milliseconds after the end of the process that the scope is empty.
    node.callback(wait_until, lambda: not loaded(f"{name}.scope"), f"{name}.scope gone")
    node.callback(process.wait)
    node.callback(process.kill)
    return sleeper(number)


def login(node, number):
    node.callback(run, "systemctl", "stop", f"user@{ALICE}.service")  # without this stop, the user's manager runs for 10 s after the session
    terminal = Terminal(number)
    node.callback(terminal.close)
    return terminal


def lingering(node, user):
    run("loginctl", "enable-linger", user)
    node.callback(run, "systemctl", "stop", f"user@{pwd.getpwnam(user).pw_uid}.service")
    node.callback(run, "loginctl", "disable-linger", user)


def user_unit(user, number, *options):
    wait_until(lambda: Path(f"/run/user/{pwd.getpwnam(user).pw_uid}/systemd/private").exists(), f"the user manager of {user}")
    run(*as_user(user, "systemd-run", "--user", "--quiet", "--collect", *options, "sleep", str(number)))
    return sleeper(number)


def cron_job(node, user, number):
    table = Path("/etc/cron.d/strays")
    table.write_text(f"@reboot {user} exec sleep {number}\n")
    node.callback(table.unlink)
    Path("/run/crond.reboot").unlink(missing_ok=True)
    run("systemctl", "start", "cron")
    node.callback(run, "systemctl", "stop", "cron")
    node.callback(lambda: os.kill(pid, signal.SIGKILL) if alive(pid) else None)
    pid = sleeper(number)
    return pid


def at_job(node, user, number):
    run("systemctl", "start", "atd")
    node.callback(run, "systemctl", "stop", "atd")
    run(*as_user(user, "sh", "-c", f"echo exec sleep {number} | at now"))
    pid = sleeper(number)
    node.callback(lambda: os.kill(pid, signal.SIGKILL) if alive(pid) else None)
    return pid


def open_job(node, key, user):
    run("pinfold", "open", key, "--uid", user, "--linger", "infinity")
    node.callback(run, "pinfold", "end", key)


def moved_out_of_a_job(node, number):
    job = start_job("moved.1", "sh", "-c", f"setpriv --reuid=alice --regid=alice --clear-groups sleep {number} & exec cat",
                    stdin=subprocess.PIPE)
    node.callback(finish, job)
    pid = sleeper(number)
    assert pid not in strays()
    move(pid, "elsewhere")
    node.callback((CGROUP / "elsewhere").rmdir)
    node.callback(wait_until, lambda: not (CGROUP / "elsewhere/cgroup.procs").read_text(), "elsewhere empty")
    node.callback(lambda: os.kill(pid, signal.SIGKILL) if alive(pid) else None)
    return pid


def every_kind(node):
    """Starts stray processes of every kind. Returns a dictionary that maps the name of the kind to the ids of the processes."""
    terminal = login(node, 9001)
    lingering(node, "bob")
    made = {
        "session": [terminal.pid],
        "user-manager": [user_unit("alice", 9002), user_unit("alice", 9003, "--unit=slurmd")],
        "linger": [user_unit("bob", 9004)],
        "cron": [cron_job(node, "bob", 9005)],
        "at": [at_job(node, "alice", 9006)],
        "service": [unit(node, "strays-service", 9007)],
        "batch-system": [unit(node, "pbs", 9008)],
        "container": [scope(node, "libpod-4711", 9009, "--slice=machine.slice"), scope(node, "docker-4711", 9010),
                      user_unit("alice", 9011, "--unit=libpod-0815")],
        "moved": [moved_out_of_a_job(node, 9012)],
        "other": [scope(node, "strays-scope", 9013)],
    }
    made["supervisor"] = [scope(node, "strays-home", 9014)]
    move(made["supervisor"][0], "pinfold.slice")
    return made


ACTED_ON = {"session", "user-manager", "linger", "cron", "at", "container", "moved", "supervisor", "other"}


def legitimate(node):
    """Returns pids of processes that pinfold must never list as strays."""
    pids = [unit(node, "strays-daemon", 9101, user="daemon"), unit(node, "strays-nobody", 9102, user="nobody"),
            unit(node, "strays-dynamic", 9103, "-p", "DynamicUser=yes", user="strays-dynamic"),
            unit(node, "strays-admin", 9104, user="carol"), unit(node, "site-web", 9105), scope(node, "own", 9106, "--slice=site.slice")]
    job = start_job("legitimate.1", "sh", "-c", "setpriv --reuid=alice --regid=alice --clear-groups sleep 9107 & exec cat",
                    stdin=subprocess.PIPE)
    node.callback(finish, job)
    return [*pids, sleeper(9107), job.pid]


EXEMPT = ("--exempt-units", "site-*.service,site.slice")


@pytest.mark.parametrize("with_job", [False, True])
def test_each_kind_is_reported_as_what_it_is(node, with_job):
    if with_job:
        open_job(node, "strays.1", "alice")
    made = every_kind(node)
    right = legitimate(node)
    found = strays(*EXEMPT)
    for kind, pids in made.items():
        assert [found[pid]["kind"] for pid in pids] == [kind] * len(pids)
    assert [found[pid] for pid in right if pid in found] == []
    assert {stray["has_job"] for stray in found.values() if stray["uid"] == ALICE} == {with_job}
    assert {stray["has_job"] for stray in found.values() if stray["uid"] == BOB} == {False}
    others = {pid: stray for pid, stray in found.items() if pid not in sum(made.values(), [])}
    assert {stray["kind"] for stray in others.values()} <= {"user-manager", "linger"}, others  # the managers themselves

    session = found[made["session"][0]]
    assert (session["user"], session["uid"], session["command"]) == ("alice", ALICE, "sleep 9001")
    assert re.fullmatch(r"pts/\d+", session["tty"])
    assert re.fullmatch(r"/user.slice/user-\d+.slice/session-c?\d+.scope", session["cgroup"])
    assert session["unit"] == session["cgroup"].rsplit("/", 1)[1]
    assert Path(f"/proc/{session['parent']}/comm").read_text() == "su\n"
    assert session["rss"] > 0 and 0 < session["age"] < 600 * 10**6
    assert found[made["moved"][0]]["cgroup"] == found[made["moved"][0]]["unit"] == "/elsewhere"
    assert found[made["service"][0]]["tty"] is None


def test_only_of_users_without_a_job(node):
    open_job(node, "strays.2", "alice")
    hers, his = unit(node, "strays-a", 9201), unit(node, "strays-b", 9202, user="bob")
    assert {hers, his} <= set(strays())
    found = strays("--without-job")
    assert his in found and hers not in found


def test_filters(node):
    hers, his = unit(node, "strays-a", 9211), unit(node, "strays-b", 9212, user="bob")
    expected = {("--users", "alice"): {hers}, ("--users", f"alice,{BOB}"): {hers, his}, ("--exempt-users", "alice"): {his},
                ("--exempt-groups", "bob"): {hers}, ("--exempt-units", "strays-a.*"): {his}, ("--exempt-units", "system.slice"): set(),
                ("--commands", "*9211"): {hers}, ("--commands", "*9211", "--commands", "*9212"): {hers, his}, ("--commands", "9211"): set(),
                ("--min-uid", str(BOB)): {his}, ("--max-uid", str(ALICE)): {hers}, ("--min-cpu", "1h"): set()}
    for options, pids in expected.items():
        assert set(strays(*options)) & {hers, his} == pids, options
    assert f"{hers} " not in run("pinfold", "strays").stdout, "it is younger than 60 s"


def test_the_forms_of_the_list(node):
    pid = unit(node, "strays-a", 9221)
    table = run("pinfold", "strays", *NOW).stdout.splitlines()
    assert table[0].split() == ["PID", "USER", "UID", "KIND", "JOB", "AGE", "CPU", "MEMORY", "PARENT", "TTY", "UNIT", "COMMAND"]
    [row] = [line for line in table if line.endswith("sleep 9221")]
    assert row.split()[:5] == [str(pid), "alice", str(ALICE), "service", "no"]
    [pairs] = [dict(word.split("=", 1) for word in shlex.split(line))
               for line in run("pinfold", "strays", "-P", *NOW).stdout.splitlines() if "9221" in line]
    headings = {"HAS_JOB": "JOB", "RSS": "MEMORY"}
    assert [headings.get(name, name) for name in pairs] == table[0].split()
    assert [pairs[name] for name in ("PID", "KIND", "UNIT", "COMMAND")] == [str(pid), "service", "strays-a.service", "/usr/bin/sleep 9221"]


def test_kill_takes_just_the_strays(node):
    made = every_kind(node)
    right = legitimate(node)
    kept = sum((pids for kind, pids in made.items() if kind not in ACTED_ON), [])
    planned = document("--mode=kill", "--dry-run", *EXEMPT)
    assert all(alive(pid) for pid in sum(made.values(), []))
    done = document("--mode=kill", *EXEMPT)
    assert (planned["acted"], done["acted"], planned["reasons"], done["reasons"]) == (False, True, [], [])
    # When pinfold kills one process, other processes may end before pinfold sends them a signal. If pinfold ends the systemd manager of a user, the
    # processes that this manager has started end, too. pinfold checks each process, and then sends the signal. At each of the two steps, pinfold may
    # notice that the process has ended.
    along = [s["pid"] for s in done["strays"] if s["spared"] in (f"process {s['pid']} has ended", "it has ended")]
    told = [[(s["pid"], s["actions"], s["spared"]) for s in report["strays"] if s["pid"] not in along]
            for report in (planned, done)]
    assert told[0] == told[1]
    assert all(alive(pid) for pid in right + kept)
    assert [pid for kind in ACTED_ON for pid in made[kind] if alive(pid)] == []
    assert {s["spared"] for s in done["strays"] if s["pid"] in kept} == {"the chosen kinds do not include the stray's kind"}

    run("pinfold", "strays", "--mode=kill", "--kinds", "service,batch-system", *NOW, *EXEMPT)
    assert [pid for pid in kept if alive(pid)] == []
    assert all(alive(pid) for pid in right)


def test_lines_of_a_dry_run_are_those_of_the_run(node):
    pid, spared = scope(node, "strays-a", 9231), unit(node, "strays-b", 9232)
    options = ("--mode=kill", "--commands", "*sleep 923*", *NOW)
    planned = run("pinfold", "strays", "--dry-run", *options).stdout
    done = run("pinfold", "strays", *options).stdout
    assert planned.splitlines()[0] == f"would send SIGKILL to {pid} of alice (other, strays-a.scope): /usr/bin/sleep 9231"
    assert planned.splitlines()[1].startswith(f"would spare {spared} of alice (service, strays-b.service), because ")
    assert planned.replace("would send", "sent").replace("would spare", "spared") == done
    assert not alive(pid) and alive(spared)


def test_no_more_than_max_kills(node):
    pids = [scope(node, f"strays-{number}", 9240 + number) for number in range(4)]
    done = strays("--mode=kill", "--commands", "*sleep 924*", "--max-kills", "3")
    assert [pid for pid in sorted(pids) if alive(pid)] == sorted(pids)[3:]
    assert done[max(pids)]["spared"] == "max_kills is reached"


def test_stop_gives_a_grace(node):
    """If pinfold sends SIGTERM, even a stopped process ends. A process that ignores SIGTERM gets SIGKILL. If a process survives SIGTERM and comes
    into a job before pinfold sends SIGKILL, the process lives."""
    good, halted = scope(node, "strays-good", 9251), scope(node, "strays-stopped", 9252)
    run("kill", "-STOP", halted)
    deaf = [subprocess.Popen(["systemd-run", "--quiet", "--scope", "--uid=alice", "sh", "-c", "trap '' TERM; echo; exec sleep 9253"],
                             stdout=subprocess.PIPE) for _ in range(2)]
    for process in deaf:
        process.stdout.readline()
        node.callback(process.wait)
        node.callback(process.kill)
    open_job(node, "strays.5", "alice")
    # The grace time is long enough for the steps of the test, even on a busy machine.
    options = ("--mode=stop", "--grace", "8s", "--users", "alice", *NOW)
    stopping = subprocess.Popen(["pinfold", "strays", *options], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: not alive(good) and not alive(halted), "those that heed SIGTERM gone")
    run("pinfold", "adopt", "strays.5", deaf[1].pid)
    out, _ = stopping.communicate(timeout=60)
    assert stopping.returncode == 0, out
    assert f"sent SIGTERM to {good} " in out and f"sent SIGTERM to {halted} " in out
    for process, killed in zip(deaf, (True, False)):
        assert f"sent SIGTERM to {process.pid} " in out
        assert (f"sent SIGKILL to {process.pid} " in out) == killed
        assert alive(process.pid) != killed


def test_warn_writes_to_the_strays_own_terminal(node):
    terminal = login(node, 9261)
    quiet = login(node, 9262)
    while True:  # a terminal that nobody reads
        try:
            os.set_blocking(slave := os.open(f"/proc/{quiet.pid}/fd/0", os.O_WRONLY | os.O_NOCTTY), False)
            os.write(slave, b"x" * 65536)
        except BlockingIOError:
            break
        finally:
            os.close(slave)
    run("pinfold", "strays", "--mode=warn", "--commands", "*sleep 926*", *NOW)
    assert f"is {terminal.pid}, sleep 9261" in terminal.read_until(b"sleep 9261")
    assert alive(terminal.pid) and alive(quiet.pid)
    [entry] = journal_of(terminal.pid)
    assert (entry["PRIORITY"], entry["PINFOLD_STRAY_ACTION"]) == ("4", "warn")


def journal_of(pid):
    lines = read_journal("-o", "json", f"PINFOLD_STRAY_PID={pid}").splitlines()
    return [json.loads(line) for line in lines]


def test_the_timers_service_reports(node):
    pid = unit(node, "strays-a", 9271)
    strays()
    assert journal_of(pid) == [], "somebody only looked"
    with site('[strays]\nmin_age = "0"\n'):
        run("systemctl", "start", "pinfold-strays.service")
    [entry] = journal_of(pid)
    assert (entry["PRIORITY"], entry["MESSAGE_ID"]) == ("5", "781d29d05b0941cfa63c23e315500cce")
    fields = {name: entry[f"PINFOLD_STRAY_{name}"] for name in ("UID", "KIND", "UNIT", "CGROUP", "COMMAND", "ACTION", "HAS_JOB")}
    assert fields == {"UID": str(ALICE), "KIND": "service", "UNIT": "strays-a.service", "CGROUP": "/system.slice/strays-a.service",
                      "COMMAND": "/usr/bin/sleep 9271", "ACTION": "report", "HAS_JOB": "0"}
    assert alive(pid)
    assert run("systemctl", "is-enabled", "pinfold-strays.timer", check=False).stdout == "disabled\n"


@pytest.mark.parametrize("mode", ["warn", "stop", "kill"])
def test_the_timers_service_acts_as_the_site_wants(node, mode):
    terminal = login(node, 9281)
    with site(f'[strays]\nmode = "{mode}"\nmin_age = "0"\ngrace = "5s"\ncommands = ["*sleep 9281"]\n'):
        run("systemctl", "start", "pinfold-strays.service")
    assert alive(terminal.pid) == (mode == "warn")
    if mode == "warn":
        terminal.read_until(b"the administrators may end them")
    assert [entry["PINFOLD_STRAY_ACTION"] for entry in journal_of(terminal.pid)] == [{"warn": "warn", "stop": "SIGTERM", "kill": "SIGKILL"}[mode]]


def refused(pid, *options):
    """Runs `pinfold strays --mode=kill`, and checks that the command lists the stray but does not kill the stray. Returns the command's messages."""
    done = run("pinfold", "strays", "--mode=kill", *NOW, *options, check=False)
    assert done.returncode == 1
    assert any(line.split()[:1] == [str(pid)] for line in done.stdout.splitlines()), done.stdout
    assert "nothing is done to these" in done.stderr
    assert alive(pid)
    return done.stderr


def test_nothing_is_killed_with_an_unreadable_record(node):
    pid = scope(node, "strays-a", 9291)
    record = RECORDS / "strays.6.json"
    record.write_text("{")
    node.callback(record.unlink)
    assert "strays.6.json" in refused(pid)
    assert run("pinfold", "strays", *NOW).returncode == 0
    assert "strays.6.json" in read_journal("-o", "cat", "PINFOLD_EVENT=strays-refused")


def test_nothing_is_killed_beside_a_slice_that_nobody_knows(node):
    pid = scope(node, "strays-a", 9301)
    orphan = scope(node, "job-strays.7", 9302, "--slice=batch-strays.7.slice")
    node.callback(run, "systemctl", "stop", "batch-strays.7.slice")
    assert "batch-strays.7.slice" in refused(pid)
    assert strays()[orphan]["kind"] == "orphan"


def test_nothing_is_killed_while_pinfoldd_hangs(node):
    pid = scope(node, "strays-a", 9311)
    with stopped(daemon_ready()):
        assert "did not answer within " in refused(pid)
    assert run("pinfold", "strays", "--mode=kill", "--commands", "*sleep 9311", *NOW).returncode == 0
    assert not alive(pid)


def test_a_misspelt_key_or_an_unknown_name_kills_nobody(node):
    pid = scope(node, "strays-a", 9321)
    with site('[strays]\nexempt_user = ["alice"]\n', accepted=False):
        assert "exempt_user" in refused(pid)
    assert "nosuchuser" in refused(pid, "--exempt-users", "nosuchuser")
    assert "nosuchgroup" in refused(pid, "--exempt-groups", "nosuchgroup")


def test_where_no_pinfoldd_runs(node):
    pid = scope(node, "strays-a", 9331)
    run("systemctl", "mask", "--runtime", "--now", "pinfoldd.socket", "pinfoldd.service")
    try:
        done = run("pinfold", "strays", *NOW)
        assert f"{pid} " in done.stdout and "pinfoldd is not reachable" in done.stderr
        assert strays()[pid]["has_job"] is None
        assert run("pinfold", "strays", "--without-job", *NOW, check=False).returncode == 1
        assert "pinfoldd is not reachable" in refused(pid)
    finally:
        run("systemctl", "unmask", "--runtime", "pinfoldd.socket", "pinfoldd.service")
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd.service")


def test_who_calls_is_not_ended_by_it(node):
    # The command line of setpriv also contains "sleep". `tr` replaces the zero bytes, because grep would treat a zero byte like the end of a line.
    run("systemd-run", "--quiet", "--wait", "--collect", "sh", "-c",
        "setpriv --reuid=alice --regid=alice --clear-groups sleep 9351 & "
        "until tr '\\0' ' ' </proc/$!/cmdline | grep -q ^sleep; do :; done; "
        "pinfold strays --mode=kill --min-age 0 --kinds service --commands '*sleep 9351' >/run/strays-own; kill -0 $!")
    assert "because this command runs in the same unit as the stray: sleep 9351" in Path("/run/strays-own").read_text()


def test_users_look_and_do_not_touch(node):
    pid = scope(node, "strays-a", 9341)
    assert f"{pid} " in run(*as_user("bob", "pinfold", "strays", *NOW)).stdout
    for mode in ("warn", "stop", "kill"):
        done = run(*as_user("alice", "pinfold", "strays", f"--mode={mode}", *NOW), check=False)
        assert (done.returncode, done.stdout) == (5, "")
    assert alive(pid)


def test_a_live_jobs_supervisor_is_none(node):
    """The job's supervisor runs as the user, outside of the job's scope."""
    with site("[jobs]\nallow_user_jobs = true\n"):
        job = subprocess.Popen(["systemd-run", "--quiet", "--scope", "--uid=alice", "pinfold-run", "--job", "user.strays8", "--", "cat"],
                               stdin=subprocess.PIPE)
        wait_until(lambda: live_jobs().get("user.strays8", {}).get("state") == "running", "user.strays8 running")
        for home in ("its first cgroup", "pinfold.slice"):
            if home == "pinfold.slice":
                wait_until(lambda: "pinfold.slice" in Path(f"/proc/{job.pid}/cgroup").read_text(), "at home")
            done = document("--mode=kill", "--users", "alice", "--kinds", "other,supervisor")
            assert (done["reasons"], job.poll()) == ([], None), home
        finish(job)
        assert job.returncode == 0
    assert main_pid() and BATCH.exists()


def test_a_users_wrappers_are_none_until_they_have_ended(node, goes_on):
    """When a job has ended, the pinfold-run of the job stays in pinfold.slice for a moment, although the job's record is already gone."""
    with site("[jobs]\nallow_user_jobs = true\n"):
        # pinfoldd moves the supervisor of a job 0.2 s after the job's start. Each job runs longer than 0.2 s, so that pinfoldd moves the job's
        # supervisor.
        churn = [subprocess.Popen(as_user("alice", "sh", "-c", f"i=0; while [ $i -lt 15 ] || [ -e {goes_on} ]; do i=$((i + 1)); pinfold-run --job "
                                          f"user.{number}.$i -- sh -c 'sleep 0.3{number}; exit 7'; [ $? = 7 ] || exit 1; done"))
                 for number in range(1, 5)]
        looks = 0
        while any(process.poll() is None for process in churn):
            done = document("--mode=kill", "--kinds", "supervisor")
            assert done["reasons"] == [] and [stray for stray in done["strays"] if stray["kind"] == "supervisor"] == []
            looks += 1
            if looks == 10:
                goes_on.unlink()
        assert [process.wait() for process in churn] == [0] * len(churn)
    assert looks >= 10


def test_jobs_that_come_and_go_are_neither_strays_nor_doubts(node, goes_on):
    """While a job starts or ends, pinfoldd's list, the job's record and the job's cgroup do not agree."""
    as_alice = ["setpriv", "--reuid=alice", "--regid=alice", "--clear-groups"]
    churn = [subprocess.Popen(["sh", "-c", f"i=0; while [ $i -lt 25 ] || [ -e {goes_on} ]; do pinfold-run --job churn.{number}.$i -- {' '.join(as_alice)} "
                                           f"sh -c 'setsid sleep 9361 & sleep 0.0{number}' || exit 1; i=$((i + 1)); done"])
             for number in range(1, 5)]
    looks = 0
    while any(process.poll() is None for process in churn):
        done = document("--mode=kill")
        assert (done["reasons"], done["strays"]) == ([], [])
        looks += 1
        if looks == 10:
            goes_on.unlink()
    assert [process.wait() for process in churn] == [0] * len(churn)
    assert looks >= 10
    assert {(receipt["result"], receipt["exit_status"]) for receipt in receipts() if receipt["key"].startswith("churn.")} == {("exited", 0)}


PROCESSES = 5000


def cost(*command):
    """Returns the output, the CPU time in seconds, and the peak memory in MB."""
    # A small process starts the command. The peak memory that the kernel reports for a child includes the parent's memory at the fork, so the
    # parent must be small.
    program = ("import os, sys; child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ); _, status, used = os.wait4(child, 0); "
               "print(status, used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)")
    done = run("/usr/bin/python3", "-S", "-c", program, *command)
    status, seconds, kilobytes = done.stderr.split()[-3:]
    assert status == "0", done.stderr
    return done.stdout, float(seconds), int(kilobytes) / 1024


def least_cost(runs, *command):
    """Runs the command several times, and returns the result of the run with the least CPU time. A run uses more CPU time if other programs use the
    same CPU cores."""
    return min((cost(*command) for _ in range(runs)), key=lambda result: result[1])


ALL = ("--max-kills", "100000")


# READ_ALL reads three files of each process. The test compares the CPU time of `pinfold strays` with the CPU time of READ_ALL.
READ_ALL = ("sh", "-c", "cat /proc/[0-9]*/stat /proc/[0-9]*/status /proc/[0-9]*/cgroup >/dev/null 2>&1 || true")


@pytest.mark.parametrize("options, most, runs", [((), 8, 3), (("--json",), 8, 3), (("--mode=kill", *ALL, "--dry-run"), 8, 3),
                                                 (("--mode=warn", *ALL), 12, 1), (("--mode=kill", *ALL), 12, 1)])
def test_a_run_with_5000_processes_is_cheap(node, options, most, runs):
    """The CPU time of a run divided by the CPU time of READ_ALL must not exceed the parameter `most`. If pinfold logs each process in the journal and
    looks at each process twice, the test allows more CPU time."""
    crowd = subprocess.Popen(["systemd-run", "--quiet", "--scope", "--unit=strays-crowd", "--uid=alice", ESCAPIST, "many", str(PROCESSES)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert crowd.stdout.readline().startswith(b"ready ")
        _, plain, _ = least_cost(3, *READ_ALL)
        out, cpu, size = least_cost(runs, "pinfold", "strays", *NOW, *options)
        print(f"strays {' '.join(options)}: {cpu:.3f} s CPU, {cpu / plain:.1f} times {plain:.3f} s, {size:.1f} MB")
        assert out.count("escapist many") >= PROCESSES
        assert cpu <= most * plain and size <= 30
    finally:
        run("systemctl", "kill", "--signal=KILL", "strays-crowd.scope", check=False)
        crowd.communicate()
        wait_until(lambda: not (CGROUP / "system.slice/strays-crowd.scope").exists(), "the crowd gone")


def without_first_thread(node, *prefix):
    process = subprocess.Popen([*prefix, *as_alice("/usr/bin/python3", "-c", WITHOUT_FIRST)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    node.callback(process.communicate)
    pid = int(process.stdout.readline())
    node.callback(lambda: os.kill(pid, signal.SIGKILL) if Path(f"/proc/{pid}").exists() else None)
    return pid


def test_a_process_whose_first_thread_ended_in_a_job_is_where_its_others_are(node):
    """If the first thread of a process ends, the kernel continues to show the process in the cgroup of this thread. The other threads may be in a
    different cgroup."""
    pid = without_first_thread(node, "pinfold-run", "--job", "first.1", "--", "sh", "-c", '"$@" & cat', "sh")
    move(pid, "elsewhere")
    node.callback((CGROUP / "elsewhere").rmdir)

    def ended():
        return "populated 0" in (CGROUP / "elsewhere/cgroup.events").read_text()
    node.callback(wait_until, ended, "elsewhere empty")
    node.callback(lambda: ended() or os.kill(pid, signal.SIGKILL))
    assert "first.1" in Path(f"/proc/{pid}/cgroup").read_text()
    found = strays()
    assert pid in found and found[pid]["kind"] == "moved", found
    assert strays("--mode=kill")[pid]["actions"] == ["SIGKILL"]
    wait_until(ended, "its end")


def test_and_in_a_job_it_is_none_wherever_its_first_thread_ended(node):
    pid = without_first_thread(node)
    job = start_job("first.2", "cat", stdin=subprocess.PIPE)
    node.callback(finish, job)
    wait_running("first.2")
    [scope] = BATCH.glob("*first.2*/*.scope")
    (scope / "cgroup.procs").write_text(str(pid))
    assert "first.2" not in Path(f"/proc/{pid}/cgroup").read_text()
    assert pid not in strays()


LOCKED = 7


def test_who_cannot_be_read_is_killed_and_holds_up_nobody(node):
    """alice's file server decides how long the locked processes hang. In the list of processes, bob's stray comes after the locked processes."""
    with locked_memories("alice", LOCKED) as locked:
        behind = subprocess.Popen(["systemd-run", "--quiet", "--scope", "--uid=bob", "--collect", "sleep", "9401"])
        node.callback(behind.wait)
        node.callback(behind.kill)
        bobs = behind.pid
        wait_until(lambda: Path(f"/proc/{bobs}/cmdline").read_bytes().rsplit(b"/")[-1] == b"sleep\x009401\0", "bob's process")
        listed = document(timeout=60)
        found = {stray["pid"]: stray["command"] for stray in listed["strays"]}
        assert [found[pid] for pid in locked] == ["[fuse_hang]"] * LOCKED and found[bobs].endswith("sleep 9401")
        told = [f"process {pid} of user {ALICE} cannot be examined: it hangs, and did not answer within 1 s" for pid in locked[:4]]
        told += [f"process {pid} of user {ALICE} was not examined: 4 examinations of this user's processes still hang" for pid in locked[4:]]
        assert sorted(line for line in listed["unread"] if any(f"process {pid} " in line for pid in locked)) == sorted(told)

        done = document("--mode=kill", check=False, timeout=60)
        killed = {stray["pid"]: stray["actions"] for stray in done["strays"]}
        assert done["reasons"] == [] and [killed[pid] for pid in [bobs, *locked]] == [["SIGKILL"]] * (1 + LOCKED), done
        assert not alive(bobs)
        failures = {stray["pid"]: stray["failure"] for stray in done["strays"]}
        assert {failures[pid] for pid in locked} == {"SIGKILL did not end it: it hangs in the kernel"}


def test_the_timers_sweep_says_who_cannot_be_read_and_ends(node):
    with locked_memories("alice", 1) as [locked]:
        file = Path("/etc/pinfold/pinfold.toml.d/60-strays.toml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('[strays]\nmin_age = "0"\n')
        node.callback(file.unlink)
        run("systemctl", "start", "pinfold-strays", timeout=60)
        # The test searches for the identifier pinfold-strays and not for the unit. If a process ends before journald reads /proc, the journal entry
        # does not contain the unit.
        wait_until(lambda: f"cannot read a command line: process {locked} of user {ALICE} cannot be examined" in
                   read_journal("-o", "cat", "SYSLOG_IDENTIFIER=pinfold-strays", "_TRANSPORT=stdout"), "the line in the journal")
