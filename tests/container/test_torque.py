# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the scripts and the job starter for Torque. A stand-in calls the scripts and the job starter as pbs_mom does
(support/python/torque_mom.py)."""

import json
import os
import pwd
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs import (as_alice, drained, expect_nothing_left, journal, leftovers_of_pinfold, live_jobs, processes_with, read_journal, receipts, run,
                  wait_until)
from terminal import Terminal
from torque_mom import JOB_EXEC_FAIL2, JOB_EXEC_OK, JOB_EXEC_RETRY, Mom

PROGRAMS = Path("/usr/libexec/pinfold")
DROP_IN = Path("/etc/pinfold/pinfold.toml.d/torque.toml")
REFUSED = 125
# The commands unmask the socket before the service. If a prologue waits for pinfoldd, the bus starts pinfoldd.service as soon as the service is
# unmasked.
START_PINFOLDD = ("systemctl unmask --runtime pinfoldd.socket; systemctl unmask --runtime pinfoldd.service; "
                  "systemctl start pinfoldd.socket pinfoldd.service")

pytestmark = pytest.mark.usefixtures("clean_node")


@pytest.fixture
def clean_node():
    yield
    DROP_IN.unlink(missing_ok=True)
    run("/bin/sh", "-c", START_PINFOLDD)
    run("systemctl", "reload", "pinfoldd")
    for key in live_jobs():
        run("pinfold", "end", key)
    expect_nothing_left()


def let_in(folder):
    """By default, only root can enter the directories that pytest makes."""
    for path in (folder, *folder.parents[:2]):
        os.chmod(path, 0o755)


@pytest.fixture
def make_mom(tmp_path):
    moms = []
    let_in(tmp_path)

    def make(privileged=False, alarm=300, scripts=True, starter="torque-job-starter"):
        home = tmp_path / f"torque{len(moms)}"
        mom = Mom(home, str(PROGRAMS / starter), privileged, alarm)
        moms.append(mom)
        wait_until((home / "mom_priv" / "jobs").is_dir, "the stand-in is up")
        for name in ("prologue", "epilogue") if scripts else ():
            for script in (name, name + ".parallel"):
                (home / "mom_priv" / script).symlink_to(PROGRAMS / f"torque-{name}")
        return mom
    yield make
    for mom in moms:
        mom.close()


@pytest.fixture(params=[False, True], ids=["unprivileged", "privileged"])
def mom(request, make_mom):
    return make_mom(privileged=request.param)


def job(number, script="exit 0", user="alice", **values):
    return {"id": number, "user": user, "name": "job", "resources": "nodes=1:ppn=1,walltime=01:00:00", "hosts": ["node1"], "ppn": 1,
            "node": 0, "cookie": os.urandom(16).hex().upper(), "variables": {"PBS_O_HOST": "login", "PATH": "/usr/bin:/bin"},
            "script": "#!/bin/sh\n" + script + "\n", **values}


def key(job):
    return "torque." + job["id"]


def output(mom, job, suffix=".OU"):
    return (mom.home / "spool" / (job["id"] + suffix)).read_text()


def start(mom, job):
    started = mom.ask("start", job=job)
    assert started["code"] == JOB_EXEC_OK, output(mom, job, ".ER")
    return started


def run_to_end(mom, job):
    """Runs a job as pbs_mom does, and returns the job's status."""
    started = start(mom, job)
    status = mom.ask("wait", pid=started["pid"])["status"]
    ended = mom.ask("epilogue", job=job, session=started["session"], status=status)
    assert ended["code"] == 0, output(mom, job, ".ER")
    return status


def spawn(mom, job, *words, vnode=1, **environment):
    """Runs a task for a TM client, and returns the task's status."""
    started = mom.ask("spawn", job=job, words=[str(word) for word in words], environment=environment, vnode=vnode)
    return mom.ask("wait", pid=started["pid"])["status"]


def configure(text):
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    DROP_IN.write_text(text)
    run("systemctl", "reload", "pinfoldd")


def stop_pinfoldd():
    run("systemctl", "mask", "--runtime", "pinfoldd.service", "pinfoldd.socket")
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd.service")


IDENTITY = "grep ^0:: /proc/self/cgroup; id -u; id -g; id -G; grep CapEff /proc/self/status; pwd; tr '\\0' ' ' </proc/$PPID/cmdline"


