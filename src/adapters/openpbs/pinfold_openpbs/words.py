# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes command-line options of pinfold from PBS's texts. Makes PBS's resources from pinfold's receipts. All functions are pure. Users write the
attributes of jobs, so the functions in this file must accept any text."""

import re
import signal
from collections import namedtuple

from .failure import Failure

# MoM ends a job at its walltime. If MoM cannot end the job, pinfold ends the job WALLTIME_MARGIN seconds after the walltime.
# WALLTIME_MARGIN gives MoM the time to end the job. WALLTIME_MARGIN gives pinfold the time to learn that somebody has changed the walltime
# by qalter.
WALLTIME_MARGIN = 600
# Because MoM writes its list of jobs before the hook starts, the list can lack a job that is younger than YOUNG seconds.
YOUNG = 300
# JOB_SCRIPT is MoM's task number of the job script. Each task that is not the job script has a higher number than JOB_SCRIPT. The upper bits
# of a task's number can contain the number of the task's host (momtask_create() of mom_comm.c).
JOB_SCRIPT = "1"
# After the end of the job script, pinfold waits for MoM's epilogue for at most REPORT_WITHIN seconds. When MoM ends a job, MoM gives the
# processes of the script the time kill_delay to end. A hook cannot find out the value of kill_delay, so pinfold waits for a long time before it
# ends the processes.
REPORT_WITHIN = 600
# If MoM has ended a job by SIGTERM because of a limit, MoM reports a negative number in place of an exit status. For limits, MoM uses the
# numbers from -24 (number of CPUs) down to -29 (walltime).
ENDED_OVER_LIMIT = range(-29, -23)
MOST_NODES = 128  # the highest number of host names in a receipt
LEAST_MEMORY = 1 << 20  # the smallest memory limit that pinfold accepts, in bytes
# MoM runs the hook of execjob_launch under the limits of the job's processes. The interpreter of the hook needs about 30 MB of memory. If the job
# has the largest possible environment, the interpreter needs 2 s of CPU time. If a limit ends the interpreter, MoM runs the job without the hook. If
# the limit of the file size is too low, MoM cannot write the hook's input, and the job never starts and never ends.
LEAST = {"vmem": "64mb", "pvmem": "64mb", "file": "1mb", "cput": 10, "pcput": 10}

# For each resource, Share holds the sum over all chunks of the job on this host. If the job did not request a resource, the value of this
# resource in Share is None. The values of mem and vmem are in bytes.
Share = namedtuple("Share", "ncpus ngpus mem vmem")


def size_bytes(text):
    """Returns the number of bytes for a text such as '2gb', '1024', or '512mw' (words of 8 bytes)."""
    match = re.fullmatch(r"([0-9]{1,18})([kmgtp]?)([bw]?)", str(text).strip().lower())
    if not match:
        raise Failure("'%.50s' is not a size: use for instance 2gb" % text)
    number, prefix, unit = match.groups()
    return int(number) * 1024 ** " kmgtp".index(prefix or " ") * (8 if unit == "w" else 1)


def count(text):
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Failure("'%.50s' is not a number of CPUs or GPUs" % text)
    return int(text)


def parse_chunks(exec_vnode):
    """Returns a list of chunks for a text such as '(a[0]:ncpus=1:mem=1gb+a[1]:ncpus=1)+(b:ncpus=2)'. Each chunk is a list of pairs
    (vnode, {resource: text})."""
    chunks, inside = [], False
    for part in str(exec_vnode).split("+"):
        vnode, *pairs = part.strip("()").split(":")
        if not inside:
            chunks.append([])
        chunks[-1].append((vnode, dict(pair.split("=", 1) for pair in pairs if "=" in pair)))
        inside = (inside or part.startswith("(")) and not part.endswith(")")
    return chunks


def parse_hosts(exec_host):
    """Returns the host of each chunk, such as ['a.example.org', 'b'] for 'a.example.org:15002/0*2+b:15002/1'."""
    return [re.split("[:/]", part, maxsplit=1)[0] for part in str(exec_host or "").split("+")]


def same_host(one, other):
    """Returns true if `one` and `other` are names of the same host. If a name has no domain, same_host() compares only the part of each name before
    the first dot."""
    one, other = one.lower(), other.lower()
    return one == other or (("." not in one or "." not in other) and one.split(".")[0] == other.split(".")[0])


def chunks_here(exec_vnode, exec_host, host):
    """Returns the chunks of this host. exec_host has one host for each chunk of exec_vnode, in the order of the chunks. `host` comes from
    PBS_MOM_NODE_NAME, and is not always the name of a host. chunks_here() looks for `host` among the hosts and among the names of the vnodes. A
    vnode usually has the name of its host."""
    chunks, hosts = parse_chunks(exec_vnode), parse_hosts(exec_host)
    if len(hosts) != len(chunks):
        hosts = [""] * len(chunks)
    return [chunk for chunk, name in zip(chunks, hosts)
            if same_host(name, host) or any(same_host(vnode.split("[")[0], host) for vnode, _ in chunk)]


def share_of(chunks):
    def total(name, value):
        found = [value(resources[name]) for chunk in chunks for _, resources in chunk if name in resources]
        return sum(found) if found else None
    return Share(total("ncpus", count), total("ngpus", count), total("mem", size_bytes), total("vmem", size_bytes))


def check_process_limits(chunks, sizes, seconds):
    """Raises Failure if a limit is too small for the hook. The limit vmem of each vnode must be large enough for the hook, because a job can release
    all its other vnodes. `sizes` and `seconds` map the names of resources to the limits of the whole job."""
    found = [("vmem", vnode["vmem"]) for chunk in chunks for _, vnode in chunk if "vmem" in vnode] + sorted(sizes.items())
    small = [(name, text) for name, text in found if size_bytes(text) < size_bytes(LEAST[name])]
    small += [(name, value) for name, value in sorted(seconds.items()) if value < LEAST[name]]
    for name, value in small:
        raise Failure("%s=%.50s is too small for the hook, which MoM runs under this limit: request at least %s" % (name, value, LEAST[name]))


def memory_limits(share, pmem):
    """Returns pinfold's command-line options for the limits of memory and swap. As in PBS's cgroups hook, vmem is the sum of memory and swap. pmem
    limits each single process. To get a limit for the whole job, memory_limits() multiplies pmem by the number of CPUs."""
    memory, swap = share.mem, None
    if memory is None and share.vmem is None and pmem is not None:
        memory = pmem * max(share.ncpus or 0, 1)
    if share.vmem is not None:
        memory = share.vmem if memory is None else min(memory, share.vmem)
        swap = share.vmem - memory
    options = [] if memory is None else ["--memory-max=%d" % max(memory, LEAST_MEMORY)]
    return options + ([] if swap is None else ["--memory-swap-max=%d" % swap])


def run_time_limits(walltime):
    """Returns pinfold's command-line options --batch-run-time-max and --run-time-max. MoM ends the job at the walltime. If MoM does not end the job,
    pinfold ends the job WALLTIME_MARGIN seconds after the walltime. pinfold refuses a limit of 0."""
    if walltime is None:
        return []
    return ["--batch-run-time-max=%d" % max(walltime, 1), "--run-time-max=%d" % (walltime + WALLTIME_MARGIN)]


def variables(given, present):
    """Returns the changes of the job's environment, as a dictionary of variables and their new values. If a value is None, the hook has to remove
    the variable. If OMP_NUM_THREADS or a variable PINFOLD_* already has a value, the value stays. If PINFOLD_JOB already names a job that is not
    this job, variables() replaces or removes all variables PINFOLD_*. For example, a job that runs `qsub -V` passes its own value of PINFOLD_JOB on
    to the new job."""
    other = present.get("PINFOLD_JOB") not in (None, given.get("PINFOLD_JOB"))
    kept = [name for name in given if name == "OMP_NUM_THREADS" or (name.startswith("PINFOLD_") and not other)]
    stale = [name for name in present.keys() if other and name.startswith("PINFOLD_")]
    return {**dict.fromkeys(stale), **{name: value for name, value in given.items() if name not in kept or present.get(name) is None}}


def allocation(share, place):
    options = ["--slots=%d" % share.ncpus] if share.ncpus else []
    if share.ngpus:
        options.append("--gpus=%d" % share.ngpus)
    if "exclhost" in str(place or "").split(":"):
        options.append("--exclusive")
    return options


def identity(attributes, job_id, exec_host):
    """Returns the command-line options by which pinfold learns the facts for the job's receipt. `attributes` has MoM's attributes of the job, under
    the names that PBS uses. Job_Owner has the form USER@HOST, and HOST is the host on which the user ran qsub. Variable_List is a dictionary."""
    found = {"job-name": attributes.get("Job_Name"), "account": attributes.get("Account_Name"), "queue": attributes.get("queue"),
             "project": attributes.get("project"), "group": attributes.get("egroup"),
             "submit-host": str(attributes.get("Job_Owner") or "").partition("@")[2],
             "submit-directory": (attributes.get("Variable_List") or {}).get("PBS_O_WORKDIR")}
    if str(found["project"]) == "_pbs_project_default":  # in OpenPBS, the value is an object, which is not equal to its text
        del found["project"]
    array = re.match(r"([0-9]{1,18})\[([0-9]{1,18})\]", job_id)
    if array:
        found.update({"array-job": array[1], "array-task": array[2]})
    if attributes.get("run_count") is not None:
        found["run"] = max(int(attributes["run_count"]) - 1, 0)
    hosts = [host for host in dict.fromkeys(parse_hosts(exec_host)) if host]
    if hosts:
        found.update({"nodes": ",".join(hosts[:MOST_NODES]), "node-count": len(hosts)})
    return ["--%s=%s" % (option, argument(value)) for option, value in found.items() if value not in (None, "")]


def argument(value):
    """Returns the value as a text that can be an argument of a program. The program pinfold makes the text printable, and shortens a long
    text."""
    return str(value)[:8192].replace("\0", "?").encode("utf-8", "replace").decode()


def exit_status(value):
    """Translates an exit status of PBS into command-line options of pinfold. A negative exit status is a code of PBS, and not the exit status of a
    process. A value above 256 is the sum of 256 and the number of a signal."""
    if value in ENDED_OVER_LIMIT:
        return ["--exit-signal=%d" % signal.SIGTERM]
    if value is None or value < 0 or value == 256 or value > 256 + 64:
        return []
    return ["--exit-status=%d" % value] if value < 256 else ["--exit-signal=%d" % (value - 256)]


def used_resources(usage, wall=None):
    """Returns the used resources of a job: `cput`, `mem` and `cpupercent`. `usage` is the usage of a live job, or the usage in a receipt. `cput` is
    in seconds, and `mem` is in kilobytes. `mem` is the memory that the job needed, without page cache. If the needed memory is not known, `mem` is
    the peak of the memory with page cache. `cpupercent` is the mean CPU use during `wall` microseconds, as in PBS's own hook."""
    used = {}
    if usage.get("cpu_user") is not None and usage.get("cpu_system") is not None:
        cpu = usage["cpu_user"] + usage["cpu_system"]
        used["cput"] = cpu // 1000000
        if wall:
            used["cpupercent"] = 100 * cpu // wall
    memory = usage.get("memory_need") if usage.get("memory_need") is not None else usage.get("memory_peak")
    if memory is not None:
        used["mem"] = -(-memory // 1024)
    return used


def is_of_this_run(receipt, start):
    """Returns true if the receipt describes the run that began at `start`. If a job was requeued, its newest receipt on this host is possibly the
    receipt of an earlier run. is_of_this_run() accepts the receipt of a run that ended after the time `start`, or at most five seconds before this
    time. The time `start` is inexact: PBS stores whole seconds, and reads the clock only after the run has started."""
    return start is None or receipt["ended"] >= (start - 5) * 1000000


def forgotten(jobs, known, on_disk, now):
    """Returns the keys of live jobs that are neither in MoM's list nor in MoM's directory of jobs. The result contains no job that is
    already ending, and no job that is younger than YOUNG seconds."""
    return sorted(key for key, job in jobs.items()
                  if key not in known and key not in on_disk and job["state"] in ("running", "suspended")
                  and job["created"] < (now - YOUNG) * 1000000)
