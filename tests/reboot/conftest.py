# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import scenario  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def boots():
    """Ends every boot except the last one, in which the tests run."""
    scenario.main()
