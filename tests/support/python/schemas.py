# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares documents of --json with the installed schemas. Users' programs must accept keys of later versions, so the schemas do not forbid
unknown keys. In the tests, expect_document() fails if a document has a key that its schema does not list."""

import functools
import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).resolve().parents[3] / "schema"


def strict(schema, directory, part=False):
    """Replaces each reference ("$ref") in the schema by the referenced schema, and returns the result. The returned schema forbids all keys that it
    does not list. A part of a schema (allOf) cannot forbid unknown keys, because another part can list these keys."""
    if "$ref" in schema:
        file = directory / schema["$ref"]
        return strict(json.loads(file.read_text()), file.parent, part)
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: strict(value, directory) for name, value in schema["properties"].items()}
    if "items" in schema:
        result["items"] = strict(schema["items"], directory)
    if "anyOf" in schema:
        result["anyOf"] = [strict(choice, directory) for choice in schema["anyOf"]]
    if "allOf" in schema:
        result["allOf"] = [strict(each, directory, part=True) for each in schema["allOf"]]
    if schema.get("type") == "object" and "additionalProperties" not in schema and not part:
        result["unevaluatedProperties"] = False
    return result


@functools.cache
def validator(name):
    schema = strict({"$ref": f"{name}.json"}, SCHEMAS)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def expect_document(document, name):
    """Checks that the document has exactly the keys of the schema `name`, and that each value has the right type."""
    wrong = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator(name).iter_errors(document)]
    assert wrong == [], f"not as in {name}.json"
