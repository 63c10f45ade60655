# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the OpenPBS hook without pinfold: how the hook reads PBS's texts, and how it answers each event."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

HERE = Path(__file__).resolve().parents[4] / "src/adapters/openpbs"
sys.path.insert(0, str(HERE))

import pbs  # noqa: E402
from mom import Mom, make_job  # noqa: E402
from pinfold_openpbs import node, processes, words  # noqa: E402
from pinfold_openpbs.failure import Failure  # noqa: E402

GIB = 1 << 30


@pytest.mark.parametrize("text, expected", [("0", 0), ("1024", 1024), ("7b", 7), ("2kb", 2048), ("2KB", 2048), ("3mb", 3 << 20),
                                            ("1g", GIB), ("2gb", 2 * GIB), ("1tb", 1 << 40), ("1pb", 1 << 50), ("4w", 32),
                                            ("512mw", 4 * GIB)])
def test_sizes(text, expected):
    assert words.size_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "gb", "-1", "1.5gb", "1eb", "1 gb", "1gbb", "infinity", "UNDEFINED", "1" * 19, "١kb", None])
def test_what_is_no_size(text):
    with pytest.raises(Failure, match="is not a size"):
        words.size_bytes(text)


def test_chunks_with_and_without_inner_vnodes():
    assert words.parse_chunks("(a:ncpus=1:mem=1gb)") == [[("a", {"ncpus": "1", "mem": "1gb"})]]
    assert words.parse_chunks("(a[0]:ncpus=4:mem=4gb+a[1]:mem=2gb)+(b:ncpus=1)") == [
        [("a[0]", {"ncpus": "4", "mem": "4gb"}), ("a[1]", {"mem": "2gb"})], [("b", {"ncpus": "1"})]]
    assert words.parse_chunks("(a[0]:ncpus=1+a[1]:ncpus=1+a[2]:ncpus=1)+(a[0]:ncpus=2)")[1] == [("a[0]", {"ncpus": "2"})]
    assert words.parse_chunks("a:ncpus=1+b:ncpus=2") == [[("a", {"ncpus": "1"})], [("b", {"ncpus": "2"})]]
    assert words.parse_chunks("(a)") == [[("a", {})]]
    assert words.parse_chunks("(a:model=x=y)") == [[("a", {"model": "x=y"})]]


@pytest.mark.parametrize("text", ["", "+", "((", "))((", "(a:ncpus=1", "a:ncpus=1)", ":=:=", "(+)+(+)", None, "(" * 1000 + "+" * 1000])
def test_chunks_of_nonsense(text):
    assert words.chunks_here(text, text, "node1") == []


def test_hosts():
    assert words.parse_hosts("a.example.org:15002/0*2+b:15002/1") == ["a.example.org", "b"]
    assert words.parse_hosts("a/0*2+b/1") == ["a", "b"]
    assert words.parse_hosts(None) == [""]


@pytest.mark.parametrize("one, other, same", [("node1", "node1", True), ("node1", "NODE1", True), ("node1", "node11", False),
                                              ("node11", "node1", False), ("xnode1", "node1", False), ("", "node1", False),
                                              ("node1", "node1.example.org", True), ("node1.example.org", "node1", True),
                                              ("node1.a.org", "node1.b.org", False)])
def test_a_host_is_never_a_part_of_anothers_name(one, other, same):
    assert words.same_host(one, other) is same


def share(exec_vnode, exec_host=None, host="node1"):
    return words.share_of(words.chunks_here(exec_vnode, exec_host, host))


def test_all_chunks_of_this_host_are_summed():
    two = "(node1:ncpus=2:mem=1gb:ngpus=1)+(node2:ncpus=8:mem=8gb)+(node1:ncpus=1:mem=512mb)"
    hosts = "node1.example.org:15002/0*2+node2.example.org:15002/0*8+node1.example.org:15002/1"
    assert share(two, hosts) == words.Share(3, 1, GIB + (512 << 20), None)
    assert share(two, hosts, "node2") == words.Share(8, None, 8 * GIB, None)
    assert share(two) == words.Share(3, 1, GIB + (512 << 20), None), "by the vnodes' names"
    assert share("(node1[0]:ncpus=4:mem=4gb+node1[1]:mem=2gb)", "node1/0*4").mem == 6 * GIB
    assert share("(rack7:ncpus=2)+(rack8:ncpus=4)", "node1:15002/0*2+node2:15002/0*4").ncpus == 2, "vnodes of any name"
    assert share("(node1:ncpus=2)", "real-name.example.org:15002/0*2").ncpus == 2, "PBS_MOM_NODE_NAME"


