# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lets some suites run only in a box that is thrown away afterwards. These suites start, kill and reload the services of a host."""

from pathlib import Path

import pytest

MARKER = Path("/etc/pinfold-disposable")


def require():
    if not MARKER.exists():
        pytest.exit(f"refused: these tests could hurt a host, and there is no {MARKER} here; run tools/test instead", returncode=3)
