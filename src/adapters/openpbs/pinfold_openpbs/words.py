# SPDX-License-Identifier: LGPL-2.1-or-later
"""PBS's text to pinfold's options, and a receipt to PBS's resources. Pure: a job's attributes are what a user wrote."""

import re
import signal
from collections import namedtuple

from .failure import Failure

# MoM ends a job at its walltime. pinfold does where MoM can't, so many seconds later that MoM is first, and that a qalter has come through.
WALLTIME_MARGIN = 600
# Seconds. MoM writes its list of jobs down before it starts the hook: a job that began meanwhile is not in it.
YOUNG = 300
# MoM's number of the job script; all others are higher, or have their host's number in the upper bits (momtask_create() of mom_comm.c).
JOB_SCRIPT = "1"
# Seconds from the end of the job script to MoM's epilogue. When MoM ends a job it waits for the script's processes as long as kill_delay
# says, and does not tell how long that is. They must have that time from pinfold, too.
REPORT_WITHIN = 600
# What MoM reports in place of an exit status when it has ended a job by SIGTERM for a limit, from that of CPUs (-24) to the walltime (-29).
ENDED_OVER_LIMIT = range(-29, -23)
LEAST_MEMORY = 1 << 20  # that pinfold takes as a limit, bytes
# MoM runs the hook of execjob_launch under these limits of the job's processes. If they end its interpreter, which needs about 30 MB, and 2 s for the
# largest environment, MoM runs the job without the hook. Without the file size, MoM cannot write the input of the hook, and the job never ends.
LEAST = {"vmem": "64mb", "pvmem": "64mb", "file": "1mb", "cput": 10, "pcput": 10}

# What the chunks of a job on this host add up to; None: not asked for. mem and vmem in bytes.
Share = namedtuple("Share", "ncpus ngpus mem vmem")


def size_bytes(text):
    """'2gb', '512mw' (words of 8 bytes), '1024' to bytes."""
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
    """'(a[0]:ncpus=1:mem=1gb+a[1]:ncpus=1)+(b:ncpus=2)' to a list of chunks, each a list of (vnode, {resource: text})."""
    chunks, inside = [], False
    for part in str(exec_vnode).split("+"):
        vnode, *pairs = part.strip("()").split(":")
        if not inside:
            chunks.append([])
        chunks[-1].append((vnode, dict(pair.split("=", 1) for pair in pairs if "=" in pair)))
        inside = (inside or part.startswith("(")) and not part.endswith(")")
    return chunks


def parse_hosts(exec_host):
    """The host of each chunk: 'a.example.org:15002/0*2+b:15002/1' to ['a.example.org', 'b']."""
    return [re.split("[:/]", part, maxsplit=1)[0] for part in str(exec_host or "").split("+")]


def same_host(one, other):
    """Where one of the names has no domain, the other's is not looked at."""
    one, other = one.lower(), other.lower()
    return one == other or (("." not in one or "." not in other) and one.split(".")[0] == other.split(".")[0])


def chunks_here(exec_vnode, exec_host, host):
    """MoM takes the n-th host for the n-th chunk. That vnodes are named after their host is custom only, and helps where
    PBS_MOM_NODE_NAME is not the name of a host."""
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
    """vmem of each vnode: the host may give back the others. sizes, seconds: of the whole job, by the name of the resource."""
    found = [("vmem", vnode["vmem"]) for chunk in chunks for _, vnode in chunk if "vmem" in vnode] + sorted(sizes.items())
    small = [(name, text) for name, text in found if size_bytes(text) < size_bytes(LEAST[name])]
    small += [(name, value) for name, value in sorted(seconds.items()) if value < LEAST[name]]
    for name, value in small:
        raise Failure("%s=%.50s is too small for the hook, which MoM runs under this limit: request at least %s" % (name, value, LEAST[name]))


def memory_limits(share, pmem):
    """vmem is memory and swap together, as in PBS's own cgroups hook. pmem is a process's: as many of them as there are CPUs."""
    memory, swap = share.mem, None
    if memory is None and share.vmem is None and pmem is not None:
        memory = pmem * max(share.ncpus or 0, 1)
    if share.vmem is not None:
        memory = share.vmem if memory is None else min(memory, share.vmem)
        swap = share.vmem - memory
    options = [] if memory is None else ["--memory-max=%d" % max(memory, LEAST_MEMORY)]
    return options + ([] if swap is None else ["--memory-swap-max=%d" % swap])


def run_time_max(walltime):
    return [] if walltime is None else ["--run-time-max=%d" % (walltime + WALLTIME_MARGIN)]


def allocation(share, place):
    options = ["--slots=%d" % share.ncpus] if share.ncpus else []
    if share.ngpus:
        options.append("--gpus=%d" % share.ngpus)
    if "exclhost" in str(place or "").split(":"):
        options.append("--exclusive")
    return options


def exit_status(value):
    """PBS's negative codes are its own, and from 256 on it is 256 + signal."""
    if value in ENDED_OVER_LIMIT:
        return ["--exit-signal=%d" % signal.SIGTERM]
    if value is None or value < 0 or value == 256 or value > 256 + 64:
        return []
    return ["--exit-status=%d" % value] if value < 256 else ["--exit-signal=%d" % (value - 256)]


def used_resources(usage, wall=None):
    """Of a receipt, or of a live job: cput in s, mem in kb, and cpupercent, which is the mean as it is in PBS's own hook. wall: µs."""
    used = {}
    if usage.get("cpu_user") is not None and usage.get("cpu_system") is not None:
        cpu = usage["cpu_user"] + usage["cpu_system"]
        used["cput"] = cpu // 1000000
        if wall:
            used["cpupercent"] = 100 * cpu // wall
    if usage.get("memory_peak") is not None:
        used["mem"] = -(-usage["memory_peak"] // 1024)
    return used


def is_of_this_run(receipt, start):
    """A job that was requeued may have an older receipt on this host. PBS has whole seconds, and looks at the clock after the fact."""
    return start is None or receipt["ended"] >= (start - 5) * 1000000


def forgotten(jobs, known, on_disk, now):
    """The keys of live jobs that neither MoM's list nor its directory has. One that is being ended already is left alone."""
    return sorted(key for key, job in jobs.items()
                  if key not in known and key not in on_disk and job["state"] in ("running", "suspended")
                  and job["created"] < (now - YOUNG) * 1000000)
