# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ways in which processes survive their Grid Engine job where there is no pinfold."""

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
        """The job, over for Grid Engine."""
        # The lock is held as long as anything of the job lives, on whichever node and under whatever pid.
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
    # node2's daemon is told not to kill by the additional group id, as older versions are by default.
    "other-session": Escape("node2", f"{ESCAPIST} set-sid"),
    "double-fork": Escape("node2", f"{ESCAPIST} double-fork"),
    # (On node1 the shepherd chases them from pid to pid. Whether it gets them all is luck.)
    "pid-hopping": Escape("node2", f"{ESCAPIST} hop-until $HOME/$JOB_ID.calm"),
    # Nobody else knows what is the job's.
    "shepherd-killed": Escape("node1", f"{ESCAPIST} set-sid", kills_shepherd=True),
    # The shepherd reads only the first 1024 bytes of a process's list of groups, and the job's additional group is the last in the list.
    "many-groups": Escape("node1", f"{ESCAPIST} set-sid", user="bob"),
    # su sets the user's groups anew: the additional one is not among them.
    "other-groups": Escape("node1", f"echo \"{PASSWORD}\" | su alice -c '{ESCAPIST} set-sid'"),
}


def prepare():
    """The users as the escapes need them."""
    for node in NODES:
        on(node, "sh", "-c", f'seq 20001 {20000 + GROUPS} | sed "s/.*/group&:x:&:bob/" >>/etc/group')
        on(node, "sh", "-c", f'echo "alice:{PASSWORD}" | chpasswd')


def clean_up(job):
    """Ends what survived: hoppers by their file, the rest by their pids."""
    (job.home / f"{job.id}.calm").touch()
    on(job.node, "sh", "-c", "for process in /proc/[0-9]*; do"
       f" [ $process/fd/9 -ef {job.home}/{job.id}.lock ] && kill -9 ${{process#/proc/}}; done; true")
    wait_gone(job)
