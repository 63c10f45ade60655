# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the example script pinfold-receipts, with which a site without PostgreSQL collects receipts. The script must not lose a receipt when it
restarts, when the power fails, or when logrotate begins a new file."""

import json
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, HERE, wait_until

SCRIPT = HERE.parents[1] / "docs/examples/archive/pinfold-receipts"

pytestmark = pytest.mark.skipif(not shutil.which("jq"), reason="install Debian's package jq")


class Collector:
    def __init__(self, world, directory):
        self.directory, self.file, self.process = directory, directory / "receipts.jsonl", None
        self.environment = {**world.environment, "PATH": f"{BUILD}/src/cli:{os.environ['PATH']}"}

    def start(self):
        self.process = subprocess.Popen(["sh", SCRIPT, self.directory], env=self.environment)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def keys(self, file=None):
        """Returns the keys of the receipts in the complete lines of the file."""
        text = (file or self.file).read_text() if self.file.exists() else ""
        found = []
        for line in text.split("\n")[:-1]:
            try:
                found.append(json.loads(line)["key"])
            except json.JSONDecodeError:
                found.append("incomplete")
        return found


def end_job(world, key):
    leader = world.process()
    world.create(key, leader)
    world.end(key, leader)


@pytest.fixture
def collector(world, tmp_path):
    it = Collector(world, tmp_path)
    yield it
    it.kill()


def test_each_receipt_is_in_the_file_once(world, collector):
    end_job(world, "sge.1")
    collector.start()
    wait_until(lambda: collector.keys() == ["sge.1"], "the receipt of the time before")
    end_job(world, "sge.2")
    wait_until(lambda: collector.keys() == ["sge.1", "sge.2"], "the receipt of a job that has just ended")
    collector.kill()
    end_job(world, "sge.3")
    collector.start()
    wait_until(lambda: collector.keys() == ["sge.1", "sge.2", "sge.3"], "the receipt of the time without the script")
    collector.kill()
    whole = collector.file.read_text()
    collector.file.write_text(whole[:-20])  # a power cut can leave the file without its last bytes
    collector.start()
    wait_until(lambda: collector.keys() == ["sge.1", "sge.2", "incomplete", "sge.3"], "the receipt whose line was cut")
    collector.kill()
    collector.file.rename(collector.directory / "receipts.jsonl.1")  # logrotate gives an old log file a name that ends with .1
    end_job(world, "sge.4")
    collector.start()
    wait_until(lambda: collector.keys() == ["sge.4"], "the first receipt of the new file")
