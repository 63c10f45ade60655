# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the commands' output with --json agrees with the installed schemas."""

import json
import subprocess

import pytest
from schemas import expect_document

from conftest import BUILD
from test_history import options, run_job

LIVE = {"list": "list", "status": "status", "status --jobs": "status", "status sge.1": "job", "show sge.1": "job", "ps sge.1": "ps",
        "top -n 2 -d 1": "top", "why sge.1": "why", "limits sge.1": "limits", "plot sge.1": "plot", "stop --dry-run sge.1": "dry-run",
        "undrain --dry-run": "dry-run", "run --dry-run true": "run-dry-run", "reconcile": "reconcile", "version": "version",
        "check-config": "check-config", "config": "config", "strays --dry-run": "strays", "strays --files": "strays-files", "doctor": "doctor"}
OVER = {"why sge.1": "why", "wait sge.1": "why", "status sge.1": "why", "show sge.1": "why", "history": "history", "history --json=lines": "history-line",
        "plot sge.1": "plot", "vacuum": "vacuum", "vacuum --dry-run": "vacuum"}


def expect_documents(world, command, schema):
    words = command.split()
    if "--json=lines" not in words:
        words.insert(1, "--json")
    done = subprocess.run([BUILD / "src/cli/pinfold", *words], env=world.environment, capture_output=True, text=True, timeout=60)
    rest = done.stdout.strip()
    assert rest, done.stderr
    while rest:
        document, end = json.JSONDecoder().raw_decode(rest)
        expect_document(document, schema)
        rest = rest[end:].lstrip()


@pytest.mark.parametrize("command", LIVE)
def test_documents_while_a_job_is_live(world, command):
    world.create("sge.1", world.process())
    world.manager().Drain("new disk", options())
    expect_documents(world, command, LIVE[command])


@pytest.mark.parametrize("command", OVER)
def test_documents_when_a_job_is_over(world, command):
    run_job(world, "sge.1")
    expect_documents(world, command, OVER[command])


def test_documents_of_an_open_job(world):
    process = world.process()
    expect_documents(world, "open pbs.1 --uid 0", "open")
    expect_documents(world, f"adopt pbs.1 {process.pid}", "adopt")
    process.kill()
    process.wait()
    expect_documents(world, "end pbs.1", "why")
