# SPDX-License-Identifier: LGPL-2.1-or-later
"""Handles MoM's events for a job. At `execjob_begin`, the hook opens the job. At `execjob_launch` and `execjob_attach`, the hook puts processes
into the job. At `execjob_epilogue`, the hook ends the job.

If a job cannot be put into its scope, PBS requeues the job. The hook rejects an event in two cases: pinfold could not start a job or a task, or
pinfold could not resume a job. If the hook rejected the epilogue, MoM would delete the job. The hook keeps no data about jobs between two events,
because pinfoldd has all data about the jobs.
"""

import os
import pwd
import time
import traceback

import pbs

from . import node, words
from .client import key_of, may_run_unconfined, pinfold, pinfold_json, site_allows_unconfined
from .failure import NO_SUCH_JOB, NOT_RUNNING, Failure
from .processes import append_as, is_inside, jobs_output, session_of


def owner_of(job):
    try:
        return pwd.getpwnam(str(job.euser))
    except KeyError:
        raise Failure("the job's user '%.50s' is unknown on this host" % job.euser)


def resource(job, name, value):
    """Returns a resource of the whole job, or None if the job did not request the resource."""
    found = job.Resource_List[name]
    return None if found in (None, "") else value(found)


def asked(job, value, *names):
    """Returns the resources in `names` that the job requested."""
    found = {name: resource(job, name, value) for name in names}
    return {name: amount for name, amount in found.items() if amount is not None}


def number(attribute):
    return None if attribute in (None, "") else int(attribute)


def chunks_here(job):
    host = pbs.get_local_nodename()
    here = words.chunks_here(job.exec_vnode, job.exec_host2 or job.exec_host, host)
    if not here:
        raise Failure("no chunk of '%.200s' is on this host, '%s': check PBS_MOM_NODE_NAME" % (job.exec_vnode, host))
    return here


def share_here(job):
    return words.share_of(chunks_here(job))


def limits_of(job, share):
    pmem, walltime = resource(job, "pmem", words.size_bytes), resource(job, "walltime", int)
    return words.memory_limits(share, pmem) + words.run_time_limits(walltime)


def identity_of(job):
    known = {name: getattr(job, name, None) for name in ("Job_Name", "Account_Name", "queue", "project", "egroup", "Job_Owner", "run_count",
                                                    "Variable_List")}
    return words.identity(known, str(job.id), job.exec_host2 or job.exec_host)


def open_job(job, *options, output=None):
    """Opens the job, and returns the job's slice and environment. The hook calls open_job() at the events begin, launch and attach. If the
    job is already live, open_job() changes nothing. If the job began without pinfold, open_job() opens the job in pinfold. The hook runs
    pinfold only once for each event, because the start of pinfold takes most of pinfold's run time."""
    share = share_here(job)
    return pinfold_json("open", key_of(job.id), "--uid=%d" % owner_of(job).pw_uid, "--linger=infinity",
                        "--report-within=%d" % words.REPORT_WITHIN, *limits_of(job, share), *words.allocation(share, resource(job, "place", str)),
                        *identity_of(job), *options, output=output)


def adopt(pids):
    return ["--adopt=%d" % pid for pid in pids]


def on_begin(event):
    words.check_process_limits(chunks_here(event.job), asked(event.job, str, "pvmem", "file"), asked(event.job, int, "cput", "pcput"))
    open_job(event.job, "--replace")  # --replace ends an earlier run of the job, if MoM had no time to end that run


def on_launch(event):
    """Adopts the parent process of the hook. The hook's parent process is a child process of MoM. When the hook has ended, the hook's parent
    process executes the job script or a task."""
    options, output = as_script(event.job) if starts_script(event) else ([], None)
    opened = open_job(event.job, *adopt([os.getppid()]), *options, output=output)
    for name, value in words.variables(opened["environment"], event.env).items():
        if value is None:
            del event.env[name]
        else:
            event.env[name] = value.replace(",", "\\,")  # MoM splits the text of all variables at commas


