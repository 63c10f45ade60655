# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests Grid Engine with pinfold's wrapper in place of Grid Engine's shepherd. With pinfold's wrapper, Grid Engine works as it does with the
shepherd, but all processes of a job end with the job."""

import pwd
import re
from pathlib import Path

import pytest

import grid_engine
from escapes import ESCAPES, survives, wait_gone
from grid_engine import Job
from jobs import ESCAPIST, run, wait_until
from nodes import NODES, alive, ask, kill, on, set_site
from terminal import Terminal

SITE = "[jobs]\nlinger = \"1s\"\n"
LOCK = "exec 9>>$HOME/$JOB_ID.lock; flock -s 9; "
MPI_DAEMONS = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* Each rank leaves a daemon behind; the sum of all ranks shows that they found each other. */
int main(int argc, char** argv) {
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (fork() == 0) {
        setsid();
        freopen("/dev/null", "w", stdout);
        freopen("/dev/null", "w", stderr);
        for (;;)
            pause();
    }
    char host[64];
    gethostname(host, sizeof host);
    printf("rank %d on %s sum %d\n", rank, host, sum);
    return MPI_Finalize();
}
"""


@pytest.fixture(scope="module", autouse=True)
def pinfold(cell):
    for node in NODES:
        set_site(node, SITE)
    grid_engine.configure(shepherd_cmd=grid_engine.PINFOLD)


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    for node in NODES:
        ask(node, "expect_nothing_left")


def receipt(node, key):
    found = ask(node, "receipts", key)
    assert len(found) == 1, found
    return found[0]


def outcome(account):
    """qacct prints each number and then words that explain the number. outcome() returns only the numbers."""
    return account["exit_status"].split()[0], account["failed"].split()[0]


def cgroup_events(job):
    text = on(job.node, "cat", f"/sys/fs/cgroup/batch.slice/batch-{job.key()}.slice/cgroup.events").stdout
    return dict(line.split() for line in text.splitlines())


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_survives(name):
    escape = ESCAPES[name]
    job = escape.run()
    assert not survives(job)
    assert receipt(escape.node, job.key())["leftovers"] >= 1
    warning, = ask(escape.node, "wait_for_entries", job.key(), "leftovers")
    assert (warning["MESSAGE"], warning["PRIORITY"]) == (f"rogue process(es) found for task {job.key()}", "4")
    wait_until(lambda: any(entry["MESSAGE"].startswith("leftover: ") and "escapist" in entry["MESSAGE"]
                           for entry in ask(escape.node, "journal", job.key(), "leftover")), "the journal names the program")
    failed, status = ("100", "137") if escape.kills_shepherd else ("0", "0")
    assert outcome(job.account()) == (status, failed)


@pytest.mark.parametrize("command, status, failed", [("exit 0", "0", "0"), ("exit 3", "3", "0"), ("exit 255", "255", "0"),
                                                     ("kill -9 $$", "137", "100")])
def test_the_jobs_own_status(command, status, failed):
    assert outcome(Job(command).wait().account()) == (status, failed)


def test_asks_to_be_run_again():
    job = Job("exit 99", "-r", "y")
    assert {outcome(account) for account in job.accounts(2)} == {("99", "25")}
    job.delete()
    job.wait()


def test_notified_before_its_end():
    job = Job("trap 'exit 9' USR2; echo here; while :; do sleep 0.1; done", "-notify")
    job.wait_output("here")
    job.delete()
    assert outcome(job.wait().account()) == ("9", "0")


def test_use_of_what_is_left_is_accounted_for():
    """Without pinfold, Grid Engine accounts for a process only if the process's parent has waited for the process."""
    job = Job(f"{LOCK}setsid sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo counted; sleep 1000' &"
              " while [ ! -e $HOME/$JOB_ID.go ]; do sleep 0.1; done", node="node2")
    job.wait_output("counted")
    (job.home / f"{job.id}.go").touch()
    used = float(job.wait().account()["ru_utime"].rstrip("s"))
    assert not survives(job)
    assert used == pytest.approx(receipt("node2", job.key())["cpu_user"] / 1e6, abs=0.001)
    assert receipt("node2", job.key())["leftover_cpu"] > 0


