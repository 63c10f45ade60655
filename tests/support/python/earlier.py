# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives tests the data that earlier versions of pinfold stored (tests/support/earlier)."""

import json
from pathlib import Path

FILES = Path(__file__).resolve().parents[1] / "earlier"


def make_history(db, schema, rows=True):
    """Writes the history of an earlier version into an empty database. With rows=False, the tables stay empty."""
    dump = (FILES / f"schema-{schema}.sql").read_text()
    db.executescript(dump if rows else "\n".join(line for line in dump.splitlines() if not line.startswith("INSERT")))


def live_job(schema):
    """Returns the record of a live job. A pinfoldd whose history had the schema `schema` wrote the record."""
    return json.loads((FILES / f"live-job-schema-{schema}.json").read_text())
