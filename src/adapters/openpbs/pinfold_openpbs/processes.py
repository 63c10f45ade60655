# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import subprocess

from .failure import Failure

APPEND_LIMIT = 10  # seconds, of the 90 that MoM gives the hook


def run(command, limit, **options):
    """Exit status, standard output and standard error; TimeoutExpired after `limit` seconds. subprocess.run() would then wait for the
    command's end: one that hangs in the kernel, on a file server say, is left behind here with its SIGKILL."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", **options)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, err


def session_of(pid, uid):
    """The user's processes in its session, itself first."""
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
            pass  # gone meanwhile
    return found


def is_inside(pid, job_slice):
    try:
        with open("/proc/%d/cgroup" % pid) as lines:
            # From the root on: below a cgroup of their own users may give any name.
            return any(line.startswith("0::/batch.slice/%s/" % job_slice) for line in lines)
    except OSError:
        return True  # gone: nothing to move


def append_as(user, path, line):
    """To a file that is there. As its owner, who may have replaced it, or a directory above it, by a link to anywhere."""
    def become():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    try:
        status, _, err = run(["/bin/sh", "-c", '[ ! -f "$2" ] || printf "%s\\n" "$1" >> "$2"', "sh", line, path], APPEND_LIMIT,
                             preexec_fn=become, env={})
    except subprocess.TimeoutExpired:
        raise Failure("%s could not be written within %d s: does its file server hang?" % (path, APPEND_LIMIT))
    if status != 0:
        raise Failure("%s: %s" % (path, err.decode(errors="replace").strip()))
