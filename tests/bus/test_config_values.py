# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold config`. The command prints each value that the configuration files set, and the place where the value is set. The command
does not ask pinfoldd."""

import json
import subprocess

import pytest

from conftest import BUILD


@pytest.fixture
def config(tmp_path):
    def run(*options):
        done = subprocess.run([BUILD / "src/cli/pinfold", "config", "--root", tmp_path, *options], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.replace(str(tmp_path), ""), done.stderr.replace(str(tmp_path), "")

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run.write = write
    return run


DEFAULTS = "# Settings that are not listed have their defaults, see pinfold.toml(5).\n"


def test_without_a_file_there_are_the_defaults(config):
    assert config() == (0, DEFAULTS, "")


def test_the_last_file_wins_and_is_named(config):
    config.write("etc/pinfold/pinfold.toml", '[jobs]\nkill_grace = "5s"\n\nsummary = true\n[devices.fuse]\nallow = ["/dev/fuse rw"]\n')
    config.write("run/pinfold/pinfold.toml.d/10-site.toml", '[jobs]\nsummary = "on-failure"\n[node]\nreserve_cpus = 2\n')
    assert config() == (0, '[devices.fuse]\nallow = ["/dev/fuse rw"]  # /etc/pinfold/pinfold.toml:6\n\n'
                           '[jobs]\nkill_grace = "5s"  # /etc/pinfold/pinfold.toml:2\n'
                           'summary = "on-failure"  # /run/pinfold/pinfold.toml.d/10-site.toml:2\n\n'
                           f'[node]\nreserve_cpus = 2  # /run/pinfold/pinfold.toml.d/10-site.toml:4\n\n{DEFAULTS}', "")
    status, out, _ = config("--json")
    document = json.loads(out)
    assert (status, document["schema"]) == (0, 1)
    assert document["values"][2] == {"section": "jobs", "key": "summary", "value": "on-failure",
                                     "file": "/run/pinfold/pinfold.toml.d/10-site.toml", "line": 2}


def test_what_it_prints_is_a_configuration(config):
    config.write("etc/pinfold/pinfold.toml", '[gpus]\ndevices = ["/dev/nvidia0",\n  ["/dev/dri/card0", "/dev/dri/card1"]]\n'
                                             "ids = ['GPU-\"a', 'GPU-\\b']\n[history]\nmax_size = \"2G\"\n")
    status, first, err = config()
    assert (status, err) == (0, "")
    config.write("etc/pinfold/pinfold.toml", first)
    status, second, err = config()
    assert (status, err) == (0, "")
    assert [line.split("  # ")[0] for line in second.splitlines()] == [line.split("  # ")[0] for line in first.splitlines()]


def test_what_is_wrong_is_said(config):
    config.write("etc/pinfold/pinfold.toml", "[jobs]\nkill_grease = 7\n")
    status, out, err = config()
    assert (status, out.splitlines()[1]) == (1, "kill_grease = 7  # /etc/pinfold/pinfold.toml:2")
    assert err.startswith("pinfold: /etc/pinfold/pinfold.toml:2:1: unknown key 'kill_grease'")
    config.write("etc/pinfold/pinfold.toml", '[jobs]\nkill_grace = "soon"\n')
    assert config()[:2] == (1, "") and "soon" in config()[2]
