# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the files that are installed beside the programs: units, D-Bus policy, catalog."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
UNITS = TOP / "units"


# `threshold` is ten times the exposure that systemd-analyze(1) prints for the unit. pinfoldd has the exposure 1.9. Without its four capabilities,
# pinfoldd would have a lower exposure (docs/security.md says why pinfoldd needs these capabilities).
@pytest.mark.parametrize("name, threshold", [("pinfoldd.service", 19), ("pinfold-doctor.service", 28), ("pinfold-strays.service", 20),
                                             ("pinfold-archive.service", 12), ("pinfold-ship.service", 13)])
def test_the_sandbox_is_tight(name, threshold, tmp_path):
    unit = tmp_path / name
    unit.write_text((UNITS / f"{name}.in").read_text().replace("@libexecdir@", "/usr/libexec").replace("@bindir@", "/usr/bin"))
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", f"--threshold={threshold}", "--no-pager", unit],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Overall exposure level for {name}" in done.stdout


def test_the_sandbox_of_the_look_at_files_is_tight(tmp_path):
    unit = tmp_path / "pinfold-strays-files.service"
    unit.write_text((UNITS / "pinfold-strays-files.service.in").read_text().replace("@bindir@", "/usr/bin"))
    # pinfold-strays-files.service sees the real /tmp and /dev, and the files of all users.
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=23", "--no-pager", unit],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_message_id_has_its_catalog_entry():
    ids = re.findall(r'"([0-9a-f]{32})"', (TOP / "src/base/message_ids.hpp").read_text())
    entries = re.findall(r"^-- ([0-9a-f]{32})$", (UNITS / "pinfold.catalog").read_text(), re.M)
    assert ids and entries == ids


def test_the_catalog_compiles(tmp_path):
    catalog = tmp_path / "usr/lib/systemd/catalog"
    catalog.mkdir(parents=True)
    (tmp_path / "var/lib/systemd/catalog").mkdir(parents=True)
    (catalog / "pinfold.catalog").write_text((UNITS / "pinfold.catalog").read_text())
    done = subprocess.run(["journalctl", f"--root={tmp_path}", "--update-catalog"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "var/lib/systemd/catalog/database").stat().st_size > 0


def test_the_bus_lets_through_what_the_interface_has():
    methods = [m.get("name") for m in ElementTree.parse(TOP / "dbus/org.pinfold1.Manager.xml").iter("method")]
    own, default, *_ = ElementTree.parse(TOP / "dbus/org.pinfold1.conf").findall("policy")
    assert [r.get("own") for r in own.iter("allow")] == ["org.pinfold1", "org.pinfold1.Daemon"]
    rules = list(default.iter("allow"))
    assert [r.get("send_member") for r in rules if r.get("send_interface") == "org.pinfold1.Manager"] == methods
    assert all(r.get("send_destination") == "org.pinfold1" and r.get("send_interface") for r in rules)


def test_only_admins_send_descriptors_and_only_where_a_method_takes_them():
    interface = ElementTree.parse(TOP / "dbus/org.pinfold1.Manager.xml")
    takes = [m.get("name") for m in interface.iter("method") if any("h" in a.get("type") for a in m.iter("arg") if a.get("direction") == "in")]
    _, default, *admins = ElementTree.parse(TOP / "dbus/org.pinfold1.conf").findall("policy")
    assert [dict(rule.attrib) for rule in list(default)[-2:]] == [{"send_destination": name, "min_fds": "1"} for name in ("org.pinfold1", "org.pinfold1.Daemon")]
    assert [dict(policy.attrib) for policy in admins] == [{"user": "root"}, {"group": "pinfold-admin"}]
    for policy in admins:
        assert [rule.get("send_member") for rule in policy.iter("allow")] == takes == ["CreateJob", "AddTask", "Adopt"]
