# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs every phase of pam_pinfold with pamtester. Tests every way in which a phase can fail. test_ssh.py uses sshd."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from jobs import daemon_ready, expect_nothing_left, live_jobs, main_pid, processes_with, run, site, wait_until
from logins import SEEN, Login, account, logged, open_job, seen_cgroup, session, ssh_at_once, sshd, where, write_service
from sick import down, hung

SOCKET = Path("/run/pinfold/wrapper.sock")
NO_PERMISSION = "Permission denied"
NO_ANSWER = "Authentication service cannot retrieve authentication info"
NO_SESSION = "Cannot make/remove an entry for the specified session"
WRONG = "System error"


@pytest.fixture(autouse=True)
def plain_service():
    write_service()
    yield
    for key in live_jobs():
        run("pinfold", "stop", "--grace=0", "--wait", key, check=False)  # a job that was ending can be over now
    expect_nothing_left()


def test_it_has_no_say_in_other_phases():
    for operation in ("authenticate", "setcred", "chauthtok"):
        login = Login("alice", operation)
        assert not login.refused, login


def test_only_pams_functions_are_seen():
    [module] = Path("/usr/lib").glob("*/security/pam_pinfold.so")
    program = "import ctypes, sys\nm = ctypes.CDLL(sys.argv[1])\nprint([n for n in sys.argv[2:] if hasattr(m, n)])"
    names = ["pam_sm_authenticate", "pam_sm_setcred", "pam_sm_acct_mgmt", "pam_sm_open_session", "pam_sm_close_session", "pam_sm_chauthtok"]
    shown = run(sys.executable, "-c", program, module, *names, "_ZN7pinfold7accountERKNS_5LoginERKNS_10PamOptionsE").stdout
    assert shown.strip() == repr(names)
    needed = run("ldd", module).stdout
    assert not [library for library in ("libsystemd", "sdbus", "sqlite", "spdlog", "fmt", "smartcols", "tomlplusplus") if library in needed], needed


def test_without_a_job():
    login = account("alice")
    assert login.refused == NO_PERMISSION
    assert login.said.startswith("You have no job on node1, so you cannot log in here. "), login
    assert "pam_pinfold(pinfold-test:account): user alice is refused: You have no job on node1" in logged()
    login = session("alice")
    assert login.refused == NO_SESSION and login.said.startswith("You have no job on node1"), login


def test_who_wants_no_words_gets_none():
    login = Login("alice", "acct_mgmt(PAM_SILENT)")
    assert login.refused == NO_PERMISSION and login.said == "", login


def test_a_user_whom_nobody_knows():
    assert account("mallory").refused == "User not known to the underlying authentication module"


def test_anothers_job_is_no_job():
    open_job("pbs.1", "bob")
    assert account("alice").refused == NO_PERMISSION
    assert account("bob").refused is None


def test_a_session_is_a_task_of_the_job_and_the_job_goes_on():
    open_job("pbs.1")
    login = account("alice")
    assert not login.refused and login.said == "", login
    for number in (1, 2):
        login = session("alice")
        assert not login.refused and login.said == "", login
        assert seen_cgroup() == f"/batch.slice/batch-pbs.1.slice/job-pbs.1-{number}.scope"
        wait_until(lambda: live_jobs()["pbs.1"]["tasks"] == 0, "the session's task over")
    assert "pam_pinfold(pinfold-test:session): session of user alice is part of job pbs.1" in logged()


def test_what_a_session_leaves_ends_with_the_job():
    write_service(session="")
    with open("/etc/pam.d/pinfold-test", "a") as file:
        file.write("session required pam_exec.so type=open_session /usr/bin/setsid -f /usr/bin/sleep 7113\n")
    open_job("pbs.1")
    assert not session("alice").refused
    # While a process executes another program, the kernel shows an empty command line for a moment.
    [(pid, (_, cgroup))] = wait_until(lambda: processes_with("7113"), "the session's program runs").items()
    assert "/batch-pbs.1.slice/job-pbs.1-1.scope" in cgroup
    assert live_jobs()["pbs.1"]["tasks"] == 1
    run("pinfold", "stop", "--wait", "pbs.1")
    assert not Path(f"/proc/{pid}").exists()


