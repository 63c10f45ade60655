# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the shells offer at TAB. Job keys are other users' text."""

import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]

COMPLETE = """
source "$1/docs/completions/pinfold.bash"
pinfold() { cat "$KEYS"; }
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_pinfold
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(tmp_path, keys, *words):
    (tmp_path / "keys").write_text("".join(f"{key}\n" for key in keys))
    done = subprocess.run(["bash", "-uc", COMPLETE, "bash", TOP, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env={"KEYS": str(tmp_path / "keys"), "PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("trap", ["$(touch trapped)", "`touch trapped`", "a;touch trapped", "*", "~", "'", '"', "\\"])
def test_a_key_is_offered_quoted_and_never_run(tmp_path, trap):
    key = f"manual.{trap}"
    [word] = offered(tmp_path, [key, "sge.1"], "pinfold", "stop", "manual.")
    assert not (tmp_path / "trapped").exists()
    echoed = subprocess.run(["bash", "-c", f"printf %s {word}"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert echoed.stdout == key
    assert not (tmp_path / "trapped").exists()


def test_verbs_options_and_keys(tmp_path):
    assert offered(tmp_path, [], "pinfold", "st") == ["status", "strays", "stop"]
    assert offered(tmp_path, ["sge.1", "pbs.2"], "pinfold", "stop", "s") == ["sge.1"]
    assert offered(tmp_path, ["sge.1", "pbs.2"], "pinfold", "status", "")[-2:] == ["sge.1", "pbs.2"]
    assert offered(tmp_path, ["sge.1"], "pinfold", "stop", "--gr") == ["--grace"]
    assert offered(tmp_path, ["sge.1"], "pinfold", "--color", "al") == ["always"]
    assert offered(tmp_path, [], "pinfold", "history", "--result", "s") == ["signaled", "stopped", "supervisor-lost"]
    assert offered(tmp_path, [], "pinfold", "history", "--result", "n") == ["node-shutdown", "node-lost"]
    assert offered(tmp_path, [], "pinfold", "top", "--sort", "m") == ["memory"]
    assert offered(tmp_path, [], "pinfold", "kill", "-s", "K") == ["KILL"]
    assert offered(tmp_path, [], "pinfold", "strays", "--mode", "k") == ["kill"]
    assert offered(tmp_path, [], "pinfold", "strays", "--exempt") == ["--exempt-users", "--exempt-groups", "--exempt-units"]


@pytest.mark.parametrize("shell, script", [("bash", "pinfold.bash"), ("zsh", "_pinfold"), ("fish", "pinfold.fish")])
def test_the_shell_can_read_it(shell, script):
    done = subprocess.run([shell, "-n", TOP / "docs/completions" / script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
