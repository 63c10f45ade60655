# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that each JSON document, table and page of pinfold has a golden file."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
TEST = (TOP / "tests/unit/cli/golden_test.cpp").read_text()
WITHOUT = {"formatTable", "helpPage"}  # formatTable formats all tables, and test_pages.py compares helpPage with the manual


def printers(form):
    headers = [path for folder in ("src/cli", "src/wording") for path in (TOP / folder).glob("*.hpp")]
    return {name for path in headers for name in re.findall(rf"^std::string ({form})\(", path.read_text(), re.M)} - WITHOUT


@pytest.mark.parametrize("form, least", [(r"json\w+", 25), (r"\w+(?:Table|Page)", 12)])
def test_what_people_and_programs_see_has_a_golden_file(form, least):
    assert len(printers(form)) > least
    assert sorted(name for name in printers(form) if f"{name}(" not in TEST) == []
