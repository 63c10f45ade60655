# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import debs


@pytest.fixture(scope="session", autouse=True)
def documentation():
    """The boxes leave out pages and manuals when they install packages, to save time. Here packages are installed whole."""
    for file in debs.DPKG_OPTIONS.iterdir():
        if "path-exclude" in file.read_text():
            file.unlink()