def as_script(job):
    """Returns two things: pinfold's command-line options for the job script, and the descriptor of the job script's standard error. pinfoldd writes
    warnings to the script's standard error."""
    output = jobs_output(owner_of(job).pw_uid)
    return ["--batch"] + ([] if output is None else ["--output-fd=%d" % output]), output


def starts_script(event):
    return event.env.get("PBS_TASKNUM") == words.JOB_SCRIPT


def on_attach(event):
    owner = owner_of(event.job).pw_uid
    outside = session_of(event.pid, owner)
    while outside:  # a process can fork before pinfold moves it
        # pinfold accepts at most 16 processes on one command line. With --owner, pinfold checks the owner of each process. If a process has
        # ended, the kernel can give its process id to a process of another user. The hook runs as root, so without --owner the hook could adopt
        # another user's process.
        opened = open_job(event.job, "--owner=%d" % owner, *adopt(outside[:16]))
        outside = [pid for pid in session_of(event.pid, owner) if not is_inside(pid, opened["slice"])]


def on_resize(event):
    options = limits_of(event.job, share_here(event.job))
    if options:
        pinfold("limits", key_of(event.job.id), *options)


def end_job(job, *options):
    """Ends the job, and returns its receipt. Returns None if pinfold does not know the job, or knows only an earlier run of the job."""
    try:
        receipt = pinfold_json("end", key_of(job.id), *options)["receipt"]
    except Failure as failure:
        if failure.status == NO_SUCH_JOB:
            return None
        raise
    return receipt if words.is_of_this_run(receipt, number(job.stime)) else None


def known_exit(job):
    """Returns the command-line options that tell pinfold the exit status of the job. If MoM does not know the exit status, the list of options is
    empty. MoM does not know the exit status on a sister host. After a restart, MoM does not know the exit status of a job that started before the
    restart. If MoM does not know the exit status, MoM reports the exit status 0."""
    status = number(job.Exit_status)
    if not job.in_ms_mom() or (status == 0 and node.mom_began_after(number(job.stime))):
        return []
    return words.exit_status(status)


def on_epilogue(event):
    job = event.job
    receipt = end_job(job, *known_exit(job))
    if receipt is None:
        pbs.logjobmsg(job.id, "pinfold: the job had no scope on this host, so its usage is what MoM measured")
        return
    report(job.resources_used, words.used_resources(receipt, receipt["wall"] - receipt["suspended"]))
    lines = [line for line in (receipt["oom_line"], receipt["stop_line"]) if line]
    for line in lines:
        pbs.logjobmsg(job.id, "pinfold: " + line)
    path = job.stdout_file() if str(job.Join_Path) == "oe" else job.stderr_file()
    if lines and job.in_ms_mom() and path:
        append_as(owner_of(job), path, "\n".join(lines))


def on_end(event):
    end_job(event.job)


def on_suspend(event):
    pinfold("suspend", key_of(event.job.id))


def on_resume(event):
    try:
        pinfold("resume", key_of(event.job.id))
    except Failure as failure:
        if failure.status not in (NO_SUCH_JOB, NOT_RUNNING):
            raise


def report(resources_used, used):
    for name, make in (("cput", pbs.duration), ("mem", lambda kilobytes: pbs.size("%dkb" % kilobytes)), ("cpupercent", pbs.pbs_int)):
        if name in used:
            resources_used[name] = make(used[name])


def on_periodic(event):
    status = pinfold_json("status", "--jobs")
    jobs = {job["key"]: job for job in status["live"] if job["key"].startswith("pbs.")}
    known = {key_of(job_id): event.job_list[job_id] for job_id in event.job_list.keys()}
    # The hook ignores processes that wait for FUSE, because a user's own FUSE file server must not set the node offline.
    if not status["draining"]:
        node.tell_state(event, sorted(key for key, job in jobs.items() if job["unkillable_since"] is not None and not job["unkillable_in_fuse"]))
    for key in sorted(jobs.keys() & known.keys()):
        refresh(jobs[key], known[key])
    for key in words.forgotten(jobs, known, jobs_on_disk(), time.time()):
        pbs.logmsg(pbs.EVENT_ERROR, "pinfold: MoM does not know the job %s, so the hook ends this job" % key)
        pinfold("end", key)


