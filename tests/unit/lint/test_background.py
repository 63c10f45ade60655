# SPDX-License-Identifier: LGPL-2.1-or-later
"""No matter why tools/test ends, all processes that it has started must end."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

BACKGROUND = Path(__file__).resolve().parents[3] / "tools/lib/background.sh"
SCRIPT = f"""
set -euo pipefail
source {BACKGROUND}
inBackground one sleep 1000
inBackground two bash -c 'sleep 1000; true'
"""
STUBBORN = "stubborn() { trap '' INT; sleep 1000; true; }; inBackground three stubborn\n"


def members(group):
    """Returns the living processes whose standard output is the script's pipe. All processes that the script has started inherit the script's
    pipe."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "fd/1") == group and int(entry.name) != os.getpid():
                found.append(entry.name)
        except OSError:
            pass
    return found


def as_from_a_terminal():
    """Sets the default actions of the signals. nohup(1) makes a command ignore SIGHUP. A script cannot trap a signal that was ignored when the
    script began."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def begin(last, processes):
    script = subprocess.Popen(["bash", "-c", f"{SCRIPT}{last}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              preexec_fn=as_from_a_terminal)
    pipe = os.readlink(f"/proc/self/fd/{script.stdout.fileno()}")
    while len(members(pipe)) < processes:
        assert script.poll() is None
    return script, pipe


@pytest.mark.parametrize("number,status,last,processes", [
    (signal.SIGINT, 130, "wait -n", 4),
    (signal.SIGTERM, 143, "wait -n", 4),
    (signal.SIGHUP, 143, "inForeground three sleep 1000", 5),
    (signal.SIGINT, 130, STUBBORN + "wait -n", 6),
], ids=["interrupted", "terminated", "in the foreground", "stubborn"])
def test_nothing_outlives_a_signal(number, status, last, processes):
    script, pipe = begin(last, processes)
    script.send_signal(number)
    assert script.wait(timeout=60) == status
    assert members(pipe) == []


def test_nothing_outlives_a_failure():
    script, pipe = begin("read line; false", 4)
    script.communicate("\n", timeout=60)
    assert script.returncode == 1
    assert members(pipe) == []


def test_in_the_foreground_the_status_is_the_commands():
    done = subprocess.run(["bash", "-c", f"source {BACKGROUND}; inForeground it sh -c 'exit 7'; echo $? ${{#background[@]}}"],
                          stdout=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "7 0\n")


def test_a_command_that_has_ended_is_told_with_its_status(tmp_path):
    script = f"""
source {BACKGROUND}
inBackground killed sh -c 'kill -9 $$'
inBackground slow sh -c 'until [ -e go ]; do sleep 0.1; done; exit 3'
inBackground quick sh -c 'exit 4'
while ((${{#background[@]}})); do
    waitForOne
    echo "${{background[$ended]}} $status"
    unset "background[$ended]"
    ((${{#background[@]}} > 1)) || touch go
done"""
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=60)
    told = done.stdout.splitlines()
    assert done.returncode == 0 and sorted(told) == ["killed 137", "quick 4", "slow 3"] and told[-1] == "slow 3"
