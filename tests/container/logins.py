# SPDX-License-Identifier: LGPL-2.1-or-later
"""Logs users in for the tests of pam_pinfold: with pamtester, or with a real sshd on this node. The module also writes the PAM stacks."""

import contextlib
import os
import re
import shlex
import subprocess
from pathlib import Path

from calls import timed
from jobs import read_journal, run

SERVICE = Path("/etc/pam.d/pinfold-test")
SEEN = Path("/run/pinfold-test")  # each session writes its cgroup and its environment into this directory
PASSWORD = "correct horse battery staple"

LOOK = f"""#!/bin/sh
mkdir -p {SEEN}
cat /proc/self/cgroup >{SEEN}/cgroup
env >{SEEN}/environment
"""


def write_service(options="", account="", session=""):
    """Writes a PAM stack for pamtester. Each session writes its cgroup and its environment to files."""
    script = Path("/usr/local/sbin/pinfold-test-look")
    script.write_text(LOOK)
    script.chmod(0o755)
    SERVICE.write_text(f"auth required pam_permit.so\nauth required pam_pinfold.so\n{account}\naccount required pam_pinfold.so {options}\n"
                       f"password required pam_permit.so\npassword required pam_pinfold.so\n"
                       f"{session}\nsession required pam_pinfold.so {options}\nsession required pam_exec.so type=open_session {script}\n")


class Login:
    """Contains the result of one phase of a login. If the phase failed, `refused` is PAM's name for the result. Otherwise, `refused` is None. `said`
    is the text that the user got."""

    def __init__(self, user, *operations, environment=(), prefix=()):
        for name in SEEN.iterdir() if SEEN.exists() else ():
            name.unlink()
        done, self.seconds = timed(
            lambda: run(*prefix, "pamtester", *[f"-E{variable}" for variable in environment], SERVICE.name, user, *operations, check=False))
        lines = done.stderr.splitlines()
        words = [line for line in lines if line.startswith("pamtester: ")]
        self.said = "\n".join(line for line in lines if line not in words)
        self.refused = words[-1].removeprefix("pamtester: ") if done.returncode else None

    def __repr__(self):
        return f"refused: {self.refused}, said: {self.said}, {self.seconds:.1f} s"


def account(user, **options):
    return Login(user, "acct_mgmt", **options)


def session(user, **options):
    return Login(user, "open_session", "close_session", **options)


def seen_cgroup():
    return where((SEEN / "cgroup").read_text())


def logged():
    return read_journal("-b", "-o", "cat", "-g", r"^pam_pinfold\(")


# The rest of this file sets up sshd, and logs users in by ssh.

DEBIANS = Path("/etc/pam.d/sshd")
CONFIG = Path("/etc/ssh/sshd_config.d/pinfold.conf")
KEY = Path("/root/pinfold-test-key")


def stack(options="", systemd="before"):
    """Writes sshd's PAM stack: the lines from Debian, and the lines that pam_pinfold(8) shows. If `systemd` is "before" or "after", the stack has
    pam_systemd before or after pam_pinfold. The manual shows "before". If `systemd` is "absent", the stack does not have pam_systemd."""
    lines = {"before": "session optional pam_systemd.so\nsession required pam_pinfold.so OPTIONS\n",
             "absent": "session required pam_pinfold.so OPTIONS\n",
             "after": "session required pam_pinfold.so OPTIONS\nsession optional pam_systemd.so\n"}[systemd]
    original = Path("/run/pinfold-debians-sshd")
    if not original.exists():
        original.write_text(DEBIANS.read_text())
    text = original.read_text()
    text = text.replace("@include common-account\n", "@include common-account\naccount required pam_pinfold.so OPTIONS\n")
    text = text.replace("@include common-session\n", "@include common-session\n" + lines)
    assert text.count("pam_pinfold.so") == 2
    DEBIANS.write_text(text.replace("OPTIONS", options))


