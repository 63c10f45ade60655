# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the schemas of the JSON documents agree with pinfold-json(5) and with the golden files. Each JSON document has a golden file."""

import copy
import json
import re
from pathlib import Path

import jsonschema
import pytest
import schemas

TOP = Path(__file__).resolve().parents[3]
PAGE = (TOP / "docs/man/pinfold-json.5.scd").read_text().replace("\\_", "_")
GOLDEN = sorted((TOP / "tests/unit/cli/golden").glob("*.json"))
# If the names of a golden file and of its schema differ, SCHEMA_OF maps the golden file to the schema.
SCHEMA_OF = {"check-config-wrong": "check-config", "dry-run-node": "dry-run", "limits-of-systemd": "limits", "status-job": "job",
             "status-jobs": "status", "vacuum-dry-run": "vacuum", "why-hosts": "why", "why-live": "why"}
# SOMETIMES contains the keys that some documents lack. pinfold-json(5) says which documents have the keys in SOMETIMES.
SOMETIMES = {"status.json": {"live"}, "why.json": {"live", "key", "first_end", "missing_hosts", "missing_total", "receipts"}}
FREE = {"states", "schedulers", "environment", "properties", "labels"}  # the objects in FREE have keys that no schema lists
# Maps each section of the page to the schemas that have the section's keys.
SECTIONS = {"JOB": ["parts/job"], "JOB IN DETAIL": ["parts/job-detail"], "LIMITS": ["parts/limits"], "USAGE": ["parts/usage", "parts/current-usage"],
            "PROCESS": ["parts/process"], "RECEIPT": ["parts/receipt"], "TASK": ["parts/task"], "FIRST END": ["parts/first-end"],
            "NODE": ["status"], "TOP": ["top", "parts/top-job"], "EVENT": ["event"],
            "STRAYS": ["strays", "parts/stray"], "LEFTOVER FILES": ["strays-files", "parts/leftover-file"], "RECONCILE": ["reconcile"], "ARCHIVE": ["archive-status", "parts/archive-node"]}
# ELSEWHERE contains those keys of a receipt that the sections JOB IN DETAIL and JOB describe.
ELSEWHERE = {"RECEIPT": {"limits_not_enforced", "allocated_cpus", "allocated_gpus", "exclusive", "tasks"}}
TYPES = {"integer": "integer", "text": "string", "boolean": "boolean", "number": "number", "object": "object", "list": "array", "list of text": "array"}


def schema(name):
    return json.loads((schemas.SCHEMAS / f"{name}.json").read_text())


def schema_of(golden):
    return SCHEMA_OF.get(golden.stem, golden.stem)


def types_of(value):
    """Returns the types that the schema allows for the value, except null."""
    if "$ref" in value:
        return {"object"}
    if "anyOf" in value:
        return set().union(*(types_of(choice) for choice in value["anyOf"]))
    return (set(value["type"]) if isinstance(value["type"], list) else {value["type"]}) - {"null"}


def described(section):
    """Returns a dictionary that maps the keys in a section of the page to their types."""
    body = re.search(rf"^# {section}\n(.*?)^# ", PAGE, re.M | re.S)[1]
    keys = {}
    for heading in re.findall(r"^\*.*\)$", body, re.M):
        for names, kind in re.findall(r"((?:\*\w+\*(?:, )?)+) ?\(([a-z ]+)\)", heading):
            keys.update(dict.fromkeys(re.findall(r"\*(\w+)\*", names), {TYPES[kind]}))
    return keys


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.stem)
def test_a_document_is_as_its_schema_says(golden):
    schemas.expect_document(json.loads(golden.read_text()), schema_of(golden))


def test_each_schema_has_a_golden_file():
    assert {schema_of(golden) for golden in GOLDEN} == {path.stem for path in schemas.SCHEMAS.glob("*.json")}


def objects_in(value, path=()):
    """Returns the paths of all objects in a document."""
    if isinstance(value, dict):
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in entries:
        yield from objects_in(entry, (*path, name))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.stem)
def test_the_tests_find_an_unknown_key_everywhere_and_programs_accept_it(golden):
    name = schema_of(golden)
    resolver = jsonschema.RefResolver((schemas.SCHEMAS / f"{name}.json").as_uri(), schema(name))
    installed = jsonschema.Draft202012Validator(schema(name), resolver=resolver)
    document = json.loads(golden.read_text())
    for path in objects_in(document):
        if path and path[-1] in FREE:
            continue
        changed = copy.deepcopy(document)
        place = changed
        for step in path:
            place = place[step]
        place["key_of_a_later_version"] = 1
        assert not schemas.validator(name).is_valid(changed), path
        assert list(installed.iter_errors(changed)) == [], path
        place.clear()
        assert not installed.is_valid(changed), path


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_has_the_keys_and_the_types_of_the_schemas(section):
    properties = {key: value for name in SECTIONS[section] for key, value in schema(name)["properties"].items()}
    for key in {"schema"} & set(properties) | ELSEWHERE.get(section, set()):
        properties.pop(key)
    assert described(section) == {key: types_of(value) for key, value in properties.items()}


def test_the_page_names_each_schema():
    files = re.search(r"^# FILES\n(.*?)^# ", PAGE, re.M | re.S)[1]
    assert sorted(re.findall(r"\*([\w-]+)\.json\*", files)) == sorted(path.stem for path in schemas.SCHEMAS.glob("*.json"))


def test_each_schema_requires_its_keys():
    for path in schemas.SCHEMAS.rglob("*.json"):
        text = json.loads(path.read_text())
        assert set(text["properties"]) - set(text["required"]) == SOMETIMES.get(path.name, set()), path
        assert len(text["required"]) == len(set(text["required"])), path