def expected_identity(name):
    user = pwd.getpwnam(name)
    groups = run("id", "-G", name).stdout.strip()
    return [str(user.pw_uid), str(user.pw_gid), groups, "CapEff:\t0000000000000000", user.pw_dir]


def test_a_batch_script_runs_in_its_scope_as_its_user(mom):
    it = job("4711.server", IDENTITY + "; echo oops >&2; exit 3")
    assert run_to_end(mom, it) == 3
    lines = output(mom, it).splitlines()
    assert lines[0].endswith("/batch.slice/batch-torque.4711.server.slice/job-torque.4711.server.scope")
    assert lines[1:6] == expected_identity("alice")
    assert lines[6].strip() == "-" + Path(pwd.getpwnam("alice").pw_shell).name, "a login shell, as without a starter"
    assert output(mom, it, ".ER") == "oops\n"
    receipt = receipts(key(it))[0]
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 3)
    assert receipt["uid"] == pwd.getpwnam("alice").pw_uid
    expect_nothing_left()


def test_a_receipt_has_what_pbs_mom_tells_a_prologue(mom):
    it = job("4799[3].server", name='odd "$name" <b>', hosts=["node1", "node2"], resources="nodes=2:ppn=1")
    it["variables"]["PBS_O_WORKDIR"] = "/home/alice/a b"
    assert run_to_end(mom, it) == 0
    receipt = receipts(key(it))[0]
    assert receipt["submit_directory"] == "/home/alice/a b"
    assert (receipt["job_name"], receipt["group"], receipt["queue"], receipt["account"]) == ('odd "$name" <b>', "users", "batch", None)
    assert (receipt["array_job"], receipt["array_task"], receipt["run"]) == (4799, 3, None)
    assert (receipt["nodes"], receipt["node_count"], receipt["slots"]) == (["node1", "node2"], 2, 1)
    assert (receipt["user"], receipt["host"]) == ("alice", os.uname().nodename)
    expect_nothing_left()


def test_no_login_shell_for_a_site_that_wants_none(make_mom):
    mom = make_mom(starter="torque-job-starter-nologin")
    it = job("4711.server", "tr '\\0' ' ' </proc/$PPID/cmdline")
    assert run_to_end(mom, it) == 0
    assert output(mom, it).strip() == pwd.getpwnam("alice").pw_shell


def test_an_interactive_job_has_its_terminal(mom):
    it = job("4712.server", typed="tty; grep ^0:: /proc/self/cgroup; exit\n")
    assert run_to_end(mom, it) == 0
    assert "/dev/pts/" in output(mom, it)
    assert "/job-torque.4712.server.scope" in output(mom, it)
    assert "no job control" not in output(mom, it)
    expect_nothing_left()


def test_a_task_of_the_mother_superior_is_a_further_task(mom):
    it = job("4713.server", "sleep 1000")
    started = start(mom, it)
    wait_until(lambda: 0 in task_numbers(key(it)), "the batch script in its scope")
    assert spawn(mom, it, "/bin/sh", "-c", IDENTITY, vnode=0) == 0
    lines = output(mom, it, ".TM").splitlines()
    assert lines[0].endswith("/job-torque.4713.server-1.scope")
    assert lines[1:6] == expected_identity("alice")
    mom.ask("kill", session=started["session"], signal=signal.SIGTERM)
    status = mom.ask("wait", pid=started["pid"])["status"]
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
    expect_nothing_left()


def stubborn(command):
    """Returns lines for a script. A script that contains these lines starts `command`, and the command outlives the script. The command runs in its
    own session, and ignores SIGTERM."""
    return ("ready=$(mktemp -u); mkfifo $ready\n"
            f"setsid sh -c \"trap '' TERM; echo > $ready; {command} & {command}; wait\" & read line < $ready\n")


def task_numbers(job_key):
    listed = run("systemctl", "list-units", "--no-legend", "--plain", f"job-{job_key}*.scope").stdout.split()
    scopes = [name for name in listed if name.endswith(".scope") and name.startswith("job-")]
    return {int(name[len(f"job-{job_key}"):-len(".scope")].lstrip("-") or 0) for name in scopes}


