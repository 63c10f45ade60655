# SPDX-License-Identifier: LGPL-2.1-or-later
import subprocess

import disposable
import pytest

disposable.require()

from alone import one_failure_alone  # noqa: E402, F401
from calls import in_time  # noqa: E402, F401
from failures import pytest_runtest_makereport  # noqa: E402, F401
from jobs import busy  # noqa: E402

WAITED = "the loop waited "


@pytest.fixture(autouse=True)
def loop_that_never_waits(tmp_path_factory):
    """On a test machine of tools/lib/boot, pinfoldd has the variable PINFOLD_LOOP_METER. If PINFOLD_LOOP_METER is set, pinfoldd writes a line to the
    journal whenever its loop has waited in a system call."""
    cursor = tmp_path_factory.getbasetemp() / "journal-cursor"
    command = ["journalctl", f"--cursor-file={cursor}", "--no-pager", "-o", "short-precise", "-u", "pinfoldd.service"]
    if not cursor.exists():
        subprocess.run([*command, "-n", "0"], check=False, capture_output=True)
    yield
    said = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace").stdout.splitlines()
    # The loop can wait for a lock in the kernel while the holder of the lock waits for a processor. The busier the machine is, the longer the holder
    # of the lock waits for a processor.
    most = 100 * busy()
    waited = [line for line in said if WAITED in line and int(line.partition(WAITED)[2].split()[0]) > most]
    assert not waited, "\n".join(waited)
