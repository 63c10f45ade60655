# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import escapes  # noqa: E402
import grid_engine  # noqa: E402
from failures import pytest_runtest_makereport  # noqa: E402, F401
from nodes import NODES, ask, on  # noqa: E402


@pytest.fixture(autouse=True)
def one_failure_alone(request):
    """Cleans up after a failed test. If a failed test left jobs behind, every later test would wait until its deadline, and fail."""
    yield
    if getattr(request.node, "failed", False):
        on("node1", "qdel", "-u", "*", check=False)
        for node in NODES:
            for key in ask(node, "live_jobs"):
                on(node, "pinfold", "stop", "--grace=0", "--wait", key, check=False)


@pytest.fixture(scope="session")
def cell():
    """On node1, Grid Engine has its default settings. By default, Grid Engine finds the leftovers of a job by the job's additional group id, and
    kills the leftovers. On node2, Grid Engine does not use the additional group id to find leftovers."""
    escapes.prepare()
    grid_engine.start(*NODES, node2={"execd_params": "ENABLE_ADDGRP_KILL=false"})