def test_a_sister_host_has_tasks_and_no_batch_script(mom):
    it = job("4714.server", hosts=["node0", "node1"], node=1)
    assert mom.ask("join", job=it)["code"] == 0
    assert live_jobs()[key(it)]["state"] == "running"
    # Like a daemon of Open MPI, the task has a copy of the batch script's environment. The task runs twice, and no process of the job
    # exists between the two runs.
    copied = {"PBS_NODENUM": "0", "PBS_TASKNUM": "1", "PBS_JOBID": it["id"], "PBS_JOBCOOKIE": it["cookie"]}
    for number in (1, 2):
        assert spawn(mom, it, "sh", "-c", "grep ^0:: /proc/self/cgroup; setsid sleep 1001 </dev/null >/dev/null 2>&1 &", **copied) == 0
        scope = f"/job-torque.4714.server-{number}.scope"
        assert output(mom, it, ".TM").splitlines()[number - 1].endswith(scope)
        wait_until(lambda: not processes_with("sleep\x001001"), "what the task left behind is gone")
    assert key(it) in live_jobs(), "the job lives until its epilogue"
    assert mom.ask("leave", job=it)["code"] == 0
    expect_nothing_left()


def test_what_a_job_leaves_behind_is_gone_after_the_epilogue(mom):
    it = job("4715.server", stubborn("sleep 1002") * 3)
    assert run_to_end(mom, it) == 0, output(mom, it, ".ER")
    assert not processes_with("sleep\x001002")
    assert receipts(key(it))[0]["leftovers"]
    expect_nothing_left()


@pytest.mark.parametrize("number", ["12[3].server", "12[].server", "1.a-b.example.org", "77-1.server", "9" * 30 + ".s", "4711"])
def test_any_job_id_of_torques(make_mom, number):
    mom = make_mom()
    it = job(number, "grep ^0:: /proc/self/cgroup")
    assert run_to_end(mom, it) == 0
    unit = run("systemd-escape", f"torque.{number}").stdout.strip()
    assert output(mom, it).strip().endswith(f"/job-{unit}.scope")
    assert len(receipts(key(it))) == 1


def test_the_same_number_of_two_servers(make_mom):
    old, new = make_mom(), make_mom()
    jobs = [(old, job("77.old", "sleep 1003")), (new, job("77.new", "sleep 1003", user="bob"))]
    started = [start(mom, it) for mom, it in jobs]
    wait_until(lambda: len(processes_with("sleep\x001003")) == 2, "both run")
    cgroups = [cgroup for _, cgroup in processes_with("sleep\x001003").values()]
    assert len(set(cgroups)) == 2
    for (mom, it), begun in zip(jobs, started):
        mom.ask("kill", session=begun["session"], signal=signal.SIGKILL)
        mom.ask("wait", pid=begun["pid"])
        assert mom.ask("epilogue", job=it, session=begun["session"], status=265)["code"] == 0
        if mom is old:
            assert list(live_jobs()) == [key(jobs[1][1])], "the other server's job goes on"
    expect_nothing_left()


def test_pbs_mom_is_restarted(mom):
    it = job("4716.server", "sleep 1004; echo survived")
    started = start(mom, it)
    wait_until(lambda: processes_with("sleep\x001004"), "the job runs")
    mom.restart()
    [sleeper] = processes_with("sleep\x001004")
    os.kill(sleeper, signal.SIGKILL)
    wait_until(lambda: not live_jobs(), "the job is over")
    assert "survived" in output(mom, it)
    assert mom.ask("epilogue", job=it, session=started["session"], status=0)["code"] == 0
    expect_nothing_left()


def test_prologue_and_epilogue_twice(make_mom):
    mom = make_mom()
    it = job("4717.server", hosts=["node0", "node1"], node=1)
    for _ in range(2):
        assert mom.ask("join", job=it)["code"] == 0
    assert list(live_jobs()) == [key(it)]
    for _ in range(2):
        assert mom.ask("leave", job=it)["code"] == 0
    assert len(receipts(key(it))) == 1
    expect_nothing_left()


def test_an_epilogue_without_prologue(make_mom):
    mom = make_mom()
    assert mom.ask("leave", job=job("4718.server", node=1))["code"] == 0
    assert mom.ask("epilogue", job=job("4718.server"), session=0, status=-3)["code"] == 0


def test_a_job_without_prologue_does_not_run(make_mom):
    mom = make_mom(scripts=False)
    it = job("4719.server", "echo ran")
    assert run_to_end(mom, it) == REFUSED
    assert output(mom, it) == ""
    assert output(mom, it, ".ER").startswith("torque-job-starter: job torque.4719.server is not open on this node")


