# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets up a real OpenPBS as docs/schedulers/openpbs.md says, and runs jobs. The server runs on node1, and a MoM runs on each node. The server and
the only MoM can also run on one host. The deadlines are long, because an emulated machine is twenty times slower than a real machine."""

import itertools
import json
import re
from contextlib import contextmanager
from pathlib import Path

from jobs import run, wait_until
from nodes import NODES, ask, on
from two_hosts import put_leave

PREFIX = "/opt/pbs"
HOME = "/var/spool/pbs"
HOOK = "/usr/libexec/pinfold/openpbs"
CPUS = 8  # CPUs of each node
PERIOD = 15  # the seconds from one run of the hook exechost_periodic to the next

# $logevent makes MoM log all events, so that a person can reconstruct the order of the events.
SET_UP = """set -e
printf '%s\\n' PBS_EXEC={prefix} PBS_HOME={home} PBS_SERVER=node1 PBS_START_SERVER={server} PBS_START_SCHED={server} PBS_START_COMM={server} \\
    PBS_START_MOM=1 PBS_SCP=/usr/bin/scp >/etc/pbs.conf
systemctl --quiet disable --now postgresql
{prefix}/libexec/pbs_postinstall
chmod 4755 {prefix}/sbin/pbs_iff {prefix}/sbin/pbs_rcp
printf '%s\\n' '$clienthost node1' '$usecp *:/home/ /home/' '$logevent 0xffffffff' >{home}/mom_priv/config
sed -i 's/^resources: "/&ngpus, vmem, /' {home}/sched_priv/sched_config
systemctl daemon-reload
systemctl start pbs
"""

# PBS cannot use a host name that has only the loopback address. By default, the host name of a box without a network has only the
# loopback address.
OWN_ADDRESS = """set -e
ip address add 10.11.12.1/24 dev lo
printf '%s\\n' '127.0.0.1 localhost' '10.11.12.1 node1' >/etc/hosts
"""

# Except for the last command, the commands of INSTALL are in docs/schedulers/openpbs.md. The last command makes the hook exechost_periodic run often
# enough for the tests.
INSTALL = [
    "create hook pinfold",
    f"import hook pinfold application/x-python default {HOOK}/pinfold_hook.py",
    f"import hook pinfold application/x-config default {HOOK}/pinfold_hook.CF",
    "set hook pinfold event = 'execjob_begin,execjob_launch,execjob_attach,execjob_resize,execjob_postsuspend'",
    "set hook pinfold event += 'execjob_preresume,execjob_epilogue,execjob_end,execjob_abort,exechost_periodic'",
    "set hook pinfold alarm = 90",
    "set hook pinfold freq = 120",
    "set hook pinfold order = 100",
    "set hook pinfold enabled = true",
    f"set hook pinfold freq = {PERIOD}",
]

# The hook PRUNE releases chunks at a job's start. release_nodes() returns an object that refers to the job without raising the job's reference
# count. The hook keeps the returned object in the variable `rest`. If the hook deleted the returned object, Python would free the job,
# which MoM still needs.
PRUNE = """import pbs
event = pbs.event()
if event.job.in_ms_mom() and str(event.job.tolerate_node_failures) == "job_start":
    rest = event.job.release_nodes(keep_select="{kept}")
"""

# This hook delays the launch of a job's script until the file `file` exists. MoM ends a hook after 30 s.
WAIT = """import os, time, pbs
event = pbs.event()
if event.env["PBS_TASKNUM"] == "1":
    open("{file}.waits", "w").close()
    while not os.path.exists("{file}"):
        time.sleep(0.1)
