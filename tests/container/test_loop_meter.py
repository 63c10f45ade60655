# SPDX-License-Identifier: LGPL-2.1-or-later
from jobs import run


def test_the_loop_has_a_meter():
    """The fixture loop_that_never_waits in conftest.py finds waits of pinfoldd's loop only if pinfoldd has the variable PINFOLD_LOOP_METER."""
    assert "PINFOLD_LOOP_METER" in run("systemctl", "show", "-P", "Environment", "pinfoldd.service").stdout