def test_no_chunk_of_this_host():
    assert words.chunks_here("(node11:ncpus=1)", "node11:15002/0", "node1") == []


def test_mangled_text_is_read_or_refused():
    random = Random(4711)
    whole = "(node1[0]:ncpus=4:mem=4gb:vmem=5gb+node1[1]:mem=2gb)+(node2:ncpus=1:ngpus=1)"
    hosts = "node1.example.org:15002/0*4+node2.example.org:15002/1"
    refused = 0
    for _ in range(20000):
        text, other = list(whole), list(hosts)
        for _ in range(random.randint(1, 4)):
            text[random.randrange(len(text))] = random.choice("()+:=*/[]0a\0\n\u0661" + whole)
            other[random.randrange(len(other))] = random.choice("()+:=*/[]0a\0\n\u0661" + hosts)
        try:
            found = share("".join(text), "".join(other))
            assert all(value is None or value >= 0 for value in found)
            assert all(option.isascii() for option in words.memory_limits(found, None) + words.allocation(found, None))
        except Failure:
            refused += 1
    assert 0 < refused < 20000


def test_numbers_that_are_none():
    with pytest.raises(Failure, match="'many' is not a number"):
        share("(node1:ncpus=many)")
    with pytest.raises(Failure, match="'lots' is not a size"):
        share("(node1:mem=lots)")


def limits(pmem=None, **values):
    return words.memory_limits(words.Share(**{"ncpus": None, "ngpus": None, "mem": None, "vmem": None, **values}), pmem)


def test_memory():
    assert limits() == []
    assert limits(mem=GIB) == [f"--memory-max={GIB}"]
    assert limits(mem=GIB, vmem=3 * GIB) == [f"--memory-max={GIB}", f"--memory-swap-max={2 * GIB}"]
    assert limits(vmem=GIB) == [f"--memory-max={GIB}", "--memory-swap-max=0"]
    assert limits(mem=2 * GIB, vmem=GIB) == [f"--memory-max={GIB}", "--memory-swap-max=0"]
    assert limits(pmem=GIB, ncpus=4) == [f"--memory-max={4 * GIB}"]
    assert limits(pmem=GIB) == [f"--memory-max={GIB}"]
    assert limits(pmem=GIB, ncpus=4, mem=2 * GIB) == [f"--memory-max={2 * GIB}"], "what the job asked for as a whole"
    assert limits(mem=0) == [f"--memory-max={1 << 20}"], "less than pinfold takes"


def too_small(exec_vnode, seconds=None, **sizes):
    with pytest.raises(Failure) as refused:
        words.check_process_limits(words.parse_chunks(exec_vnode), sizes, seconds or {})
    return str(refused.value).partition(" ")[0]


def test_limits_under_which_the_hook_does_not_start():
    words.check_process_limits(words.parse_chunks("(a:ncpus=1:mem=1mb)+(a:vmem=64mb)"), {"pvmem": "65536kb", "file": "1mb"},
                               {"cput": 10, "pcput": 3600})
    assert too_small("(a:vmem=1gb+b:vmem=65535kb)") == "vmem=65535kb", "the host may give back the first"
    assert too_small("(a:ncpus=1)", pvmem="16mb") == "pvmem=16mb"
    assert too_small("(a:vmem=1gb)", file="0") == "file=0"
    assert too_small("(a:ncpus=1)", pvmem="little") == "'little'"
    assert too_small("(a:ncpus=1)", {"cput": 9}) == "cput=9"


def test_the_jobs_own_values_of_limits_stay_unless_they_are_of_another_job():
    given = {"PINFOLD_JOB": "pbs.2.srv", "PINFOLD_MEMORY_MAX": "5", "OMP_NUM_THREADS": "4", "CUDA_VISIBLE_DEVICES": "0"}
    assert words.variables(given, {}) == given
    own = {"PINFOLD_MEMORY_MAX": "mine", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "7"}
    assert words.variables(given, own) == {"PINFOLD_JOB": "pbs.2.srv", "CUDA_VISIBLE_DEVICES": "0"}
    other = {"PINFOLD_JOB": "pbs.1.srv", "PINFOLD_MEMORY_MAX": "9", "PINFOLD_CPU_QUOTA": "9", "OMP_NUM_THREADS": "1", "HOME": "/home/alice"}
    assert words.variables(given, other) == {"PINFOLD_JOB": "pbs.2.srv", "PINFOLD_MEMORY_MAX": "5", "PINFOLD_CPU_QUOTA": None,
                                             "CUDA_VISIBLE_DEVICES": "0"}


