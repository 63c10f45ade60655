# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pinfold's programs under a real pbs_mom. Some tests restart or kill pbs_mom. Other tests use a configuration that docs/schedulers/torque.md
does not recommend."""

import contextlib
import os
import pwd
from pathlib import Path

import pytest

import torque
from jobs import drop_in, live_jobs, processes_with, run, wait_until
from torque import Interactive, Job, alive, mom_config, site_scripts
from two_hosts import CLEANS_UP, outcome

WAITS = "echo a; $HOME/leave {}; touch $HOME/$PBS_JOBID.runs; until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done; echo b; exit 5"
RUN_AGAIN = """echo run >>$HOME/$PBS_JOBID.runs
[ $(wc -l <$HOME/$PBS_JOBID.runs) -gt 1 ] && exit 5
$HOME/leave 4761
touch $HOME/$PBS_JOBID.left
sleep 1000"""


def option(text):
    """Until the `with` block ends, systemd starts node1's pbs_mom with the option `text`."""
    return drop_in("pbs_mom", f"ExecStart=\nExecStart={torque.PREFIX}/sbin/pbs_mom -F {text}")


def told(job):
    seen = job.status(), [outcome(receipt) for receipt in job.receipts("node1")], [receipt["leftover_commands"] for receipt in job.receipts("node1")]
    print(job.output(), seen)
    return seen


@pytest.mark.parametrize("options", ["", "-p"])
def test_pbs_mom_is_restarted(options):
    """The restart uses KillMode=process, as docs/schedulers/torque.md says. If a job ends after the restart, Torque does not know the job's exit
    status, and reports an arbitrary value."""
    job = Job(WAITS.format(4716), nodes="node1")
    job.wait_file(f"{job.id}.runs")
    with option(options):
        run("systemctl", "restart", "pbs_mom")
    torque.wait_state("node1", "free")
    assert alive("sleep 4716") == ["node1"]
    (job.home / f"{job.id}.go").touch()
    job.wait()
    assert told(job) == (0, [("exited", 0, None)], [["sleep 4716"]])
    assert job.output().split() == ["a", "b"]
    assert not processes_with("sleep\x004716")


@pytest.mark.parametrize("options", ["-q", "-r"])
def test_a_pbs_mom_that_gives_up_its_jobs_leaves_nothing_of_them(options):
    """With -r, pbs_mom kills the job's session, but not the daemon that the job started in a new session. With -q, pbs_mom kills nothing, and
    pinfold ends the running job."""
    job = Job(RUN_AGAIN, nodes="node1")
    job.wait_file(f"{job.id}.left")
    with option(options):
        run("systemctl", "restart", "pbs_mom")
        job.wait()
    status, outcomes, leftovers = told(job)
    assert status == 5 and len(outcomes) == 2 and outcomes[0] == ("exited", 5, None)
    assert leftovers == [[], ["sleep 4761"] if options == "-r" else []]
    assert not processes_with("sleep\x004761")


def test_what_a_job_that_ends_while_pbs_mom_is_away_leaves_is_gone():
    job = Job(WAITS.format(4762), nodes="node1")
    job.wait_file(f"{job.id}.runs")
    run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "pbs_mom")
    (job.home / f"{job.id}.go").touch()
    wait_until(lambda: job.key not in live_jobs(), "pinfoldd has ended the job without pbs_mom")
    assert not processes_with("sleep\x004762")
    run("systemctl", "start", "pbs_mom")
    job.wait()
    status, outcomes, leftovers = told(job)
    assert (status, len(outcomes), leftovers) == (0, 1, [["sleep 4762"]])
    assert job.output().split() == ["a", "b"]


def test_an_interactive_job_continues_over_a_restart_of_pbs_mom():
    job = Interactive().ready()
    job.type("echo one $((2 - 1)); $HOME/leave 4763")
    run("systemctl", "restart", "pbs_mom")
    torque.wait_state("node1", "free")
    job.type("echo two $((1 + 1))")
    job.terminal.type("exit 0")
    job.terminal.status()
    job.wait()
    print(job.terminal.seen, job.status(), outcome(job.receipt("node1")), job.receipt("node1")["leftover_commands"])
    assert "one 1\r\n" in job.terminal.seen and "two 2\r\n" in job.terminal.seen
    assert job.receipt("node1")["leftover_commands"] == ["sleep 4763"]
    assert not processes_with("sleep\x004763")


