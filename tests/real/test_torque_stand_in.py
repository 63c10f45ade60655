# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/container/test_torque.py uses a stand-in for pbs_mom. This file tests that the real pbs_mom behaves like the stand-in."""

import contextlib
import signal
import tempfile
from pathlib import Path

import recorder
import torque
import torque_mom
from jobs import wait_until
from stand_in import DELETED, RUNS, WITH_A_TASK, compare, real_job, recorded
from torque import Job, mom_config, site_scripts
from two_hosts import ENDS

RECORD = Path("/tmp/torque-calls")


def record_calls(folder, starter):
    """Replaces the programs in pbs_mom's directory with scripts that record their calls. Returns the path of a job starter that records its calls."""
    for name in ("prologue", "epilogue"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(recorder.script(RECORD, name, f"{torque.PROGRAMS}/torque-{name}"))
        (folder / name).chmod(0o755)
    starter.write_text(recorder.script(RECORD, "starter", f"{torque.PROGRAMS}/torque-job-starter"))
    starter.chmod(0o755)
    return starter


@contextlib.contextmanager
def recorded_programs():
    folder, starter = Path(torque.HOME, "mom_priv"), Path("/usr/local/bin/record-starter")
    with site_scripts(prologue=None, epilogue=None), mom_config(f"$job_starter {record_calls(folder, starter)}"):
        yield


def real_calls():
    def of(script, **how):
        return recorded(RECORD, lambda: real_job(Job(f"{RUNS}\n{script}", nodes="node1"), **how), '"epilogue"')
    with recorded_programs():
        return {**{script: of(script) for script, _, _ in ENDS}, DELETED: of("sleep 1000", deleted=True),
                WITH_A_TASK: of(f"{torque.PREFIX}/bin/pbsdsh /bin/true\nexit 3")}


def stand_in_calls(home):
    mom = torque_mom.Mom(home, "/usr/local/bin/record-stand-in-starter")
    wait_until((home / "mom_priv/jobs").is_dir, "the stand-in is up")
    record_calls(home / "mom_priv", Path("/usr/local/bin/record-stand-in-starter"))
    numbers = iter(range(1, 100))

    def of(script, deleted=False, task=False):
        def job():
            it = {"id": f"{next(numbers)}.stand-in", "user": "alice", "name": "script", "resources": "nodes=1:ppn=1,walltime=01:00:00",
                  "hosts": ["node1"], "ppn": 1, "node": 0, "cookie": "0" * 32, "script": f"#!/bin/sh\n{script}\n",
                  "variables": {"PATH": "/usr/bin:/bin"}}
            started = mom.ask("start", job=it)
            if deleted or task:
                wait_until(Path("/home/alice", f"{it['id']}.runs").exists, "the job runs")
            if deleted:
                mom.ask("kill", session=started["session"], signal=signal.SIGTERM)
            if task:
                mom.ask("wait", pid=mom.ask("spawn", job=it, words=["/bin/true"], environment={}, vnode=0)["pid"])
                Path("/home/alice", f"{it['id']}.go").touch()
            status = mom.ask("wait", pid=started["pid"])["status"]
            assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
        return recorded(RECORD, job, '"epilogue"')
    try:
        return {**{script: of(script) for script, _, _ in ENDS},
                DELETED: of("touch $HOME/$PBS_JOBID.runs; sleep 1000", deleted=True),
                WITH_A_TASK: of("touch $HOME/$PBS_JOBID.runs; until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; exit 3", task=True)}
    finally:
        mom.close()


def test_the_stand_in_makes_the_calls_that_pbs_mom_makes():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        differs = compare(real_calls(), stand_in_calls(Path(folder, "torque")))
    assert not differs, differs
