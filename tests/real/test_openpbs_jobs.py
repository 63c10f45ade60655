# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the jobs of a real OpenPBS on one host."""

import json
import re
import signal
from pathlib import Path

import pytest

import openpbs
from jobs import processes_with, run, wait_until
from nodes import NODES, ask, on
from openpbs import Job, limits, pbs, seconds
from terminal import Terminal
from two_hosts import CLEANS_UP, ENDS, failed_jobs, identity, outcome


@pytest.mark.parametrize("script, status, expected", ENDS)
def test_the_exit_status_is_the_same_in_pbs_and_in_the_receipt(script, status, expected):
    job = Job(script, node="node1").wait()
    shown = job.shown()
    seen = f"{shown['Exit_status']} in PBS, receipt {outcome(job.receipt())}"
    print(seen)
    assert outcome(job.receipt()) == expected, seen
    assert (job.key in failed_jobs()) == (script != "exit 0")
    assert job.key not in failed_jobs("--unknown")


def test_a_job_runs_in_its_scope_and_leaves_nothing():
    job = Job("grep ^0: /proc/self/cgroup; grep ^0: /proc/$PPID/cgroup; $HOME/leave 4713; exit 3").wait()
    unit = run("systemd-escape", job.key).stdout.strip()
    lines = job.output().splitlines()
    assert all(f"/batch-{unit}.slice/job-{unit}.scope" in line for line in lines), lines
    receipt = job.receipt()
    assert outcome(receipt) == ("exited", 3, None) and receipt["project"] is None
    assert (receipt["leftovers"], receipt["leftover_commands"]) == (1, ["sleep 4713"])
    assert not any("sleep 4713" in on(node, "ps", "-eo", "args").stdout for node in NODES)
    mom = Path(openpbs.HOME, "mom_priv/mom.lock").read_text().strip()
    assert "/pbs.service" in Path(f"/proc/{mom}/cgroup").read_text()


def test_the_receipt_of_a_subjob_names_its_array():
    array = Job("true", "-J", "3-4", node="node1").wait()
    number = int(array.id.partition("[")[0])
    for index in (3, 4):
        said = identity(ask("node1", "receipts", array.key.replace("[]", f"[{index}]"))[0])
        assert (said["array_job"], said["array_task"], said["slots"], said["nodes"]) == (number, index, 1, ["node1"])


@pytest.mark.parametrize("how", ["qdel", "walltime"])
def test_a_job_that_cleans_up_has_the_time_that_mom_gives_it(how):
    options = ["-l", "walltime=8"] if how == "walltime" else []
    job = Job(CLEANS_UP, *options, node="node1")
    job.wait_file(f"{job.id}.runs")
    if how == "qdel":
        job.delete()
    job.wait()
    print(job.output(), job.shown()["Exit_status"], job.receipt())
    said = job.output().splitlines()
    assert said.count("got term") == 1 and "cleaned up" in said, said
    receipt = job.receipt()
    assert (receipt["leftovers"], receipt["leftover_commands"]) == (0, [])
    assert receipt["result"] == "signaled" and receipt["exit_signal"] == signal.SIGTERM, receipt


def test_a_warning_is_in_the_output_while_the_job_runs():
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    run("pinfold", "limits", job.key, "--run-time-max", "1h", "--run-time-warning", "59min 59s 999ms")
    spooled = Path(openpbs.HOME, "spool", f"{job.id}.OU")
    wait_until(lambda: "reaches its run time limit of 1h" in spooled.read_text(), "the warning")
    run("pinfold", "stop", job.key)
    job.wait()
    lines = [line for line in job.output().splitlines() if line.startswith("pinfold: ")]
    assert len(lines) == 2 and "reaches its run time limit of 1h" in lines[0] and "was stopped on request of user root" in lines[1], lines


def test_a_job_that_ignores_sigterm_is_killed_after_kill_delay():
    job = Job("trap '' TERM\ntouch $HOME/$PBS_JOBID.runs\nwhile :; do sleep 0.2; done", node="node1")
    job.wait_file(f"{job.id}.runs")
    job.delete()
    job.wait()
    assert job.receipt()["result"] == "signaled", job.receipt()


