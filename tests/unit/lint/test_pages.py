# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each test checks that two files of the repository say the same about a fact."""

import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("PINFOLD_BUILD", TOP / "build"))


def test_dbus_page_is_made_from_the_xml():
    done = subprocess.run([TOP / "tools/dbus-page", "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", sorted((TOP / "docs/examples/write-your-own").iterdir()), ids=lambda p: p.name)
def test_the_page_shows_the_examples_that_are_tested(example):
    assert f"\n{example.read_text()}```\n" in (TOP / "docs/schedulers/write-your-own.md").read_text()


@pytest.mark.parametrize("page", ["README.md", "docs/for-users.md"])
def test_the_still_of_why_is_what_pinfold_prints(page):
    printed = (TOP / "tests/unit/cli/golden/why-oom.txt").read_text()
    shown = "".join(f"    {line}\n" if line else "\n" for line in printed.splitlines())
    assert f"    $ pinfold why slurm.123456_789\n{shown}" in (TOP / page).read_text()


@pytest.mark.parametrize("index", ["README.md", "docs/README.md"])
def test_every_page_is_in_the_index(index):
    text = (TOP / index).read_text()
    pages = [path for path in (TOP / "docs").rglob("*.md") if path != TOP / index and path.name != "README.md"]
    linked = {(TOP / index).parent / link for link in re.findall(r"\]\(([^)#]+)", text)}
    linked |= {path.parent / link for path in linked if path.name == "README.md" for link in re.findall(r"\]\(([^)#]+)", path.read_text())}
    assert pages and sorted(str(path) for path in {page.resolve() for page in pages} - {path.resolve() for path in linked}) == []


def test_the_page_for_users_explains_all_advice():
    source = re.sub(r'"\s*\n\s*"', "", (TOP / "src/wording/advice.cpp").read_text())
    advice = [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', source) if " " in text]
    page = (TOP / "docs/for-users.md").read_text()
    assert len(advice) > 15 and [text for text in advice if text not in page and text != "% of its time"] == []


def test_the_page_explains_each_reason_of_archive_status():
    source = re.search(r"^std::string archiveTrouble.*?^}", (TOP / "src/cli/archive_status.cpp").read_text(), re.M | re.S)[0]
    reasons = re.findall(r'add\(fmt::format\("([^"]+)"', source)
    section = re.search(r"^\*status\*$.*?^\*prune\*$", (TOP / "docs/man/pinfold.1.scd").read_text(), re.M | re.S)[0]
    explained = re.findall(r"^\t- _([^_]+)_:", section, re.M)
    assert len(reasons) > 4
    assert [reason for reason in reasons if not any(words in reason for words in explained)] == []
    assert [words for words in explained if not any(words in reason for reason in reasons)] == []


def test_every_page_is_installed():
    pages = [path for pattern in ("*.md", "*.svg") for path in (TOP / "docs").rglob(pattern)]
    installed = re.search(r"^pages = \[(.*?)^\]", (TOP / "docs/meson.build").read_text(), re.M | re.S)[1]
    assert sorted(re.findall(r"'(\S+)'", installed)) == sorted(str(path.relative_to(TOP / "docs")) for path in pages)


def test_every_man_page_is_installed():
    installed = re.search(r"man_pages = (.*?)foreach page", (TOP / "docs/meson.build").read_text(), re.S)[1]
    assert sorted(re.findall(r"'(\S+)'", installed)) == sorted(path.stem for path in (TOP / "docs/man").glob("*.scd"))


def test_no_page_asks_the_journal_for_what_anybody_may_have_written():
    """`journalctl -u` always checks a field that users cannot write. Every user can write a journal field that does not begin with "_". A command
    that searches for such a field must also search for _UID=0 or _PID=1."""
    pages = [TOP / "README.md", *(TOP / "docs").rglob("*.md"), *(TOP / "docs/man").glob("*.scd")]
    asked = [command for page in pages for command in re.findall(r"[`*]journalctl ([^`*]+)[`*]", page.read_text())]
    assert asked
    assert [command for command in asked if not re.search(r"-u\b|_UID=0|_PID=1", command)] == []
    # If a command fills a whole line of a page, the page puts no quotation marks around the command. Man pages write "_" as "\_".
    lines = [line.replace("\\_", "_") for page in pages for line in page.read_text().splitlines()]
    unquoted = [line for line in lines if re.search(r"^\s+(sudo )?journalctl\s", line) and "--update-catalog" not in line]
    assert unquoted
    assert [line for line in unquoted if not re.search(r"-u\b|-k\b|_UID=0|_PID=1", line)] == []


def test_no_guide_selects_entries_of_the_journal_that_anybody_may_have_written():
    """The guides tell a site which entries of the journal to keep or to send. If a line of a guide contains PINFOLD_EVENT=…, the line must contain
    _UID=0."""
    guides = [TOP / "README.md", *(TOP / "docs").rglob("*.md")]
    named = [line for page in guides for line in page.read_text().splitlines() if re.search(r"PINFOLD_EVENT=[a-z]", line)]
    assert named
    assert [line for line in named if "_UID=0" not in line] == []


def test_every_configuration_key_is_in_the_example():
    source = "".join((TOP / "src/config" / name).read_text() for name in ("config_loader.cpp", "archive_section.cpp", "strays_section.cpp"))
    keys = set(re.findall(r'\{"(\w+)",\s*[a-z[]', source)) - {"archive", "defaults", "strays"}  # archive, defaults and strays are sections, and not keys
    example = (TOP / "docs/examples/pinfold.toml").read_text()
    assert len(keys) > 40 and sorted(key for key in keys if f"\n#{key} = " not in example) == []


def test_every_configuration_key_is_documented():
    keys = re.findall(r"^#?\s*(\w+)\s*=", (TOP / "docs/examples/pinfold.toml").read_text(), re.M)
    page = (TOP / "docs/man/pinfold.toml.5.scd").read_text()
    assert keys and [key for key in keys if f"*{key}*" not in page] == []


@pytest.mark.parametrize("verb", sorted(path.stem[5:].replace("_", "-") for path in (TOP / "src/cli").glob("verb_*.cpp")))
def test_every_verb_is_documented(verb):
    commands = (TOP / "docs/man/pinfold.1.scd").read_text().split("\n# COMMANDS\n")[1].split("\n# ")[0]
    assert re.search(rf"^\*{verb}\*", commands, re.M)


def test_the_recipes_name_files_that_exist():
    recipes = (TOP / "docs/hacking.md").read_text().split("\n## Recipes\n")[1].split("\n## ")[0]
    named = {path for path in re.findall(r"`((?:src|tests|docs|dbus|tools)/[\w./-]+)`", recipes) if "NAME" not in path}
    assert len(named) > 40 and sorted(path for path in named if not (TOP / path).exists()) == []


def test_the_keys_of_strays_are_its_options():
    section = (TOP / "docs/examples/pinfold.toml").read_text().split("[strays]\n")[1].split("\n[")[0]
    keys = [key for key in re.findall(r"^#(\w+) = ", section, re.M) if not key.startswith("file")]  # the keys of files belong to the option --files
    page = (TOP / "docs/man/pinfold.1.scd").read_text()
    table = (TOP / "src/cli/stray_options.cpp").read_text()
    options = [f"--{key.replace('_', '-')}" for key in keys]
    assert len(options) > 10 and [o for o in options if f"*{o}*" not in page or f'"{o}"' not in table] == []


def help_of(*words):
    return subprocess.run([BUILD / "src/cli/pinfold", *words, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def verbs():
    return re.findall(r"^  ([a-z-]+) ", help_of().split("\nCommands:\n")[1].split("\n\n")[0], re.M)


def test_every_verb_is_in_the_table():
    sources = sorted((TOP / "src/cli").glob("verb_*.cpp"))
    made = {name for path in sources for name in re.findall(r"^Verb (\w+Verb)\(", path.read_text(), re.M)}
    table = (TOP / "src/cli/verbs.cpp").read_text()
    assert len(made) == len(verbs()) and {name for name in made if f"{name}()" not in table} == set()
    built = (TOP / "src/cli/meson.build").read_text()
    assert [path.name for path in sources if f"'{path.name}'" not in built] == []


def test_every_verb_and_option_is_documented():
    page = (TOP / "docs/man/pinfold.1.scd").read_text()
    limits = (TOP / "docs/man/pinfold-run.1.scd").read_text()  # only pinfold-run(1) describes some options of `open` and `limits`
    assert len(verbs()) > 25 and [verb for verb in verbs() if not re.search(rf"^(?:.*, )?\*{verb}\*", page, re.M)] == []
    options = {option for verb in verbs() if verb != "run" for option in re.findall(r"^  (?:(-\w), |    )(--[\w-]+)", help_of(verb), re.M)}
    assert len(options) > 80
    missing = [name for letter, name in options if not (f"*{name}" in page or letter and f"*{letter}*" in page or f"*{name}*" in limits)]
    assert missing == []


def test_each_entry_of_a_dictionary_is_a_paragraph_of_the_dbus_page():
    xml = "".join(path.read_text() for path in sorted((TOP / "dbus").glob("*.xml")))
    entries = re.findall(r"^ *`(\w+)` \([a-z{}()]+\)(?:,|:)", xml, re.M)
    page = (TOP / "docs/man/org.pinfold1.5.scd").read_text().replace("\\_", "_")
    assert len(entries) > 60 and [name for name in entries if f"\n\t*{name}* (" not in page] == []


def comments():
    """Returns the comment of each method and property of the interface."""
    xml = (TOP / "dbus/org.pinfold1.Manager.xml").read_text()
    return {name: text for text, name in re.findall(r'<!--((?:(?!-->).)*)-->\s*<(?:method|property) name="(\w+)"', xml, re.S)}


# Maps each header of src/model to a method or property. The XML comment of the method or property describes all members that the header declares.
ENTRIES = {"allocation.hpp": "CreateJob", "job_identity.hpp": "GetReceipt", "job_info.hpp": "ListProcesses", "node_resources.hpp": "Resources",
           "oom.hpp": "GetReceipt", "receipt.hpp": "GetReceipt", "reconciliation.hpp": "Reconcile", "task_receipt.hpp": "GetReceipt",
           "usage.hpp": "GetUsage"}


def test_every_field_is_an_entry_in_the_xml():
    """A header of src/model can contain a table of names. Each name is the name of a receipt's field or of a live job's figure."""
    fields = {path.name: re.findall(r'^ +f\("(\w+)", ', path.read_text(), re.M) for path in (TOP / "src/model").glob("*.hpp")}
    fields = {header: names for header, names in fields.items() if names}
    assert fields.keys() == ENTRIES.keys() and sum(map(len, fields.values())) > 80
    missing = [(ENTRIES[header], name) for header, names in fields.items() for name in names if f"`{name}`" not in comments()[ENTRIES[header]]]
    assert missing == []


def test_every_limit_is_an_entry_of_create_job():
    assert [name for name in limits() if f"`{name}`" not in comments()["CreateJob"]] == []


def test_the_python_module_knows_which_errors_are_temporary():
    table = (TOP / "docs/schedulers/write-your-own.md").read_text().split("\n## Errors\n")[1].split("\n## ")[0]
    temporary = {name for names in re.findall(r"^\| (`.*?) \| temporary \|", table, re.M) for name in re.findall(r"`(\w+)`", names)}
    listed = re.search(r"^TEMPORARY = \{(.*)\}$", (TOP / "src/python/pinfold.py").read_text(), re.M)[1]
    assert temporary == set(re.findall(r"\w+", listed))


def test_the_bus_lets_every_method_through():
    methods = re.findall(r'<method name="(\w+)"', (TOP / "dbus/org.pinfold1.Manager.xml").read_text())
    allowed = re.findall(r'send_interface="org.pinfold1.Manager" send_member="(\w+)"', (TOP / "dbus/org.pinfold1.conf").read_text())
    assert methods and list(dict.fromkeys(allowed)) == methods


def limits():
    return re.findall(r'LimitRow\{\.name = "(\w+)"', (TOP / "src/model/limit_table.cpp").read_text())


@pytest.mark.parametrize("page, form", [("docs/man/pinfold-run.1.scd", "*--{option}*"), ("docs/man/pinfold.toml.5.scd", "*{name}*"),
                                        ("docs/examples/pinfold.toml", "#{name} = ")])
def test_every_limit_is_documented(page, form):
    text = (TOP / page).read_text()
    assert limits() and [name for name in limits() if form.format(name=name, option=name.replace("_", "-")) not in text] == []


def test_the_kernel_enforces_every_limit_in_a_test():
    """If a limit has a file in the cgroup, the tests in the virtual machine check the limit. The virtual machine has all controllers."""
    rows = re.findall(r'LimitRow\{\.name = "(\w+)"(.*?)\.help', (TOP / "src/model/limit_table.cpp").read_text(), re.S)
    enforced = {name for name, row in rows if ".cgroupFile" in row}
    tested = (TOP / "tests/vm/test_limits.py").read_text().split("\nLIMITS = {")[1].split("\n}")[0]
    missing = {name for name in enforced if f'"{name}": (' not in tested}
    assert len(enforced) > 10 and missing == {"memory_zswap_max"}, "systemd 252 lacks memory_zswap_max"


def shown_states():
    return re.findall(r'\{ShownState::\w+, "(\w+)"\}', (TOP / "src/model/job_state.cpp").read_text())


def test_the_states_on_the_bus_are_those_that_the_page_lists():
    states = shown_states()
    page = (TOP / "dbus/org.pinfold1.Manager.xml").read_text()
    assert len(states) > 4 and f"`state` (s): {', '.join(states[:-1])} or {states[-1]}." in page


def test_the_hook_of_openpbs_asks_for_states_that_exist():
    source = (TOP / "src/adapters/openpbs/pinfold_openpbs/words.py").read_text()
    words = [word for group in re.findall(r'\["state"\] in \(([^)]*)\)', source) for word in re.findall(r'"(\w+)"', group)]
    assert words and set(words) <= set(shown_states())


def test_every_metric_is_documented():
    source = "".join((TOP / file).read_text() for file in ("src/model/metrics.cpp", "src/cli/textfile.cpp"))
    names = re.findall(r'"((?:pinfold|cgroup)_\w+)"', source)
    kinds = re.findall(r'\{Trouble::\w+, "(\w+)"\}', source)
    page = (TOP / "docs/man/pinfoldd.8.scd").read_text()
    assert len(names) > 15 and [name for name in names if f"*{name}*" not in page] == []
    assert len(kinds) > 5 and [kind for kind in kinds if f"_{kind}_" not in page] == []


def test_xml_is_valid():
    for xml in (TOP / "dbus").glob("*.xml"):
        done = subprocess.run(["xmllint", "--nonet", "--noout", xml], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
