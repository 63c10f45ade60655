# SPDX-License-Identifier: LGPL-2.1-or-later
"""Some suites start, kill and reload the services of a host. Outside of a disposable box, this module refuses to run a suite that changes the host's
services."""

from pathlib import Path

import pytest

MARKER = Path("/etc/pinfold-disposable")


def require():
    if not MARKER.exists():
        pytest.exit(f"refused: these tests could hurt a host, and there is no {MARKER} here; run tools/test instead", returncode=3)
