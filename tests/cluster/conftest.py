# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import escapes  # noqa: E402
import grid_engine  # noqa: E402


@pytest.fixture(scope="session")
def cell():
    escapes.prepare()
    grid_engine.start()
