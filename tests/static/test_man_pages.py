# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that scdoc can make the manual pages, and that mandoc finds no fault that a reader would see."""

import subprocess

import pytest

from project_files import name, with_suffix

# scdoc writes empty paragraphs, which no reader sees.
HARMLESS = "skipping paragraph macro"


@pytest.mark.parametrize("page", with_suffix(".scd"), ids=name)
def test_man_page(page, tmp_path):
    made = subprocess.run(["scdoc"], input=page.read_bytes(), capture_output=True, timeout=60, check=False)
    assert made.returncode == 0, made.stderr
    (tmp_path / page.stem).write_bytes(made.stdout)
    checked = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", tmp_path / page.stem], capture_output=True, text=True, timeout=60, check=False)
    found = [line for line in checked.stdout.splitlines() if HARMLESS not in line]
    assert found == []
