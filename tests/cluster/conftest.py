# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable

disposable.require()

import pytest  # noqa: E402

import escapes  # noqa: E402
import grid_engine  # noqa: E402


@pytest.fixture(scope="session")
def cell():
    escapes.give_groups("bob")
    grid_engine.start()
