# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the table of permissions in docs/security.md. The bus's policy refuses some calls. pinfoldd asks the bus which user calls, and checks the
user's permission."""

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import expect_nothing_left, live_jobs, receipts, run, wait_until

KEY, LIVE, OVER = "perm.1", "perm.live", "perm.over"
OWNER, OTHER, ADMIN = "alice", "bob", "carol"

# Reads one expression from each line. For each expression, the program prints "+", or the name of the error.
ASK = f"""
import dbus, os, pwd, subprocess, sys
sys.path.append({str(Path(__file__).parent)!r})
from at_the_socket import Refused, add_task, adopt, create
owner = pwd.getpwnam({OWNER!r}).pw_uid
m = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
none = dbus.Dictionary(signature="sv")
own = [subprocess.Popen(["sleep", "1000"]) for _ in range(8)]
def fd(): return os.pidfd_open(own.pop().pid)
def me(): return os.pidfd_open(os.getpid())
def on_bus(): return dbus.types.UnixFd(fd())
print("ready", flush=True)
for line in sys.stdin:
    try:
        eval(line)
        print("+", flush=True)
    except dbus.DBusException as e:
        print(e.get_dbus_name().rpartition(".")[2], flush=True)
    except Refused as e:
        print(e, flush=True)
"""

DENIED, NO_JOB, NO_RECEIPT, EXISTS, BUSY, ENDING = "Denied", "NoSuchJob", "NoSuchReceipt", "AlreadyExists", "Busy", "JobEnding"
BY_THE_BUS = "AccessDenied"

# A request that passes a process to pinfoldd goes through the wrapper's socket, which is open to all users. The table begins with the requests that
# do not change the job. {key} is the key of the job.
LOOKS = {
    "ListProcesses": "m.ListProcesses('{key}')",
    "GetUsage": "m.GetUsage('{key}')",
    "GetIdentity": "m.GetIdentity('{key}')",
}
ACTS = {
    "AddTask": "add_task('{key}', fd())",
    "Adopt": "adopt('{key}', fd(), owner)",
    "SetLimits": "m.SetLimits('{key}', dbus.Dictionary({{'run_time_max': dbus.UInt64(3600 * 10**6)}}, signature='sv'), none)",
    "SuspendJob": "m.SuspendJob('{key}')",
    "ResumeJob": "m.ResumeJob('{key}')",
    "KillJob": "m.KillJob('{key}', 28)",
}
ENDS = {
    "StopJob": "m.StopJob('{key}', none)",
    "WaitTask": "m.WaitTask('{key}', 0)",
    "EndJob": "m.EndJob('{key}', none)",
    "WaitJob": "m.WaitJob('{key}')",
}
ON_A_JOB = {**LOOKS, **ACTS, **ENDS}
RECEIPT = {"GetReceipt": "m.GetReceipt('{key}')"}
PROFILE = {"GetProfile": "m.GetProfile('{key}')"}  # the job may be live or over
EVERYONES = {
    "ListJobs": "m.ListJobs()",
    "ListReceipts": "m.ListReceipts(none)",
}
OF_A_LIVE_JOB = {
    "GetJob": "m.GetJob('{key}')",
    "GetJobByPID": "m.GetJobByPID({pid})",
    "GetJobByUnit": "m.GetJobByUnit('job-{key}.scope')",
}
ADMINS = {
    "OpenJob": "m.OpenJob('{key}.more', dbus.Dictionary({{'uid': dbus.UInt32(1000), 'linger': dbus.UInt64(0)}}, signature='sv'))",
    "VacuumHistory": "m.VacuumHistory(none)",
    "Drain": "m.Drain('test', none)",
    "Undrain": "m.Undrain()",
    "Reconcile": "m.Reconcile(none)",
    "Reload": "m.Reload()",
}


def as_user(user):
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]


