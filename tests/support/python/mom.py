# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stand-in for pbs_mom. The stand-in runs the hook at the same events as MoM, in the same order, and from the same processes. The stand-in
obeys the hook's answers.

The stand-in follows three sources of OpenPBS at cd7ab5eda:
* In src/resmom/start_exec.c, MoM itself runs the hook for execjob_begin. For execjob_launch, MoM forks the child that becomes the job. The child
  runs the hook as root, as the leader of a session. After the hook, the child gives up root's rights, and executes progname with the hook's argv
  and env.
* In src/resmom/mom_hook_func.c, run_hook() gives the hook a session, MoM's environment and PBS_HOOK_CONFIG_FILE. post_run_hook() handles a
  rejection by the hook.
* In src/resmom/catch_child.c, MoM kills the session and then runs the epilogue. If the hook rejects the epilogue, MoM deletes the job.

A real OpenPBS of this commit behaved as follows:
* The leader of a batch job is a login shell that runs the script as its child. MoM's first SIGTERM ends the shell. MoM waits kill_delay seconds
  for the end of the session's other processes.
* If a job exceeded a limit, its Exit_status is a negative number that MoM has chosen. Exit_status is always 0 on a sister host, for an interactive
  job, and for a job that was running when MoM was restarted with -p.
* A rejected task does not end the job. If the hook called rerun(), the job runs again after its end.
* After a hook has released chunks at the job's start, MoM runs execjob_resize on each host. On the primary host, execjob_resize comes after the
  launch. When pbs_release_nodes has released vnodes of a sister host, MoM runs execjob_resize on the job's remaining sister hosts.
* vnode_list has the job's vnodes on all hosts. At exechost_periodic, vnode_list has all vnodes of this host that MoM knows. MoM does not
  know a vnode if only qmgr has created the vnode. The server ignores what MoM says about vnodes of another host.
* The child that becomes the job runs the hook for execjob_launch. The limits of the job's processes (vmem, pvmem, file) apply to the child even
  before the child runs the hook. If the hook's interpreter cannot start under the job's limits, MoM runs the job without the hook.
"""

import json
import os
import pwd
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

HOOK = "/usr/libexec/pinfold/openpbs/pinfold_hook.py"
SUPPORT = Path(__file__).resolve().parent
NOT_LAUNCHED = 222  # the child's exit status if the hook rejects the launch

Answer = namedtuple("Answer", "status accepted message log job job_list vnode_list env")


def run_hook(hook, work, given, become=None):
    """Runs the hook in the directory `work`. As under MoM, the hook has its own session, so pinfold cannot find the job by the session.
    The child calls `become` before the child executes the hook's interpreter. Returns None if the interpreter does not start."""
    name = f"hook_{given['event']}_{given.get('job', {}).get('id')}_{os.getpid()}"
    source, target = Path(work, name + ".in"), Path(work, name + ".out")
    source.write_text(json.dumps(given))
    environment = {"PATH": "/bin:/usr/bin", "PYTHONPATH": str(SUPPORT), "PYTHONDONTWRITEBYTECODE": "1"}
    config = Path(work, "pinfold.CF")
    if config.exists():
        environment["PBS_HOOK_CONFIG_FILE"] = str(config)
    done = subprocess.run([sys.executable, str(SUPPORT / "pbs_python.py"), str(source), str(target), hook], env=environment,
                          start_new_session=True, stdin=subprocess.DEVNULL, timeout=given["alarm"] + 10, cwd=work, preexec_fn=become)
    if not target.exists():
        return None
    made = json.loads(target.read_text())
    return Answer(done.returncode, done.returncode == 0 and made["accepted"], made["message"], made["log"], made.get("job"),
                  made.get("job_list"), made["vnode_list"], made.get("env"))


def make_job(job_id, exec_vnode, hosts, user="alice", primary=True, **resources):
    """Returns a job as MoM knows it. `hosts` has one host for each chunk."""
    return {"id": job_id, "euser": user, "Job_Owner": f"{user}@submit", "exec_vnode": exec_vnode, "Join_Path": "n", "run_count": 1,
            "exec_host2": "+".join(f"{host}.example.org:15002/{index}" for index, host in enumerate(hosts)),
            "Resource_List": resources, "resources_used": {}, "_msmom": primary}