@pytest.mark.parametrize("node", NODES)
def test_delete(node):
    job = Job(f"{LOCK}{ESCAPIST} ignores-term; echo left; sleep 1000", node=node)
    job.wait_output("left")
    job.delete()
    job.wait()
    assert not survives(job)
    assert outcome(job.account()) == ("137", "100")
    assert receipt(node, job.key())["result"] == "signaled"


@pytest.mark.parametrize("node", NODES)
def test_suspend_and_resume(node):
    """The suspension stops the whole job, and not only the shepherd's process group."""
    job = Job(f"{LOCK}setsid sleep 1000 & while [ ! -e $HOME/$JOB_ID.go ]; do sleep 0.1; done; exit 4", node=node)
    job.wait_state("r")
    wait_until(lambda: job.key() in ask(node, "live_jobs"), "the job")
    run("qmod", "-sj", job.id)
    wait_until(lambda: cgroup_events(job)["frozen"] == "1", "all of the job stands still")
    job.wait_state("s")
    (job.home / f"{job.id}.go").touch()
    run("qmod", "-usj", job.id)
    assert job.wait().account()["exit_status"] == "4"
    assert not survives(job)


def test_delete_a_suspended_job():
    job = Job(f"{LOCK}setsid sleep 1000 & echo here; sleep 1000", node="node1")
    job.wait_output("here")
    run("qmod", "-sj", job.id)
    wait_until(lambda: cgroup_events(job)["frozen"] == "1", "all of the job stands still")
    job.delete()
    job.wait()
    assert not survives(job)


def test_array_job():
    job = Job("exit $SGE_TASK_ID", "-t", "1-3").wait()
    accounts = {account["taskid"]: account for account in job.accounts(3)}
    assert {task: account["exit_status"] for task, account in accounts.items()} == {"1": "1", "2": "2", "3": "3"}
    for task, account in accounts.items():
        found = receipt(account["hostname"], job.key(task))
        assert found["result"] == "exited" and (found["array_job"], found["array_task"]) == (int(account["jobnumber"]), int(task))
        assert (found["queue"], found["job_name"], found["account"]) == (account["qname"], account["jobname"], account["account"])
        assert found["nodes"] == [account["hostname"]] and found["submit_host"] and found["uid"] == pwd.getpwnam("alice").pw_uid


def test_slave_tasks_are_tasks_of_the_job():
    """qrsh -inherit starts the tasks of a tightly integrated job, on both nodes."""
    slave = f"{LOCK}{ESCAPIST} set-sid; cat /proc/self/cgroup; exit 5"
    job = Job(f"{LOCK}for host in $(cut -d' ' -f1 $PE_HOSTFILE); do qrsh -inherit $host '{slave}'; echo status $?; done",
              "-pe", "mpi", "4").wait()
    assert not survives(job)
    lines = job.output().splitlines()
    assert lines.count("status 5") == 2, lines
    slices = [line for line in lines if f"/batch-{job.key()}.slice/job-{job.key()}" in line]
    assert len(slices) == 2, lines
    master = next(account["hostname"] for account in job.accounts(3) if outcome(account)[0] == "0")
    for node in NODES:
        wait_until(lambda: ask(node, "receipts", job.key()), f"the receipt on {node}")
        assert receipt(node, job.key())["tasks"] == (2 if node == master else 1)
    ask("node2", "wait_for_entries", job.key(), "leftovers")  # node1's shepherd may have been quicker


def test_mpi_over_both_nodes():
    source = Path("/home/alice/daemons.c")
    source.write_text(MPI_DAEMONS)
    run("mpicc", "-o", "/home/alice/daemons", source)
    job = Job(f"{LOCK}echo master $(hostname); mpirun -np $NSLOTS $HOME/daemons", "-pe", "mpi", "4").wait()
    # mpirun does not wait for the end of Open MPI's daemon on the other node. If the daemon still runs when the job ends, Grid Engine kills the
    # daemon. If Grid Engine has killed the daemon, the daemon's record has status 137, or there is no record.
    master, = job.wait_output("master ")
    account = wait_until(lambda: next((account for account in job.accounts() if account["hostname"] == master), None), "its record")
    assert outcome(account) == ("0", "0"), job.output()
    assert not survives(job)
    lines = job.output().splitlines()
    for node in NODES:
        assert sum(f"on {node} sum 6" in line for line in lines) == 2, lines
        wait_until(lambda: ask(node, "receipts", job.key()), f"the receipt on {node}")
    assert receipt("node2", job.key())["leftovers"] >= 2, "node1's shepherd may have been quicker"


