# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ways in which processes survive their Grid Engine job where there is no pinfold."""

import dataclasses

from grid_engine import Job
from jobs import ESCAPIST, run
from nodes import NODES, kill, on

GROUPS = 221


@dataclasses.dataclass(frozen=True)
class Escape:
    node: str
    way: str
    user: str = "alice"
    kills_shepherd: bool = False

    def run(self):
        """The job, over, and the pids of what it left."""
        script = f"{ESCAPIST} {self.way}; echo script $$; date +'over %s.%N'"
        job = Job(script + ("; sleep 1000" if self.kills_shepherd else ""), node=self.node, user=self.user)
        left = job.wait_output("ready ")
        if self.kills_shepherd:
            left += job.wait_output("script ")
            job.wait_output("over ")
            kill(self.node, job.shepherd())
        return job.wait(), left


ESCAPES = {
    # node2's daemon is told not to kill by the additional group id, as older versions are by default.
    "process-group-left": Escape("node2", "set-sid"),
    "double-fork": Escape("node2", "double-fork"),
    # Nobody else knows what is the job's.
    "shepherd-killed": Escape("node1", "set-sid", kills_shepherd=True),
    # The shepherd reads 1024 bytes of a process's groups, and the additional one is the last.
    "many-groups": Escape("node1", "set-sid", user="bob"),
}


def give_groups(user):
    for node in NODES:
        on(node, "sh", "-c", f'seq 20001 {20000 + GROUPS} | sed "s/.*/group&:x:&:{user}/" >>/etc/group')
