# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the words that bash, zsh and fish offer after TAB. A job key can contain a text that another user has chosen."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]
MADE = Path(os.environ.get("PINFOLD_BUILD", TOP / "build")) / "src/completions"
SCRIPTS = {"bash": "pinfold", "zsh": "_pinfold", "fish": "pinfold.fish"}

COMPLETE = """
source "$1/pinfold"
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
    done = subprocess.run(["bash", "-uc", COMPLETE, "bash", MADE, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60,
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


def test_the_value_of_an_option_is_no_verb(tmp_path):
    assert offered(tmp_path, [], "pinfold", "--color", "never", "list", "--st") == ["--state"]


def test_a_list_of_words(tmp_path):
    assert offered(tmp_path, [], "pinfold", "strays", "--kinds", "session,us") == ["session,user-manager"]
    assert offered(tmp_path, [], "pinfold", "list", "-o", "key,s") == ["key,state", "key,slice", "key,slots", "key,submit_host", "key,submit_directory"]


def test_words_of_users_are_not_run(tmp_path):
    for word in ("$(touch trapped)", "a[$(touch trapped)]"):
        offered(tmp_path, [], "pinfold", word, "")
        offered(tmp_path, [], "pinfold", "run", word, "")
    assert not (tmp_path / "trapped").exists()


def verbs():
    return re.findall(r'^Verb (\w+)Verb\(\);', (TOP / "src/cli/verbs.hpp").read_text(), re.M)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_verb_limit_and_word_is_offered(shell):
    script = (MADE / SCRIPTS[shell]).read_text()
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", script))
    limits = {name.replace("_", "-") for name in re.findall(r'LimitRow\{\.name = "(\w+)"', (TOP / "src/model/limit_table.cpp").read_text())}
    assert len(limits) > 20 and limits - words == set()
    assert len(verbs()) > 25 and {re.sub("[A-Z]", lambda c: "-" + c[0].lower(), verb) for verb in verbs()} - words == set()
    assert {"creating", "node-shutdown", "user-manager", "report", "always", "USR1"} - set(re.findall(r"[\w-]+", script)) == set()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_shell_can_read_it(shell):
    done = subprocess.run([shell, "-n", MADE / SCRIPTS[shell]], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_shellcheck_finds_nothing():
    done = subprocess.run(["shellcheck", MADE / SCRIPTS["bash"]], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def in_fish(tmp_path, line):
    (tmp_path / "pinfold").write_text("#!/bin/sh\necho sge.1\n")
    (tmp_path / "pinfold").chmod(0o755)
    done = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', MADE / SCRIPTS["fish"], line],
                          capture_output=True, text=True, timeout=60, env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")
    return {row.split("\t")[0] for row in done.stdout.splitlines()}


def test_fish(tmp_path):
    assert in_fish(tmp_path, "pinfold st") == {"status", "strays", "stop"}
    assert in_fish(tmp_path, "pinfold list --state r") == {"running"}
    assert in_fish(tmp_path, "pinfold stop s") == {"sge.1"}
    assert in_fish(tmp_path, "pinfold stop --gra") == {"--grace"}  # for `--gr`, fish 4 offers --grace and --no-pager
    assert in_fish(tmp_path, "pinfold-run --memory-hi") == {"--memory-high"}
    assert in_fish(tmp_path, "pinfold-run --oom-policy p") == {"process"}


# The line editor is ready when it has printed its prompt. The terminal echoes the command that sets the prompt. The command does not contain the text
# of the prompt, so that the test does not take the echo for the prompt.
ZSH = """
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell "fpath=($1 \\$fpath); autoload -U compinit; compinit -u -d $2; PS1='rea''dy> '"
zpty -r shell answer '*ready> *'
zpty -w -n shell "$3"$'\\t'
zpty -r shell answer "*$4*"
zpty -d shell
"""


@pytest.mark.parametrize("line, whole", [("pinfold vac", "pinfold vacuum "), ("pinfold list --stat", "--state="), ("pinfold stop --gr", "--grace="),
                                         ("pinfold list --state run", "running "), ("pinfold-run --memory-m", "--memory-max="),
                                         ("pinfold top -s ti", "time "), ("pinfold stop s", "sge.1 ")])
def test_zsh(tmp_path, line, whole):
    (tmp_path / "pinfold").write_text("#!/bin/sh\necho sge.1\n")
    (tmp_path / "pinfold").chmod(0o755)
    done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", MADE, tmp_path / "dump", line, whole], capture_output=True, text=True, timeout=60,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"})
    assert (done.returncode, done.stderr) == (0, "")
