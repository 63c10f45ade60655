# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stand-in for pbs_mom. The stand-in calls the scripts and the job starter in the same order as pbs_mom. Like pbs_mom, the stand-in sets a
program's user, groups, arguments, environment and descriptors. Like pbs_mom, the stand-in sets the program's session, working directory and time
limit. The comments name functions in src/resmom of Torque 6.1, and the code does what these functions do. The stand-in reads one request per line
from its standard input, and answers each request in one line."""

import contextlib
import ctypes
import fcntl
import json
import os
import pty
import pwd
import signal
import stat
import struct
import subprocess
import sys
import termios
from pathlib import Path
from xml.sax.saxutils import escape

# pbs_job.h
JOB_EXEC_OK, JOB_EXEC_FAIL2, JOB_EXEC_RETRY = 0, -2, -3


class Mom:
    """Acts as one pbs_mom. `privileged` has the value of $job_starter_run_privileged, and `alarm` has the value of $prologalarm in seconds."""

    def __init__(self, home, starter, privileged=False, alarm=300):
        self.home, self.starter, self.privileged, self.alarm = Path(home), starter, privileged, alarm
        self.start()

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-u", __file__, str(self.home), self.starter, str(int(self.privileged)),
                                         str(self.alarm)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def restart(self):
        """Acts like `systemctl restart pbs_mom` on a host where the unit has KillMode=process and pbs_mom has the option -p. The jobs
        continue without a parent."""
        self.process.kill()
        self.process.wait(timeout=10)
        self.start()

    def ask(self, request, **values):
        self.process.stdin.write(json.dumps({"request": request, **values}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def kill_session(session, number):
    """pelogalm()"""
    for pid in session_members(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_task(session, number, told):
    """kill_task(). `told` has the processes that have got SIGTERM, so that no process gets a second SIGTERM. SIGTERM goes to a whole process
    group if the group's leader is in the session. kill_task() sends SIGTERM right before SIGKILL, and does not wait between the two signals."""
    for pid in session_members(session):
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL and pid not in told:
                told.add(pid)
                os.kill(pid, signal.SIGTERM)
            if number != signal.SIGTERM:
                os.kill(pid, number)
            elif pid not in told:
                told.add(pid)
                os.killpg(pid, number)