def test_beside_a_sites_own_scripts(make_mom):
    mom = make_mom(scripts=False)
    for name in ("prologue", "epilogue"):
        script = mom.home / "mom_priv" / name
        script.write_text(f'#!/bin/sh\n{PROGRAMS}/torque-{name} "$@" || exit $?\necho site {name}\n')
        script.chmod(0o755)
    it = job("4720.server", "grep ^0:: /proc/self/cgroup")
    assert run_to_end(mom, it) == 0
    assert output(mom, it).splitlines()[0] == "site prologue"
    assert output(mom, it).splitlines()[1].endswith("/job-torque.4720.server.scope")
    expect_nothing_left()


def test_the_resource_list_becomes_limits(make_mom):
    configure('[jobs]\nunenforced_limits = "warn"\n')  # a container may have no memory controller
    mom = make_mom()
    it = job("4721.server", "sleep 1005", resources="mem=2gb,nodes=2:ppn=2,walltime=01:00:00", ppn=2,
             hosts=["node1", "node1", "node2", "node2"])
    started = start(mom, it)
    status = run("pinfold", "status", key(it), "--json").stdout
    assert json.loads(status)["job"]["limits"]["memory_max"] == 1 << 30, status
    mom.ask("kill", session=started["session"], signal=signal.SIGKILL)
    mom.ask("wait", pid=started["pid"])
    assert mom.ask("epilogue", job=it, session=started["session"], status=265)["code"] == 0


def test_a_job_knows_its_walltime_and_is_warned_of_it(make_mom):
    configure('[defaults]\nrun_time_warning = "55s"\n')
    mom = make_mom()
    it = job("4722.server", "echo $PINFOLD_END_TIME; exec sleep 1006", resources="nodes=1:ppn=1,walltime=01:00:00")
    started = start(mom, it)
    wait_until(lambda: output(mom, it).endswith("\n"), "the job runs")
    assert int(output(mom, it)) == (live_jobs()[key(it)]["created"] + 3600 * 1000000) // 1000000
    run(*as_alice("pinfold", "limits", key(it), "--batch-run-time-max", "56s"))
    line = wait_until(lambda: output(mom, it, ".ER"), "the warning before the end of the walltime")
    assert line.startswith(f"pinfold: job {key(it)} on {os.uname().nodename} reaches its run time limit of 56s in "), line
    assert line.endswith("Z). The batch system ends the job at the limit.\n"), line
    run(*as_alice("pinfold", "limits", key(it), "--batch-run-time-max", "1s"))
    assert live_jobs()[key(it)]["state"] == "running", "pbs_mom ends the job, and pinfold does not"
    mom.ask("kill", session=started["session"], signal=signal.SIGKILL)
    mom.ask("wait", pid=started["pid"])
    assert mom.ask("epilogue", job=it, session=started["session"], status=265)["code"] == 0


STOPS = {"root": (4811, ["pinfold", "stop"], [], "was stopped on request of user root"),
         "owner": (4812, as_alice("pinfold", "stop"), [], "was stopped on request of user "),
         "limit": (4813, ["pinfold", "limits"], ["--run-time-max", "1s"], "was stopped: it reached its run time limit of 1s")}


@pytest.mark.parametrize("number, command, options, words", STOPS.values(), ids=STOPS)
def test_the_error_output_says_once_who_stopped_the_job(make_mom, number, command, options, words):
    mom = make_mom()
    it = job(f"{number}.server", "echo runs; exec sleep 1029")
    started = start(mom, it)
    wait_until(lambda: output(mom, it) == "runs\n", "the job runs")
    run(*command, key(it), *options)
    mom.ask("wait", pid=started["pid"])
    assert mom.ask("epilogue", job=it, session=started["session"], status=271)["code"] == 0
    line = wait_until(lambda: output(mom, it, ".ER"), "the line about the end")
    assert line.startswith(f"pinfold: job {key(it)} on {os.uname().nodename} {words}"), line
    [receipt] = receipts(key(it))
    assert (line, output(mom, it)) == (receipt["stop_line"] + "\n", "runs\n"), "pbs_mom's epilogue says nothing more"


ENDINGS = [("exit 0", 0, ("exited", 0, None)), ("exit 255", 255, ("exited", 255, None)),
           # If a signal ends the script, the login shell exits with a status that stands for the signal. pbs_mom sees only the status of the login
           # shell, and not the signal.
           ("kill -KILL $$", 128 + signal.SIGKILL, ("exited", 128 + signal.SIGKILL, None)),
           ("kill -KILL $PPID", 256 + signal.SIGKILL, ("signaled", None, signal.SIGKILL))]