class Caller:
    def __init__(self, user=None, job=None):
        become = as_user(user) if user else []
        if job:  # the process belongs to the user only when it is in the job, so that its children are in the job, too
            become = ["sh", "-c", 'read -r _; exec "$@"', "sh", *become]
        self.process = subprocess.Popen([*become, "/usr/bin/python3", "-c", ASK], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)
        if job:
            run("pinfold", "adopt", job, self.process.pid)
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        assert self.process.stdout.readline() == "ready\n"

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def ask(self, verbs, **words):
        said = {}
        for verb, expression in verbs.items():
            self.process.stdin.write(expression.format(**words) + "\n")
            self.process.stdin.flush()
            said[verb] = self.process.stdout.readline().strip()
        return said


@pytest.fixture
def callers():
    """Returns a function that starts a process of the given user. The process calls pinfoldd for the test. If a test passes a job to the function,
    pinfoldd adopts the process into this job."""
    with contextlib.ExitStack() as ends:
        def caller(user=None, job=None):
            made = Caller(user, job)
            ends.callback(made.end)
            return made
        yield caller
    expect_nothing_left()


def all_are(said, verbs):
    return dict.fromkeys(verbs, said)


def open_job(key):
    """Opens a job of the user OWNER, and starts `sleep` in the job as OWNER. SIGWINCH does not end `sleep`."""
    run("pinfold", "open", key, "--uid", OWNER, "--linger", "infinity")
    task = subprocess.Popen(["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--init-groups", "pinfold-run", "--job", key, "--task", "--", "sleep", "1000"])
    # The first process in the list may be pinfoldd's placeholder.
    pid, = wait_until(lambda: [p["pid"] for p in processes(key) if p["command"].startswith("sleep")], f"the process of {key}")
    return task, pid


def processes(key):
    return json.loads(run("pinfold", "ps", key, "--json").stdout)["processes"]


@contextlib.contextmanager
def live_job(key=LIVE):
    task, pid = open_job(key)
    try:
        yield pid
    finally:
        run("pinfold", "stop", "--grace", "0", key, check=False)
        task.wait(timeout=60)


def end_job(key=OVER):
    task, _ = open_job(key)
    run("pinfold", "end", key)
    task.wait(timeout=60)


def test_no_job(callers):
    for user in (None, ADMIN, OWNER, OTHER):
        caller = callers(user)
        assert caller.ask(ON_A_JOB, key="perm.none") == {**all_are(NO_JOB, ON_A_JOB), "WaitTask": "+"}, user
        assert caller.ask({**RECEIPT, **PROFILE}, key="perm.none") == {"GetReceipt": NO_RECEIPT, "GetProfile": NO_RECEIPT}, user
        assert caller.ask(EVERYONES) == all_are("+", EVERYONES), user


@pytest.mark.parametrize("user", [OWNER, OTHER])
def test_what_only_admins_may(callers, user):
    assert callers(user).ask(ADMINS, key=KEY) == all_are(DENIED, ADMINS)
    # pinfoldd first checks whether the user is allowed to make the request. pinfoldd looks at the request's arguments only after this check.
    nonsense = "dbus.Dictionary({{'nonsense': dbus.UInt64(1)}}, signature='sv')"
    for call in (f"m.Reconcile({nonsense})", f"m.Drain('', {nonsense})", f"m.VacuumHistory({nonsense})", f"m.OpenJob('', {nonsense})"):
        assert callers(user).ask({"call": call}) == {"call": DENIED}, call
    assert callers(user).ask({"CreateJob": "create('perm.2', fd())"}) == {"CreateJob": DENIED}
    assert live_jobs() == {}


@pytest.mark.parametrize("user", [None, ADMIN])
def test_what_admins_may(callers, user):
    assert callers(user).ask(ADMINS, key=f"{KEY}{user}") == all_are("+", ADMINS)


def test_a_live_job_and_another_user(callers):
    with live_job() as pid:
        before = processes(LIVE)
        caller = callers(OTHER)
        assert caller.ask({**ON_A_JOB, **PROFILE}, key=LIVE) == all_are(DENIED, {**ON_A_JOB, **PROFILE})
        assert caller.ask(RECEIPT, key=LIVE) == {"GetReceipt": NO_RECEIPT}
        assert caller.ask({**EVERYONES, **OF_A_LIVE_JOB}, key=LIVE, pid=pid) == all_are("+", {**EVERYONES, **OF_A_LIVE_JOB})
        assert [(p["pid"], p["task"]) for p in processes(LIVE)] == [(p["pid"], p["task"]) for p in before]
        assert live_jobs()[LIVE]["state"] == "running"