def session_members(session):
    """get_proc_stat(): returns all processes of a session except zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


class Server:
    """Acts as the main process of pbs_mom."""

    def __init__(self, home, starter, privileged, alarm):
        self.home, self.starter, self.privileged, self.alarm = Path(home), starter, privileged, alarm
        # `sessions` maps the process id of a child to the session that the child leads. For each session, `told` has the processes that got a signal
        # from kill_task().
        self.sessions, self.told = {}, {}
        for folder in ("mom_priv/jobs", "aux", "spool"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        os.chmod(self.home / "mom_priv" / "jobs", 0o751)
        os.chdir(self.home / "mom_priv")  # setup_program_environment() calls chdir(mom_home)

    # The following methods handle a job's files and variables on this host.

    def path(self, job, folder, suffix):
        return self.home / folder / (job["id"] + suffix)

    def node_file(self, job):
        """Does the work of take_care_of_nodes_file(): before the prologue, only the mother superior writes the file with the names of the nodes."""
        if job["node"] == 0:
            self.path(job, "aux", "").write_text("".join(host + "\n" for host in job["hosts"]))

    def save_job(self, job):
        """Does the work of job_save(): writes the file under a temporary name, and then renames the file."""
        user = pwd.getpwnam(job["user"])
        variables = escape(",".join(f"{name}={value}" for name, value in job["variables"].items()))
        self.path(job, "mom_priv/jobs", ".JC").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<job>\n'
            f"  <version>131842</version>\n  <state>4</state>\n  <jobid>{escape(job['id'])}</jobid>\n"
            f"  <fileprefix>{escape(job['id'])}</fileprefix>\n  <record_type>3</record_type>\n  <exit_status>0</exit_status>\n"
            f"  <execution_uid>{user.pw_uid}</execution_uid>\n  <execution_gid>{user.pw_gid}</execution_gid>\n"
            f'  <attributes>\n    <Job_Name flags="1">{escape(job["name"])}</Job_Name>\n'
            f'    <cookie flags="1">{job["cookie"]}</cookie>\n'
            f'    <Variable_List flags="1">{variables}</Variable_List>\n  </attributes>\n</job>\n')
        os.chmod(self.path(job, "mom_priv/jobs", ".JC"), 0o600)
        os.rename(self.path(job, "mom_priv/jobs", ".JC"), self.path(job, "mom_priv/jobs", ".JB"))

    def user_environment(self, job, task, spawned=None):
        """Does the work of InitUserEnv(): the last value of a variable replaces the variable's earlier values."""
        user = pwd.getpwnam(job["user"])
        values = dict(os.environ)
        values.update(job["variables"])
        values.update({"HOME": user.pw_dir, "PBS_JOBNAME": job["name"], "PBS_JOBID": job["id"], "PBS_QUEUE": "batch",
                       "PBS_JOBCOOKIE": job["cookie"], "PBS_NODENUM": str(job["node"]), "PBS_TASKNUM": str(task),
                       "PBS_MOMPORT": "15003", "PBS_NODEFILE": str(self.path(job, "aux", "")),
                       "PBS_NUM_NODES": str(len(set(job["hosts"]))), "PBS_NUM_PPN": str(job["ppn"]),
                       "PBS_VERSION": "TORQUE-6.1.2", "PBS_GPUFILE": str(self.path(job, "aux", "gpu")),
                       "PBS_MICFILE": str(self.path(job, "aux", "mic"))})
        if "walltime=" in job["resources"]:
            hours, minutes, seconds = job["resources"].rpartition("walltime=")[2].split(",")[0].split(":")
            values["PBS_WALLTIME"] = str(int(hours) * 3600 + int(minutes) * 60 + int(seconds))
        if spawned is None:
            values.update({"LOGNAME": user.pw_name, "USER": user.pw_name, "SHELL": user.pw_shell})
        else:
            values.update(spawned)  # tm_spawn_request() sets the spawner's variables, and then PBS_VNODENUM
        return values

    # The following methods run scripts.

    def script_files(self, job, files):
        """setup_pelog_outputs(): the script writes to the job's files, to /dev/null, or to the output that it has inherited."""
        for number, suffix in ((1, ".OU"), (2, ".ER")):
            path = self.path(job, "spool", suffix)
            if files != "as they are":
                os.dup2(os.open(path if files == "job" and path.exists() else "/dev/null", os.O_WRONLY | os.O_APPEND), number)

    def run_script(self, name, job, words, files, user=None):
        """run_pelog(). `user` is the user for whom the script runs. If `name` is an absolute path, the script must belong to `user`."""
        script = self.home / "mom_priv" / name
        if not script.exists():
            return 0
        status = script.stat()  # stat() follows a link, as check_pelog_permissions() does
        owner = user.pw_uid if user and Path(name).is_absolute() else 0
        if status.st_uid != owner or not stat.S_ISREG(status.st_mode) or status.st_mode & 0o500 != 0o500 or status.st_mode & 0o022:
            return -1
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()  # handle_pipes_as_child()
            os.write(writing, struct.pack("i", os.getpid()))
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)  # pe_input()
            self.script_files(job, files)
            os.closerange(3, 256)
            hosts = len(set(job["hosts"]))
            # setup_pelog_environment() adds the following variables to the environment of pbs_mom
            environment = {**os.environ, "PBS_RESOURCE_NODES": f"{hosts}:ppn={job['ppn']}", "PBS_NUM_NODES": str(hosts),
                           "PBS_NUM_PPN": str(job["ppn"]), "PBS_NP": str(len(job["hosts"])),
                           "PBS_NODENUM": str(job["node"]), "PBS_MSHOST": job["hosts"][0]}
            if job["node"] == 0:
                environment["PBS_NODEFILE"] = str(self.path(job, "aux", ""))
            if "PBS_O_WORKDIR" in job["variables"]:
                environment["PBS_O_WORKDIR"] = job["variables"]["PBS_O_WORKDIR"]
            if user:
                self.become_user(user)
            os.execve(script, [str(script), *words], environment)
        os.close(writing)
        session = struct.unpack("i", os.read(reading, 4))[0]
        os.close(reading)
        return self.script_status(child, session)

    def script_status(self, child, session):
        """Does the work of get_child_exit_status() and pelogalm()."""
        timed_out = []

        def alarmed(_signal, _frame):
            timed_out.append(True)
            kill_session(session, signal.SIGKILL)
        before = signal.signal(signal.SIGALRM, alarmed)
        signal.alarm(self.alarm - 10 if self.alarm > 10 else self.alarm)
        _, status = os.waitpid(child, 0)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        if timed_out:
            return -4
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 0

    def prologue(self, name, job, files="as they are"):
        """Like setup_pelog_arguments() and handle_prologs(), runs pbs_mom's own prologues, and then the user's prologues. After a failure, the
        function runs no further prologue."""
        words = [job["id"], job["user"], "users", job["name"], job["resources"], "batch", "",
                 str(self.path(job, "mom_priv/jobs", ".SC"))]
        code = self.run_script(name, job, words, files)
        for script in (name.replace("prologue", "prologue.user"), job["node"] == 0 and job.get("prologue")):
            if code == 0 and script:
                code = self.run_script(script, job, words, files, pwd.getpwnam(job["user"]))
        return code

    def epilogue(self, name, job, session, exit_status):
        """Like setup_pelog_arguments() and run_epilogues(), runs the user's epilogues, and then pbs_mom's own epilogues."""
        files = "none" if "typed" in job else "job"
        words = [job["id"], job["user"], "users", job["name"], str(session), job["resources"], "cput=00:00:01,mem=0kb", "batch", "",
                 str(exit_status), str(self.path(job, "mom_priv/jobs", ".SC"))]
        for script in (job["node"] == 0 and job.get("epilogue"), name.replace("epilogue", "epilogue.user")):
            if script:
                self.run_script(script, job, words, files, pwd.getpwnam(job["user"]))
        return self.run_script(name, job, words, files)

    # The following methods handle the job's processes.

    def become_user(self, user):
        """become_the_user()"""
        os.setgroups(os.getgrouplist(user.pw_name, user.pw_gid))
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    def batch_files(self, job, user):
        """Does the work of open_std_out_err(), and of set_job_script_as_stdin() with SHELL_INVOKE. The shell reads the name of the script from
        its standard input. `exec_with_exec` is $exec_with_exec."""
        script = self.path(job, "mom_priv/jobs", ".SC")
        script.write_text(job["script"])
        os.chmod(script, 0o700)
        os.chown(script, user.pw_uid, user.pw_gid)
        reading, writing = os.pipe()
        os.write(writing, f"{'exec ' if job.get('exec_with_exec') else ''}{script}\n".encode())
        os.close(writing)
        os.dup2(reading, 0)
        for number, suffix in ((1, ".OU"), (2, ".ER")):
            path = self.path(job, "spool", suffix)
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
            os.chown(path, user.pw_uid, user.pw_gid)

    def interactive_shell(self, job, report):
        """setup_interactive_job(): the shell's parent runs the prologue, and then reads the terminal."""
        leader, follower = pty.openpty()
        os.setsid()
        fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
        out = os.open(self.path(job, "spool", ".OU"), os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(follower, 1)
        os.dup2(follower, 2)
        code = self.prologue("prologue", job)
        if code != 0:
            report(JOB_EXEC_FAIL2)
        if os.fork() == 0:
            os.dup2(follower, 0)
            return
        for number in (1, 2, follower):
            os.close(number)
        os.write(leader, job["typed"].encode())
        while True:
            try:
                os.write(out, os.read(leader, 4096))
            except OSError:
                os._exit(0)

    def start_batch(self, job):
        """TMomFinalizeJob2(), TMomFinalizeChild(), TMomFinalizeJob3()"""
        user = pwd.getpwnam(job["user"])
        self.node_file(job)
        reading, writing = os.pipe()
        acknowledged, acknowledge = os.pipe()
        child = os.fork()
        if child == 0:
            def report(code):
                """starter_return(): waits for the answer of the main process, and exits unless `code` is JOB_EXEC_OK."""
                os.write(writing, struct.pack("ii", code, os.getsid(0)))
                os.read(acknowledged, 1)
                if code != JOB_EXEC_OK:
                    os._exit(254)
            os.umask(0o022)
            environment = self.user_environment(job, 1)
            environment["PBS_VNODENUM"] = "0"
            environment["PBS_NP"] = str(len(job["hosts"]))
            if "typed" in job:
                environment["PBS_ENVIRONMENT"] = "PBS_INTERACTIVE"
                self.interactive_shell(job, report)
            else:
                environment.update({"PBS_ENVIRONMENT": "PBS_BATCH", "ENVIRONMENT": "BATCH"})
                self.batch_files(job, user)
                os.setsid()  # handle_reservation()
                code = self.prologue("prologue", job)
                if code != 0:  # handle_prologs()
                    report(JOB_EXEC_RETRY if code != 1 else JOB_EXEC_FAIL2)
            if not self.privileged:
                self.become_user(user)
            os.chdir(job["variables"].get("PBS_O_INITDIR", user.pw_dir))  # go_to_init_dir()
            report(JOB_EXEC_OK)
            os.closerange(3, 256)
            # mom_jobstarter_execute_job() does not put "-", the mark of a login shell, before the program's name
            os.execve(self.starter, [self.starter, user.pw_shell], environment)
        os.close(writing)
        code, session = struct.unpack("ii", os.read(reading, 8))
        os.write(acknowledge, b"x")
        for descriptor in (reading, acknowledged, acknowledge):
            os.close(descriptor)
        if code == JOB_EXEC_OK:
            self.save_job(job)  # pbs_mom first lets the job run, and then saves the job
        self.sessions[child] = session
        return {"code": code, "pid": child, "session": session}

    def spawn(self, job, words, environment, vnode):
        """start_process(): starts a task on this host. The TM client that asks for the task runs on this host or on a sister host."""
        user = pwd.getpwnam(job["user"])
        child = os.fork()
        if child == 0:
            values = self.user_environment(job, 2, {**environment, "PBS_VNODENUM": str(vnode)})
            values.update({"PBS_ENVIRONMENT": "PBS_BATCH", "ENVIRONMENT": "BATCH"})
            os.umask(0o077)
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            out = os.open(self.path(job, "spool", ".TM"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(out, 1)  # pbs_mom writes to sockets of the mother superior's pbs_demux, and not to a file .TM
            os.dup2(out, 2)
            os.setsid()
            if not self.privileged:
                self.become_user(user)
            os.chdir(user.pw_dir)
            os.closerange(3, 256)
            os.execve(self.starter, [self.starter, *words], values)
        self.sessions[child] = child
        return {"pid": child, "session": child}

    def wait(self, pid):
        """scan_for_terminated(): waits until a script or task has ended, and then kills the other processes in the session of the script or task."""
        _, status = os.waitpid(pid, 0)
        session = self.sessions.pop(pid)
        kill_task(session, signal.SIGKILL, self.told.pop(session, set()))
        return {"status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 256 + os.WTERMSIG(status)}

    def answer(self, request, job=None, **values):
        if request == "start":
            return self.start_batch(job)
        if request == "join":  # im_join_job_as_sister() saves the job, and then runs the prologues
            self.save_job(job)
            return {"code": self.prologue("prologue.parallel", job, "none")}
        if request == "spawn":
            return self.spawn(job, **values)
        if request == "wait":
            return self.wait(values["pid"])
        if request == "kill":  # kill_job()
            kill_task(values["session"], values["signal"], self.told.setdefault(values["session"], set()))
            return {}
        if request == "epilogue":
            return {"code": self.epilogue("epilogue", job, values["session"], values["status"])}
        if request == "leave":  # exit_mom_job(), on a sister
            return {"code": self.epilogue("epilogue.parallel", job, 0, 0)}
        return {"error": f"unknown request {request}"}


def main():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # if the test dies, the kernel ends the stand-in, but not the jobs
    server = Server(sys.argv[1], sys.argv[2], sys.argv[3] == "1", int(sys.argv[4]))
    main_process = os.getpid()
    for line in sys.stdin:
        try:
            answer = server.answer(**json.loads(line))
        except Exception as error:  # perhaps a child raised the exception; a child must not answer
            if os.getpid() != main_process:
                print(f"child of the stand-in: {error}", file=sys.stderr)
                os._exit(254)
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
