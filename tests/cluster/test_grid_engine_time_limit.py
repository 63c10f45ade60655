# SPDX-License-Identifier: LGPL-2.1-or-later
"""A job submission verifier tells pinfold the time limit h_rt, so pinfold can warn the job before Grid Engine ends the job."""

import json
from pathlib import Path

import pytest

import grid_engine
from grid_engine import Job
from nodes import NODES, ask, on, set_site

NODE = NODES[-1]
# This script is a copy of the job submission verifier in docs/schedulers/grid-engine.md.
VERIFIER = """#!/bin/bash
. /usr/share/gridengine/util/resources/jsv/jsv_include.sh
jsv_on_start() { :; }
jsv_on_verify() {
    h_rt=$(jsv_sub_get_param l_hard h_rt)
    case $h_rt in
        "" | *[!0-9:]*) jsv_mod_env PINFOLD_BATCH_RUN_TIME_MAX infinity ;;
        *) jsv_mod_env PINFOLD_BATCH_RUN_TIME_MAX "$h_rt" ;;
    esac
    jsv_correct "Job has the variable PINFOLD_BATCH_RUN_TIME_MAX"
}
jsv_main
"""


@pytest.fixture(scope="module", autouse=True)
def verifier(cell):
    script = Path("/usr/local/lib/pinfold-verifier")
    script.write_text(VERIFIER)
    script.chmod(0o755)
    set_site(NODE, "[jobs]\nlinger = \"1s\"\n[defaults]\nrun_time_warning = \"20s\"\nrun_time_warning_signal = \"USR2\"\n")
    before = grid_engine.shown("-sconf", "global").get("jsv_url", "none")
    grid_engine.configure(shepherd_cmd=grid_engine.PINFOLD, jsv_url=f"script:{script}")
    yield
    grid_engine.configure(jsv_url=before)
    set_site(NODE, "")
    script.unlink()


def limit_of(job):
    shown = json.loads(on(NODE, "pinfold", "limits", job.key(), "--json").stdout)
    return shown["limits"]["batch_run_time_max"]


def test_a_job_is_warned_before_its_h_rt():
    job = Job("trap 'echo warned' USR2; echo end $PINFOLD_END_TIME; while :; do sleep 0.2; done", "-l", "h_rt=0:0:30", node=NODE)
    [end] = job.wait_output("end ")
    assert limit_of(job) == 30 * 1000000
    job.wait_output("warned")
    job.wait()
    # sge_execd or sge_qmaster ends the job, whichever notices the time limit first. `failed` is 100 if sge_execd ended the job, and 37 if
    # sge_qmaster ended it.
    assert job.account()["failed"].split()[0] in ("37", "100") and job.account()["exit_status"].split()[0] == "137", "Grid Engine has ended it"
    [receipt] = ask(NODE, "receipts", job.key())
    assert receipt["result"] == "signaled" and receipt["stopped_by"] is None
    assert int(end) == (receipt["started"] + 30 * 1000000) // 1000000


def test_a_job_without_h_rt_has_no_limit_of_another_job():
    job = Job("echo ready; sleep 1000", "-v", "PINFOLD_BATCH_RUN_TIME_MAX=5", node=NODE)
    job.wait_output("ready")
    assert limit_of(job) is None
    job.delete()
    job.wait()
