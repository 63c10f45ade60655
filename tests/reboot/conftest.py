# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import scenario  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def boots():
    """All but the last boot end in here."""
    scenario.main()
