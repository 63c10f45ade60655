# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that no file contains a phrase that phrases.toml lists."""

import functools
import re
import tomllib

import pytest

from project_files import TOP, every_file, name

LIST = TOP / "tests/static/phrases.toml"
PHRASES = tomllib.loads(LIST.read_text())["phrase"]
FILES = [path for path in every_file() if path != LIST and "corpus" not in path.parts]


@functools.cache
def lines_with_the_next(file):
    """Returns two texts for each line: the line alone, and the line joined with the line below. In the joined text, the comment mark of the line
    below is missing."""
    lines = file.read_text().splitlines()
    return [(line, line.rstrip() + " " + re.sub(r"^\s*(//[/<]*|#+|\*|--)?\s*", "", below)) for line, below in zip(lines, [*lines[1:], ""])]


@functools.cache
def whole(file):
    return "\n".join(both for _, both in lines_with_the_next(file))


def places(phrase):
    pattern, folders = re.compile(phrase["pattern"], re.I), tuple(phrase.get("only_in", [""]))
    for file in FILES:
        if not name(file).startswith(folders) or not pattern.search(whole(file)):
            continue
        for number, (line, both) in enumerate(lines_with_the_next(file), 1):
            for allowed in phrase.get("except", []):
                both = both.replace(allowed, "\0" * len(allowed))
            yield from (f"{name(file)}:{number}: {found.group()}" for found in pattern.finditer(both) if found.start() < len(line))


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase["example"])
def test_phrase_does_not_come_back(phrase):
    found = list(places(phrase))
    assert not found, "\n".join([f"{phrase['why']} Write instead: {phrase['instead']}", *found])


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase["example"])
def test_pattern_finds_its_example(phrase):
    assert re.search(phrase["pattern"], phrase["example"], re.I)
