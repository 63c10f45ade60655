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
    """What a test that failed in the middle left behind would fail all that come after it, each at its deadline."""
    yield
    if getattr(request.node, "failed", False):
        on("node1", "qdel", "-u", "*", check=False)
        for node in NODES:
            for key in ask(node, "live_jobs"):
                on(node, "pinfold", "stop", "--grace=0", "--wait", key, check=False)


@pytest.fixture(scope="session")
def cell():
    """node1 kills what a job leaves behind as Grid Engine does by default, by the additional group id; node2 does not."""
    escapes.prepare()
    grid_engine.start(*NODES, node2={"execd_params": "ENABLE_ADDGRP_KILL=false"})
