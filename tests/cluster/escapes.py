# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the ways in which a process survives the end of its Grid Engine job on a node without pinfold."""

import dataclasses

from grid_engine import Job
from jobs import ESCAPIST, run
from nodes import NODES, kill, on

GROUPS = 221
PASSWORD = "alice's"


@dataclasses.dataclass(frozen=True)
class Escape:
    node: str
    command: str
    user: str = "alice"
    kills_shepherd: bool = False

    def run(self):
        """Runs a job, and returns the job when Grid Engine no longer lists the job."""
        # Each process of the job holds the lock of this file until the process ends, even if the process changes its pid.
        script = f"exec 9>>$HOME/$JOB_ID.lock; flock -s 9; {self.command}; echo done"
        job = Job(script + ("; sleep 1000" if self.kills_shepherd else ""), node=self.node, user=self.user)
        job.wait_output("done")
        if self.kills_shepherd:
            kill(self.node, job.shepherd())
        return job.wait()


def survives(job):
    return run("flock", "--nonblock", job.home / f"{job.id}.lock", "true", check=False).returncode != 0


def wait_gone(job):
    run("flock", job.home / f"{job.id}.lock", "true")


ESCAPES = {
    # Like the daemons of older Grid Engine versions, node2's daemon does not look for processes by the additional group id.
    "other-session": Escape("node2", f"{ESCAPIST} set-sid"),
    "double-fork": Escape("node2", f"{ESCAPIST} double-fork"),
    # On node1, the shepherd follows a process that changes its pid. The process changes its pid very often, so the shepherd kills the process only by
    # chance.
    "pid-hopping": Escape("node2", f"{ESCAPIST} hop-until $HOME/$JOB_ID.calm"),
    # When the shepherd has been killed, no other program knows which processes belong to the job.
    "shepherd-killed": Escape("node1", f"{ESCAPIST} set-sid", kills_shepherd=True),
    # The shepherd reads only the first 1024 bytes of a process's list of groups. The job's additional group is the last group of the
    # process.
    "many-groups": Escape("node1", f"{ESCAPIST} set-sid", user="bob"),
    # su gives the process the groups of the user, without the job's additional group.
    "other-groups": Escape("node1", f"echo \"{PASSWORD}\" | su alice -c '{ESCAPIST} set-sid'"),
}


def prepare():
    """Adds bob to many groups, and gives alice a password. The escape `many-groups` needs a user with many groups. The escape `other-groups` needs a
    user with a password."""
    for node in NODES:
        on(node, "sh", "-c", f'seq 20001 {20000 + GROUPS} | sed "s/.*/group&:x:&:bob/" >>/etc/group')
        on(node, "sh", "-c", f'echo "alice:{PASSWORD}" | chpasswd')


def clean_up(job):
    """Ends the processes that have survived the job. A process that changes its pid again and again ends as soon as the file `….calm` exists. SIGKILL
    ends every process that still holds the job's lock."""
    (job.home / f"{job.id}.calm").touch()
    on(job.node, "sh", "-c", "for process in /proc/[0-9]*; do"
       f" [ $process/fd/9 -ef {job.home}/{job.id}.lock ] && kill -9 ${{process#/proc/}}; done; true")
    wait_gone(job)