def test_what_a_job_has_for_itself_is_told_to_its_sessions():
    with site('[gpus]\ndevices = ["/dev/null", "/dev/zero"]\nids = ["GPU-a", "GPU-b"]\nenvironment = ["VISIBLE"]\n'):
        open_job("pbs.1", "alice", "--gpu-list", "1")
        assert not session("alice").refused
        assert "VISIBLE=GPU-b" in (SEEN / "environment").read_text().splitlines()
        run("pinfold", "end", "pbs.1")


def test_a_job_that_ends():
    open_job("pbs.1")
    stubborn = subprocess.Popen(["runuser", "-u", "alice", "--", "pinfold-run", "--job", "pbs.1", "--task", "--exec", "--", sys.executable, "-c",
                                 "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(1000)"],
                                stdout=subprocess.PIPE, text=True)
    assert stubborn.stdout.readline() == "up\n"
    run("pinfold", "stop", "--grace=300", "pbs.1")
    login = account("alice")
    assert login.refused == NO_PERMISSION and login.said == "Your job pbs.1 on node1 is ending, so you cannot log in here any more.", login
    login = session("alice")
    assert login.refused == NO_SESSION and "is ending" in login.said, login
    stubborn.kill()
    stubborn.wait()
    stubborn.stdout.close()


def test_a_job_that_ended_between_account_and_session():
    open_job("pbs.1")
    assert not account("alice").refused
    run("pinfold", "end", "pbs.1")
    login = session("alice")
    assert login.refused == NO_SESSION and login.said.startswith("You have no job on node1"), login


def test_a_suspended_job_takes_nobody():
    open_job("pbs.1")
    run("pinfold", "suspend", "pbs.1")
    assert not account("alice").refused, "a job all the same"
    login = session("alice")
    assert login.refused == NO_SESSION
    assert login.said == "Your job pbs.1 on node1 is suspended: you can log in when the job has been resumed.", login
    open_job("pbs.2")
    run("pinfold", "suspend", "pbs.2")
    open_job("pbs.0")
    run("pinfold", "resume", "pbs.1")
    run("pinfold", "stop", "pbs.0", "--wait")
    assert not session("alice").refused
    assert "/batch-pbs.1.slice/" in seen_cgroup(), "pbs.2 is newer, and takes nobody"


def test_of_several_jobs_the_newest_or_none():
    for key in ("pbs.1", "pbs.3", "pbs.2"):
        open_job(key)
    assert not session("alice").refused
    assert "/batch-pbs.2.slice/" in seen_cgroup()
    write_service("several=deny")
    assert not account("alice").refused
    login = session("alice")
    assert login.refused == NO_SESSION
    assert login.said.startswith("You have several jobs on node1 (pbs.2, pbs.3, pbs.1), and it is unclear to which"), login
    run("pinfold", "end", "pbs.2")
    run("pinfold", "end", "pbs.3")
    assert not session("alice").refused, "one is not several"


