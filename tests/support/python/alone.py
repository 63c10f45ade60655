# SPDX-License-Identifier: LGPL-2.1-or-later
"""For the conftest.py of a suite on one node to import, beside failures.pytest_runtest_makereport."""

import pytest

from jobs import live_jobs, run


@pytest.fixture(autouse=True)
def one_failure_alone(request):
    """What a test that failed in the middle left behind would fail all that come after it, each at its deadline."""
    yield
    if getattr(request.node, "failed", False):
        for key in live_jobs():
            run("pinfold", "stop", "--grace=0", "--wait", key, check=False)
