# SPDX-License-Identifier: LGPL-2.1-or-later
from jobs import run


def test_the_loop_has_a_meter():
    """Without the meter, no test of this suite would notice that the loop waits (see conftest.py)."""
    assert "PINFOLD_LOOP_METER" in run("systemctl", "show", "-P", "Environment", "pinfoldd.service").stdout
