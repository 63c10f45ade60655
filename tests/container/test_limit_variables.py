# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the environment variables from which a job's programs learn the limits of the job."""

import os

import pytest

from jobs import finish, receipts, site, start_job


@pytest.fixture
def any_limits():
    """Some limits need controllers that the box perhaps does not have."""
    with site('[jobs]\nunenforced_limits = "warn"\nomp_num_threads = true\n'):
        yield


def test_programs_can_read_their_limits(any_limits):
    options = ["--memory-max", "64M", "--tasks-max", "50", "--cpu-quota", "150%", "--run-time-max", "1h"]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    status, out, _ = finish(start_job("told.1", "sh", "-c", "env | grep -E '^(PINFOLD|OMP)_' | sort", options=options, env=environment))
    assert status == 0
    variables = dict(line.split("=", 1) for line in out.splitlines())
    [receipt] = receipts("told.1")
    assert int(variables.pop("PINFOLD_END_TIME")) == (receipt["started"] + 3_600_000_000) // 1_000_000
    assert variables == {"PINFOLD_JOB": "told.1", "PINFOLD_CPUS": "2", "PINFOLD_MEMORY_MAX": str(64 << 20), "PINFOLD_TASKS_MAX": "50",
                         "OMP_NUM_THREADS": "2"}


def test_the_end_time_is_that_of_the_batch_system_if_it_comes_first():
    options = ["--run-time-max", "1h", "--batch-run-time-max", "30min"]
    status, out, _ = finish(start_job("told.4", "sh", "-c", "echo $PINFOLD_END_TIME", options=options))
    [receipt] = receipts("told.4")
    assert (status, int(out)) == (0, (receipt["started"] + 1_800_000_000) // 1_000_000)


@pytest.mark.parametrize("options", [(), ("--exec",)])
def test_a_value_of_the_jobs_own_stays(any_limits, options):
    own = {**os.environ, "PINFOLD_MEMORY_MAX": "mine"}
    script = "echo $PINFOLD_MEMORY_MAX $PINFOLD_JOB"
    limits = ["--memory-max", "64M", *options]
    assert finish(start_job("told.2", "sh", "-c", script, options=limits, env=own))[:2] == (0, "mine told.2\n")
    other = {**os.environ, "PINFOLD_JOB": "told.1", "PINFOLD_MEMORY_MAX": "5", "PINFOLD_END_TIME": "6"}
    script = "echo $PINFOLD_MEMORY_MAX $PINFOLD_JOB end:$PINFOLD_END_TIME"
    assert finish(start_job("told.3", "sh", "-c", script, options=limits, env=other))[:2] == (0, f"{64 << 20} told.3 end:\n")
