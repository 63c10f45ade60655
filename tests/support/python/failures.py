# SPDX-License-Identifier: LGPL-2.1-or-later
"""A conftest.py imports this module, so that a fixture knows by request.node.failed whether to clean up after a failed test."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    item.failed = getattr(item, "failed", False) or outcome.get_result().failed
