# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that each link in the pages of the project leads to an existing file and an existing heading."""

import re
from urllib.parse import unquote

import pytest

from project_files import TOP, name, with_suffix

PAGES = with_suffix(".md")


def prose(page):
    """Returns the page without its examples. Brackets in an example are code, and not a link."""
    return re.sub(r"^(```|~~~).*?^\1", "", page.read_text(), flags=re.M | re.S)


def anchors(page):
    """Returns the anchors of the page's headings. Websites that show Markdown pages make the anchor of a heading in the same way as this function."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", prose(page), re.M):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(next(a for a in [anchor, *(f"{anchor}-{i}" for i in range(1, 100))] if a not in found))
    return found


def broken(page):
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    targets = re.findall(r"\]\(<?([^)\s>]+)>?[^)]*\)", text) + re.findall(r"^\[[^]]+\]: +(\S+)", text, re.M) + re.findall(r'(?:src|href)="([^"]+)"', text)
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or not file.is_relative_to(TOP):
            yield f"{target}: the file does not exist"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}: {name(file)} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links(page):
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path):
    page = TOP / "docs/hacking.md"
    assert "how-toolstest-runs" in anchors(page)
    assert "no-such-heading" not in anchors(page)
