# SPDX-License-Identifier: LGPL-2.1-or-later
"""If a script gets only a part of an answer, the script must be able to notice that the answer is incomplete."""

import subprocess
import threading

import dbus.bus
import pytest

from conftest import BUILD, wait_until


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"]], ids=" ".join)
def test_output_that_cannot_be_written_is_an_error(world, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "src/cli/pinfold", *words], env=world.environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "pinfold: the output is not complete: No space left on device\n")


def test_a_job_that_is_only_being_created(world):
    """pinfoldd has answered, so the command must not say that pinfoldd is not reachable."""
    world.systemd.Hold(True)
    leader, asker = world.process(), dbus.bus.BusConnection(world.address)
    threading.Thread(target=lambda: world.create("bus.1", leader, bus=asker), daemon=True).start()
    wait_until(lambda: world.live() == {"bus.1": "creating"}, "it is being created")
    done = subprocess.run([BUILD / "src/cli/pinfold", "status", "bus.1"], env=world.environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "pinfold: job bus.1 is only being created, or has just ended; try again\n")
    world.systemd.Hold(False)
    wait_until(lambda: world.live() == {"bus.1": "running"}, "it runs")
