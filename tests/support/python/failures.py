# SPDX-License-Identifier: LGPL-2.1-or-later
"""For a conftest.py to import: request.node.failed is then what a fixture needs to clean up after a failed test."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    item.failed = getattr(item, "failed", False) or outcome.get_result().failed