def seen_and_then_reported(mom, number, script, _):
    it = job(number, script)
    started = start(mom, it)
    status = mom.ask("wait", pid=started["pid"])["status"]
    wait_until(lambda: live_jobs()[key(it)]["state"] == "ending", "pinfoldd has seen the end")
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0


def reported_and_then_seen(mom, number, _, status):
    """pbs_mom reports the status while the leader lives. If pinfoldd is busy, it can notice the leader's end so late that the report of pbs_mom comes
    first."""
    it = job(number, "exec sleep 1000")
    started = start(mom, it)
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
    mom.ask("wait", pid=started["pid"])


@pytest.mark.parametrize("order", [seen_and_then_reported, reported_and_then_seen])
def test_each_receipt_says_how_its_job_ended(make_mom, order):
    """The test runs PINFOLD_MOM_RUNS jobs for each order of the events."""
    moms = [make_mom() for _ in range(4)]

    def some(mom):
        for number in range(moms.index(mom), runs, len(moms)):
            script, status, _ = ENDINGS[number % len(ENDINGS)]
            order(mom, f"{number}.{order.__name__}", script, status)

    runs = int(os.environ.get("PINFOLD_MOM_RUNS", "8"))
    with ThreadPoolExecutor(len(moms)) as pool:
        list(pool.map(some, moms))
    wrong = []
    for number in range(runs):
        [receipt] = receipts(f"torque.{number}.{order.__name__}")
        told = receipt["result"], receipt["exit_status"], receipt["exit_signal"]
        if told != ENDINGS[number % len(ENDINGS)][2]:
            wrong.append((receipt["key"], told))
    print(f"{runs} jobs, of which {len(wrong)} have a wrong receipt")
    assert wrong == []
    failed = run("pinfold", "history", "--failed", "--json", "-n", 10000).stdout
    assert f"torque.0.{order.__name__}" not in {found["key"] for found in json.loads(failed)["receipts"]}, "it exited with 0"


CLEANS_UP = "trap 'echo got term; sleep 1; echo cleaned up; exit 9' TERM\necho ready\nwhile :; do sleep 0.1; done"


# `STAYS` is a script that does not start a process after SIGTERM has come. pbs_mom looks for the job's processes once, and does not find a process
# that starts after this search.
STAYS = "trap 'echo got term; while :; do :; done' TERM\necho ready\nwhile :; do :; done"


def test_a_job_that_pbs_mom_ends_is_signalled_once(make_mom):
    """pbs_mom ends the login shell, and immediately afterwards ends the script, which is the shell's child. pinfold must not count the script as a
    leftover."""
    mom = make_mom()
    it = job("4736.server", STAYS)
    started = start(mom, it)
    wait_until(lambda: "ready" in output(mom, it), "the script runs")
    mom.ask("kill", session=started["session"], signal=signal.SIGTERM)
    status = mom.ask("wait", pid=started["pid"])["status"]
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
    assert output(mom, it).split("\n") in (["ready", ""], ["ready", "got term", ""])
    receipt = receipts(key(it))[0]
    assert (receipt["leftovers"], receipt["result"], receipt["exit_signal"]) == (0, "signaled", signal.SIGTERM)
    expect_nothing_left()


def test_a_script_that_is_the_leader_may_clean_up(make_mom):
    mom = make_mom()
    it = job("4737.server", CLEANS_UP, exec_with_exec=True)
    started = start(mom, it)
    wait_until(lambda: "ready" in output(mom, it), "the script runs")
    mom.ask("kill", session=started["session"], signal=signal.SIGTERM)
    status = mom.ask("wait", pid=started["pid"])["status"]
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
    assert output(mom, it).split("\n") == ["ready", "got term", "cleaned up", ""]
    receipt = receipts(key(it))[0]
    assert (receipt["leftovers"], receipt["result"], receipt["exit_status"]) == (0, "exited", 9)


@pytest.mark.parametrize("code, limit", [(-10, "memory"), (-11, "walltime"), (-12, "CPU time")])
def test_a_job_over_a_limit_of_pbs_moms_was_ended_by_sigterm(make_mom, code, limit):
    """In place of the status, pbs_mom reports which limit the job has exceeded."""
    mom = make_mom()
    it = job("4738.server", "sleep 1000")
    started = start(mom, it)
    mom.ask("kill", session=started["session"], signal=signal.SIGTERM)
    mom.ask("wait", pid=started["pid"])
    assert mom.ask("epilogue", job=it, session=started["session"], status=code)["code"] == 0
    receipt = receipts(key(it))[0]
    assert (receipt["result"], receipt["exit_signal"]) == ("signaled", signal.SIGTERM), limit