def test_time_cpus_gpus_and_the_node():
    assert words.run_time_limits(None) == []
    assert words.run_time_limits(3600) == ["--batch-run-time-max=3600", "--run-time-max=4200"]
    assert words.run_time_limits(0) == ["--batch-run-time-max=1", "--run-time-max=600"]
    assert words.allocation(words.Share(4, 2, None, None), "scatter:exclhost") == ["--slots=4", "--gpus=2", "--exclusive"]
    assert words.allocation(words.Share(0, 0, None, None), "free") == []
    assert words.allocation(words.Share(None, None, None, None), None) == []


@pytest.mark.parametrize("value, expected", [(0, ["--exit-status=0"]), (255, ["--exit-status=255"]), (256, []), (265, ["--exit-signal=9"]), (320, ["--exit-signal=64"]),
                                             (321, []), (-24, ["--exit-signal=15"]), (-29, ["--exit-signal=15"]), (-23, []), (-30, []), (None, [])])
def test_exit_status(value, expected):
    assert words.exit_status(value) == expected


def test_usage():
    receipt = {"cpu_user": 2_600_000, "cpu_system": 400_000, "memory_peak": 1025}
    assert words.used_resources(receipt, 2_000_000) == {"cput": 3, "cpupercent": 150, "mem": 2}
    assert words.used_resources(receipt) == {"cput": 3, "mem": 2}
    assert words.used_resources(receipt, 0) == {"cput": 3, "mem": 2}
    assert words.used_resources({"memory_need": 2049, "memory_peak": 1 << 30}) == {"mem": 3}, "page cache is not use"
    assert words.used_resources({"memory_need": None, "memory_peak": 1025}) == {"mem": 2}, "a job shorter than a second"
    assert words.used_resources({"cpu_user": None, "cpu_system": 5, "memory_peak": None}) == {}, "what this node can't count"


def test_a_receipt_of_an_earlier_run_is_not_this_runs():
    assert words.is_of_this_run({"ended": 1_000_000_000_000}, None)
    assert words.is_of_this_run({"ended": 1_000_000_000_000}, 1_000_001)
    assert not words.is_of_this_run({"ended": 1_000_000_000_000}, 1_000_100)


def test_only_what_nobody_knows_is_forgotten():
    old, now = 1_000_000, 2000.0

    def left(job_id="pbs.1.srv", known=(), on_disk=(), **job):
        return words.forgotten({job_id: {"state": "running", "created": old, **job}}, known, on_disk, now)
    assert left() == ["pbs.1.srv"]
    assert left(state="suspended") == ["pbs.1.srv"]
    assert left(known={"pbs.1.srv": None}) == []
    assert left(on_disk={"pbs.1.srv"}) == []
    assert left(known={"pbs.11.srv": None}, on_disk={"pbs.1[].srv"}) == ["pbs.1.srv"], "ids are whole"
    assert left(created=(now - 299) * 1e6) == [], "it may have begun after MoM had made its list"
    assert left(state="creating") == left(state="ending") == left(state="accounting") == []


@pytest.fixture
def mom(tmp_path):
    """Returns a MoM that runs the hook of the source tree. The hook finds its package, but does not find the program pinfold."""
    hook = tmp_path / "pinfold_hook.py"
    hook.write_text((HERE / "pinfold_hook.py").read_text().replace("@libexecdir@/pinfold/openpbs", str(HERE)))
    return Mom(tmp_path / "home", hook=str(hook))


def job():
    return make_job("1.srv", "(node1:ncpus=1:mem=1gb)", ["node1"], user="root", walltime="00:10:00")


def said(answer, text):
    return any(text in line for line in answer.log)


def test_no_daemon_means_later_and_elsewhere(mom):
    answer = mom.event("execjob_begin", job())
    assert (answer.status, answer.accepted, answer.job["rerun"], answer.job["delete"]) == (0, False, True, False)
    assert answer.message.startswith("pinfold: ") and said(answer, "pbs.1.srv")
    script, task = ({"PBS_TASKNUM": number} for number in ("1", "2"))
    answer = mom.event("execjob_launch", job(), progname="/bin/sh", argv=["sh"], env=script)
    assert (answer.accepted, answer.job["rerun"]) == (False, True)
    answer = mom.event("execjob_launch", job(), progname="/bin/sh", argv=["sh"], env=task)
    assert (answer.accepted, answer.job["rerun"]) == (False, False), "the job goes on"
    assert not mom.attach(job(), 1).accepted
    assert not mom.event("execjob_preresume", job()).accepted


