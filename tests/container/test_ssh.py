# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pam_pinfold in a real sshd. The tests check who may log in, into which job, and for how long. The tests in test_pam.py show how each phase
can fail."""

import re
import time
from pathlib import Path

import pytest

from jobs import daemon_ready, expect_nothing_left, live_jobs, processes_with, run, wait_until
from logins import BY_KEY, KEY, logged, open_job, open_ssh, ssh, ssh_at_once, ssh_command, ssh_typing, sshd, stack, where
from sick import down, hung

REFUSED = "You have no job on node1, so you cannot log in here."


@pytest.fixture(scope="module", autouse=True)
def the_sshd():
    with sshd():
        yield


@pytest.fixture(autouse=True)
def plain_stack(the_sshd):
    stack()
    yield
    for key in live_jobs():
        run("pinfold", "stop", "--grace=0", "--wait", key, check=False)  # a job that was ending can be over now
    expect_nothing_left()


def scope(key):
    return re.compile(rf"/batch\.slice/batch-{re.escape(key)}\.slice/job-{re.escape(key)}-\d+\.scope$")


def session_of(user):
    """Returns the open session of the user in logind, or None."""
    for line in run("loginctl", "list-sessions", "--no-legend").stdout.splitlines():
        if line.split()[2] == user:
            return line.split()[0]
    return None


LOOK = "cat /proc/self/cgroup; echo runtime=$XDG_RUNTIME_DIR; test -S \"$XDG_RUNTIME_DIR/bus\" -o -d \"$XDG_RUNTIME_DIR/systemd\" && echo manager; true"


@pytest.mark.parametrize("systemd", ["before", "absent", "after"])
def test_with_pam_systemd_and_without(systemd):
    stack(systemd=systemd)
    refused = ssh("alice", "true", check=False)
    assert refused.returncode == 255 and REFUSED in refused.stderr
    open_job("pbs.1")
    done = ssh("alice", LOOK)
    if systemd == "after":  # pam_systemd takes the session out of the job again, as the manual warns
        assert re.match(r"/user\.slice/user-1000\.slice/session-\w+\.scope", where(done.stdout)), done.stdout
    else:
        assert scope("pbs.1").match(where(done.stdout)), done.stdout
    assert ("runtime=/run/user/1000" in done.stdout and "manager" in done.stdout) == (systemd != "absent"), done.stdout
    wait_until(lambda: session_of("alice") is None, "logind's session over")
    assert "batch.slice" not in where(ssh("root", "cat /proc/self/cgroup").stdout)


def test_logind_keeps_a_session_whose_processes_are_the_jobs():
    open_job("pbs.1")
    session = open_ssh("alice", "echo up; cat")
    assert session.stdout.readline() == "up\n"
    name = session_of("alice")
    shown = run("loginctl", "show-session", name, "-p", "Scope", "-p", "Leader").stdout
    unit = re.search(r"Scope=(\S+)", shown)[1]
    leader = re.search(r"Leader=(\d+)", shown)[1]
    assert scope("pbs.1").match(where(Path(f"/proc/{leader}/cgroup").read_text()))
    wait_until(lambda: run("systemctl", "show", "-P", "ActiveState", unit).stdout == "inactive\n", "logind's scope empty and gone")
    assert run("loginctl", "show-session", name, "-P", "State").stdout == "active\n"
    assert Path("/run/user/1000").is_dir()
    session.communicate("", timeout=300)
    wait_until(lambda: session_of("alice") is None, "logind's session over")


@pytest.mark.parametrize("method", ["password", "keyboard-interactive"])
def test_with_a_password(method):
    refused = ssh_typing("alice", method, "true")
    assert refused.returncode == 255 and REFUSED in refused.stderr, refused
    open_job("pbs.1")
    done = ssh_typing("alice", method, "cat", "/proc/self/cgroup")
    assert done.returncode == 0 and scope("pbs.1").match(where(done.stdout)), done
    assert "session of user alice is part of job pbs.1" in logged()


def test_with_a_terminal():
    open_job("pbs.1")
    done = ssh("alice", "tty; cat /proc/self/cgroup", options=["-tt"])
    assert "/dev/pts/" in done.stdout and "/batch-pbs.1.slice/job-pbs.1-" in done.stdout


def test_files_are_copied_into_the_job_and_not_without_one(tmp_path):
    file = tmp_path / "file"
    file.write_text("content")
    batch = tmp_path / "batch"
    batch.write_text(f"put {file} by-sftp\n")
    scp = [str(part) for part in ["scp", "-q", *BY_KEY, file, "alice@localhost:by-scp"]]
    sftp = [str(part) for part in ["sftp", "-q", *BY_KEY, "-b", batch, "alice@localhost"]]
    home = Path("/home/alice")
    for command in (scp, [*scp[:1], "-O", *scp[1:]], sftp):
        assert run(*command, check=False, timeout=300).returncode != 0
    assert not (home / "by-scp").exists() and not (home / "by-sftp").exists()
    open_job("pbs.1")
    for command, name in ((scp, "by-scp"), ([*scp[:1], "-O", *scp[1:]], "by-scp"), (sftp, "by-sftp")):
        run(*command, timeout=300)
        assert (home / name).read_text() == "content"
        (home / name).unlink()
    assert logged().count("session of user alice is part of job pbs.1") >= 3


def test_a_session_ends_with_the_job():
    open_job("pbs.1")
    session = open_ssh("alice", "echo up; trap '' TERM; sleep 7301; sleep 7301; sleep 7301")
    assert session.stdout.readline() == "up\n"
    assert live_jobs()["pbs.1"]["tasks"] == 1
    run("pinfold", "stop", "--grace=2", "--wait", "pbs.1", timeout=300)
    session.communicate(timeout=300)
    assert session.returncode != 0
    assert processes_with("7301") == {} or all(b"ssh" in command[:4] for command, _ in processes_with("7301").values())
    refused = ssh("alice", "true", check=False)
    assert refused.returncode == 255 and REFUSED in refused.stderr


def test_what_an_editor_leaves_behind_lives_until_the_job_ends():
    """The process leaves the session's process group and terminal, as the remote server of an editor does. The process outlives the connection."""
    open_job("pbs.1")
    ssh("alice", "setsid -f sleep 7302 >/dev/null 2>&1 </dev/null")
    left = wait_until(lambda: [(pid, cgroup) for pid, (command, cgroup) in processes_with("7302").items() if command == b"sleep\0" b"7302\0"],
                      "what it left")
    [(pid, cgroup)] = left
    assert scope("pbs.1").match(where(cgroup))
    ssh("alice", f"kill -0 {pid}")
    wait_until(lambda: live_jobs()["pbs.1"]["tasks"] == 1, "only the first login's task left")
    run("pinfold", "stop", "--wait", "pbs.1", timeout=300)
    assert not Path(f"/proc/{pid}").exists()


