# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the alert rules and the dashboard of docs/monitoring. promtool must accept the alert rules. Each alert must fire at the expected time, with
the expected labels and texts."""

import json
import re
import subprocess

import pytest
import yaml

from project_files import TOP
from test_links import anchors

RULES = TOP / "docs/monitoring/alerts.yml"
ALERTS = {rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}
DASHBOARD = json.loads((TOP / "docs/monitoring/dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
TESTS = TOP / "tests/static/alerts.yml"


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_accepts_the_rules():
    promtool("check", "rules", RULES)


def test_the_alerts_fire_when_they_shall():
    promtool("test", "rules", TESTS)


def test_each_alert_is_tested():
    fires = set(re.findall(r'alertname="(\w+)", instance="sick"', TESTS.read_text()))
    assert len(ALERTS) > 15 and sorted(ALERTS) == sorted(fires)


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_what_to_do(alert):
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert "{{ $labels.instance }}" in rule["annotations"]["summary"]
    assert all(rule["annotations"][text].endswith(".") for text in ("summary", "description"))
    page, _, anchor = rule["annotations"]["page"].partition("#")
    assert anchor in anchors(TOP / "docs" / page)


def test_the_page_lists_the_alerts():
    rows = re.findall(r"^\| `(Pinfold\w+)` \| (\w+) \|.*\| (.*) \|$", (TOP / "docs/monitoring.md").read_text(), re.M)
    assert [(alert, severity) for alert, severity, _ in rows] == [(alert, rule["labels"]["severity"]) for alert, rule in ALERTS.items()]
    for alert, _, remedy in rows:
        page = ALERTS[alert]["annotations"]["page"]
        assert f"]({page})" in remedy or page == "monitoring.md#alerts"


def expressions():
    return [rule["expr"] for rule in ALERTS.values()] + [target["expr"] for panel in PANELS for target in panel["targets"]]


def metrics():
    """Returns the names of the series in the files that pinfoldd, pinfold and pinfold-ship write."""
    source = "".join((TOP / file).read_text() for file in ("src/model/metrics.cpp", "src/cli/textfile.cpp", "src/ship/progress.cpp"))
    names = set(re.findall(r'"((?:pinfold|cgroup)_\w+)"', source))
    histograms = set(re.findall(r'"(pinfold_\w+)", "histogram"', source))
    assert len(names) > 20 and histograms
    return names - histograms | {name + suffix for name in histograms for suffix in ("_bucket", "_sum", "_count")}


def test_the_expressions_use_metrics_that_exist():
    used = {name for expression in expressions() for name in re.findall(r"\b(?:pinfold|cgroup)_\w+", expression)}
    assert used and sorted(used - metrics()) == []


def test_the_dashboard_shows_every_metric_of_a_node():
    shown = {name for panel in PANELS for target in panel["targets"] for name in re.findall(r"\bpinfold_\w+", target["expr"])}
    assert sorted(name for name in metrics() if name.startswith("pinfold_") and name not in shown) == []


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_has_a_unit_and_a_description_and_follows_the_variables(panel):
    assert panel["description"].endswith(".") and panel["fieldConfig"]["defaults"]["unit"]
    assert panel["targets"] and all(part["datasource"]["uid"] == "${datasource}" for part in [panel, *panel["targets"]])
    for target in panel["targets"]:
        selectors = re.findall(r"\{([^}]*)\}", target["expr"])
        assert selectors and all('instance=~"$node"' in selector for selector in selectors), target["expr"]


def test_the_panels_do_not_overlap():
    places = [(panel["title"], panel["gridPos"]) for panel in DASHBOARD["panels"]]
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
    squares = [(x, y) for _, at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    assert len(squares) == len(set(squares)) and max(x for x, _ in squares) == 23