@pytest.mark.parametrize("event", ["execjob_epilogue", "execjob_end", "execjob_abort", "execjob_resize", "execjob_postsuspend"])
def test_no_daemon_holds_up_no_end(mom, event):
    answer = mom.event(event, job())
    assert (answer.status, answer.accepted, answer.job and answer.job["rerun"]) == (0, True, False)
    assert said(answer, "pbs.1.srv")


def test_no_daemon_ends_no_job(mom):
    answer = mom.periodic()
    assert (answer.accepted, answer.vnode_list, answer.job_list) == (True, {}, {}) and said(answer, "periodic")


@pytest.mark.parametrize("odd", [{"exec_vnode": "(node2:ncpus=1)", "exec_host2": "node2:15002/0"}, {"exec_vnode": None},
                                 {"euser": "nobody-here"}, {"exec_vnode": "(node1:mem=lots)"}])
def test_a_job_that_makes_no_sense_starts_nowhere_and_still_ends(mom, odd):
    answer = mom.event("execjob_begin", dict(job(), **odd))
    assert (answer.status, answer.accepted, answer.job["rerun"]) == (0, False, True)
    assert mom.event("execjob_epilogue", dict(job(), **odd)).accepted


def test_a_host_without_pinfold(mom, tmp_path):
    Path(mom.hook).write_text((HERE / "pinfold_hook.py").read_text())
    answer = mom.event("execjob_begin", job())
    assert (answer.status, answer.accepted, answer.job["rerun"]) == (0, False, True) and "not installed" in answer.message
    assert mom.event("execjob_epilogue", job()).accepted and mom.periodic().accepted


@pytest.fixture
def tell(tmp_path, monkeypatch):
    """tell(keys) calls node.tell_state() in a new event of the hook. tell() returns the vnode's attributes that this call has changed. After the
    call, the server's copy of the vnode has the new attributes."""
    (tmp_path / "mom_priv/hooks").mkdir(parents=True)
    monkeypatch.setattr(pbs, "pbs_conf", {"PBS_HOME": str(tmp_path), "PBS_MOM_HOME": ""})
    monkeypatch.setattr(pbs.State, "event", None)
    server = {"comment": None, "state": pbs.ND_FREE}
    monkeypatch.setattr(pbs.State, "vnodes", {"node1": server})

    def in_an_event(say, what):
        vnode = pbs.vnode("node1")
        say(pbs.Event(pbs.EXECHOST_PERIODIC, "pinfold", {"vnode_list": {"node1": vnode}}), what)
        server.update(vnode.changed)
        return vnode.changed

    def told(*unkillable):
        return in_an_event(node.tell_state, list(unkillable))
    told.refuse = lambda reason: in_an_event(node.go_offline, reason)
    told.server = server
    told.configure = lambda text: ((tmp_path / "CF").write_text(text), monkeypatch.setenv("PBS_HOOK_CONFIG_FILE", str(tmp_path / "CF")))
    return told


def test_a_node_is_offline_while_a_job_is_unkillable(tell):
    assert tell() == {}
    comment = "pinfold: SIGKILL did not end processes of pbs.1.srv, pbs.2.srv"
    assert tell("pbs.1.srv", "pbs.2.srv") == {"comment": comment, "state": pbs.ND_OFFLINE}
    assert tell("pbs.1.srv") == {}, "said once"
    assert tell() == {"comment": None, "state": pbs.ND_FREE}
    assert tell() == {}


def test_a_node_that_refuses_is_offline_until_it_takes_jobs(tell):
    assert tell.refuse("this node takes no jobs for now: disk") == {
        "comment": "pinfold: this node takes no jobs for now: disk", "state": pbs.ND_OFFLINE}
    assert tell() == {"comment": None, "state": pbs.ND_FREE}
    tell.configure('{"unkillable": "comment"}')
    tell.refuse("drained")
    assert tell("pbs.1.srv") == {"comment": None, "state": pbs.ND_FREE}
    assert tell("pbs.1.srv") == {"comment": "pinfold: SIGKILL did not end processes of pbs.1.srv"}
    assert tell() == {"comment": None}


def test_a_comment_is_known_again_as_the_server_keeps_it(tell):
    assert tell.refuse("disk ")["comment"] == "pinfold: disk"
    assert tell() == {"comment": None, "state": pbs.ND_FREE}


def test_only_what_the_hook_said_is_taken_back(tell):
    tell("pbs.1.srv")
    tell.server.update(comment="disk is being replaced")
    assert tell() == {}
    tell.server.update(comment=None, state=pbs.ND_OFFLINE)
    assert tell() == {}, "and forgotten"
    assert tell("pbs.2.srv") == tell() == {}, "offline already, by an administrator"


