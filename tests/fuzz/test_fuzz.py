# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each target first runs the inputs of its corpus, and then runs mutations of these inputs for some seconds (PINFOLD_FUZZ_SECONDS). libFuzzer has a
dictionary of words, and inserts these words into the mutations. New inputs stay in the build directory for the next run. Inputs that fail stay in
build/results/fuzz."""

import os
import subprocess
from pathlib import Path

import fuzz_words
import pytest
from fuzz_words import TARGETS

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["PINFOLD_BUILD"]) / "fuzz"
SECONDS = int(os.environ.get("PINFOLD_FUZZ_SECONDS", "5"))


def run(target, *arguments, tmp_path, seconds=0):
    failed = BUILD.parent / "results/fuzz" / target
    failed.mkdir(parents=True, exist_ok=True)
    # Inputs of more than 16 KiB would make the tests slower, but would not find more faults. The time-out for an input is long, because the node can
    # be busy.
    options = ["-timeout=60", "-rss_limit_mb=2048", "-max_len=16384", f"-artifact_prefix={failed}/"]
    done = subprocess.run([BUILD / "tests/fuzz" / target, *options, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=seconds + 300, env=dict(os.environ, TMPDIR=str(tmp_path)), check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-8000:]


@pytest.mark.parametrize("target", TARGETS)
def test_corpus(target, tmp_path):
    corpus = HERE / "corpus" / target
    assert any(corpus.iterdir())
    run(target, "-runs=0", corpus, tmp_path=tmp_path)


@pytest.mark.parametrize("target", TARGETS)
def test_mutations(target, tmp_path):
    found = BUILD / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    dictionary = BUILD / "dictionary" / target
    dictionary.parent.mkdir(exist_ok=True)
    dictionary.write_text(fuzz_words.dictionary(target))
    run(target, f"-max_total_time={SECONDS}", f"-dict={dictionary}", found, HERE / "corpus" / target, tmp_path=tmp_path, seconds=SECONDS)
