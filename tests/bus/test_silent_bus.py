# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold doctor` on a bus that accepts connections, but sends nothing. pinfold-ship connects to the bus with the same code as `pinfold
doctor`, and only one thread of pinfold-ship handles signals."""

import os
import signal
import socket
import subprocess
from pathlib import Path

from conftest import BUILD


def blocked_signals(thread):
    [mask] = [line.split()[1] for line in (thread / "status").read_text().splitlines() if line.startswith("SigBlk:")]
    return {number for number in range(1, signal.SIGRTMIN) if int(mask, 16) >> (number - 1) & 1}


def test_doctor_ends_and_its_second_thread_takes_no_signal(tmp_path):
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(str(tmp_path / "bus"))
        bus.listen()
        bus.settimeout(60)
        doctor = subprocess.Popen([BUILD / "src/cli/pinfold", "doctor"], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/bus"})
        with bus.accept()[0]:
            others = [thread for thread in Path(f"/proc/{doctor.pid}/task").iterdir() if thread.name != str(doctor.pid)]
            assert {signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM} <= set.intersection(*map(blocked_signals, others))
            out = doctor.communicate(timeout=60)[0]
    assert "accepts connections, but does not answer" in out
