# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib

import disposable
import pytest

disposable.require()

from failures import pytest_runtest_makereport  # noqa: E402, F401
from nodes import NODES, ask, on, set_site  # noqa: E402


@pytest.fixture(scope="session")
def batch_system(request):
    """Starts the batch system, and returns the Python module of the batch system. The tests in test_openpbs_jobs.py get the module openpbs."""
    [name] = {item.path.stem.split("_")[1] for item in request.session.items}
    system = importlib.import_module(name)
    system.start()
    yield system
    system.keep_logs()


@pytest.fixture(autouse=True)
def nothing_left(request, batch_system):
    """Cleans up after a failed test. If a failed test left jobs behind, every later test would wait until its deadline, and fail."""
    yield
    if getattr(request.node, "failed", False):
        batch_system.delete_all()
        for node in NODES:
            on(node, "pinfold", "undrain", check=False)
            for key in ask(node, "live_jobs"):
                on(node, "pinfold", "stop", "--grace=0", "--wait", key, check=False)
    for node in NODES:
        ask(node, "expect_nothing_left")


@pytest.fixture
def unenforced():
    """The container can lack the memory controller, so a job must run even if pinfold cannot enforce all limits of the job."""
    for node in NODES:
        set_site(node, '[jobs]\nunenforced_limits = "warn"\n')
    yield
    for node in NODES:
        set_site(node, "")