CONNECT = """
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
print(*s.getsockname(), *s.getpeername(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["IPv4", "IPv6, mapped"])
def test_the_job_that_the_connection_comes_from(family):
    for key in ("pbs.1", "pbs.2", "pbs.3"):
        open_job(key)
    write_service("several=deny")
    with socket.socket(family) as listener:
        listener.bind(("::ffff:127.0.0.1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        listener.listen()
        client = subprocess.Popen(["runuser", "-u", "alice", "--", "pinfold-run", "--job", "pbs.2", "--task", "--exec", "--", sys.executable, "-c",
                                   CONNECT, str(listener.getsockname()[1])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        connection = "SSH_CONNECTION=" + client.stdout.readline().strip()
        login = session("alice", environment=[connection])
        assert not login.refused and "/batch-pbs.2.slice/" in seen_cgroup(), login
        assert session("alice", environment=["SSH_CONNECTION=10.1.1.1 4000 127.0.0.1 22"]).refused == NO_SESSION
        open_job("pbs.4", "bob")
        open_job("pbs.5", "bob")
        assert session("bob", environment=[connection]).refused == NO_SESSION, "nobody comes from another user's job"
        client.communicate()


def test_who_is_in_the_job_already_stays_there():
    """A process that is already in a job opens the session, as su does in a job's script."""
    for key in ("pbs.1", "pbs.2"):
        open_job(key)
    held = subprocess.Popen(["sh", "-c", "read go; exec pamtester pinfold-test alice open_session"], stdin=subprocess.PIPE, text=True)
    run("pinfold", "adopt", "pbs.1", held.pid)
    held.communicate("go\n")
    assert held.returncode == 0 and "/batch-pbs.1.slice/job-pbs.1-1.scope" in seen_cgroup()
    open_job("pbs.3", "bob")
    held = subprocess.Popen(["sh", "-c", "read go; exec pamtester pinfold-test alice open_session"], stdin=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    run("pinfold", "adopt", "pbs.3", held.pid)
    said = held.communicate("go\n")[1]
    assert held.returncode != 0 and "could not be made part of your job pbs.2" in said, "nobody leaves another's job"
    assert "user alice is refused: the process is in a job already" in logged()


def test_members_of_the_groups_need_no_job():
    write_service("admit_groups=nogroup,pinfold-admin")
    assert not account("carol").refused
    assert not session("carol").refused and "batch.slice" not in seen_cgroup()
    assert account("alice").refused == NO_PERMISSION
    open_job("pbs.1", "carol")
    assert not session("carol").refused and "/batch-pbs.1.slice/" in seen_cgroup(), "one with a job joins it"


def test_fifty_logins_at_once():
    open_job("pbs.1")
    with sshd():
        logins = ssh_at_once(50, "alice", "cat /proc/self/cgroup")
        assert [login for login in logins if login[0] != 0] == []
        cgroups = {where(out) for _, out, _ in logins}
        assert len(cgroups) == 50 and all("/batch-pbs.1.slice/job-pbs.1-" in cgroup for cgroup in cgroups)


@contextlib.contextmanager
def missing():
    aside = SOCKET.with_name("aside")
    SOCKET.rename(aside)
    try:
        yield
    finally:
        aside.rename(SOCKET)


@contextlib.contextmanager
def foreign():
    """A user's program listens at pinfoldd's socket in place of pinfoldd. If pam_pinfold trusted the answers of this program, every user could log
    in."""
    program = """
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1]); s.listen(); print("up", flush=True)
while True:
    c = s.accept()[0]
    c.send(b'{"key":"","jobs":[{"key":"pbs.1","state":"running"}]}' if c.recv(9999) else b"")
"""
    with missing():
        SOCKET.parent.chmod(0o777)
        fake = subprocess.Popen(["setpriv", "--reuid=alice", "--regid=alice", "--clear-groups", sys.executable, "-c", program, str(SOCKET)],
                                stdout=subprocess.PIPE, text=True)
        try:
            assert fake.stdout.readline() == "up\n"
            yield
        finally:
            SOCKET.parent.chmod(0o755)
            fake.kill()
            fake.communicate()
            SOCKET.unlink()


@contextlib.contextmanager
def babbling(*answers):
    """Runs a program of root that listens at pinfoldd's socket in place of pinfoldd, and sends the given answers."""
    with missing(), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as fake:
        fake.bind(str(SOCKET))
        fake.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = fake.accept()[0]
                    request = json.loads(connection.recv(65536))
                    connection.send({"list": answers[0], "adopt": answers[-1]}[request["call"]])
                    connection.close()
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            fake.shutdown(socket.SHUT_RDWR)
            thread.join()
            SOCKET.unlink()


# Each phase of a login waits at most PHASE seconds for pinfoldd. A login that took less than PHASE seconds did not wait for pinfoldd. A login that
# took less than 2 * PHASE seconds waited for pinfoldd in at most one phase.
PHASE = 2
OUTAGES = {"hung": hung, "down": down, "socket missing": missing, "another's": foreign, "babbling": lambda: babbling(b"hello")}


@pytest.mark.parametrize("outage", OUTAGES.values(), ids=OUTAGES)
def test_pinfoldd_does_not_answer(outage):
    open_job("pbs.1")
    write_service("admit_groups=pinfold-admin")
    with outage():
        login = account("alice")
        assert login.refused == NO_ANSWER and login.seconds < 2 * PHASE, login
        assert login.said.startswith("It cannot be checked whether you have a job on node1 at the moment, so you cannot log in here."), login
        login = session("alice")
        assert login.refused == NO_SESSION and login.seconds < 2 * PHASE and "It cannot be checked" in login.said, login
        for user in ("root", "carol"):
            login = account(user)
            assert not login.refused and login.said == "" and login.seconds < PHASE, login
        login = session("root")
        assert not login.refused and login.seconds < PHASE and "batch.slice" not in seen_cgroup(), login
        login = session("carol")
        assert not login.refused and login.seconds < 2 * PHASE, login
        write_service("on_failure=admit")
        assert not account("alice").refused and not session("alice").refused
        assert "user alice is admitted because of on_failure=admit: pinfoldd" in logged()
    assert account("alice").refused is None


def test_a_pinfoldd_that_only_says_that_it_adopts():
    """pam_pinfold looks at the cgroup of the process, and does not rely on pinfoldd's answer."""
    jobs = b'{"key":"","jobs":[{"key":"pbs.1","state":"running"}]}'
    write_service("admit_groups=pinfold-admin")
    with babbling(jobs, b'{"key":"pbs.1","task":1}'):
        assert not account("alice").refused
        login = session("alice")
        assert login.refused == NO_SESSION and "could not be made part of your job pbs.1" in login.said, login
        assert "pinfoldd says that the login is in task 1 of job pbs.1, but the login is in /" in logged()
        assert not session("carol").refused and not session("root").refused


def test_a_restart_of_pinfoldd_is_waited_for():
    open_job("pbs.1")
    pid = main_pid()
    os.kill(pid, signal.SIGKILL)
    assert not session("alice").refused
    assert "/batch-pbs.1.slice/" in seen_cgroup()
    daemon_ready(other_than=pid)


def test_who_fills_the_job_does_not_log_in_beside_it():
    """on_failure=admit is for failures that a user cannot cause."""
    write_service("on_failure=admit")
    with site("[jobs]\nmax_tasks = 1\n"):
        open_job("pam.full")
        with subprocess.Popen(["sleep", "1000"], user="alice", group="alice", extra_groups=[]) as task:
            run("pinfold", "adopt", "pam.full", task.pid)
            login = session("alice")
            run("pinfold", "stop", "--grace=0", "--wait", "pam.full")
    assert login.refused == NO_SESSION, seen_cgroup()
    assert "user alice is refused: job 'pam.full' has 1 live tasks already, the maximum (jobs.max_tasks)" in logged()


@pytest.mark.parametrize("options", ["on_failure=admitt", "debug", "admit_groups=", "several"])
def test_a_wrong_option_lets_only_those_in_who_need_no_job(options):
    open_job("pbs.1")
    write_service(f"{options} on_failure=admit admit_groups=pinfold-admin")
    login = account("alice")
    assert login.refused == WRONG and "not set up correctly" in login.said, login
    assert session("alice").refused == NO_SESSION
    assert f"wrong option: '{options}' is not valid: use admit_groups=GROUP" in logged()
    for user in ("root", "carol"):
        assert not account(user).refused and not session(user).refused
