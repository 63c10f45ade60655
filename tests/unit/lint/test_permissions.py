# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the code, the interface and the page agree about the rights of users."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]

WHO = {"Admin": "admins", "Owner": "owner", "Reader": "owner, auditors", "Creator": "creator", "Everyone": "everyone"}
IS = {"Done": "yes", "Needless": "nothing to do", "NoJob": "`NoSuchJob`", "NoReceipt": "`NoSuchReceipt`", "Taken": "`AlreadyExists`",
      "Early": "`Busy`", "Held": "`Busy`", "Late": "`JobEnding`"}
# In the comments of the interface, some lines begin with "Who:". SAID maps each group of callers to the words after "Who:".
SAID = {"Admin": ("admin.",), "Owner": ("admin; the owner",), "Reader": ("admin or auditor; the owner",), "Creator": ("admin; any user",), "Everyone": ("everyone.", "admin sees all; a user sees")}


def rules():
    """Returns two facts for each method: who is allowed to call the method, and what the call returns in each phase of a job."""
    source = (TOP / "src/core/access/authorizer.cpp").read_text()
    rows = re.findall(r'\{Action::(\w+),\s*"(\w+)",\s*Who::(\w+),\s*\{\{([^}]*)\}\}\}', source)
    assert len(rows) > 20 and all(action == method for action, method, _, _ in rows)
    return {method: (who, [word.strip() for word in phases.split(",")]) for method, _, who, phases in rows}


def methods():
    xml = (TOP / "dbus/org.pinfold1.Manager.xml").read_text()
    return {method: comment for comment, method in re.findall(r'<!--((?:(?!-->).)*)-->\s*<method name="(\w+)"', xml, re.S)}


def line(method, who, phases):
    name = re.sub(r"Again$", " again", method)
    return f"| {name} | {WHO[who]} | " + " | ".join(IS[phase] for phase in phases) + " |"


def test_every_method_has_its_rule():
    assert [method for method in rules() if not method.endswith("Again")] == list(methods())


def test_the_page_has_the_rules():
    page = (TOP / "docs/security.md").read_text()
    table = page.partition("| request | who |")[2].partition("\n\n")[0].splitlines()[2:]
    assert table == [line(method, *rule) for method, rule in rules().items()]


def test_the_interface_says_so():
    for method, comment in methods().items():
        said = " ".join(comment.split()).partition("Who: ")[2]
        assert said.startswith(SAID[rules()[method][0]]), method


def test_the_page_has_the_calls_of_the_socket():
    source = (TOP / "src/model/wrapper_protocol.cpp").read_text()
    calls = set(re.findall(r'call (?:==|!=) "(\w+)"', source))
    page = (TOP / "docs/security.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page.partition("| call on the socket |")[2].partition("\n\n")[0], re.M))
    assert len(calls) > 4 and calls == set(rows)
    assert {action for row in rows.values() for action in re.findall(r"[A-Z][a-z]+[A-Z]\w+|Adopt", row)} <= set(rules())


def test_the_page_has_the_properties():
    page = (TOP / "docs/security.md").read_text().partition("Every user may read all properties")[2].partition("\n\n")[0]
    xml = "".join((TOP / "dbus" / f"org.pinfold1.{interface}.xml").read_text() for interface in ("Manager", "Job"))
    properties = re.findall(r'<property name="(\w+)" type="[^"]*" access="(\w+)"', xml)
    assert re.findall(r"`(\w+)`", page) == [name for name, _ in properties]
    assert {access for _, access in properties} == {"read"}


def test_every_capability_is_explained():
    page = (TOP / "docs/security.md").read_text()
    for unit in (TOP / "units").glob("*.service.in"):
        for capability in re.findall(r"CAP_\w+", " ".join(re.findall(r"^CapabilityBoundingSet=(.*)", unit.read_text(), re.M))):
            assert f"`{capability}`" in page, f"{unit.name}: {capability}"
