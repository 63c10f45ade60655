# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import stat
import subprocess

from .failure import Failure

APPEND_LIMIT = 10  # the time limit of append_as() in seconds; MoM kills a hook after 90 s


def run(command, limit, **options):
    """Runs the command, and returns the exit status, standard output and standard error. Raises TimeoutExpired after `limit` seconds. After
    the time-out, run() kills the command, but does not wait until the command has ended. subprocess.run() would wait until the command has
    ended, and a hanging file server can prevent the end of the command."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", **options)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, err


def jobs_output(uid):
    """Returns a new descriptor of the job script's standard error, or None. MoM opens the output of a job script with the rights of the job's owner.
    When MoM runs the hook for the job script, the hook's standard error goes to the same file as the job script's standard error. If the standard
    error is not a file of the owner, the result is None. The standard error of an interactive job is a terminal, and this terminal must close when
    the job's shell ends."""
    try:
        status = os.fstat(2)
        return os.dup(2) if stat.S_ISREG(status.st_mode) and status.st_uid == uid else None
    except OSError:
        return None  # MoM has closed the standard error


def session_of(pid, uid):
    """Returns the user's processes in the session of the process `pid`. The first process in the list is `pid`."""
    try:
        session = os.getsid(pid)
        if os.stat("/proc/%d" % pid).st_uid != uid:
            raise Failure("process %d does not belong to the job's user" % pid)
    except OSError:
        raise Failure("process %d has ended" % pid)
    found = [pid]
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and int(entry) != pid and os.getsid(int(entry)) == session and os.stat("/proc/" + entry).st_uid == uid:
                found.append(int(entry))
        except OSError:
            pass  # the process has ended meanwhile
    return found


def is_inside(pid, job_slice):
    try:
        with open("/proc/%d/cgroup" % pid) as lines:
            # The comparison begins at the root of the cgroup tree, because users can give any name to a cgroup below their own cgroups.
            return any(line.startswith("0::/batch.slice/%s/" % job_slice) for line in lines)
    except OSError:
        return True  # the process has ended, so nobody has to move it


def append_as(user, path, text):
    """Appends the text and a line break to a file, if the file exists. append_as() writes with the rights of the job's owner. With root's rights,
    append_as() could write to any file to which the owner sets a link."""
    def become():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    try:
        status, _, err = run(["/bin/sh", "-c", '[ ! -f "$2" ] || printf "%s\\n" "$1" >> "$2"', "sh", text, path], APPEND_LIMIT,
                             preexec_fn=become, env={})
    except subprocess.TimeoutExpired:
        raise Failure("%s could not be written within %d s: does its file server hang?" % (path, APPEND_LIMIT))
    if status != 0:
        raise Failure("%s: %s" % (path, err.decode(errors="replace").strip()))
