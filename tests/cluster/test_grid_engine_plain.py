# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that processes survive their job if a site runs Grid Engine without pinfold."""

import pytest

import escapes
import grid_engine
from escapes import ESCAPES, Escape, survives
from jobs import ESCAPIST


@pytest.fixture(scope="module", autouse=True)
def plain(cell):
    grid_engine.configure(shepherd_cmd=grid_engine.PLAIN)


@pytest.mark.parametrize("name", ESCAPES)
def test_survives_its_job(name):
    job = ESCAPES[name].run()
    survived = survives(job)
    escapes.clean_up(job)
    assert survived
    assert job.account()["failed"].split()[0] == ("19" if ESCAPES[name].kills_shepherd else "0")


def test_does_not_survive_where_grid_engine_looks():
    """On node1, Grid Engine ends the daemon that this job leaves behind. If survives() were always true, this test would fail."""
    assert not survives(Escape("node1", f"{ESCAPIST} double-fork").run())