@contextlib.contextmanager
def sshd():
    """Runs an sshd that admits users by password, key and keyboard-interactive, and root by key. The sshd allows fifty logins at the same moment."""
    original = DEBIANS.read_text()
    CONFIG.write_text("UsePAM yes\nPasswordAuthentication yes\nKbdInteractiveAuthentication yes\nPermitRootLogin yes\n"
                      "MaxStartups 200\nMaxSessions 50\nLoginGraceTime 600\n")
    # Since OpenSSH 9.8, sshd refuses an address for some time after failed logins. All logins of the tests come from one address.
    if tuple(map(int, re.match(r"OpenSSH_(\d+)\.(\d+)", run("ssh", "-V").stderr).groups())) >= (9, 8):
        with CONFIG.open("a") as file:
            file.write("PerSourcePenalties no\n")
    if not KEY.exists():
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", KEY)
    for user in ("root", "alice", "bob", "carol"):
        home = Path(os.path.expanduser(f"~{user}"))
        run("install", "-d", "-m", "700", "-o", user, home / ".ssh")
        run("install", "-m", "600", "-o", user, f"{KEY}.pub", home / ".ssh/authorized_keys")
        run("install", "-m", "600", "-o", user, KEY, home / "key")
    run("chpasswd", input=f"alice:{PASSWORD}\nbob:{PASSWORD}\n", stdin=None)
    stack()
    run("systemctl", "restart", "ssh")  # ssh.service has Type=notify, so systemctl returns only when sshd takes connections
    try:
        yield
    finally:
        # logind keeps a user's manager for 10 s after the user's last session. Tests of other files expect that the users have no processes.
        run("systemctl", "stop", "ssh", "user-*.slice")
        CONFIG.unlink()
        DEBIANS.write_text(original)


OPTIONS = ["-oStrictHostKeyChecking=no", "-oUserKnownHostsFile=/dev/null", "-oGlobalKnownHostsFile=/dev/null",
           "-oConnectTimeout=120"]
BY_KEY = [*OPTIONS, "-oBatchMode=yes", "-i", KEY]


def ssh_command(user, *command, options=()):
    return [str(part) for part in ["ssh", *BY_KEY, *options, f"{user}@localhost", *command]]


def ssh(user, *command, options=(), check=True, **more):
    return run(*ssh_command(user, *command, options=options), check=check, timeout=300, **more)


def open_ssh(user, *command, options=()):
    """Opens a session by ssh. The session stays open. The test can read the output of the session's command."""
    return subprocess.Popen(ssh_command(user, *command, options=options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def ssh_typing(user, method, *command):
    """Logs in with a password. ssh gets the password from a program (SSH_ASKPASS)."""
    askpass = Path("/root/pinfold-askpass")
    askpass.write_text(f"#!/bin/sh\necho {shlex.quote(PASSWORD)}\n")
    askpass.chmod(0o755)
    environment = {**os.environ, "SSH_ASKPASS": str(askpass), "SSH_ASKPASS_REQUIRE": "force"}
    return run("setsid", "ssh", *OPTIONS, "-oPubkeyAuthentication=no", f"-oPreferredAuthentications={method}",
               "-oNumberOfPasswordPrompts=1", f"{user}@localhost", *command, check=False, timeout=300, env=environment)


def ssh_at_once(count, user, *command):
    """Returns the exit status, the output and the errors of each login."""
    logins = [subprocess.Popen(ssh_command(user, *command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True) for _ in range(count)]
    texts = [login.communicate(timeout=600) for login in logins]
    return [(login.returncode, *both) for login, both in zip(logins, texts)]


def where(text):
    """Returns the path of the cgroup. `text` is the content of /proc/PID/cgroup, which may have several lines. The line with the path begins with
    "0::"."""
    return re.search(r"^0::(\S+)$", text, re.M)[1]


def open_job(key, user="alice", *options):
    """Opens a job without any process. The job lives until somebody ends it."""
    run("pinfold", "open", key, "--uid", user, "--linger", "infinity", *options)