def test_a_live_job_and_another_user_at_the_socket():
    with live_job():
        before = processes(LIVE)
        for role in ("--task", "--batch"):
            said = run("setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--init-groups", "pinfold-run", "--job", LIVE, role, "--", "echo", "ran", check=False)
            assert (said.returncode, said.stdout) == (125, "") and "belongs to another user" in said.stderr, said
        assert [(p["pid"], p["task"]) for p in processes(LIVE)] == [(p["pid"], p["task"]) for p in before]
    expect_nothing_left()


@pytest.mark.parametrize("user", [None, ADMIN, OWNER])
def test_a_live_job_and_who_may(callers, user):
    key = f"{LIVE}{user}"
    with live_job(key) as pid:
        caller = callers(user)
        assert caller.ask({**LOOKS, **ACTS, **OF_A_LIVE_JOB, **EVERYONES}, key=key, pid=pid) == all_are("+", {**LOOKS, **ACTS, **OF_A_LIVE_JOB, **EVERYONES})
        assert caller.ask({**RECEIPT, **PROFILE}, key=key) == {"GetReceipt": NO_RECEIPT, "GetProfile": "+"}
        run("pinfold", "suspend", key)
        held = {"AddTask": ACTS["AddTask"], "Adopt": ACTS["Adopt"]}
        assert caller.ask({**LOOKS, **held}, key=key) == {**all_are("+", LOOKS), **all_are(BUSY, held)}
        assert caller.ask({"SuspendJob": ACTS["SuspendJob"], "ResumeJob": ACTS["ResumeJob"]}, key=key) == {"SuspendJob": "+", "ResumeJob": "+"}
        assert caller.ask(ENDS, key=key) == all_are("+", ENDS)


def test_a_process_of_the_job_is_its_owner_and_adds_nothing(callers):
    with live_job():
        inside = callers(OWNER, LIVE)
        offers = {"AddTask": "add_task('{key}', me())", "Adopt": "adopt('{key}', me(), owner)", "Create": "create('{key}.x', me())"}
        assert inside.ask(offers, key=LIVE) == all_are(DENIED, offers)
        may = {**LOOKS, "SetLimits": ACTS["SetLimits"], "KillJob": ACTS["KillJob"]}
        assert inside.ask(may, key=LIVE) == all_are("+", may)


def test_a_job_that_is_ending(callers):
    with live_job():
        stubborn = ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 1000 & wait; done"]
        held = subprocess.Popen(stubborn, text=True, stdout=subprocess.PIPE)
        assert held.stdout.readline() == "up\n"
        run("pinfold", "adopt", LIVE, held.pid)
        run("pinfold", "stop", "--grace", "3600", LIVE)
        late = {verb: ACTS[verb] for verb in ("AddTask", "Adopt", "SetLimits", "SuspendJob", "ResumeJob")}
        for user in (None, ADMIN, OWNER):
            assert callers(user).ask({**LOOKS, **late}, key=LIVE) == {**all_are("+", LOOKS), **all_are(ENDING, late)}, user
        assert callers(OTHER).ask(ON_A_JOB, key=LIVE) == all_are(DENIED, ON_A_JOB)
        assert held.poll() is None
        held.kill()
        held.wait()
        wait_until(lambda: LIVE not in live_jobs(), "its end")


def test_a_job_that_is_over(callers):
    end_job()
    live_only = {**LOOKS, **ACTS, "StopJob": ENDS["StopJob"]}
    told = {**RECEIPT, **PROFILE, "EndJob": ENDS["EndJob"], "WaitJob": ENDS["WaitJob"]}
    for user in (None, ADMIN, OWNER, OTHER):
        caller = callers(user)
        assert caller.ask(live_only, key=OVER) == all_are(NO_JOB, live_only), user
        # Several users may have used the same key. To an ordinary user other than the job's owner, pinfoldd answers as if the job had never existed.
        theirs = {"GetReceipt": NO_RECEIPT, "GetProfile": NO_RECEIPT, "EndJob": NO_JOB, "WaitJob": NO_JOB}
        assert caller.ask(told, key=OVER) == (theirs if user == OTHER else all_are("+", told)), user
        assert caller.ask({"WaitTask": ENDS["WaitTask"]}, key=OVER) == {"WaitTask": "+"}, user
    assert len(receipts(OVER)) == 1


