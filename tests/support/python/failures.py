# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets request.node.failed if a test has failed. A fixture can read request.node.failed to clean up after the test. A conftest.py imports this
module."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    item.failed = getattr(item, "failed", False) or outcome.get_result().failed
