# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that libFuzzer can read the dictionary of each fuzz target. The dictionaries must contain the names that the pages and the schemas describe.
If a name has moved to a different source file, add the name of this source file to SOURCES in fuzz_words.py."""

import json
import re

import pytest
from fuzz_words import LONGEST, SOURCES, TARGETS, TOP, dictionary, words

# Maps each fuzz target to words that an attacker would write into the input of the fuzz target.
ATTACKS = {"archive_request": {"filter", "all_hosts_of", "report", "label"},
           "bus_answer": {"leftover_commands", "oom_victim_name", "task_list", "a{sv}"},
           "bus_request": {"grace", "leader", "shepherd", "supervisor", "output", "batch", "uid", "force", "as", "a{ss}"},
           "cgroup_files": {"populated 1", "memory.events", "oom_kill", "io.stat", "rbytes="},
           "configuration": {"run-unconfined", "drain", "infinity"},
           "grid_engine_spool": {"job_owner", "ja_task_id", "active_jobs", "env_", "exit_status"},
           "job_record": {"tasks", "leader", "supervisor", "task_log", "figures", "limits_not_enforced"},
           "kernel_log": {"oom-kill:constraint=", ",oom_memcg=", ",task_memcg=", ",task=", "Killed process ", "anon-rss:", " PID: "},
           "memory_maps": {"1-2 r--p 0 fe:00 7 /a\n"},
           "proc_files": {"proc/7/stat", "proc/7/status", "proc/7/cgroup", "proc/7/cmdline", "0::", " (deleted)", "Uid:", "fuse.", "user_id="},
           "profile": {"profile", "need", "age"},
           "receipt": {"leftover_commands", "task_list", "oom_victim_name"},
           "torque_words": {"walltime", "PBS_JOBID", "cookie", "execution_uid", "jobfile"},
           "wrapper_packet": {"create", "adopt", "suspend", "resume", "end", "list", "task-of-open", "told_of_refusal", "supervised"}}
LIMITS = set(json.loads((TOP / "schema/parts/limits.json").read_text())["properties"])


def test_each_target_has_a_dictionary():
    assert sorted(SOURCES) == sorted(ATTACKS) == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_libfuzzer_can_read_the_dictionary(target):
    lines = dictionary(target).splitlines()
    assert all(re.fullmatch(r'"(?:[ !#-\[\]-~]|\\x[0-9a-f]{2})+"', line) for line in lines)
    read = {re.sub(r"\\x(..)", lambda match: chr(int(match[1], 16)), line[1:-1]) for line in lines}
    assert read == words(target) and max(map(len, read)) <= LONGEST


@pytest.mark.parametrize("target", TARGETS)
def test_the_dictionary_has_the_words_of_attacks(target):
    assert ATTACKS[target] - words(target) == set()


@pytest.mark.parametrize("target", ["bus_answer", "bus_request", "configuration", "job_record", "receipt", "wrapper_packet"])
def test_the_dictionary_has_all_limits(target):
    assert LIMITS - words(target) == set()


def test_the_dictionary_has_all_keys_of_the_configuration():
    page = (TOP / "docs/man/pinfold.toml.5.scd").read_text()
    keys = {name for line in re.findall(r"^\*.* = ", page, re.M) for name in re.findall(r"\*(\w+)\*", line)}
    sections = set(re.findall(r"^# \[(\w+)\]", page, re.M))
    assert len(keys) > 50 and len(sections) > 10
    # "fuse" is not a key, but an example of a name that an administrator chooses.
    assert (keys | sections) - {"fuse"} - words("configuration") == set()


def test_the_dictionary_has_all_options_of_the_bus():
    page = (TOP / "docs/man/org.pinfold1.5.scd").read_text().replace("\\_", "_")
    blocks = re.findall(r"^\t@(?:options|filter|limits): (.*?)(?=^\t@|^\*|^# )", page, re.M | re.S)
    names = {name for block in blocks for line in re.findall(r"^\t(\*.*?):", block, re.M) for name in re.findall(r"\*(\w+)\*", line)}
    assert len(names) > 50 and names - words("bus_request") == set()


@pytest.mark.parametrize("target", ["archive_request", "job_record", "profile", "receipt", "wrapper_packet"])
def test_the_dictionary_has_all_names_of_the_corpus(target):
    texts = [path.read_bytes().decode(errors="replace") for path in (TOP / "tests/fuzz/corpus" / target).iterdir()]
    names = {name for text in texts for name in re.findall(r'"([a-z_]{2,})":', text)}
    assert names and names - {part for word in words(target) for part in re.findall(r"\w+", word)} == set()


@pytest.mark.parametrize("target", ["bus_answer", "bus_request"])
def test_the_dictionary_has_all_names_of_the_corpus_of_the_bus(target):
    """pinfoldd refuses a request with an unknown name, and a client ignores an unknown name in an answer. If an input of the corpus contained an
    outdated name, the input would test nothing."""
    texts = [path.read_text() for path in (TOP / "tests/fuzz/corpus" / target).iterdir()]
    names = {name for text in texts for name in re.findall(r"^(\w+) ", text, re.M)}
    assert names and names - words(target) == set()