def test_a_script_that_is_the_leader_may_clean_up():
    with mom_config("$exec_with_exec true"):
        job = Job(CLEANS_UP, nodes="node1")
        job.wait_file(f"{job.id}.runs")
        torque.torque("qdel", "-W", "20", job.id)
        job.wait()
    print(job.output(), job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    lines = job.output().splitlines()
    assert lines.count("got term") == 1 and lines[-1] == "cleaned up"
    assert outcome(job.receipt()) == ("exited", 9, None) and job.receipt()["leftovers"] == 0


def test_a_privileged_starter_starts_scripts_and_tasks_as_the_user():
    who = "id -un; id -G; pwd; grep ^0: /proc/self/cgroup"
    with mom_config("$job_starter_run_privileged true"):
        job = Job(f"{who}\n{torque.PREFIX}/bin/pbsdsh /bin/sh -c '{who}'\n$HOME/leave 4719\nexit 3", nodes="node1").wait()
        quick = [Job(f"exit {index}", nodes="node1") for index in range(10)]
        statuses = [each.wait().status() for each in quick]
    alice = pwd.getpwnam("alice")
    groups = " ".join(map(str, os.getgrouplist("alice", alice.pw_gid)))
    print(job.output(), job.status(), outcome(job.receipt()), job.receipt()["leftover_commands"], statuses)
    lines = job.output().splitlines()
    assert lines[0:3] == lines[4:7] == ["alice", groups, "/home/alice"]
    assert [line.rpartition(f"job-{job.unit()}")[2] for line in (lines[3], lines[7])] == [".scope", "-1.scope"]
    assert outcome(job.receipt()) == ("exited", 3, None) and job.receipt()["leftover_commands"] == ["sleep 4719"]
    assert statuses == list(range(10)) and [outcome(each.receipt()) for each in quick] == [("exited", index, None) for index in range(10)]


def test_a_sites_own_prologue_and_epilogue_call_pinfolds():
    scripts = {"prologue": f'#!/bin/sh\n{torque.PROGRAMS}/torque-prologue "$@" || exit $?\necho site-prologue\n',
               "epilogue": f'#!/bin/sh\necho site-epilogue\nexec {torque.PROGRAMS}/torque-epilogue "$@"\n'}
    with site_scripts(**scripts):
        job = Job("grep ^0: /proc/self/cgroup; $HOME/leave 4764; exit 3", nodes="node1").wait()
        found = torque.doctor("node1")
    print(job.output(), outcome(job.receipt()), job.receipt()["leftover_commands"], found)
    first, cgroup, last = job.output().splitlines()
    assert (first, last) == ("site-prologue", "site-epilogue") and cgroup.endswith(f"/job-{job.unit()}.scope")
    assert outcome(job.receipt()) == ("exited", 3, None) and job.receipt()["leftover_commands"] == ["sleep 4764"]
    for name in scripts:
        assert found[f"torque.{name}"] == ("ok", "the site's script is installed, and calls pinfold's")


SCRIPTS = {4721: Path(torque.HOME, "mom_priv/prologue.user"), 4722: Path(torque.HOME, "mom_priv/epilogue.user"),
           4723: Path("/home/alice/prologue"), 4724: Path("/home/alice/epilogue")}
OUTSIDE = "0::/system.slice/pbs_mom.service"


@contextlib.contextmanager
def users_scripts(numbers):
    """Writes the user's script SCRIPTS[n] for each n in `numbers`. pbs_mom runs each script as the user. Removes the scripts when the `with` block
    ends. The script SCRIPTS[n] leaves the daemon `leave n` behind."""
    scripts = [SCRIPTS[number] for number in numbers]
    for number, script in zip(numbers, scripts):
        script.write_text(f"#!/bin/sh\nid -un\ngrep ^0: /proc/self/cgroup\n/home/alice/leave {number}\n")
        script.chmod(0o755)
        run("chown", "--reference", script.parent, script)  # the user's own scripts must belong to the user
    try:
        yield
    finally:
        for script in scripts:
            script.unlink()


def test_what_the_users_prologues_and_epilogues_leave_ends_with_the_job():
    with users_scripts(SCRIPTS):
        job = Job("ps -eo args | grep '^sleep 47'; exit 3", "-l", "prologue=/home/alice/prologue,epilogue=/home/alice/epilogue",
                  nodes="node1").wait()
        found = torque.doctor("node1")
    print(job.output(), job.receipt()["leftovers"], run("pinfold", "logs", job.key).stdout, found)
    assert {"sleep 4721", "sleep 4723"} <= set(job.output().splitlines()), "those of the prologues run while the job does"
    assert job.output().splitlines().count(OUTSIDE) == len(SCRIPTS)
    assert not processes_with("sleep\x0047")
    assert outcome(job.receipt()) == ("exited", 3, None)
    assert found["torque.prologue.user"][0] == found["torque.epilogue.user"][0] == "warn"


def test_what_only_the_users_epilogue_leaves_ends_with_the_job():
    with users_scripts([4724]):
        job = Job("true", "-l", "epilogue=/home/alice/epilogue", nodes="node1").wait()
    said = run("pinfold", "logs", job.key).stdout
    print(job.output(), job.receipt()["leftovers"], said)
    assert OUTSIDE in job.output()
    assert "killed what a prologue or epilogue of its user left behind: [sleep]" in said
    assert not processes_with("sleep\x0047")