@pytest.mark.parametrize("verb", ["stop", "end"])
def test_a_job_that_is_ended_by_hand_is_over_in_pbs(verb):
    job = Job("touch $HOME/$PBS_JOBID.runs; $HOME/leave 4728; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    run("pinfold", verb, job.key)
    job.wait()
    print(verb, job.shown()["Exit_status"], outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert job.shown()["Exit_status"] == 256 + signal.SIGTERM
    assert not processes_with("sleep\x004728")


def test_a_job_that_is_deleted_by_force_leaves_nothing():
    job = Job("$HOME/leave 4729; touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    pbs("qdel", "-W", "force", job.id)
    wait_until(lambda: not processes_with("sleep\x004729"), "its daemon is gone")
    wait_until(lambda: job.key not in ask("node1", "live_jobs"), "the job is over in pinfold")
    print(outcome(ask("node1", "receipts", job.key)[0]))


@pytest.mark.parametrize("how", [[], ["-W", "force"]], ids=["qdel", "force"])
def test_a_job_that_is_deleted_during_its_launch_leaves_nothing(how):
    with openpbs.launch_waits() as launch:
        job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
        launch.wait()
        done = pbs("qdel", *how, job.id, check=False)
        print("qdel", done.returncode, done.stderr)
        launch.go(job)
    # If a user runs `qdel -W force` during a launch, MoM forgets the job. After `qdel -W force`, the launch can open the job in pinfold again, but
    # MoM runs no epilogue for the job.
    wait_until(lambda: ask("node1", "live_jobs").get(job.key, {"state": "over"})["state"] in ("over", "ending"), "the script is over")
    print(ask("node1", "live_jobs").get(job.key), [outcome(receipt) for receipt in ask("node1", "receipts", job.key)])
    if how:
        run("pinfold", "end", job.key)
    else:
        job.wait()
    said = [line for line in openpbs.mom_log("node1") if job.id in line and ";pinfold: " in line]
    print(said)
    assert not any("ended with" in line for line in said), "pinfold gave no reason"


@pytest.mark.parametrize("options", [["-W", "sandbox=PRIVATE"], ["-k", "oed"], ["-S", "/bin/bash"], ["--", "/bin/sh"]], ids=" ".join)
def test_a_job_is_in_its_scope_however_it_is_submitted(options):
    job = Job("grep ^0: /proc/self/cgroup; $HOME/leave 4730; exit 3", "-l", "select=1:ncpus=1:vnode=node1", *options).wait()
    unit = run("systemd-escape", job.key).stdout.strip()
    print(job.output(), outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert job.output().endswith(f"/batch-{unit}.slice/job-{unit}.scope\n"), job.output()
    assert job.shown()["Exit_status"] == 3 and outcome(job.receipt()) == ("exited", 3, None)
    assert job.receipt()["leftover_commands"] == ["sleep 4730"] and not processes_with("sleep\x004730")


def test_a_daemon_that_ignores_sigterm_is_killed_and_named():
    job = Job("trap '' TERM; $HOME/leave 4731; exit 0", node="node1").wait()
    assert not processes_with("sleep\x004731")
    why = run("pinfold", "why", job.key).stdout
    told = [entry["MESSAGE"] for entry in ask("node1", "journal", job.key)]
    print(why, told)
    assert job.receipt()["leftover_commands"] == ["sleep 4731"] and "sleep 4731" in why
    assert any("sleep 4731" in message for message in told), told


def test_each_task_has_a_scope_in_the_one_slice_of_two_chunks(unenforced):
    Path("/home/alice/six").write_text("#!/bin/sh\ngrep ^0: /proc/self/cgroup\nexit 6\n")
    Path("/home/alice/six").chmod(0o755)
    job = Job("""touch $HOME/$PBS_JOBID.runs
until [ -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done
/opt/pbs/bin/pbsdsh -- /bin/grep ^0: /proc/self/cgroup
/opt/pbs/bin/pbsdsh -v -n 1 -- /bin/sh -c 'exit 5'
/opt/pbs/bin/pbs_tmrsh node1 /home/alice/six
echo "status $?"
exit 3""", "-l", "select=2:ncpus=1:mem=100mb:vnode=node1")
    job.wait_file(f"{job.id}.runs")
    assert limits(job)["memory_max"] == 200 << 20
    (job.home / f"{job.id}.go").touch()
    lines = job.wait().output().splitlines()
    unit = run("systemd-escape", job.key).stdout.strip()
    scopes = [line.partition(f"/batch-{unit}.slice/")[2] for line in lines if line.startswith("0::")]
    print(lines)
    assert sorted(scopes) == [f"job-{unit}-{number}.scope" for number in (1, 2, 4)], "the third task prints no scope"
    assert any(line.endswith("exit status 5") for line in lines) and "status 6" in lines
    assert outcome(job.receipt()) == ("exited", 3, None) and job.receipt()["leftovers"] == 0


def test_an_array_has_a_unit_for_each_task():
    job = Job("""grep ^0: /proc/self/cgroup >"$HOME/$PBS_JOBID.cgroup"
$HOME/leave 4727
exit $PBS_ARRAY_INDEX""", "-J", "0-3", "-o", "/home/alice/", node="node1")
    shown = wait_until(lambda: (found := job.shown())["job_state"] == "F" and found, "the array is over", 180)
    assert shown["array_state_count"].startswith("Queued:0 Running:0"), shown
    keys = [f"pbs.{job.id.replace('[]', f'[{index}]')}" for index in range(4)]
    receipts = [ask("node1", "receipts", key)[0] for key in keys]
    print([(key, outcome(receipt), receipt["leftover_commands"]) for key, receipt in zip(keys, receipts)])
    assert [outcome(receipt) for receipt in receipts] == [("exited", index, None) for index in range(4)]
    assert [receipt["leftover_commands"] for receipt in receipts] == [["sleep 4727"]] * 4 and not processes_with("sleep\x004727")
    for key in keys:
        unit = run("systemd-escape", key).stdout.strip()
        assert (job.home / f"{key[4:]}.cgroup").read_text().endswith(f"/batch-{unit}.slice/job-{unit}.scope\n")


def test_a_job_that_is_run_again_has_two_receipts_and_nothing_of_its_first_run():
    job = Job("echo run >>$HOME/$PBS_JOBID.runs; [ $(wc -l <$HOME/$PBS_JOBID.runs) -gt 1 ] && exit 5; $HOME/leave 4715; sleep 1000", node="node1")
    wait_until(lambda: processes_with("sleep\x004715"), "its daemon lives")
    pbs("qrerun", job.id)
    job.wait()
    assert not processes_with("sleep\x004715")
    assert [outcome(receipt)[:2] for receipt in ask("node1", "receipts", job.key)][0] == ("exited", 5)
    assert len(ask("node1", "receipts", job.key)) == 2


def test_a_suspended_job_stands_still_with_its_daemons():
    job = Job("setsid sh -c 'while :; do :; done' burner & touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    [burner] = wait_until(lambda: processes_with("done\0burner"), "the burner")

    def used():
        return Path(f"/proc/{burner}/stat").read_text().rpartition(")")[2].split()[11:13]
    pbs("qsig", "-s", "suspend", job.id)
    job.wait_state("S")
    wait_until(lambda: ask("node1", "live_jobs")[job.key]["state"] == "suspended", "frozen")
    before = used()
    openpbs.wait_periodic("node1")
    assert used() == before
    pbs("qsig", "-s", "resume", job.id)
    job.wait_state("R")
    wait_until(lambda: ask("node1", "live_jobs")[job.key]["state"] == "running", "thawed")
    wait_until(lambda: used() != before, "the burner runs again")
    job.delete()
    job.wait()


def test_a_suspended_job_that_is_deleted_leaves_nothing():
    job = Job("$HOME/leave 4732; touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    pbs("qsig", "-s", "suspend", job.id)
    job.wait_state("S")
    job.delete()
    job.wait()
    print(job.shown()["Exit_status"], outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert not processes_with("sleep\x004732")


def test_attach_takes_a_session_into_the_job():
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    run("systemd-run", "--quiet", "--unit=stray", "--uid=alice", "sleep", "4717")
    pid = int(run("systemctl", "show", "-P", "MainPID", "stray").stdout)
    pbs("pbs_attach", "-j", job.id, "-p", str(pid), user="alice")
    assert f"/batch-{job.key}.slice/" in Path(f"/proc/{pid}/cgroup").read_text()
    job.delete()
    job.wait()
    assert not processes_with("sleep\x004717")


def test_attach_runs_a_command_in_the_job_and_refuses_the_process_of_another_user():
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", node="node1")
    job.wait_file(f"{job.id}.runs")
    # pbs_attach adds its own session to the job. At the job's end, MoM kills the session of pbs_attach.
    done = pbs("pbs_attach", "-j", job.id, "/bin/sh", "-c", "grep ^0: /proc/self/cgroup; exit 7", user="alice", check=False, start_new_session=True)
    print(done.returncode, done.stdout, done.stderr)
    assert done.returncode == 7 and f"/batch-{job.key}.slice/" in done.stdout
    run("systemd-run", "--quiet", "--unit=bobs", "--uid=bob", "sleep", "4733")
    pid = run("systemctl", "show", "-P", "MainPID", "bobs").stdout.strip()
    refused = pbs("pbs_attach", "-j", job.id, "-p", pid, user="alice", check=False)
    print(refused.returncode, refused.stdout, refused.stderr)
    assert refused.returncode != 0 and Path(f"/proc/{pid}/cgroup").read_text().endswith("/bobs.service\n")
    run("systemctl", "stop", "bobs")
    job.delete()
    job.wait()


@pytest.fixture
def own_scripts():
    """Gives MoM a prologue and an epilogue. Each of the two scripts adds a line to a file. The line contains the name of the script and the id of
    the job."""
    told, folder = Path("/root/told"), Path(openpbs.HOME, "mom_priv")
    for name in ("prologue", "epilogue"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$1" >>{told}\n')
        (folder / name).chmod(0o755)
    yield told
    for name in ("prologue", "epilogue"):
        (folder / name).unlink()


def test_moms_prologue_runs_and_its_epilogue_does_not(own_scripts):
    job = Job("exit 3", node="node1").wait()
    assert own_scripts.read_text() == f"prologue {job.id}\n"
    assert outcome(job.receipt()) == ("exited", 3, None)


ODD = {"ODD": """a,b "c" 'd' \\e f=g é""", "SEVERAL": 'a\nb,\n"""c"""\\', "BASH_FUNC_greet%%": "() {  echo hi,ho\n}"}


def environment_of_a_job():
    job = Job("env -0 | tr '\\0\\n' '\\n|'", "-V", "-S", "/bin/bash", node="node1").wait()
    found = dict(line.split("=", 1) for line in job.output().replace(job.id, "THE-JOB").splitlines())
    del found["PBS_JOBCOOKIE"]
    return found


def test_the_environment_is_the_same_with_the_hook(monkeypatch):
    """MoM splits the variables in a hook's environment at commas."""
    for name, value in ODD.items():
        monkeypatch.setenv(name, value)
    with_hook = environment_of_a_job()
    with openpbs.switched_off():
        without_hook = environment_of_a_job()
    print(len(without_hook), "variables without the hook,", len(with_hook), "with it")
    assert with_hook["ODD"] == ODD["ODD"]
    assert {name: value for name, value in with_hook.items() if not name.startswith("PINFOLD_")} == without_hook


def test_usage_is_of_all_processes_and_limits_are_what_pbs_allots(unenforced):
    job = Job("setsid sh -c 'i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done'; touch $HOME/$PBS_JOBID.runs; sleep 1000",
              "-l", "select=1:ncpus=2:mem=300mb:vnode=node1", "-l", "walltime=00:20:00")
    job.wait_file(f"{job.id}.runs")
    assert (limits(job)["memory_max"], limits(job)["batch_run_time_max"], limits(job)["run_time_max"]) == (300 << 20, 1200 * 10**6, 1800 * 10**6)
    pbs("qalter", "-l", "walltime=00:40:00", job.id)
    wait_until(lambda: limits(job)["run_time_max"] == 3000 * 10**6, "the hook's period has brought the new walltime", 5 * openpbs.PERIOD)
    assert limits(job)["batch_run_time_max"] == 2400 * 10**6
    wait_until(lambda: seconds(job.shown().get("resources_used", {}).get("cput", "0:0:0")) > 0, "the CPU time of the live job", 300)
    print("while it runs:", job.shown()["resources_used"])
    job.delete()
    job.wait()
    receipt = job.receipt()
    used = job.shown()["resources_used"]
    print("afterwards:", used, {name: receipt[name] for name in ("cpu_user", "cpu_system", "wall", "suspended")})
    cpu = receipt["cpu_user"] + receipt["cpu_system"]
    assert seconds(used["cput"]) == cpu // 1000000 and used["cpupercent"] == 100 * cpu // (receipt["wall"] - receipt["suspended"])


def test_pmem_is_of_each_cpu_and_exclhost_is_the_whole_node(unenforced):
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", "-l", "select=1:ncpus=2:vnode=node1", "-l", "place=exclhost", "-l", "pmem=100mb")
    job.wait_file(f"{job.id}.runs")
    assert limits(job)["memory_max"] == 200 << 20
    assert json.loads(run("pinfold", "status", job.key, "--json").stdout)["job"]["exclusive"]
    job.delete()
    job.wait()


def test_memory_and_swap_are_what_vmem_says(unenforced):
    job = Job("touch $HOME/$PBS_JOBID.runs; sleep 1000", "-l", "select=1:ncpus=1:mem=300mb:vmem=500mb:vnode=node1")
    job.wait_file(f"{job.id}.runs")
    print(job.shown()["exec_vnode"], {name: value for name, value in limits(job).items() if value is not None})
    assert (limits(job)["memory_max"], limits(job)["memory_swap_max"]) == (300 << 20, 200 << 20)
    job.delete()
    job.wait()


def test_the_least_limits_are_enough_for_the_hook(unenforced):
    job = Job("ulimit -v; grep ^0: /proc/self/cgroup", "-l", "select=1:ncpus=1:vmem=64mb:vnode=node1").wait()
    print(job.output())
    assert job.output().startswith("65536\n0::/batch.slice/batch-")


@pytest.mark.parametrize("limit, variables", [("cput", 0), ("cput", 4000), ("pcput", 0), ("vmem", 0), ("pvmem", 0), ("file", 0)])
def test_a_limit_that_the_owner_lowers_takes_no_task_out_of_the_job(monkeypatch, limit, variables):
    """When MoM runs the hook for a task, the job's limits apply to the hook. The owner of a running job could lower the job's limits so far that the
    hook cannot run. If the hook does not run for a task, pinfold does not move the task into the job. With a large environment, the start of the hook
    takes a long time."""
    for number in range(variables):
        monkeypatch.setenv(f"LARGE_{number}", "x")
    job = Job("""touch $HOME/$PBS_JOBID.runs
while [ ! -e $HOME/$PBS_JOBID.go ]; do sleep 0.1; done
/opt/pbs/bin/pbsdsh -n 0 -- /bin/grep ^0: /proc/self/cgroup
exit 0""", "-V", node="node1")
    job.wait_file(f"{job.id}.runs")
    done = pbs("qalter", "-l", f"{limit}={1 if 'cput' in limit else '1kb'}", job.id, user="alice", check=False)
    print(limit, done.returncode, done.stderr.strip(), job.shown()["Resource_List"], len(job.shown()["Variable_List"]), "variables")
    (job.home / f"{job.id}.go").touch()
    job.wait()
    lines = job.output().splitlines()
    print(lines)
    unit = run("systemd-escape", job.key).stdout.strip()
    assert len(lines) == 1 and f"/batch-{unit}.slice/" in lines[0], lines


class Interactive(Job):
    def __init__(self, node):
        self.terminal = Terminal("runuser", "-u", "alice", "--", f"{openpbs.PREFIX}/bin/qsub", "-I", "-l", f"select=1:ncpus=1:vnode={node}",
                                 cwd="/home/alice")
        self.terminal.read_until(" ready")
        [self.id] = re.findall("qsub: job ([^ ]+) ready", self.terminal.seen)
        self.key = f"pbs.{self.id}"


@pytest.mark.parametrize("node", NODES)
def test_an_interactive_job_is_in_its_scope_and_leaves_nothing(node):
    job = Interactive(node)
    job.terminal.type("tty; grep ^0: /proc/self/cgroup; sleep 4721 & kill %1; wait; $HOME/leave 4720; echo typed-$((40 + 2))")
    job.terminal.read_until("typed-42")
    unit = run("systemd-escape", job.key).stdout.strip()
    assert "/dev/pts/" in job.terminal.seen and f"/batch-{unit}.slice/job-{unit}.scope" in job.terminal.seen, job.terminal.seen
    job.terminal.type("exit 3")
    job.terminal.status()
    job.wait()
    receipt = job.receipt()
    print(job.terminal.seen, job.shown()["Exit_status"], outcome(receipt))
    assert receipt["leftover_commands"] == ["sleep 4720"]
    assert outcome(receipt) == ("exited", job.shown()["Exit_status"], None)


def test_an_interactive_job_that_is_deleted_leaves_nothing():
    job = Interactive("node1")
    job.terminal.type("$HOME/leave 4722; echo typed-$((40 + 2))")
    job.terminal.read_until("typed-42")
    job.delete()
    job.terminal.status()
    job.wait()
    print(job.terminal.seen, job.shown()["Exit_status"], outcome(job.receipt()), job.receipt()["leftover_commands"])
    assert not processes_with("sleep\x004722")
