# SPDX-License-Identifier: LGPL-2.1-or-later
"""Some suites start, kill and reload the services of a host. This module refuses to run these suites outside of a disposable box."""

from pathlib import Path

import pytest

MARKER = Path("/etc/pinfold-disposable")


def require():
    if not MARKER.exists():
        pytest.exit(f"refused: these tests could hurt a host, and there is no {MARKER} here; run tools/test instead", returncode=3)