# The following tests run scripts as the user, in pbs_mom's own cgroup.


def leaving(folder, name, seconds, owner="root"):
    """Writes a script that leaves a daemon behind."""
    script = folder / name
    script.write_text(f"#!/bin/sh\nsetsid sleep {seconds} </dev/null >/dev/null 2>&1 &\n"
                      "until tr '\\0' ' ' </proc/$!/cmdline | grep -q ^sleep; do sleep 0.1; done\n")
    script.chmod(0o755)
    run("chown", owner, script)
    return str(script)


def left_running():
    return sorted(command.split(b"\0")[1].decode() for command, _ in processes_with("sleep\x00477").values())


def test_what_the_users_prologues_and_epilogues_leave_ends_with_the_job(make_mom, tmp_path):
    mom = make_mom()
    leaving(mom.home / "mom_priv", "prologue.user", 4771)
    leaving(mom.home / "mom_priv", "epilogue.user", 4772)
    it = job("4740.server", "exit 3", prologue=leaving(tmp_path, "prologue", 4773, "alice"),
             epilogue=leaving(tmp_path, "epilogue", 4774, "alice"))
    started = start(mom, it)
    assert left_running() == ["4771", "4773"]
    status = mom.ask("wait", pid=started["pid"])["status"]
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == 0
    assert left_running() == []
    receipt = receipts(key(it))[0]
    assert (receipt["result"], receipt["exit_status"], receipt["leftovers"]) == ("exited", 3, 0)
    run("journalctl", "--sync")
    assert "killed what a prologue or epilogue of its user left behind: [sleep]" in run("pinfold", "logs", key(it)).stdout


def test_what_may_be_another_jobs_ends_with_that_job(make_mom, tmp_path):
    mom = make_mom()
    first, second, bobs = (job(f"474{number}.server", "sleep 1000", user=user, prologue=leaving(tmp_path, f"p{number}", f"477{number}", user))
                           for number, user in ((1, "alice"), (2, "alice"), (3, "bob")))
    started = [start(mom, it) for it in (first, second, bobs)]

    def end(it, begun):
        mom.ask("kill", session=begun["session"], signal=signal.SIGKILL)
        mom.ask("wait", pid=begun["pid"])
        assert mom.ask("epilogue", job=it, session=begun["session"], status=265)["code"] == 0
    end(first, started[0])
    assert left_running() == ["4772", "4773"], "the first one's began before the second job"
    end(bobs, started[2])
    assert left_running() == ["4772"]
    end(second, started[1])
    assert left_running() == []


# Outages.


def node_check():
    """Returns the output of torque-node-check: no text, or the reason why the node is down."""
    done = run(PROGRAMS / "torque-node-check")
    assert done.stderr == ""
    return done.stdout


def test_the_node_check_takes_the_node_down_and_brings_it_back():
    assert node_check() == ""
    with drained():
        assert node_check() == "ERROR pinfold: this node takes no jobs for now: test\n"
    assert node_check() == ""
    stop_pinfoldd()
    assert node_check().startswith("ERROR pinfold: pinfoldd is not reachable")


def test_the_node_check_is_silent_where_jobs_may_run_unconfined():
    configure('[jobs]\non_failure = "run-unconfined"\n')
    stop_pinfoldd()
    assert node_check() == ""


def test_a_drained_node_sends_jobs_back_to_the_queue(make_mom):
    mom = make_mom()
    it = job("4732.server", "echo ran")
    with drained():
        assert mom.ask("start", job=it)["code"] == JOB_EXEC_RETRY
        assert not live_jobs()
        said = read_journal("-o", "cat", "-t", "torque-prologue")
        assert "job torque.4732.server goes back to the queue: " in said and "drained" in said
    assert run_to_end(mom, it) == 0
    assert (output(mom, it), output(mom, it, ".ER")) == ("ran\n", ""), "pbs_mom keeps the files from the refused start"


def test_the_user_of_an_interactive_job_reads_why_the_node_refuses_it():
    with drained():
        terminal = Terminal(PROGRAMS / "torque-prologue", "4739.server", "alice", "users", "job", "nodes=1:ppn=1", "batch", "", "script")
        assert terminal.status() == 2
    assert "drained" in terminal.seen
    assert "job torque.4739.server does not start: " in read_journal("-o", "cat", "-t", "torque-prologue")


