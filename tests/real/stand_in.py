# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the same jobs in a real batch system and in its stand-in. Compares how the real batch system and the stand-in call pinfold's programs."""

from pathlib import Path

import recorder
from jobs import wait_until

DIFFERENCES = Path("/results/differences")  # tools/real prints this file after the tests
DELETED = "a job that is deleted"
WITH_A_TASK = "a job with a task"
RUNS = "touch $HOME/$PBS_JOBID.runs"


def compare(real, stand_in):
    """Each argument maps the name of a job to the record of the job's calls. Stores the differences in a file, and returns them as text."""
    assert real.keys() == stand_in.keys() and all(real.values())
    lines = [line for job in real for line in recorder.differences(job, real[job], stand_in[job])]
    text = "".join(line + "\n" for line in lines)
    DIFFERENCES.write_text(text or f"Nothing differs: the stand-in has made the same calls as the real batch system for these jobs: {', '.join(real)}.\n")
    return text


def recorded(file, job, last):
    """Runs a job, and returns the calls that `file` has recorded. The function waits until the file contains exactly one call with the word
    `last`."""
    recorder.empty(file)
    job()
    wait_until(lambda: sum(last in line for line in recorder.calls(file)) == 1, f"the call {last}")
    return recorder.calls(file)


def real_job(job, deleted=False):
    """Waits for the end of a job of the real batch system. The script of the job first makes the file RUNS."""
    job.wait_file(f"{job.id}.runs")
    if deleted:
        job.delete()
    job.wait()
