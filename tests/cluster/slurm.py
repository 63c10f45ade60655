# SPDX-License-Identifier: LGPL-2.1-or-later
"""Controls a Slurm cluster on this node, and its jobs. The cluster has munge, slurmctld and slurmd. Slurm does not make cgroups in this cluster."""

import contextlib
import re
import time
from pathlib import Path

from jobs import run, wait_until
from nodes import on

CONFIGURATION = Path("/etc/slurm/slurm.conf")
CGROUPS = Path("/etc/slurm/cgroup.conf")
PLUGINS = Path("/etc/slurm/plugstack.conf")
COMPLETED = Path("/var/log/slurm/completed")
LOG = Path("/var/log/slurm/slurmd.log")
PLUGIN = "/usr/libexec/pinfold/pinfold_spank.so"
EPILOGUE = "/usr/libexec/pinfold/slurm-epilogue"

SETTINGS = {
    "ClusterName": "pinfold",
    "SlurmctldHost": "node1",
    "SlurmUser": "slurm",
    "StateSaveLocation": "/var/lib/slurm/slurmctld",
    "SlurmdSpoolDir": "/var/lib/slurm/slurmd",
    "SlurmdLogFile": LOG,
    "ProctrackType": "proctrack/pgid",
    "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "JobCompType": "jobcomp/filetxt",
    "JobCompLoc": COMPLETED,
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_CPU_Memory",
    "SchedulerParameters": "batch_sched_delay=0,sched_min_interval=0",
    "SlurmdParameters": "config_overrides",
    "ReturnToService": "2",
    "KillWait": "2",
    "MpiDefault": "none",
    "DefMemPerCPU": "10",
    "NodeName": "node1 CPUs=64 RealMemory=1000 State=UNKNOWN",
    "PartitionName": "batch Nodes=node1 Default=YES MaxTime=INFINITE State=UP",
}


def start(pinfold=True, cgroup_plugin="cgroup/v1", **settings):
    """`settings` contains settings of Slurm, which replace the values in SETTINGS."""
    everything = {**SETTINGS, **({"Epilog": EPILOGUE} if pinfold else {}), **settings}
    CONFIGURATION.write_text("".join(f"{name}={value}\n" for name, value in everything.items()))
    # If a host has both cgroup versions mounted, slurmd cannot detect the version. Without the setting CgroupPlugin, slurmd would not start on
    # this host.
    CGROUPS.write_text(f"CgroupPlugin={cgroup_plugin}\n")
    # Slurm resolves names with AI_ADDRCONFIG, which finds no address on a host that has only 127.0.0.1.
    if not run("ip", "-4", "address", "show", "scope", "global").stdout:
        run("ip", "address", "add", "192.0.2.1/32", "dev", "lo")
    PLUGINS.write_text(f"required {PLUGIN}\n" if pinfold else "")
    for directory, owner in ((COMPLETED.parent, "slurm"), (Path("/var/lib/slurm/slurmctld"), "slurm"), (Path("/var/lib/slurm/slurmd"), "root")):
        run("install", "-d", "-o", owner, directory)
    run("systemctl", "restart", "munge", "slurmctld", "slurmd", timeout=300)
    wait_idle()


def add_node(node):
    """Adds another node to the cluster, and gives the node the configuration files of node1. The hosts have the same key of munge, because they come
    from one image."""
    both = f"node1,{node}"
    text = CONFIGURATION.read_text().replace("NodeName=node1 ", f"NodeName={both} ").replace("Nodes=node1 ", f"Nodes={both} ")
    CONFIGURATION.write_text(text)
    for path in (CONFIGURATION, CGROUPS, PLUGINS):
        on(node, "tee", path, input=path.read_text(), stdin=None)
    on(node, "install", "-d", "/var/lib/slurm/slurmd", COMPLETED.parent)
    run("systemctl", "restart", "slurmctld", "slurmd", timeout=300)
    on(node, "systemctl", "restart", "munge", "slurmd", timeout=300)
    for name in both.split(","):
        wait_until(lambda name=name: node_state(name) == "IDLE", f"{name} idle", 120)


def node_state(node="node1"):
    """Returns the node's state as sinfo(1) prints it, with flags such as DRAIN after a plus sign."""
    shown = run("scontrol", "show", "node", node, check=False).stdout
    found = re.search(r"State=(\S+)", shown)
    return found.group(1) if found else None


def wait_idle():
    wait_until(lambda: node_state() == "IDLE", f"the node idle, it is {node_state()}", 120)


def put_back():
    """Resumes the drained node, as an administrator does after the repair."""
    run("scontrol", "update", "NodeName=node1", "State=RESUME")
    wait_until(lambda: "DRAIN" not in node_state(), "the node back")


def cancel_all():
    run("scancel", "--user=alice")
    wait_until(lambda: run("squeue", "--noheader").stdout == "", "no job left")
    if "DRAIN" in node_state():
        put_back()
    wait_idle()


def submit(script, *options, user="alice", **keywords):
    """Submits a batch job and returns its number. For an array, the result is the number of the first job of the array."""
    done = run("runuser", "-u", user, "--", "sbatch", "--parsable", "--chdir=/tmp", *options, input=f"#!/bin/bash\n{script}\n",
               stdin=None, **keywords)
    return int(done.stdout.split(";")[0])


def job(number):
    shown = run("scontrol", "--oneliner", "show", "job", number, check=False).stdout
    return dict(re.findall(r"(\S+?)=(\S*)", shown))


def state(number):
    return job(number).get("JobState")


def wait_state(number, wanted, deadline=90.0):
    return wait_until(lambda: state(number) == wanted and job(number), f"job {number} {wanted}, it is {state(number)}", deadline)


def start_now(number, wanted):
    """Starts a requeued job now. Slurm would start the job only after a delay of two minutes. Slurm may delay the job a second time, so the function
    repeats the command until the job has the wanted state. start_now() waits for two seconds before its first command, because slurmd compares times
    in whole seconds. When slurmd has revoked a job's credential, it refuses a new credential from the same second ("already killed, do not launch
    batch job")."""
    requeued = time.time()
    wait_until(lambda: time.time() > requeued + 2, "a later second than that of the requeue")
    for _ in range(9):
        run("scontrol", "update", f"JobId={number}", "StartTime=now", check=False)
        with contextlib.suppress(AssertionError):
            return wait_state(number, wanted, 10)
    raise AssertionError(f"job {number} is {state(number)}, not {wanted}")


def completed(number):
    lines = COMPLETED.read_text().splitlines() if COMPLETED.exists() else []
    [line] = [line for line in lines if line.startswith(f"JobId={number} ")]
    return dict(re.findall(r"(\S+?)=(\S*)", line))
