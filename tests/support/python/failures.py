# SPDX-License-Identifier: LGPL-2.1-or-later
"""A conftest.py imports this module, so that fixtures can use request.node.failed, and clean up after a test that has failed."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    item.failed = getattr(item, "failed", False) or outcome.get_result().failed
