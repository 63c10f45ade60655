# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the dashboard of the site report contains each query of src/archive/sql/report exactly once and without a change.
PINFOLD_WRITE_DASHBOARD=1 copies changed queries into the dashboard."""

import json
import os
import re

from project_files import TOP

FILE = TOP / "docs/monitoring/site-dashboard.json"
DASHBOARD = json.loads(FILE.read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = {file.stem: file.read_text().replace("$1", "$__timeFrom()").replace("$2", "$__timeTo()")
           for file in (TOP / "src/archive/sql/report").glob("*.sql")}
TARGETS = {target["refId"]: target for panel in PANELS for target in panel["targets"]}


def test_the_panels_have_the_queries_of_the_report():
    if os.environ.get("PINFOLD_WRITE_DASHBOARD"):
        for name, target in TARGETS.items():
            target["rawSql"] = QUERIES[name]
        FILE.write_text(json.dumps(DASHBOARD, indent=2, ensure_ascii=False) + "\n")
    assert {name: target["rawSql"] for name, target in TARGETS.items()} == QUERIES and len(QUERIES) > 10
    assert sum(len(panel["targets"]) for panel in PANELS) == len(QUERIES)


def test_the_panels_have_a_description_and_the_chosen_data_source():
    assert all(panel["description"].endswith(".") for panel in PANELS)
    assert all(part["datasource"] == {"type": "postgres", "uid": "${datasource}"} for panel in PANELS for part in [panel, *panel["targets"]])
    assert all(target["format"] == "table" and target["rawQuery"] for target in TARGETS.values())


def test_the_panels_say_how_many_rows_they_show_and_hide_the_figures_of_all_rows():
    hidden = {"id": "filterFieldsByName", "options": {"exclude": {"pattern": "/^all_/"}}}
    cut = 0
    for panel in PANELS:
        [target] = panel["targets"]
        limit = re.search(r"LIMIT (\d+)", target["rawSql"])
        assert (limit is not None) == panel["description"].endswith(f"The panel shows at most {limit and limit[1]} rows.")
        assert panel.get("transformations", []) == ([hidden] if " AS all_" in target["rawSql"] else [])
        cut += limit is not None
    assert cut > 10


def test_the_panels_do_not_overlap():
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
    squares = [(x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    assert len(squares) == len(set(squares)) and max(x for x, _ in squares) == 23