def test_without_pinfoldd_the_job_goes_back_to_the_queue(make_mom):
    mom = make_mom()
    stop_pinfoldd()
    it = job("4722.server", "echo ran")
    assert mom.ask("start", job=it)["code"] == JOB_EXEC_RETRY
    assert output(mom, it) == ""
    assert "job torque.4722.server goes back to the queue: pinfold: pinfoldd is not reachable" in read_journal("-o", "cat", "-t", "torque-prologue")
    sister = job("4723.server", node=1, hosts=["node0", "node1"])
    assert mom.ask("join", job=sister)["code"] not in (0, 1)
    assert mom.ask("epilogue", job=it, session=0, status=-3)["code"] != 0, "nobody can say that nothing is left"


def test_without_pinfoldd_an_interactive_job_is_deleted_with_a_word(make_mom):
    mom = make_mom()
    stop_pinfoldd()
    it = job("4724.server", typed="echo ran\n")
    assert mom.ask("start", job=it)["code"] == JOB_EXEC_FAIL2


def test_a_restart_of_pinfoldd_at_the_prologue_is_waited_for(make_mom):
    mom = make_mom()
    stop_pinfoldd()
    with subprocess.Popen(["/bin/sh", "-c", "until pgrep -x prologue >/dev/null; do :; done; " + START_PINFOLDD]) as back:
        it = job("4725.server", "grep ^0:: /proc/self/cgroup")
        assert run_to_end(mom, it) == 0
        assert back.wait() == 0
    assert "/job-torque.4725.server.scope" in output(mom, it)


def test_a_site_may_let_jobs_run_unconfined(mom):
    configure('[jobs]\non_failure = "run-unconfined"\n')
    stop_pinfoldd()
    it = job("4726.privileged" if mom.privileged else "4726.server", IDENTITY)
    started = start(mom, it)
    assert mom.ask("wait", pid=started["pid"])["status"] == 0
    lines = output(mom, it).splitlines()
    assert "batch.slice" not in lines[0]
    assert lines[1:6] == expected_identity("alice")
    assert len(journal(key(it), "run-unconfined")) == 2, "prologue and starter"


def test_a_job_that_started_unconfined_may_have_tasks_when_pinfoldd_is_back(make_mom):
    configure('[jobs]\non_failure = "run-unconfined"\n')
    mom = make_mom()
    it = job("4727.server", hosts=["node0", "node1"], node=1)
    assert spawn(mom, it, "grep", "^0::", "/proc/self/cgroup") == 0
    assert "batch.slice" not in output(mom, it, ".TM")
    assert mom.ask("leave", job=it)["code"] == 0


def test_pbs_moms_alarm_kills_the_epilogue_and_not_the_end(make_mom):
    configure('[jobs]\nkill_grace = "6s"\n')
    mom = make_mom(alarm=12)  # 2 s
    it = job("4728.server", stubborn("sleep 1006"))
    started = start(mom, it)
    status = mom.ask("wait", pid=started["pid"])["status"]
    assert mom.ask("epilogue", job=it, session=started["session"], status=status)["code"] == -4
    wait_until(lambda: not leftovers_of_pinfold(), "pinfoldd goes on with the end")
    assert not processes_with("sleep\x001006")


# Attacks.


@pytest.fixture
def preload(tmp_path_factory):
    """Makes a library. When a process loads the library, the library writes down the user id of the process."""
    folder = tmp_path_factory.mktemp("preload")
    let_in(folder)
    os.chmod(folder, 0o1777)
    source = folder / "trace.c"
    source.write_text('#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void trace(void) {\n'
                      f'char name[200]; snprintf(name, sizeof name, "{folder}/uid.%d", geteuid());\n'
                      'FILE *file = fopen(name, "w"); if (file) fclose(file); }\n')
    run("gcc", "-shared", "-fPIC", "-o", folder / "libtrace.so", source)
    for name in ("libnss_files.so.2", "libnss_systemd.so.2", "libnss_compat.so.2", "libc.so.6"):
        (folder / name).write_bytes((folder / "libtrace.so").read_bytes())
    return folder


