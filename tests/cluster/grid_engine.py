# SPDX-License-Identifier: LGPL-2.1-or-later
"""Controls a Grid Engine cell of one or more nodes, and the jobs of the cell. The queue master runs on the node of the tests."""

import itertools
from pathlib import Path

from jobs import run, wait_until
from nodes import on

QUEUE = "batch.q"
SLOTS = 16  # slots of each node
SPOOL = "/var/spool/gridengine/execd"
SHEPHERD = "/usr/lib/gridengine/sge_shepherd"
PARALLEL = "/usr/share/gridengine/util/resources/pe"
PLAIN = "none"
PINFOLD = "/usr/libexec/pinfold/grid-engine-shepherd"
FILES = Path("/run/grid-engine-cell")
# STATE is a shell command. It prints what Grid Engine has recorded of a job, and the processes of Grid Engine and pinfold on the node.
STATE = """qstat -j {job}; tail -n 20 /var/spool/gridengine/qmaster/messages {spool}/messages
find {spool}/active_jobs/{job}.* -name trace -exec tail -v -n 20 {{}} +
ps -ewwo pid,ppid,lstart,stat,wchan:20,cgroup:60,args | grep -e sge_ -e qrsh -e pinfold"""

revisions = itertools.count(1)


def settings(text):
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {key: value.strip() for key, value in pairs}


def shown(*question):
    return settings(run("qconf", *question).stdout)


def store(option, name, values):
    """qconf takes the name of the configuration from the name of the file."""
    FILES.mkdir(exist_ok=True)
    file = FILES / name
    file.write_text("".join(f"{key} {value}\n" for key, value in values.items()))
    run("qconf", option, file)


def start(*nodes, **local):
    """`local` maps a node to settings that only this node gets. The configuration of the cell does not contain the settings in `local`."""
    run("systemctl", "start", "gridengine-master", timeout=300)
    wait_until(lambda: run("qconf", "-sh", check=False).returncode == 0, "the queue master answers", 120)
    for node in nodes:
        run("qconf", "-ah", node, check=False)  # the master's own host is an execution host already
        run("qconf", "-as", node)
    for node, values in local.items():
        store("-Aconf", node, values)
    store("-Ahgrp", "allhosts", {"group_name": "@allhosts", "hostlist": " ".join(nodes)})
    for name, rule in (("smp", "$pe_slots"), ("mpi", "$round_robin")):
        store("-Ap", name, {**settings(Path(PARALLEL, name).read_text()), "allocation_rule": rule})
    # Other programs make the processors of the cluster busy, but Grid Engine must not delay jobs because of this load.
    store("-Aq", QUEUE, {**shown("-sq"), "qname": QUEUE, "hostlist": "@allhosts", "slots": SLOTS, "pe_list": "smp mpi",
                         "shell_start_mode": "unix_behavior", "load_thresholds": "NONE"})
    store("-Msconf", "scheduler", {**shown("-ssconf"), "schedule_interval": "0:0:1", "flush_submit_sec": 1, "flush_finish_sec": 1,
                                   "job_load_adjustments": "NONE"})
    # When a setting has changed, each daemon learns the new value in the answer to its next load report.
    store("-Mconf", "global", {**shown("-sconf", "global"), "load_report_time": "00:00:01", "reporting_params":
                               "accounting=true reporting=false flush_time=00:00:01 joblog=false sharelog=00:00:00"})
    for node in nodes:
        on(node, "systemctl", "start", "gridengine-exec", timeout=300)


def configure(**changes):
    """Changes the cell's configuration, and waits until all nodes start jobs with the new configuration."""
    nodes = shown("-shgrp", "@allhosts")["hostlist"].split()
    # Of all numbers in the configuration, only min_uid appears in a job's spool directory. Each value of min_uid is below the user ids of the tests'
    # users, so that the users may run jobs.
    mark = next(revisions)
    store("-Mconf", "global", {**shown("-sconf", "global"), **changes, "min_uid": mark})

    def arrived():
        probes = [Job("cat $SGE_JOB_SPOOL_DIR/config", node=node) for node in nodes]
        return all(f"min_uid={mark}\n" in probe.wait().output() for probe in probes)
    wait_until(arrived, f"the configuration with {changes} on {nodes}", 120)