def refusal_of_node():
    """Returns why this node takes no jobs at all, or None if the node takes jobs."""
    try:
        status = pinfold_json("status")
    except Failure as failure:
        return str(failure) if failure.outage and not site_allows_unconfined() else None
    if not status["draining"]:
        return None
    return "this node takes no jobs for now: %s" % (status["drain"]["reason"] or "it is drained")


def refresh(live, job):
    """Reports the job's resource usage to MoM, and passes the job's walltime to pinfold. The hook gets no event from MoM when a user
    changes the walltime by qalter."""
    report(job.resources_used, words.used_resources(live["usage"] or {}))
    walltime = resource(job, "walltime", int)
    if walltime is None or live["limits"]["batch_run_time_max"] == max(walltime, 1) * 1000000:
        return
    try:
        pinfold("limits", live["key"], *words.run_time_limits(walltime))
    except Failure as failure:
        if failure.outage:
            raise
        pbs.logmsg(pbs.EVENT_DEBUG, "pinfold: %s: %s" % (live["key"], failure))  # the job has just ended


def jobs_on_disk():
    """Returns the keys of the jobs for which MoM has a file. The list of jobs in the hook's input can be incomplete, because MoM sometimes
    writes only a part of the input."""
    return {key_of(name[:-3]) for name in os.listdir(os.path.join(node.mom_home(), "mom_priv", "jobs")) if name.endswith(".JB")}


def give_up(event, failure):
    """Handles a failure of pinfold. Rejects the event. If MoM should accept the event in spite of the failure, give_up() returns without a
    rejection."""
    key = key_of(event.job.id) if event.type != pbs.EXECHOST_PERIODIC else "periodic"
    pbs.logmsg(pbs.EVENT_ERROR, "pinfold: %s: %s" % (key, failure))
    starts = event.type in (pbs.EXECJOB_BEGIN, pbs.EXECJOB_LAUNCH, pbs.EXECJOB_ATTACH)
    if starts and may_run_unconfined(key, failure):
        return
    if event.type == pbs.EXECJOB_BEGIN:
        refusal = refusal_of_node()
        if refusal:  # if the node stayed online, the scheduler would send the job here again and again, until PBS holds the job
            node.go_offline(event, refusal)
    # If a task other than the job script does not start, the job continues, and PBS does not run the job again.
    if event.type == pbs.EXECJOB_BEGIN or (event.type == pbs.EXECJOB_LAUNCH and starts_script(event)):
        event.job.rerun()
    # After a failed resume the job is still frozen, so PBS must not count the job as running.
    if starts or event.type == pbs.EXECJOB_PRERESUME:
        event.reject("pinfold: %s" % failure)


HANDLERS = {pbs.EXECJOB_BEGIN: on_begin, pbs.EXECJOB_LAUNCH: on_launch, pbs.EXECJOB_ATTACH: on_attach, pbs.EXECJOB_RESIZE: on_resize,
            pbs.EXECJOB_POSTSUSPEND: on_suspend, pbs.EXECJOB_PRERESUME: on_resume, pbs.EXECJOB_EPILOGUE: on_epilogue,
            pbs.EXECJOB_END: on_end, pbs.EXECJOB_ABORT: on_end, pbs.EXECHOST_PERIODIC: on_periodic}


def handle(event):
    """Handles the event. event.accept() and event.reject() raise SystemExit, so handle() does not return."""
    try:
        HANDLERS[event.type](event)
    except Failure as failure:
        give_up(event, failure)
    except Exception as error:  # the hook has a bug: if the exception escaped, MoM would reject every kind of event
        pbs.logmsg(pbs.EVENT_DEBUG, "pinfold: " + traceback.format_exc().strip().replace("\n", " | "))
        give_up(event, Failure("%s: %s" % (type(error).__name__, error)))
    event.accept()
