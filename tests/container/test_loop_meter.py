# SPDX-License-Identifier: LGPL-2.1-or-later
from jobs import run


def test_the_loop_has_a_meter():
    """Without the variable, the fixture loop_that_never_waits in conftest.py would not find waits of pinfoldd's loop."""
    assert "PINFOLD_LOOP_METER" in run("systemctl", "show", "-P", "Environment", "pinfoldd.service").stdout
