# SPDX-License-Identifier: LGPL-2.1-or-later
"""The conftest.py of a suite on one node imports this module and failures.pytest_runtest_makereport."""

import pytest

from jobs import live_jobs, run


@pytest.fixture(autouse=True)
def one_failure_alone(request):
    """Ends the jobs that a failed test has left behind, because these jobs would make all later tests fail."""
    yield
    if getattr(request.node, "failed", False):
        for key in live_jobs():
            run("pinfold", "stop", "--grace=0", "--wait", key, check=False)
