# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import scenario  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def boots():
    """Runs the scenario before the tests. Only the last boot of the scenario runs the tests."""
    scenario.main()