"""

# The script of a job. The script leaves the daemon `sleep SECONDS` behind, and ends when the test makes the file "….go".
WAITS = "$HOME/leave {} ; touch $HOME/$PBS_JOBID.runs; while [ ! -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3"

numbers = itertools.count(1)


def pbs(program, *arguments, user=None, **options):
    command = [f"{PREFIX}/bin/{program}", *arguments]
    return run(*(["runuser", "-u", user, "--", *command] if user else command), **options)


def qmgr(directive, check=True):
    return pbs("qmgr", "-c", directive, check=check)


def start():
    if len(NODES) == 1:
        run("sh", "-c", OWN_ADDRESS)
    for node in NODES:
        on(node, "sh", "-c", SET_UP.format(prefix=PREFIX, home=HOME, server=int(node == "node1")), timeout=1800)
    wait_until(lambda: qmgr("list server", check=False).returncode == 0, "the server answers", 600)
    qmgr("set server flatuid = true")
    qmgr("set server job_history_enable = true")
    qmgr("set server scheduling = true")
    qmgr("create resource ngpus type=long,flag=nh")
    for node in NODES:
        qmgr(f"create node {node}", check=False)  # for the server's own host, the command fails because the node already exists
        wait_until(lambda: vnode(node).get("state") == "free", f"{node} is free", 600)
        qmgr(f"set node {node} resources_available.ncpus = {CPUS}")
        qmgr(f"set node {node} resources_available.ngpus = {CPUS}")
        qmgr(f"set node {node} resources_available.vmem = 64gb")
    for directive in INSTALL:
        qmgr(directive)
    put_leave()
    for node in NODES:
        wait_until(lambda: has_hook(node), f"MoM of {node} has the hook", 600)


def wait_back(node):
    """Waits until the hook has set the vnode online again. The scheduler does not look at the vnode before the scheduler's next cycle. The next cycle
    of the scheduler can be ten minutes later (scheduler_iteration), so wait_back() asks for a cycle."""
    wait_until(lambda: vnode(node)["state"] == "free", f"{node} is back", 600)
    qmgr("set server scheduling = true")


@contextmanager
def second_vnode(node):
    """Gives the host a second vnode, `second`, with its own CPUs and memory. After the test, the vnode `second` stays offline. The function does
    not delete the vnode, because PBS would restore a deleted vnode."""
    lines = ["$configversion 2", "second: resources_available.ncpus = 4", "second: resources_available.mem = 4gb"]
    if "state" not in vnode("second"):  # PBS prints an error if the vnode does not exist
        on(node, "sh", "-c", "printf '%s\\n' \"$@\" >/root/second", "sh", *lines)
        on(node, f"{PREFIX}/sbin/pbs_mom", "-s", "insert", "second", "/root/second")
        on(node, "sh", "-c", f"kill -HUP $(cat {HOME}/mom_priv/mom.lock)")
    wait_until(lambda: "state" in vnode("second"), "the second vnode is there")
    qmgr("set node second state = free")
    wait_until(lambda: vnode("second")["state"] == "free", "the second vnode is free")
    try:
        yield
    finally:
        qmgr("set node second state = offline")


def take_away(name, comment):
    """Does what an administrator does to set one vnode offline. The command pbsnodes -o would set all vnodes of the host offline."""
    qmgr(f"set node {name} state = offline")
    qmgr(f"set node {name} comment = '{comment}'")


@contextmanager
def prune(kept):
    """If a job tolerates the loss of nodes, a hook can release chunks of the job at the job's start. After this release, OpenPBS resizes the job. The
    function prune() installs a hook that releases all chunks except the chunks `kept`."""
    with hook("prune", "execjob_launch", PRUNE.format(kept=kept), order=110):
        yield


@contextmanager
def hook(name, events, text, order):
    """Installs a further hook. pinfold's own hook has the order 100."""
    file = Path("/root", f"{name}.py")
    file.write_text(text)
    for directive in (f"create hook {name}", f"set hook {name} event = '{events}'", f"set hook {name} order = {order}",
                      f"import hook {name} application/x-python default {file}", f"set hook {name} enabled = true"):
        qmgr(directive)
    for node in NODES:
        wait_until(lambda: on(node, "test", "-s", f"{HOME}/mom_priv/hooks/{name}.PY", check=False).returncode == 0, f"MoM of {node} has it")
    try:
        yield
    finally:
        qmgr(f"delete hook {name}")


class Launch:
    """Represents a job on node1 whose launch waits."""

    def __init__(self):
        self.file = Path("/root", f"launch.{next(numbers)}")

    def wait(self):
        wait_until(Path(f"{self.file}.waits").exists, "MoM launches the job")

    def go(self, job):
        """Lets the launch of the job go on, and waits until pinfold's hook has run."""
        self.file.touch()
        ran = re.compile(f"label=hook_execjob_launch_pinfold_{re.escape(job.id)} action=mom_process_hooks .*profile_stop")
        wait_until(lambda: any(map(ran.search, mom_log("node1"))), f"the launch of {job.id} is over")


@contextmanager
def launch_waits():
    """Lets each launch of a job's script wait until launch.go(). pinfold's hook runs after launch.go()."""
    launch = Launch()
    with hook("wait", "execjob_launch", WAIT.format(file=launch.file), order=90):
        yield launch


@contextmanager
def switched_off():
    """Switches pinfold's hook off, and switches the hook on when the `with` block ends."""
    qmgr("set hook pinfold enabled = false")
    try:
        for node in NODES:
            wait_until(lambda: not has_hook(node), f"MoM of {node} has heard that the hook is off")
        yield
    finally:
        qmgr("set hook pinfold enabled = true")
        for node in NODES:
            wait_until(lambda: has_hook(node), f"MoM of {node} has the hook")


