# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that pinfold-json(5) describes exactly the keys that the documents have. Each JSON document has a golden file."""

import json
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
PAGE = (TOP / "docs/man/pinfold-json.5.scd").read_text().replace("\\_", "_")
# A key in an object of FREE is data: the state of a job, or the name of a batch system, a variable, a unit's property or a label.
FREE = {"states", "schedulers", "environment", "properties", "labels"}


def keys_of(value, name=None):
    if isinstance(value, list):
        return set().union(*(keys_of(entry) for entry in value))
    if not isinstance(value, dict):
        return set()
    below = set().union(*(keys_of(entry, key) for key, entry in value.items()))
    return below if name in FREE else below | set(value)


def printed_keys():
    return set().union(*(keys_of(json.loads(path.read_text())) for path in (TOP / "tests/unit/cli/golden").glob("*.json")))


def test_every_printed_key_is_documented():
    assert len(printed_keys()) > 150
    assert sorted(key for key in printed_keys() if f"*{key}*" not in PAGE) == []


def test_every_documented_key_is_printed():
    headings = re.findall(r"^\*(?!pinfold ).*\)$", PAGE.split("\n# SEE ALSO\n")[0], re.M)
    documented = {key for heading in headings for key in re.findall(r"\*(\w+)\*", heading)}
    assert len(documented) > 120
    assert sorted(documented - printed_keys()) == []
