# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets up a real Torque as docs/schedulers/torque.md says, and runs jobs. The server and the scheduler run on node1, and a pbs_mom runs on each
node."""

import contextlib
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from jobs import read_journal, run, wait_until
from nodes import NODES, ask, on
from terminal import Terminal
from two_hosts import put_leave

PREFIX = "/opt/torque"
HOME = "/var/spool/torque"
PROGRAMS = "/usr/libexec/pinfold"
SERVER = "node1.example.org"
CPUS = 8  # CPUs of each node

# pbs_server accepts root as a manager only if the name of the host has a domain.
SET_UP = """set -e
printf '%s\\n' '127.0.0.1 localhost' '10.11.12.1 node1.example.org node1' '10.11.12.2 node2.example.org node2' >/etc/hosts
echo {prefix}/lib >/etc/ld.so.conf.d/torque.conf
ldconfig
echo {server} >{home}/server_name
cd {home}/mom_priv
ln -s {programs}/torque-prologue prologue
ln -s {programs}/torque-prologue prologue.parallel
ln -s {programs}/torque-epilogue epilogue
ln -s {programs}/torque-epilogue epilogue.parallel
printf '%s\\n' '$pbsserver {server}' '$usecp *:/home/ /home/' '$logevent 0x1ff' '$loglevel 4' >config
echo '$job_starter {programs}/torque-job-starter' >>config
echo '$node_check_script {programs}/torque-node-check' >>config
echo '$node_check_interval 1,jobstart,jobend' >>config
for program in trqauthd pbs_server pbs_mom; do
    printf '%s\\n' '[Service]' "ExecStart={prefix}/sbin/$program -F" KillMode=process >/etc/systemd/system/$program.service
done
systemctl daemon-reload
"""

numbers = itertools.count(1)


def torque(program, *arguments, user=None, **options):
    command = [f"{PREFIX}/bin/{program}", *arguments]
    return run(*(["runuser", "-u", user, "--", *command] if user else command), **options)


def qmgr(directive, check=True):
    return torque("qmgr", "-c", directive, check=check)


def version():
    """If the sources are from a branch, the version is the branch's name."""
    return re.search("Version: (.*)", torque("qstat", "--version").stderr).group(1).strip()


def start():
    for node in NODES:
        on(node, "sh", "-c", SET_UP.format(prefix=PREFIX, home=HOME, programs=PROGRAMS, server=SERVER))
    run("systemctl", "start", "trqauthd")
    run("sh", "-c", f"echo y | {PREFIX}/sbin/pbs_server -t create -f")
    wait_until(lambda: qmgr("list server", check=False).returncode == 0, "the server answers")
    for directive in ("create queue batch queue_type=Execution,enabled=true,started=true,resources_default.walltime=3600",
                      "set server default_queue=batch,scheduling=true,keep_completed=3600,scheduler_iteration=5,mom_job_sync=true",
                      f"set server managers=root@{SERVER}", f"set server operators=root@{SERVER}"):
        qmgr(directive)
    torque("qterm", "-t", "quick")
    Path(HOME, "server_priv/nodes").write_text("".join(f"{node} np={CPUS}\n" for node in NODES))  # `pbs_server -t create` has removed the file
    run("systemctl", "start", "pbs_server")
    run("systemd-run", "--unit=pbs_sched", "--property=Type=forking", f"{PREFIX}/sbin/pbs_sched")
    put_leave()
    for name in NODES:
        on(name, "systemctl", "start", "pbs_mom")
        wait_state(name, "free")


def node(name):
    done = torque("pbsnodes", "-x", name, check=False)
    return {part.tag: part.text for part in ElementTree.fromstring(done.stdout).find("Node")} if done.returncode == 0 else {}


def wait_state(name, state, deadline=180):
    """Each pbs_mom reports to the server every 45 s."""
    wait_until(lambda: node(name).get("state") == state, f"{name} is {state}: {node(name)}", deadline)


def wait_down(name, reason):
    """The server can set the node down before the server knows the reason. pbs_mom sends the reason only with its next report to the server."""
    wait_state(name, "down")
    wait_until(lambda: reason in torque("pbsnodes", "-l", "-n").stdout, f"{name} is down for the reason '{reason}'", 180)
    print(torque("pbsnodes", "-l", "-n").stdout)


def mom_log(name):
    return on(name, "sh", "-c", f"cat {HOME}/mom_logs/*").stdout.splitlines()


def keep_logs():
    for name in NODES:
        on(name, "sh", "-c", f"cp -r {HOME}/mom_logs /results")
    run("sh", "-c", f"cp -r {HOME}/server_logs {HOME}/sched_logs /results")


def delete_all():
    torque("qdel", "all", check=False)


@contextlib.contextmanager
def changed_config(change):
    """Changes the configuration of node1's pbs_mom. The earlier configuration comes back when the `with` block ends."""
    file = Path(HOME, "mom_priv/config")
    text = file.read_text()
    file.write_text(change(text))
    run("systemctl", "restart", "pbs_mom")
    try:
        yield
    finally:
        file.write_text(text)
        run("systemctl", "restart", "pbs_mom")


