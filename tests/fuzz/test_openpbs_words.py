# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python code of pinfold reads the texts of OpenPBS, and libFuzzer cannot observe Python code. The test makes its own random mutations for some
seconds (PINFOLD_FUZZ_SECONDS). A file of the corpus has an exec_vnode in one line, and the exec_host in the next line."""

import os
import random
import re
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src/adapters/openpbs"))

from pinfold_openpbs import words  # noqa: E402
from pinfold_openpbs.failure import Failure  # noqa: E402

SECONDS = int(os.environ.get("PINFOLD_FUZZ_SECONDS", "5"))
NAMES = sorted(set(re.findall(r'"(\w+)"', Path(words.__file__).read_text())))
LETTERS = "()+:=*/[]0a-. \0\n\u0661"


def mutated(text, dice):
    text = list(text)
    for _ in range(dice.randint(1, 6)):
        place = dice.randint(0, len(text))
        new = dice.choice((dice.choice(LETTERS), dice.choice(NAMES), "".join(text[:dice.randint(0, 30)]), ""))
        text[place:place + dice.choice((0, 0, 1, 1, 4))] = new
    return "".join(text)


def read(vnodes, hosts):
    try:
        share = words.share_of(words.chunks_here(vnodes, hosts, "node1"))
        options = words.memory_limits(share, words.size_bytes(vnodes[:4] or "1gb")) + words.allocation(share, hosts)
    except Failure:
        return
    assert all(value is None or value >= 0 for value in share)
    assert all(option.isascii() and "\n" not in option for option in options)


def test_mutations():
    corpus = [path.read_text().split("\n")[:2] for path in sorted((HERE / "corpus/openpbs_words").iterdir())]
    seed = random.randrange(1 << 32)
    dice, end = random.Random(seed), time.monotonic() + SECONDS
    while time.monotonic() < end:
        vnodes, hosts = (mutated(text, dice) for text in dice.choice(corpus))
        try:
            read(vnodes, hosts)
        except Exception as error:
            raise AssertionError(f"seed {seed}: exec_vnode {vnodes!r}, exec_host {hosts!r}") from error