def queue_state(node):
    """Returns the state of the node's queue as qstat shows it. The state is "" if the queue takes jobs."""
    for line in run("qstat", "-f").stdout.splitlines():
        fields = line.split()
        if fields and fields[0] == f"{QUEUE}@{node}":
            return fields[5] if len(fields) > 5 else ""
    raise AssertionError("no such queue")


class Job:
    """A batch job. `node` is the node on which the job must run, or None for any node. `errors` is a file for standard error. If `errors`
    is None, standard error goes to the file of standard output."""

    def __init__(self, script, *options, user="alice", node=None, errors=None):
        self.node, self.user, self.home = node, user, Path("/home", user)
        file = self.home / "script"  # Grid Engine makes a copy of the script
        file.write_text(f"#!/bin/sh\n{script}\n")
        where = ["-l", f"hostname={node}"] if node else []
        said = ["-e", errors] if errors else ["-j", "y"]
        self.id = run(*self.as_user("qsub", "-terse", "-N", "job", *said, "-o", f"{self.home}/$JOB_ID.$TASK_ID", *where, *options,
                                    file), cwd=self.home).stdout.split(".")[0].strip()

    def as_user(self, *command):
        return ["runuser", "-u", self.user, "--", *command]

    def key(self, task=None):
        return f"sge.{self.id}" + (f".{task}" if task else "")

    def output(self, task=None):
        file = self.home / f"{self.id}.{task or 0}"
        return file.read_text() if file.exists() else ""

    def wait_output(self, text, task=None):
        """Waits until the job has written a line that begins with `text`. Returns the words that follow `text` in this line."""
        line = wait_until(lambda: next((line for line in self.output(task).splitlines(True)
                                        if line.startswith(text) and line.endswith("\n")), None), f"'{text}' from job {self.id}")
        return line[len(text):].split()

    def state(self):
        """Returns the job's state as qstat shows it, or "" if the job is over. For an array job, the result is the state of one of its
        tasks."""
        for line in run("qstat", "-u", "*").stdout.splitlines():
            fields = line.split()
            if fields and fields[0] == self.id:
                return fields[4]
        return ""

    def wait_state(self, state):
        wait_until(lambda: self.state() == state, f"job {self.id} in state '{state}', not '{self.state()}'")

    def wait(self, deadline=180):
        """Waits until Grid Engine no longer lists the job."""
        try:
            wait_until(lambda: not self.state(), f"the end of job {self.id}", deadline)
        except AssertionError:
            node = self.node or "node1"
            print(on(node, "sh", "-c", STATE.format(job=self.id, spool=f"{SPOOL}/{node}"), check=False).stdout)
            raise
        return self

    def accounts(self, number=1):
        """Waits until qacct has `number` records of the job or of the job's tasks, and returns the records."""
        def records():
            done = run("qacct", "-j", self.id, check=False)
            found = [settings(text) for text in done.stdout.split("=" * 62 + "\n")[1:]]
            return found if len(found) >= number else None
        return wait_until(records, f"{number} records of job {self.id}")

    def account(self):
        return self.accounts()[-1]

    def shepherd(self):
        """Returns the pid of Grid Engine's own shepherd. The file "pid" of the spool directory does not contain the shepherd's pid, because
        pinfold's wrapper writes its own pid into this file."""
        ours = (f"for process in /proc/[0-9]*; do [ $process/exe -ef {SHEPHERD} ] &&"
                f" [ $process/cwd -ef {SPOOL}/{self.node}/active_jobs/{self.id}.1 ] && echo ${{process#/proc/}}; done; true")
        return wait_until(lambda: on(self.node, "sh", "-c", ours).stdout.strip(), f"the shepherd of job {self.id}")

    def supervisor(self):
        """Returns the pid of the wrapper, which is the parent of the shepherd."""
        return on(self.node, "ps", "-o", "ppid=", "-p", self.shepherd()).stdout.strip()

    def delete(self):
        run("qdel", self.id)