def end_mom(node, signal):
    """Ends MoM by a signal and not by systemd. After a call of end_mom(), a test must call start_mom(). If systemd restarted MoM, MoM would run
    without the options of start_mom()."""
    pid = on(node, "cat", f"{HOME}/mom_priv/mom.lock").stdout.strip()
    on(node, "kill", f"-{signal}", pid)
    wait_until(lambda: on(node, "test", "-e", f"/proc/{pid}", check=False).returncode != 0, f"MoM of {node} has ended")


def start_mom(node, *options):
    on(node, "systemd-run", "--quiet", "-p", "Type=forking", "-p", "KillMode=process", f"{PREFIX}/sbin/pbs_mom", *options)
    wait_until(lambda: vnode(node).get("state", "") in ("free", "job-busy"), f"{node} is free")
    wait_until(lambda: has_hook(node), f"MoM of {node} has the hook", 120)


def keep_logs():
    for node in NODES:
        on(node, "sh", "-c", f"cp -r {HOME}/mom_logs {HOME}/server_logs {HOME}/sched_logs /results")


def doctor(node):
    done = on(node, "pinfold", "doctor", "--json", check=False)
    return {finding["id"]: finding for finding in json.loads(done.stdout)["findings"]}


def has_hook(node):
    return doctor(node)["openpbs.hook"]["state"] == "ok"


def vnode(name):
    done = pbs("pbsnodes", "-F", "json", "-v", name, check=False)
    return json.loads(done.stdout)["nodes"].get(name, {}) if done.returncode == 0 else {}


def mom_log(node):
    return on(node, "sh", "-c", f"cat {HOME}/mom_logs/*").stdout.splitlines()


def events(node, event):
    """Returns how often pinfold's hook has run for the event `event`."""
    return sum(f"label=hook_{event}_pinfold_" in line and re.search("action=pbs_python .*profile_stop", line) is not None for line in mom_log(node))


def wait_periodic(node):
    """Waits until the next run of the hook for exechost_periodic is over."""
    before = events(node, "exechost_periodic")
    wait_until(lambda: events(node, "exechost_periodic") > before, "a run of exechost_periodic", 5 * PERIOD)


def delete_all():
    jobs = pbs("qselect", check=False).stdout.split()
    if jobs:
        pbs("qdel", "-W", "force", *jobs, check=False)


def held(jobs):
    return [job.id for job in jobs if job.state() == "H" or job.shown().get("Hold_Types", "n") != "n"]


def limits(job, node="node1"):
    return json.loads(on(node, "pinfold", "limits", job.key, "--json").stdout)["limits"]


def seconds(duration):
    """Converts a duration such as 1:02:03 to seconds."""
    hours, minutes, rest = map(int, duration.split(":"))
    return hours * 3600 + minutes * 60 + rest


class Job:
    """Submits a batch job, which writes its standard output and its standard error to one file. `node` is the node on which the job must run."""

    def __init__(self, script, *options, node=None, user="alice"):
        self.home = Path("/home", user)
        self.out = self.home / f"out.{next(numbers)}"
        file = self.home / "script"  # PBS makes a copy of the script
        file.write_text(f"#!/bin/sh\n{script}\n")
        where = ["-l", f"select=1:ncpus=1:vnode={node}"] if node else []
        self.id = pbs("qsub", "-j", "oe", "-o", self.out, *where, *options, file, user=user, cwd=self.home).stdout.strip()
        self.key = f"pbs.{self.id}"

    def shown(self):
        return json.loads(pbs("qstat", "-x", "-f", "-F", "json", self.id).stdout)["Jobs"][self.id]

    def state(self):
        return self.shown()["job_state"]

    def wait_state(self, *states, deadline=600):
        wait_until(lambda: self.state() in states, f"{self.id} in a state of {states}: {self.shown()}", deadline)
        return self

    def wait(self, deadline=600):
        """Waits until PBS shows the job as finished."""
        return self.wait_state("F", deadline=deadline)

    def wait_file(self, name, deadline=600):
        """Waits until the job has made the file `name` in the user's home directory."""
        wait_until((self.home / name).exists, f"{name} of {self.id}", deadline)
        return (self.home / name).read_text()

    def delete(self):
        pbs("qdel", self.id)

    def output(self):
        return self.out.read_text()

    def node(self):
        return self.shown()["exec_vnode"].strip("(").split(":")[0]

    def receipt(self, node=None):
        """Returns the newest receipt on this node. At least one receipt must exist."""
        return ask(node or self.node(), "receipts", self.key)[0]
