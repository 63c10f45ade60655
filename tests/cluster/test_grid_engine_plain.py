# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pinfold is for: processes that survive their job under Grid Engine alone."""

import pytest

import grid_engine
from escapes import ESCAPES
from nodes import alive, kill


@pytest.fixture(scope="module", autouse=True)
def plain(cell):
    grid_engine.configure(shepherd_cmd=grid_engine.PLAIN)


@pytest.mark.parametrize("name", ESCAPES)
def test_survives_its_job(name):
    escape = ESCAPES[name]
    job, left = escape.run()
    survivors = [pid for pid in left if alive(escape.node, pid)]
    kill(escape.node, *survivors)
    assert job.account()["failed"].split()[0] == ("19" if escape.kills_shepherd else "0")
    assert survivors == left


def test_does_not_survive_where_grid_engine_looks():
    """So that the others show what they say: no more than this is needed for an end by the group id."""
    job = grid_engine.Job("setsid sleep 1000 & echo left $!; sleep 0.1", node="node1")
    pid, = job.wait_output("left ")
    job.wait()
    assert not alive("node1", pid)