def mom_config(line):
    return changed_config(lambda text: f"{text}{line}\n")


def without_node_check():
    return changed_config(lambda text: "".join(line for line in text.splitlines(keepends=True) if not line.startswith("$node_check")))


@contextlib.contextmanager
def site_scripts(**scripts):
    """Until the `with` block ends, node1's pbs_mom runs `scripts` in place of pinfold's programs. If the text of a script is None, pbs_mom does not
    have the script."""
    folder = Path(HOME, "mom_priv")
    try:
        for name, text in scripts.items():
            (folder / name).unlink()
            if text is not None:
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)
        yield
    finally:
        for name in scripts:
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(f"{PROGRAMS}/torque-{name}")


def wait_back(name):
    """Waits until the node has the state "free". If a node has refused three jobs in a row, pbs_server sends no jobs to this node for five
    minutes."""
    wait_state(name, "free", 400)


def sent_back(job):
    """Returns the prologue's messages about the refused batch job. The prologue does not run for a job that pbs_mom itself refuses. start_count
    includes even the starts that pbs_mom itself refuses. pbs_mom sends its status every 45 s. Until the server has the new status, the server
    sends a job in each scheduler cycle, and pbs_mom refuses the job."""
    said = read_journal("-o", "cat", "-t", "torque-prologue").splitlines()
    return [line for line in said if line.startswith(f"job {job.key} goes back to the queue: ")]


def alive(command):
    return [name for name in NODES if command in on(name, "ps", "-eo", "args").stdout]


def doctor(name):
    """Returns the findings of `pinfold doctor` about Torque on the node. The result maps the id of each finding to the state and the text of the
    finding."""
    findings = json.loads(on(name, "pinfold", "doctor", "--json", check=False).stdout)["findings"]
    return {found["id"]: (found["state"], found["found"]) for found in findings if found["id"].startswith("torque.")}


class Submitted:
    def __init__(self, number):
        self.id = number
        self.key = f"torque.{number}"

    def shown(self):
        job = ElementTree.fromstring(torque("qstat", "-x", "-f", self.id).stdout).find("Job")
        return {part.tag: part.text for part in job}

    def state(self):
        return self.shown()["job_state"]

    def status(self):
        return int(self.shown()["exit_status"])

    def starts(self):
        return int(self.shown().get("start_count", 0))

    def is_held(self):
        return self.state() == "H" or self.shown().get("Hold_Types", "n") != "n"

    def unit(self):
        """Returns the job's key in the form that the names of units and cgroups contain."""
        return run("systemd-escape", self.key).stdout.strip()

    def wait_state(self, *states, deadline=120):
        wait_until(lambda: self.state() in states, f"{self.id} in a state of {states}: {self.shown()}", deadline)
        return self

    def wait(self, deadline=180):
        """Waits until Torque shows the job as completed."""
        return self.wait_state("C", deadline=deadline)

    def delete(self):
        torque("qdel", self.id)

    def node(self):
        """Returns the node of the mother superior."""
        return self.shown()["exec_host"].partition("/")[0]

    def limits(self):
        return json.loads(on(self.node(), "pinfold", "limits", self.key, "--json").stdout)["limits"]

    def receipts(self, name=None):
        """Returns the receipts on this node, the newest first."""
        return ask(name or self.node(), "receipts", self.key)

    def receipt(self, name=None):
        """Returns the newest receipt of the job on the node. The test fails if the node has no receipt of the job."""
        return self.receipts(name)[0]


class Job(Submitted):
    """Submits a batch job, which writes its standard output and its standard error to one file. `nodes` is the value of -l nodes=."""

    def __init__(self, script, *options, nodes=None, user="alice"):
        self.home = Path("/home", user)
        self.out = self.home / f"out.{next(numbers)}"
        file = self.home / "script"  # Torque makes a copy of the script
        file.write_text(f"#!/bin/sh\n{script}\n")
        where = ["-l", f"nodes={nodes}"] if nodes else []
        super().__init__(torque("qsub", "-j", "oe", "-o", f"{SERVER}:{self.out}", *where, *options, file, user=user, cwd=self.home).stdout.strip())

    def wait_file(self, name, deadline=120):
        """Waits until the job has made the file `name` in the user's home directory."""
        wait_until((self.home / name).exists, f"{name} of {self.id}: {self.shown()}", deadline)

    def output(self):
        return self.out.read_text()


class Interactive(Submitted):
    """Starts an interactive job on node1. The user alice calls `qsub -I` at a terminal."""

    def __init__(self):
        self.terminal = Terminal("runuser", "-u", "alice", "--", f"{PREFIX}/bin/qsub", "-I", "-l", "nodes=node1",
                                 cwd="/home/alice")
        self.terminal.read_until("to start")
        super().__init__(re.search("waiting for job ([^ ]+) to start", self.terminal.seen).group(1))
        self.typed = 0

    def ready(self):
        self.terminal.read_until(" ready")
        return self

    def type(self, line):
        """Types a command, and waits until the command has ended."""
        self.typed += 1
        self.terminal.type(f"{line}; echo typed-$(({self.typed} + 0))")
        self.terminal.read_until(f"typed-{self.typed}")