def test_the_jobs_environment_loads_nothing_into_root(mom, preload):
    user = pwd.getpwnam("alice").pw_uid
    it = job("4729.server", "sleep 1007")
    it["variables"]["LD_PRELOAD"] = str(preload / "libtrace.so")
    start_ = start(mom, it)
    wait_until(lambda: processes_with("sleep\x001007"), "the job runs")
    assert spawn(mom, it, "/bin/true", LD_PRELOAD=str(preload / "libtrace.so")) == 0
    loaded = {path.name for path in preload.glob("uid.*")}
    assert loaded == {f"uid.{user}"}, "the job has its own environment, and root has nothing of it"
    (preload / f"uid.{user}").unlink()
    spawn(mom, it, "/bin/true", LD_LIBRARY_PATH=str(preload))
    assert not (preload / "uid.0").exists()
    mom.ask("kill", session=start_["session"], signal=signal.SIGKILL)
    mom.ask("wait", pid=start_["pid"])
    assert mom.ask("epilogue", job=it, session=start_["session"], status=265)["code"] == 0


@pytest.fixture
def two_users(mom):
    """alice has one job, and bob has one job. Each of the two jobs runs on node0 and node1. pbs_mom on node1 has joined the two jobs."""
    jobs = [job("4730.server", user="alice", hosts=["node0", "node1"], node=1),
            job("4731.server", user="bob", hosts=["node0", "node1"], node=1)]
    for it in jobs:
        assert mom.ask("join", job=it)["code"] == 0
    yield jobs
    for it in jobs:
        assert mom.ask("leave", job=it)["code"] == 0


def test_nobody_gets_into_anothers_job(mom, two_users):
    alices, bobs = two_users
    claims = {"PBS_JOBID": alices["id"], "USER": "alice", "LOGNAME": "alice", "HOME": "/root", "PBS_JOBCOOKIE": bobs["cookie"]}
    status = spawn(mom, bobs, "/bin/sh", "-c", "id -un; grep ^0:: /proc/self/cgroup", **claims)
    said = output(mom, bobs, ".TM")
    if mom.privileged:  # the cookie tells which job it is
        assert said.splitlines()[0] == "bob"
        assert "/job-torque.4731.server-1.scope" in said
    else:
        assert status == REFUSED
        assert "/job-torque" not in said
    [running] = [live for name, live in live_jobs().items() if name == key(alices)]
    assert running["state"] == "running"
    assert task_numbers(key(alices)) == set()


@pytest.mark.parametrize("cookie", ["", "A", "F" * 32, "</cookie>" * 4])
def test_nobody_becomes_another_with_a_wrong_cookie(make_mom, cookie):
    mom = make_mom(privileged=True)
    it = job("4732.server", hosts=["node0", "node1"], node=1)
    assert mom.ask("join", job=it)["code"] == 0
    assert spawn(mom, it, "/bin/sh", "-c", "echo ran", PBS_JOBCOOKIE=cookie) == REFUSED
    assert "ran" not in output(mom, it, ".TM").splitlines()
    assert "cookie" in output(mom, it, ".TM")
    assert mom.ask("leave", job=it)["code"] == 0


def test_nobody_poses_as_pbs_moms_job_file(make_mom):
    mom = make_mom(privileged=True)
    it = job("4733.server", hosts=["node0", "node1"], node=1)
    assert mom.ask("join", job=it)["code"] == 0
    jobs = mom.home / "mom_priv" / "jobs"
    real = (jobs / "4733.server.JB").read_text()
    forged = real.replace(it["cookie"], "A" * 32).replace(f">{pwd.getpwnam('alice').pw_uid}<", ">0<")
    alice = pwd.getpwnam("alice")
    (jobs / "x.JB").write_text(forged)
    os.chown(jobs / "x.JB", alice.pw_uid, alice.pw_gid)
    (jobs / "y").write_text(forged)
    (jobs / "y.JB").symlink_to(jobs / "y")
    assert spawn(mom, it, "/bin/sh", "-c", "id", PBS_JOBCOOKIE="A" * 32) == REFUSED
    assert mom.ask("leave", job=it)["code"] == 0


def test_a_directory_closed_to_the_user_stays_closed(make_mom):
    mom = make_mom(privileged=True)
    secret = Path("/root/closed/open")
    secret.mkdir(parents=True, exist_ok=True)
    (secret / "file").write_text("secret")
    it = job("4734.server", "cat file")
    it["variables"]["PBS_O_INITDIR"] = str(secret)
    assert run_to_end(mom, it) == REFUSED
    assert "working directory" in output(mom, it, ".ER")
    assert "secret" not in output(mom, it)
