# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that job_record_test.cpp gives a value to each member of a job's record. If a member had no value, job_record_test.cpp would not
notice that pinfoldd does not store the member, or does not read the member after a restart."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]


def test_the_full_record_has_every_member():
    header = (TOP / "src/model/job_record.hpp").read_text()
    struct = header[header.index("struct JobRecord {"):]
    struct = struct[:struct.index("\n};")]
    members = re.findall(r"^    [\w:<>, ]+ (\w+)(?: = [^;]+|\{\})?;", struct, re.M)
    assert {"id", "neverRan", "figures", "suspended", "tasks"} <= set(members) and len(members) > 30
    made_by_the_constructor = {"id", "bootId", "key"}
    test = (TOP / "tests/unit/model/job_record_test.cpp").read_text()
    full = test[test.index("JobRecord fullRecord() {"):test.index("return record;")]
    assert sorted(name for name in members if name not in made_by_the_constructor and not re.search(rf"record\.{name} =\s", full)) == []
