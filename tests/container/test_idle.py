# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests `pinfold idle` with real jobs. `pinfold idle` shows the jobs that hold slots and do not use the slots."""

import contextlib
import json
import subprocess

import pytest

from jobs import as_alice, finish, live_jobs, run, wait_until

# Four loops together get more than a tenth of a CPU even if many other programs want the CPUs.
LOOPS = " & ".join(["while :; do :; done"] * 4)


@contextlib.contextmanager
def opened(key, user, *command, slots=2):
    """Opens a job as a batch system does. If the test passes a command, the command becomes the job's batch script."""
    run("pinfold", "open", key, "--uid", user, "--linger", "infinity", *([f"--slots={slots}"] if slots else []))
    job = None
    try:
        if command:
            job = subprocess.Popen(["runuser", "-u", user, "--", "pinfold-run", "--job", key, "--batch", "--", *command], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda: live_jobs()[key]["leader"], f"the batch script of {key}")
        yield
    finally:
        run("pinfold", "end", key)
        if job:
            finish(job)


def idle(*options, since="1s", as_user=lambda *command: command):
    return json.loads(run(*as_user("pinfold", "idle", "--json", "--since", since, *options)).stdout)


def test_a_sleeper_is_idle_and_a_busy_loop_is_not():
    with opened("idle.sleeper", "alice", "sleep", "1000"), opened("idle.busy", "alice", "sh", "-c", LOOPS, slots=1), \
         opened("idle.empty", "nobody", slots=3), opened("idle.unknown", "nobody", slots=None):
        # pinfoldd looks at a young job when it is 1, 2, 4, 8 and 16 seconds old. Twice a minute, pinfoldd looks at all jobs. `pinfold idle` describes
        # the time from the job's start to pinfoldd's last look at the job. If pinfoldd has looked at a job only in the job's first second, the
        # described time is shorter than a second. In the first moments, the loops possibly have not got a CPU yet.
        def both():
            found = idle()
            over = {job["key"]: job["over"] for job in found["jobs"]}
            return over.keys() == {"idle.empty", "idle.sleeper"} and min(over.values()) >= 1_000_000 and found["without_cpus"] and found
        seen = wait_until(both, "both idle jobs")
        first, second = seen["jobs"]
        assert [(job["key"], job["cpus_held"]) for job in (first, second)] == [("idle.empty", 3), ("idle.sleeper", 2)], "by unused CPUs"
        assert first["cpus_used"] == 0 and second["cpus_used"] < 0.2
        assert second["used_percent"] == pytest.approx(second["cpus_used"] * 50)
        assert all(job["age"] >= 1_000_000 for job in seen["jobs"])
        assert (seen["since"], seen["share_percent"], seen["memory_share_percent"], seen["without_cpus"]) == (1_000_000, 10, 10, ["idle.unknown"])
        table = run("pinfold", "idle", "--since", "1s", check=False)
        assert "1 job has no slots and no limit of CPUs" in table.stderr and table.stdout.startswith("KEY")


def test_users_see_only_their_own_jobs():
    with opened("idle.own", "alice"), opened("idle.other", "nobody"):
        wait_until(lambda: len(idle()["jobs"]) == 2, "both jobs")
        theirs = wait_until(lambda: (found := idle(as_user=as_alice))["jobs"] and found, "the job of alice")
        assert [job["key"] for job in theirs["jobs"]] == ["idle.own"]
        chosen = wait_until(lambda: (found := idle("-u", "nobody"))["jobs"] and found, "the job of nobody")
        assert [job["key"] for job in chosen["jobs"]] == ["idle.other"]


def test_young_jobs_are_not_listed():
    with opened("idle.young", "alice"):
        assert idle(since="1h") == {"schema": 1, "since": 3_600_000_000, "share_percent": 10, "memory_share_percent": 10, "jobs": [], "without_cpus": [], "without_profile": []}
        refused = run("pinfold", "idle", "--since", "0", check=False)
        assert refused.returncode != 0 and "1s to 30d" in refused.stderr
