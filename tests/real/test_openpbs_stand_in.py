# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/container/test_openpbs.py uses a stand-in for MoM. This file tests that the real MoM behaves like this stand-in. One test
checks what all earlier tests have written to MoM's log."""

import re
import tempfile
from pathlib import Path

import mom
import openpbs
import recorder
from jobs import wait_until
from nodes import NODES
from openpbs import Job
from stand_in import DELETED, RUNS, WITH_A_TASK, compare, real_job, recorded
from two_hosts import ENDS


RECORD = Path("/tmp/openpbs-calls")


def real_calls():
    def of(script, **how):
        return recorded(RECORD, lambda: real_job(Job(f"{RUNS}\n{script}", node="node1"), **how), '"end"')
    with openpbs.hook("record", "execjob_begin,execjob_launch,execjob_epilogue,execjob_end", recorder.HOOK.format(file=RECORD), order=1):
        return {**{script: of(script) for script, _, _ in ENDS}, DELETED: of("sleep 1000", deleted=True),
                WITH_A_TASK: of(f"{openpbs.PREFIX}/bin/pbsdsh /bin/true\nexit 3")}


def stand_in_calls(folder):
    hook = folder / "record.py"
    hook.write_text(recorder.HOOK.format(file=RECORD))
    it = mom.Mom(folder / "pbs", hook=str(hook))
    numbers = iter(range(1, 100))

    def of(script, deleted=False, task=False):
        def run_job():
            job = mom.make_job(f"{next(numbers)}.stand-in", "(node1:ncpus=1)", ["node1"])
            assert it.begin(job).accepted
            child = it.script(job, f"HOME=/home/alice\ntouch $HOME/$PBS_JOBID.runs\n{script}")
            wait_until(Path("/home/alice", f"{job['id']}.runs").exists, "the job runs")
            if deleted:
                it.terminate(child)
            if task:
                it.launch(job, "/bin/true").wait(60)
                Path("/home/alice", f"{job['id']}.go").touch()
            assert it.epilogue(job, child).accepted and it.end(job).accepted
        return recorded(RECORD, run_job, '"end"')
    return {**{script: of(script) for script, _, _ in ENDS}, DELETED: of("sleep 1000", deleted=True),
            WITH_A_TASK: of("until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3", task=True)}


def test_the_stand_in_has_the_events_that_mom_has():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        differs = compare(real_calls(), stand_in_calls(Path(folder)))
    assert not differs, differs


def test_no_hook_has_failed():
    """The test is the last one, because it checks what all earlier tests have written to MoM's log."""
    for node in NODES:
        faults = [line for line in openpbs.mom_log(node) if re.search(r"Traceback|unhandled exception|pinfold: .*Error:", line)]
        assert not faults, faults
