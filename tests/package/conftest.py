# SPDX-License-Identifier: LGPL-2.1-or-later
import disposable
import pytest

disposable.require()

import debs


@pytest.fixture(scope="session", autouse=True)
def documentation():
    """To save time, boxes do not install manual pages and documentation. The tests of this file need the complete packages."""
    for file in debs.DPKG_OPTIONS.iterdir():
        if "path-exclude" in file.read_text():
            file.unlink()
