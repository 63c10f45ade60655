# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

from failures import pytest_runtest_makereport  # noqa: E402, F401
from nodes import NODES, ask, on  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_left(request, batch_system):
    """Cleans up after a failed test. Jobs that a failed test left behind would make all later tests fail, each at its deadline.
    `batch_system` is a fixture of each test module, and returns the module that has started the batch system."""
    yield
    if getattr(request.node, "failed", False):
        batch_system.delete_all()
        for node in NODES:
            on(node, "pinfold", "undrain", check=False)
            for key in ask(node, "live_jobs"):
                on(node, "pinfold", "stop", "--grace=0", "--wait", key, check=False)
    for node in NODES:
        ask(node, "expect_nothing_left")
