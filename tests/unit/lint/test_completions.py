# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the shells offer at TAB. Job keys are other users' text."""

import json
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]

COMPLETE = """
source "$1/docs/completions/pinfold.bash"
pinfold() { if [[ $1 == history ]]; then cat "$ENDED"; else cat "$KEYS"; fi; }
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
case $1 in pinfold-run) _pinfold_run ;; *) _pinfold ;; esac
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(tmp_path, keys, *words, ended=()):
    (tmp_path / "keys").write_text("".join(f"{key}\n" for key in keys))
    (tmp_path / "ended").write_text(json.dumps({"schema": 1, "receipts": [{"id": "x", "key": key, "uid": 0} for key in ended]}, indent=2))
    done = subprocess.run(["bash", "-uc", COMPLETE, "bash", TOP, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env={"KEYS": str(tmp_path / "keys"), "ENDED": str(tmp_path / "ended"), "PATH": "/usr/bin:/bin"})
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


def test_jobs_that_are_over(tmp_path):
    for verb in ("why", "status", "wait", "logs"):
        assert offered(tmp_path, ["sge.1"], "pinfold", verb, "s", ended=["sge.2", "sge.2", "pbs.3"]) == ["sge.1", "sge.2"], verb
    for option in ("-j", "--job"):
        assert offered(tmp_path, ["sge.1"], "pinfold", "history", option, "sg", ended=["sge.2"]) == ["sge.2"]
    assert offered(tmp_path, ["sge.1"], "pinfold", "stop", "sge.1", "sg", ended=["sge.2"]) == ["sge.1"]


@pytest.mark.parametrize("run", [("pinfold-run",), ("pinfold", "run")])
def test_the_wrapper(tmp_path, run):
    assert offered(tmp_path, [], *run, "--memory-m") == ["--memory-max"]
    assert offered(tmp_path, [], *run, "--exec", "--ta") == ["--task", "--tasks-max"]
    assert offered(tmp_path, [], *run, "--oom-policy", "") == ["job", "process"]
    assert offered(tmp_path, [], *run, "--kill-signal", "U") == ["USR1", "USR2"]
    assert offered(tmp_path, ["sge.1", "pbs.2"], *run, "--job", "p") == ["pbs.2"]
    assert offered(tmp_path, [], *run, "--memory-max", "") == []
    (tmp_path / "job.sh").touch()
    for options in ((), ("--",), ("-j", "sge.1", "--memory-max=1G", "--")):
        assert "mkfifo" in offered(tmp_path, [], *run, *options, "mkfi")
        assert offered(tmp_path, [], *run, *options, "sh", "--exec", "jo") == ["job.sh"], "the command's own words"


def test_every_limit_is_offered():
    limits = {name.replace("_", "-") for name in re.findall(r'LimitRow\{\.name = "(\w+)"', (TOP / "src/model/limit_table.cpp").read_text())}
    for script in ("pinfold.bash", "_pinfold", "pinfold.fish", "pinfold-run.fish"):
        words = set(re.findall(r"[a-z]+(?:-[a-z]+)+", (TOP / "docs/completions" / script).read_text()))
        assert limits and limits - words == set(), script


@pytest.mark.parametrize("shell, script", [("bash", "pinfold.bash"), ("zsh", "_pinfold"), ("fish", "pinfold.fish"), ("fish", "pinfold-run.fish")])
def test_the_shell_can_read_it(shell, script):
    done = subprocess.run([shell, "-n", TOP / "docs/completions" / script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
