# SPDX-License-Identifier: LGPL-2.1-or-later
"""The arrow of dependency: a folder includes only those before it, and libraries stay in the folders that own them."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
SRC = TOP / "src"

ALLOWED = {
    "base": set(),
    "model": {"base"},
    "text": {"base", "model"},
    "options": {"base", "model", "text"},
    "config": {"base", "model"},
    "os": {"base", "model"},
    "systemd": {"base", "model", "os"},
    "core": {"base", "model", "config", "os", "systemd"},
    "bus_values": {"base", "model", "os", "systemd"},
    "bus": {"base", "model", "config", "os", "systemd", "core", "bus_values"},
    "socket": {"base", "model", "text", "config", "os", "core"},
    "strays": {"base", "model", "config", "os"},
    "client": {"base", "model", "os", "systemd", "bus_values"},
    "doctor": {"base", "model", "config", "os"},
    "daemon": {"base", "model", "config", "os", "systemd", "core", "bus", "socket"},
    "cli": {"base", "model", "text", "options", "config", "os", "systemd", "strays", "client", "doctor"},
    "run": {"base", "model", "text", "options"},
    "completions": {"base", "options", "cli", "run"},
    "schedulers": {"base", "model"},
    "shepherd": {"base", "model", "os", "run", "schedulers"},
    "spank": {"base", "model", "os", "run", "schedulers"},
    "pam": {"base", "model", "os", "run"},
    "torque": {"base", "model", "os", "run", "schedulers", "client"},
}
OWNERS = {
    "sdbus-c++": {"systemd", "bus_values", "bus", "client"},
    "toml++": {"config"},
    "CLI/": {"cli"},
    "libsmartcols": {"cli"},
    "sqlite3": {"os"},
    "fmt/": {"core", "bus", "socket", "strays", "doctor", "cli"},
}
SOURCES = sorted(p for p in SRC.rglob("*") if p.suffix in (".hpp", ".cpp"))


def includes(path):
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.M)


def test_every_folder_has_its_place():
    assert {p.relative_to(SRC).parts[0] for p in SOURCES} == set(ALLOWED)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(SRC)))
def test_includes_point_down(path):
    folder = path.relative_to(SRC).parts[0]
    for name in includes(path):
        other = name.split("/")[0]
        if (SRC / name).exists() and other != folder:
            assert other in ALLOWED[folder], f"{folder} must not include {name}"
        for library, owners in OWNERS.items():
            if name.startswith(library):
                assert folder in owners, f"{name} belongs to {sorted(owners)}"


def chains(source):
    """Messages that are put together with + from three pieces or more, or with a number. Paths and names are no messages."""
    masked = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda literal: "¶" if re.search(r"[A-Za-z].* | .*[A-Za-z]", literal[0]) else "§", source)
    between = r"\s*\+(?:::|[^¶§?:;{}])+\+\s*"
    return re.findall(rf"¶{between}[¶§]|§{between}¶|\+\s*std::to_string|std::to_string\(\w+\)\s*\+", masked)


@pytest.mark.parametrize("path", [p for p in SOURCES if p.relative_to(SRC).parts[0] in OWNERS["fmt/"]], ids=lambda p: str(p.relative_to(SRC)))
def test_messages_are_format_strings(path):
    assert chains(path.read_text()) == [], 'write fmt::format("process {} has ended", pid)'


def test_only_the_command_line_knows_its_parser():
    users = [p for p in SOURCES if any(i.startswith("CLI/") for i in includes(p))]
    assert [str(p.relative_to(SRC)) for p in users] == ["cli/command_line.cpp"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(SRC)))
def test_banned_calls(path):
    # getCredsUid() reads /proc and is fooled by a caller that execs a setuid program.
    assert "getCredsUid" not in path.read_text()


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(SRC)))
def test_size(path):
    lines = len(path.read_text().splitlines())
    assert lines <= (200 if path.suffix == ".hpp" else 400), "does it do more than one thing?"


@pytest.mark.parametrize("program", ["daemon", "cli", "run", "completions", "shepherd"])
def test_main_is_short(program):
    assert len((SRC / program / "main.cpp").read_text().splitlines()) <= 60
