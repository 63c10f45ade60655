# SPDX-License-Identifier: LGPL-2.1-or-later
import os
import subprocess

from .failure import Failure


def session_of(pid, uid):
    """The user's processes in its session, itself first."""
    try:
        session = os.getsid(pid)
        if os.stat("/proc/%d" % pid).st_uid != uid:
            raise Failure("process %d is not the job's user's" % pid)
    except OSError:
        raise Failure("process %d is gone" % pid)
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
            return any(job_slice in line.rstrip("\n").split("/") for line in lines)
    except OSError:
        return True  # gone: nothing to move


def append_as(user, path, line):
    """To a file that is there. As its owner, who may have replaced it, or a directory above it, by a link to anywhere."""
    def become():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    done = subprocess.run(["/bin/sh", "-c", '[ ! -f "$2" ] || printf "%s\\n" "$1" >> "$2"', "sh", line, path], timeout=10,
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=become, cwd="/", env={})
    if done.returncode != 0:
        raise Failure("%s: %s" % (path, done.stderr.decode(errors="replace").strip()))
