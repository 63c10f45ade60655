# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

from failures import pytest_runtest_makereport  # noqa: E402, F401
from jobs import live_jobs, run  # noqa: E402


@pytest.fixture(autouse=True)
def one_failure_alone(request):
    """What a test that failed in the middle left behind would fail all that come after it, each at its deadline."""
    yield
    if getattr(request.node, "failed", False):
        for key in live_jobs():
            run("pinfold", "stop", "--grace=0", "--wait", key, check=False)