def test_what_the_server_cannot_be_asked_is_taken_back_later(tell, monkeypatch):
    tell("pbs.1.srv")
    with monkeypatch.context() as silent:
        silent.setattr(pbs.State, "vnodes", {})
        assert tell() == {}
    assert tell() == {"comment": None, "state": pbs.ND_FREE}


def test_the_sites_policy_on_the_node(tell):
    tell.configure('{"unkillable": "comment"}')
    assert set(tell("pbs.1.srv")) == set(tell()) == {"comment"}
    tell.configure('{"unkillable": "none"}')
    assert tell("pbs.1.srv") == {}
    tell.configure("{}")
    assert tell("pbs.1.srv")["state"] == pbs.ND_OFFLINE


@pytest.mark.parametrize("text", ['{"unkillable": "reboot"}', '{"unkilable": "none"}', "[]", '"none"'])
def test_a_wrong_configuration_is_said(tell, text):
    tell.configure(text)
    with pytest.raises(Failure, match="the hook's configuration must be"):
        tell("pbs.1.srv")


def test_the_example_configuration_is_the_default():
    assert json.loads((HERE / "pinfold_hook.CF").read_text()) == {"unkillable": "offline"}


def test_the_sources_message_id():
    from pinfold_openpbs import client
    assert client.RUN_UNCONFINED in (HERE.parents[1] / "base/message_ids.hpp").read_text()


def hands_over(uid, stderr):
    """Returns true if the hook would pass its standard error to pinfoldd as the output of a job. The job's user is `uid`."""
    script = f"import sys; sys.path.insert(0, {str(HERE)!r}); from pinfold_openpbs.processes import jobs_output; print(jobs_output({uid}))"
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=stderr, check=True, text=True)
    return done.stdout != "None\n"


def test_only_a_file_of_the_owner_is_the_output_of_a_job(tmp_path):
    with open(tmp_path / "job.ER", "a") as file:
        assert hands_over(os.getuid(), file)
        assert not hands_over(os.getuid() + 1, file), "for example, the standard error of a MoM in the foreground"
    assert not hands_over(os.getuid(), subprocess.PIPE) and not hands_over(os.getuid(), subprocess.DEVNULL)



def test_a_cgroup_that_a_user_has_named_is_no_job(monkeypatch):
    def inside(cgroup):
        monkeypatch.setattr("builtins.open", lambda *_: io.StringIO(f"4:memory:/batch.slice/batch-pbs.1.slice/x\n0::{cgroup}\n"))
        return processes.is_inside(1, "batch-pbs.1.slice")
    assert inside("/batch.slice/batch-pbs.1.slice/job-pbs.1.scope")
    assert not inside("/user.slice/user-1000.slice/user@1000.service/batch.slice/batch-pbs.1.slice/x")
    assert not inside("/batch.slice/batch-pbs.11.slice/job-pbs.11.scope")


def test_what_the_receipt_says_about_a_job():
    attributes = {"Job_Name": "a\nb", "Account_Name": "physics", "queue": "workq", "project": "_pbs_project_default", "egroup": "users",
                  "Job_Owner": "alice@login1.example.org", "run_count": 2,
                  "Variable_List": {"PBS_O_HOST": "login1", "PBS_O_WORKDIR": "/home/alice/a b"}}
    assert words.identity(attributes, "12[7].srv", "a.example.org:15002/0*2+b:15002/1+a.example.org:15002/1") == [
        "--job-name=a\nb", "--account=physics", "--queue=workq", "--group=users", "--submit-host=login1.example.org",
        "--submit-directory=/home/alice/a b", "--array-job=12", "--array-task=7", "--run=1", "--nodes=a.example.org,b", "--node-count=2"]
    assert words.identity({"project": "quarks", "run_count": 0}, "12.srv", None) == ["--project=quarks", "--run=0"]
    assert words.identity({}, "12[].srv", "") == []


def test_a_fact_is_an_argument_whatever_the_user_wrote():
    [odd] = words.identity({"Job_Name": "a\0b\ud800"}, "1.srv", None)
    assert odd == "--job-name=a?b?"
    many = "+".join(f"host{number}/0" for number in range(3000))
    nodes, count = words.identity({}, "1.srv", many)
    assert count == "--node-count=3000" and nodes.count(",") == 127
    assert len(words.identity({"Account_Name": "x" * 100000}, "1.srv", None)[0]) < 10000