def test_connections_that_share_one_share_its_job(tmp_path):
    for key in ("pbs.1", "pbs.2"):
        open_job(key)
    control = ["-oControlMaster=auto", f"-oControlPath={tmp_path}/control", "-oControlPersist=600"]
    first = where(ssh("alice", "cat /proc/self/cgroup", options=control).stdout)
    assert scope("pbs.2").match(first)
    open_job("pbs.3")
    assert where(ssh("alice", "cat /proc/self/cgroup", options=control).stdout) == first, "not the newest by now"
    run("pinfold", "stop", "--wait", "pbs.2", timeout=300)
    wait_until(lambda: not (tmp_path / "control").exists(), "the connection's end", deadline=120)
    assert scope("pbs.3").match(where(ssh("alice", "cat /proc/self/cgroup").stdout))


def test_a_job_that_connects_to_its_own_node_stays_itself():
    for key in ("pbs.1", "pbs.2", "pbs.3"):
        open_job(key)
    inner = " ".join(ssh_command("alice", "cat /proc/self/cgroup")).replace(str(KEY), "/home/alice/key").replace(
        "alice@localhost cat /proc/self/cgroup", "alice@localhost 'cat /proc/self/cgroup'")
    done = run("runuser", "-u", "alice", "--", "pinfold-run", "--job", "pbs.2", "--task", "--", "sh", "-c", inner, timeout=300)
    assert scope("pbs.2").match(where(done.stdout)), done
    assert scope("pbs.3").match(where(ssh("alice", "cat /proc/self/cgroup").stdout)), "from elsewhere: the newest"


@pytest.mark.parametrize("outage", [down, hung], ids=["dead", "hung"])
def test_pinfoldd_is(outage):
    open_job("pbs.1")
    begun = time.monotonic()
    ssh("alice", "true")
    usual = time.monotonic() - begun
    with outage():
        begun = time.monotonic()
        refused = ssh("alice", "true", check=False)
        assert refused.returncode == 255 and "It cannot be checked whether" in refused.stderr
        assert time.monotonic() - begun < usual + 10
        ssh("root", "true")
    daemon_ready()
    assert scope("pbs.1").match(where(ssh("alice", "cat /proc/self/cgroup").stdout))


def test_a_session_that_cannot_be_adopted_runs_nothing():
    open_job("pbs.1")
    run("pinfold", "suspend", "pbs.1")
    refused = ssh("alice", "touch /tmp/it-ran", check=False)
    assert refused.returncode == 254 and "is suspended" in refused.stdout + refused.stderr
    assert not Path("/tmp/it-ran").exists()
    run("pinfold", "resume", "pbs.1")


def test_fifty_at_once():
    open_job("pbs.1")
    logins = ssh_at_once(50, "alice", "cat /proc/self/cgroup")
    assert [status for status, _, _ in logins] == [0] * 50, logins
    places = {where(out) for _, out, _ in logins}
    assert len(places) == 50 and all(scope("pbs.1").match(place) for place in places)
