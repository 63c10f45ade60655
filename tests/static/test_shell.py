# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that shellcheck finds no fault in the shell scripts."""

import subprocess

import pytest

from project_files import TOP, every_file, name

SHELLS = (b"#!/bin/bash", b"#!/usr/bin/env bash", b"#!/bin/sh", b"#!/usr/bin/bash", b"#!/usr/bin/sh")
SCRIPTS = [path for path in every_file() if path.suffix == ".sh" or path.read_bytes().startswith(SHELLS)]


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_shell_script(script):
    done = subprocess.run(["shellcheck", "-x", script], cwd=TOP, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