def test_interactive_command_on_a_terminal():
    terminal = Terminal("runuser", "-u", "alice", "--", "qrsh", "-now", "no", "-pty", "y", "-l", "hostname=node2",
                        "tty; cat /proc/self/cgroup; exit 7", cwd="/home/alice")
    terminal.read_until("/batch-sge.")
    assert terminal.status() == 7
    assert "/dev/pts/" in terminal.seen


def test_interactive_login():
    """After each session, qlogin asks the queue master for the job. If the queue master has already removed the job, qlogin says that its request
    could not be scheduled, and exits with status 1 (clients/qsh/qsh.c). The receipt always contains the exit status of the session."""
    terminal = Terminal("runuser", "-u", "alice", "--", "qlogin", "-now", "no", "-l", "hostname=node1", cwd="/home/alice")
    terminal.read_until("$ ")
    # Even without pinfold, a session does not end while a process has the session's terminal open.
    terminal.type("cat /proc/self/cgroup; setsid sleep 1000 </dev/null >/dev/null 2>&1 & exit 5")
    terminal.read_until("/batch-sge.")
    status = terminal.status()
    assert status == 5 or (status == 1 and "could not be scheduled" in terminal.seen), (status, terminal.seen)
    number, = re.findall(r"Your job (\d+) ", terminal.seen)
    found, = wait_until(lambda: ask("node1", "receipts", f"sge.{number}"), "the receipt")
    assert found["exit_status"] == 5


def test_supervisor_killed():
    job = Job(f"{LOCK}{ESCAPIST} set-sid; echo here; sleep 1000", node="node1")
    job.wait_output("here")
    supervisor = job.supervisor()
    kill("node1", supervisor)
    wait_gone(job)
    job.wait()
    assert not alive("node1", supervisor)
    assert receipt("node1", job.key())["result"] == "supervisor-lost"


def test_without_pinfoldd_a_job_waits():
    """When pinfoldd cannot start, the queue of the node must stop taking jobs. If the queue took jobs, all waiting jobs would start and fail."""
    on("node1", "systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
    job = Job("echo ran", node="node1")
    try:
        assert outcome(job.account()) == ("0", "7")
        wait_until(lambda: "job " + job.id in run("qstat", "-f", "-explain", "E").stdout, "the queue's error")
        assert (job.state(), job.output()) == ("qw", "")
    finally:
        on("node1", "systemctl", "start", "pinfoldd.socket")
        run("qmod", "-cq", f"{grid_engine.QUEUE}@node1")
    job.wait()
    assert job.output() == "ran\n"
    assert [outcome(account) for account in job.accounts(2)] == [("0", "7"), ("0", "0")]
    assert receipt("node1", job.key())["result"] == "exited"


def test_without_pinfoldd_a_job_runs_where_the_site_says_so():
    set_site("node1", SITE + "on_failure = \"run-unconfined\"\n")
    on("node1", "systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")
    try:
        job = Job("echo ran; exit 6", node="node1").wait()
    finally:
        on("node1", "systemctl", "start", "pinfoldd.socket")
        set_site("node1", SITE)
    assert job.output() == "ran\n"
    assert job.account()["exit_status"] == "6"
    assert not ask("node1", "receipts", job.key())


def test_a_burst_while_the_execution_daemon_restarts():
    """The restarted daemon needs up to a minute to notice the end of a job that an earlier daemon started."""
    long = Job(f"{LOCK}setsid sleep 1000 & while [ ! -e $HOME/$JOB_ID.go ]; do sleep 0.1; done; exit 5", node="node1")
    long.wait_state("r")
    long.shepherd()
    on("node1", "systemctl", "restart", "gridengine-exec")
    assert long.key() in ask("node1", "live_jobs")
    (long.home / f"{long.id}.go").touch()
    burst = Job("true", "-t", "1-200").wait()
    by_node = {node: {receipt["key"]: receipt for receipt in ask(node, "receipts")} for node in NODES}
    for account in burst.accounts(200):
        assert by_node[account["hostname"]][burst.key(account["taskid"])]["exit_status"] == 0
    assert long.wait().account()["exit_status"] == "5"
    assert not survives(long)
