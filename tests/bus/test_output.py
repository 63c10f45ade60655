# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a script takes for the answer has to be all of it."""

import subprocess

import pytest

from conftest import BUILD


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["--help"]], ids=" ".join)
def test_output_that_cannot_be_written_is_an_error(world, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "src/cli/pinfold", *words], env=world.environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "pinfold: the output is not complete: No space left on device\n")
