# SPDX-License-Identifier: LGPL-2.1-or-later
from jobs import run


def test_the_loop_has_a_meter():
    """The tests of this suite can find waits of pinfoldd's loop only if pinfoldd has this meter (see conftest.py)."""
    assert "PINFOLD_LOOP_METER" in run("systemctl", "show", "-P", "Environment", "pinfoldd.service").stdout
