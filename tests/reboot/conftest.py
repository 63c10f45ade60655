# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import scenario  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def boots():
    """All boots except the last one end here."""
    scenario.main()