def test_the_key_of_a_live_job(callers):
    with live_job():
        create = {"CreateJob": "create('{key}', fd())"}
        assert callers().ask(create, key=LIVE) == {"CreateJob": EXISTS}
        for user in (OWNER, OTHER):
            assert callers(user).ask(create, key=LIVE) == {"CreateJob": DENIED}, user


@pytest.mark.parametrize("user", [None, ADMIN, OWNER, OTHER])
def test_who_may_pass_processes_on_the_bus(callers, user):
    """The bus refuses every message in which an ordinary user sends a descriptor, so the descriptor never reaches pinfoldd."""
    with live_job():
        passes = {"CreateJob": "m.CreateJob('{key}', on_bus(), none)", "AddTask": "m.AddTask('{key}', on_bus(), none)",
                  "Adopt": "m.Adopt('{key}', [on_bus()])"}
        said = callers(user).ask(passes, key=LIVE)
        assert said == ({"CreateJob": EXISTS, "AddTask": "+", "Adopt": "+"} if user in (None, ADMIN) else all_are(BY_THE_BUS, passes))


def test_the_owner_adopts_by_the_command_line():
    """`pinfold adopt` makes one request for each process, because a request at the wrapper's socket can pass at most one process."""
    with live_job(), contextlib.ExitStack() as ends:
        *own, bobs = [subprocess.Popen(["sleep", "1000"], user=user, group=user, extra_groups=[]) for user in (OWNER, OWNER, OTHER)]
        for process in (*own, bobs):
            ends.callback(process.wait)
            ends.callback(process.kill)
        refused = run(*as_user(OWNER), "pinfold", "adopt", LIVE, *(process.pid for process in own), check=False)
        assert refused.returncode == 5 and "run `pinfold adopt` once for each process" in refused.stderr, refused
        for number, process in enumerate(own, 2):
            assert run(*as_user(OWNER), "pinfold", "adopt", LIVE, process.pid).stdout == f"task {number} of job {LIVE}: job-{LIVE}-{number}.scope\n"
        assert {p["pid"] for p in processes(LIVE)} >= {process.pid for process in own}
        denied = run(*as_user(OTHER), "pinfold", "adopt", LIVE, bobs.pid, check=False)
        assert denied.returncode == 5 and bobs.pid not in {p["pid"] for p in processes(LIVE)}, denied
    expect_nothing_left()


def test_the_owner_reaches_nothing_of_roots(callers):
    """Some batch systems run an epilogue as root inside the job. The kernel does not let the job's owner send a signal to root's epilogue. If the
    job's owner asks pinfoldd to send a signal, pinfoldd does not send the signal to root's epilogue."""
    with live_job() as pid, contextlib.ExitStack() as ends:
        epilogue = subprocess.Popen(["sleep", "1000"])
        ends.callback(epilogue.kill)
        run("pinfold", "adopt", LIVE, epilogue.pid)
        owner = callers(OWNER)
        assert owner.ask({"SuspendJob": "m.SuspendJob('{key}')"}, key=LIVE) == {"SuspendJob": DENIED}
        assert owner.ask({"KillJob": "m.KillJob('{key}', 9)"}, key=LIVE) == {"KillJob": "+"}
        wait_until(lambda: [p["pid"] for p in processes(LIVE)] == [epilogue.pid], f"the end of {pid}")
        assert epilogue.poll() is None
        assert owner.ask({"KillJob": "m.KillJob('{key}', 9)"}, key=LIVE) == {"KillJob": DENIED}
        assert callers().ask({"KillJob": "m.KillJob('{key}', 9)"}, key=LIVE) == {"KillJob": "+"}
        assert epilogue.wait(timeout=60) == -signal.SIGKILL
