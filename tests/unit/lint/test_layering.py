# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the #include lines of src. A folder of src includes only its own files and the folders in its entry of ALLOWED. OWNERS maps each library to
folders, and no other folder includes the library."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
SRC = TOP / "src"

ALLOWED = {
    "base": set(),
    "model": {"base"},
    "wording": {"base", "model"},
    "options": {"base", "model", "wording"},
    "config": {"base", "model"},
    "os": {"base", "model"},
    "store": {"base", "model", "os"},
    "postgres": {"base"},
    "systemd": {"base", "model", "os"},
    "core": {"base", "model", "wording", "config", "os", "store", "systemd"},
    "bus_values": {"base", "model", "store", "systemd"},
    "bus": {"base", "model", "os", "systemd", "core", "bus_values"},
    "socket": {"base", "model", "wording", "config", "os", "core"},
    "strays": {"base", "model", "config", "os", "store"},
    "bus_client": {"base", "model", "os", "store", "systemd", "bus_values"},
    "ship": {"base", "model", "config", "os", "store", "postgres", "bus_client"},
    "archive_client": {"base", "model", "store"},
    "archive_service": {"base", "model", "config", "os", "store", "postgres", "archive_client"},
    "doctor": {"base", "model", "config", "os"},
    "daemon": {"base", "model", "config", "os", "store", "systemd", "core", "bus", "socket"},
    "socket_client": {"base", "model"},
    "wrapper": {"base", "model", "socket_client"},
    "run": {"base", "options", "socket_client", "wrapper"},
    "cli": {"base", "model", "wording", "options", "config", "os", "store", "systemd", "strays", "bus_client", "archive_client", "doctor",
            "socket_client"},
    "archive": {"base", "cli", "postgres"},
    "completions": {"base", "options", "cli", "run"},
    "adapters/grid_engine": {"base", "model", "os", "socket_client", "wrapper"},
    "adapters/slurm": {"base", "model", "os", "socket_client"},
    "adapters/torque": {"base", "model", "os", "store", "bus_client", "socket_client", "wrapper"},
    "pam": {"base", "model", "os", "socket_client"},
}
OWNERS = {
    "sdbus-c++": {"systemd", "bus_values", "bus", "bus_client"},
    "toml++": {"config"},
    "CLI/": {"cli"},
    "libsmartcols": {"cli"},
    "sqlite3": {"store"},
    "libpq": {"postgres"},
    "fmt/": {"core", "bus", "socket", "strays", "doctor", "cli", "bus_client", "postgres", "archive", "archive_service", "ship"},
    "openssl/": {"postgres"},
}
# The source files in PURE translate a batch system's data for pinfold. Callers pass all data to these source files, so the files do no I/O.
PURE = {"adapters/grid_engine/outcome", "adapters/grid_engine/spool_config", "adapters/grid_engine/translate", "adapters/slurm/translate",
        "adapters/torque/translate"}
IO = {"fcntl.h", "fstream", "filesystem", "poll.h", "unistd.h", "sys/socket.h", "sys/stat.h"}
SOURCES = sorted(p for p in SRC.rglob("*") if p.suffix in (".hpp", ".cpp"))


def folder_of(path):
    """Returns the folder of a file below src, for example "core" or "adapters/slurm"."""
    parts = Path(path).parts
    return "/".join(parts[:2]) if parts[0] == "adapters" else parts[0]


def includes(path):
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.M)


def test_every_folder_has_its_place():
    assert {folder_of(p.relative_to(SRC)) for p in SOURCES} == set(ALLOWED)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(SRC)))
def test_includes_point_down(path):
    folder = folder_of(path.relative_to(SRC))
    for name in includes(path):
        other = folder_of(name)
        if (SRC / name).exists() and other != folder:
            assert other in ALLOWED[folder], f"{folder} must not include {name}"
        for library, owners in OWNERS.items():
            if name.startswith(library):
                assert folder in owners, f"{name} belongs to {sorted(owners)}"


def test_pure_files_exist():
    assert PURE <= {str(p.relative_to(SRC).with_suffix("")) for p in SOURCES}


@pytest.mark.parametrize("path", [p for p in SOURCES if str(p.relative_to(SRC).with_suffix("")) in PURE], ids=lambda p: str(p.relative_to(SRC)))
def test_pure_files_do_no_io(path):
    for name in includes(path):
        assert name not in IO
        if (SRC / name).exists():
            assert folder_of(name) in {"base", "model"} or name.removesuffix(".hpp") in PURE


def chains(source):
    """Returns the messages that the source builds with `+` from at least three pieces, or from a text and a number. The function leaves out paths and
    names, because paths and names are not messages."""
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
    # getCredsUid() reads /proc. A caller can deceive getCredsUid() by executing a setuid program.
    assert "getCredsUid" not in path.read_text()


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(SRC)))
def test_size(path):
    lines = len(path.read_text().splitlines())
    assert lines <= (200 if path.suffix == ".hpp" else 400), "does it do more than one thing?"


@pytest.mark.parametrize("program", ["daemon", "cli", "run", "completions", "adapters/grid_engine"])
def test_main_is_short(program):
    assert len((SRC / program / "main.cpp").read_text().splitlines()) <= 60