class Mom:
    def __init__(self, home, host="node1", hook=HOOK, alarm=90):
        self.home, self.host, self.hook, self.alarm = Path(home), host, hook, alarm
        self.jobs, self.task_numbers, self.vnodes, self.server_vnodes, self.others = {}, {}, [], {}, {}
        self.add_vnode(host)
        for part in ("mom_priv/jobs", "mom_priv/hooks/tmp", "spool"):
            (self.home / part).mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o755)
        (self.home / "spool").chmod(0o1777)
        self.restart()

    def add_vnode(self, name, by_qmgr=False, **server):
        """Adds a vnode of this host. The values in `server` replace default values in the server's copy of the vnode."""
        self.server_vnodes[name] = {"state": 0, "comment": None, **server}
        if not by_qmgr:
            self.vnodes.append(name)

    def vnode_list(self, job):
        if job is None:
            return self.vnodes
        return sorted({part.strip("()").split(":")[0] for part in str(job["exec_vnode"]).split("+")})

    def restart(self):
        """Restarts MoM with -p. The running jobs continue, but are not children of the new MoM."""
        self.orphans = set(self.jobs)
        (self.home / "mom_priv/mom.lock").write_text(f"{os.getpid()}\n")

    def given(self, event, job=None, **more):
        given = {"event": event, "hook_name": "pinfold", "alarm": self.alarm, "node_name": self.host,
                 "vnode_list": self.vnode_list(job), "server_vnodes": {**self.others, **self.server_vnodes},
                 "pbs_conf": {"PBS_HOME": str(self.home), "PBS_MOM_HOME": ""}, **more}
        return given if job is None else dict(given, job=job)

    def configure(self, text):
        (self.home / "mom_priv/hooks/tmp/pinfold.CF").write_text(text)

    def event(self, event, job=None, **more):
        answer = run_hook(self.hook, self.home / "mom_priv/hooks/tmp", self.given(event, job, **more))
        if answer.job:
            job["resources_used"].update(answer.job["resources_used"])
        for name, changed in answer.vnode_list.items():
            self.server_vnodes.get(name, {}).update(changed)
        for name, used in (answer.job_list or {}).items():
            self.jobs[name]["resources_used"].update(used)
        return answer

    def spool(self, job, suffix):
        return self.home / "spool" / f"{job['id']}.{suffix}"

    def begin(self, job):
        job["stime"] = int(time.time())
        answer = self.event("execjob_begin", job)
        if answer.accepted:
            self.jobs[job["id"]] = job
            (self.home / "mom_priv/jobs" / f"{job['id']}.JB").touch()
        return answer

    def launch(self, job, *command, login_shell=False, stdin=subprocess.DEVNULL, **environment):
        """Starts the process that becomes the job, or starts a task of the job. `environment` has the variables that the user has given to the job by
        qsub -v or -V. The exit status of the process is NOT_LAUNCHED if the hook rejected the launch. If the process is a login shell, the hook sees
        no arguments. The hook gets the number of a task in the format that MoM's function start_process() uses."""
        number = self.task_numbers[job["id"]] = self.task_numbers.get(job["id"], 0 if job["_msmom"] else 1 << 31) + 1
        given = self.given("execjob_launch", job, progname=command[0], argv=[] if login_shell else list(command),
                           env={"PBS_JOBID": job["id"], "PBS_TASKNUM": "1" if number == 1 else f"{number:08X}", "PATH": "/usr/bin:/bin",
                                **environment})
        owner = pwd.getpwnam(job["euser"])
        streams = []
        for suffix in ("OU", "ER"):
            path = self.spool(job, suffix)
            streams.append(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            os.chown(path, owner.pw_uid, owner.pw_gid)
        child = subprocess.Popen([sys.executable, __file__, self.hook, str(self.home / "mom_priv/hooks/tmp"), json.dumps(given)],
                                 start_new_session=True, stdin=stdin, stdout=streams[0], stderr=streams[1])
        for stream in streams:
            os.close(stream)
        job["_stdout_file"], job["_stderr_file"] = str(self.spool(job, "OU")), str(self.spool(job, "ER"))
        return child

    def script(self, job, text):
        """Starts a batch script as MoM does. The leader is a login shell. The shell reads the script's name, and runs the script."""
        path = self.home / "mom_priv/jobs" / f"{job['id']}.SC"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        for folder in (path.parent, path.parent.parent):
            folder.chmod(0o755)
        reading, writing = os.pipe()
        os.write(writing, f"{path}\n".encode())
        os.close(writing)
        child = self.launch(job, pwd.getpwnam(job["euser"]).pw_shell, login_shell=True, stdin=reading)
        os.close(reading)
        return child

    def terminate(self, child, kill_delay=10):
        """Ends a job as MoM does after a qdel or after the walltime. terminate() sends SIGTERM to the job's session, and waits at most kill_delay
        seconds for the session's end."""
        signal_session(child.pid, signal.SIGTERM)
        end = time.monotonic() + kill_delay
        while (members := members_of(child.pid)) and time.monotonic() < end:
            wait_for_end(members[0], end)

    def attach(self, job, pid):
        return self.event("execjob_attach", job, pid=pid)

    def epilogue(self, job, child=None, over_limit=None):
        """If the job has exceeded a limit, MoM's own number `over_limit` replaces the job's exit status."""
        if child is not None:
            status = child.wait(timeout=60)
            job["Exit_status"] = over_limit or (status if status >= 0 else 256 - status)
            signal_session(child.pid, signal.SIGKILL)
        if not job["_msmom"] or job["id"] in self.orphans:
            job["Exit_status"] = 0
        return self.event("execjob_epilogue", job)

    def end(self, job):
        answer = self.event("execjob_end", job)
        self.forget(job)
        return answer

    def abort(self, job):
        answer = self.event("execjob_abort", job)
        self.forget(job)
        return answer

    def forget(self, job):
        self.jobs.pop(job["id"], None)
        self.task_numbers.pop(job["id"], None)
        (self.home / "mom_priv/jobs" / f"{job['id']}.JB").unlink(missing_ok=True)

    def periodic(self):
        return self.event("exechost_periodic", job_list=list(self.jobs.values()))


@contextmanager
def mom_of_this_host():
    """Gives a test the MoM of node1. PBS_HOME is below /var/tmp, because users cannot enter the directories that pytest makes."""
    home = tempfile.mkdtemp(prefix="pbs-", dir="/var/tmp")
    yield Mom(home)
    shutil.rmtree(home)


def members_of(session):
    """Returns all processes that MoM can reach. MoM cannot reach a process that has called setsid(2)."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(entry)) == session and " Z " not in Path(f"/proc/{entry}/stat").read_text():
                found.append(int(entry))
        except OSError:
            pass
    return found


def wait_for_end(pid, deadline):
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([process], [], [], max(0, deadline - time.monotonic()))
    os.close(process)


def signal_session(session, number):
    for pid in members_of(session):
        try:
            os.kill(pid, number)
        except OSError:
            pass


def size(text):
    return int(text[:-2]) << {"kb": 10, "mb": 20, "gb": 30}[text[-2:]]


def limit_files(job):
    if "file" in job["Resource_List"]:
        most = size(job["Resource_List"]["file"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # a write beyond the limit must end the process, but by default Python ignores SIGXFSZ


def limit_address_space(job):
    shares = [size(text) for text in re.findall(":vmem=([0-9]+[kmg]b)", job["exec_vnode"])]
    spaces = ([sum(shares)] if shares else []) + [size(text) for name, text in job["Resource_List"].items() if name == "pvmem"]
    if spaces:
        resource.setrlimit(resource.RLIMIT_AS, (min(spaces), min(spaces)))


def become_the_job(hook, work, given):
    limit_files(given["job"])
    # run_hook() limits the address space of the hook's interpreter, but not the address space of the stand-in. The interpreter needs more address
    # space than MoM.
    answer = run_hook(hook, work, given, become=lambda: limit_address_space(given["job"]))
    if answer and not answer.accepted:
        print("\n".join(answer.log), "rerun" if answer.job["rerun"] else "delete", file=sys.stderr, flush=True)
        os._exit(NOT_LAUNCHED)
    owner = pwd.getpwnam(given["job"]["euser"])
    os.initgroups(owner.pw_name, owner.pw_gid)
    os.setgid(owner.pw_gid)
    os.setuid(owner.pw_uid)
    environment = {name: value.replace("\\,", ",") for name, value in (answer.env if answer else given["env"]).items()}
    limit_address_space(given["job"])
    login_shell = ["-" + Path(given["progname"]).name]
    os.execvpe(given["progname"], given["argv"] or login_shell, environment)


if __name__ == "__main__":
    become_the_job(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
