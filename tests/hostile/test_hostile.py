# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two ordinary users, alice and bob, attack pinfoldd, systemd, each other and the node. During the attacks, the jobs of a third user start,
run and end, and other users look at these jobs. The attacks must not succeed, and must not disturb the third user's jobs."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import dbus
import pytest

from crowd import LEAST, Crowd, history, identity
from endless import endless_mappings
from jobs import (BATCH, CGROUP, busy, daemon_ready, descriptors, live_jobs, main_pid, read_journal, run, start_job, text_of, wait_running,
                  wait_until)
from own_server import FUSE_HANG, MOUNT, alices_server, expect_the_wait, in_namespaces_of, waits_for
from recycled import RECYCLER, SOCKET, few_numbers, forking_daemon
from recycled import attack as offer_numbers

ATTACKS = Path(__file__).with_name("attacks.py")
SITE = """
[jobs]
allow_user_jobs = true
on_failure = "run-unconfined"
max_per_user = 20
kill_grace = "1s"

[leftovers]
report_max = 10000

[strays]
file_min_age = "0"

[unkillable]
after = "2s"
action = "drain"
"""
VICTIM = "victim.1"
SLOW = 0.3  # seconds
SUBORDINATES = 300_000  # alice's subordinate ids
HERDS = 15
SIGNALS = int(os.environ.get("PINFOLD_HOSTILE_SIGNALS", "10000"))


def command(user, name, *arguments):
    return [sys.executable, ATTACKS, name, *map(str, arguments)], identity(user)


def attack(user, name, *arguments):
    words, who = command(user, name, *arguments)
    return json.loads(run(*words, timeout=600, **who).stdout.splitlines()[-1])


def user_run(user, *words, options=()):
    return run("pinfold-run", *options, "--", *words, check=False, **identity(user))


@contextlib.contextmanager
def job_of(user, key, *words):
    """root opens this job for the user, as a batch system does. At the end, root ends the job."""
    run("pinfold", "open", key, "--uid", user, "--linger", "infinity")
    job = start_job(key, *(words or ("sleep", "1000")), options=["--batch"], **identity(user))
    wait_until(lambda: processes(key), f"{key}'s first process")
    try:
        yield job
    finally:
        run("pinfold", "end", key)
        job.communicate(timeout=60)


def processes(key):
    return [int(line) for line in text_of(BATCH / f"batch-{key}.slice/job-{key}.scope/cgroup.procs").split()]


def command_of(pid):
    """Returns the command of a process, or "" if the process has ended."""
    return text_of(f"/proc/{pid}/comm").strip()


def cgroup_of(pid):
    return Path(f"/proc/{pid}/cgroup").read_text()


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    """Returns how many KiB of memory the data and the program of pinfoldd occupy. The result does not include RssShmem. RssShmem contains the mapped
    pages of the history, because the history is in a tmpfs."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssFile"))


class Node:
    """Stores the state of pinfoldd before the first attack."""

    def __init__(self):
        self.pid = main_pid()
        self.memory, self.descriptors = resident(self.pid), descriptors(self.pid)


@pytest.fixture(scope="module")
def node():
    for user in ("dora", "erin"):
        run("useradd", "--create-home", user)
    Path("/etc/subuid").write_text(f"alice:{SUBORDINATES}:65536\n", encoding="utf-8")
    Path("/etc/pinfold/pinfold.toml.d").mkdir(parents=True, exist_ok=True)
    Path("/etc/pinfold/pinfold.toml.d/hostile.toml").write_text(SITE, encoding="utf-8")
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()
    with job_of("dora", VICTIM):
        for number in range(20):  # these jobs make pinfoldd open all files that it then keeps open
            run("pinfold-run", "--job", f"first.{number}", "--", "true")
            history("first")
        yield Node()


@pytest.fixture(scope="module")
def crowd(node):
    """Runs the jobs of the innocent user dora. The jobs start before the first test that uses the fixture."""
    jobs = Crowd()
    jobs.start()
    yield jobs
    jobs.finish()


@pytest.fixture(autouse=True)
def unharmed(node):
    yield
    assert main_pid() == node.pid
    assert live_jobs()[VICTIM]["state"] == "running"


def test_01_forged_signals_cost_nothing(node):
    """This test measures pinfoldd's CPU time, so it runs before the jobs of the user dora begin."""
    used, begun = cpu_seconds(node.pid), time.monotonic()
    attack("alice", "forged_signals", SIGNALS, VICTIM)
    seconds, used = time.monotonic() - begun, cpu_seconds(node.pid) - used
    print(f"{SIGNALS} signals in {seconds:.1f} s, {used:.2f} s of pinfoldd's")
    assert used < 0.05 * seconds


@pytest.mark.usefixtures("crowd")
def test_01_forged_signals():
    attack("alice", "forged_signals", SIGNALS, VICTIM)


def test_02_a_number_that_is_roots_by_now(tmp_path):
    """The test does not check how often a process of root gets the wanted process id. A process of a different user can take the process id before a
    process of root takes the process id."""
    run("pinfold", "open", "recycled.2", "--uid", "alice", "--linger", "infinity")
    with few_numbers(tmp_path), forking_daemon() as place:
        assert offer_numbers("recycled.2", 100, place)
    run("pinfold", "end", "recycled.2")


def test_04_a_socket_that_lingers():
    assert attack("bob", "lingering_sockets", 8) == "sent"


def test_04_a_file_that_never_closes(crowd):
    """The close() of alice's file hangs. While the close() hangs, no process with a copy of pinfoldd's descriptors can end."""
    with alices_server() as server:
        words, _ = command("alice", "files_that_never_close", f"{MOUNT}/unclosed", 12)
        assert run(*in_namespaces_of(server), *words).stdout == '"sent"\n'
        done = len(crowd.keys)
        wait_until(lambda: len(crowd.keys) >= done + 20, "others' jobs begin and end")


def test_05_memory_that_cannot_be_read():
    """alice has made a user namespace. Inside the namespace, alice owns the hanging file system."""
    directory = "/home/alice/hang"
    run("mkdir", "-p", directory, **identity("alice"))
    victim = f"{FUSE_HANG} serve {directory} | (read _; exec {FUSE_HANG} victim {directory}/f)"
    with job_of("alice", "fuse.1", "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", victim):
        wait_until(lambda: any("D" in states(pid) for pid in processes("fuse.1")), "a process that hangs")
        assert "[fuse_hang]" in run("pinfold", "ps", "fuse.1", **identity("alice")).stdout
    wait_until(lambda: "fuse.1" not in live_jobs(), "the end of the job")


def states(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [(task / "stat").read_text().rsplit(") ", 1)[1][0] for task in Path(f"/proc/{pid}/task").iterdir()]
    return []


def test_06_out_of_the_job_as_a_supervisor():
    with job_of("alice", "leaves.1"):
        pid, = wait_until(lambda: [pid for pid in processes("leaves.1") if command_of(pid) == "sleep"], "its process")
        assert attack("alice", "leave_as_supervisor", "leaves.1", pid) == ["Denied", "Denied"]
        assert "/batch-leaves.1.slice/" in cgroup_of(pid)


def test_07_out_of_the_job_by_its_wrapper():
    words, _ = command("alice", "trace_the_wrapper")
    done = user_run("alice", *words)
    assert json.loads(done.stdout) == [], done


def test_08_09_command_lines_without_end():
    """Each of the 300 processes has a command line of 100,000 characters. If pinfoldd stored all command lines in full, the record and the receipt of
    the job would have 30 MB each. An answer with all command lines in full would have 30 MB, too."""
    many = "for i in $(seq 300); do (exec -a \"$name\" sleep 1000 <&- >&- 2>&-) & done"
    job = start_job("user.endless", "bash", "-c", f"name=$(printf %0100000d 0); {many}; read", stdin=subprocess.PIPE, **identity("alice"))
    wait_until(lambda: len(processes("user.endless")) == 301, "its processes")
    assert len(json.loads(run("pinfold", "ps", "user.endless", "--json", **identity("alice")).stdout)["processes"]) == 301
    assert attack("alice", "list_whole", "user.endless") > 0
    job.communicate("\n", timeout=60)
    receipt, = (receipt for receipt in history("user") if receipt["key"] == "user.endless")
    assert receipt["leftovers"] == 300 and len(json.dumps(receipt)) < 32 << 10


def test_10_a_grace_without_end():
    with job_of("alice", "grace.1", "sh", "-c", "trap : TERM; while :; do sleep 0.1; done"):
        assert attack("alice", "long_grace", "grace.1") is None
        wait_until(lambda: "grace.1" not in live_jobs() or not populated("grace.1"), "its end within the usual grace", deadline=30)


def populated(key):
    return "populated 1" in text_of(BATCH / f"batch-{key}.slice" / "cgroup.events")


def test_11_busy_is_no_way_out():
    held = [start_job(f"user.held-{n}", "sleep", "1000", **identity("alice")) for n in range(20)]
    for n in range(20):
        wait_running(f"user.held-{n}")
    done = user_run("alice", "echo", "ran")
    assert (done.returncode, done.stdout) == (125, "") and "jobs.max_per_user" in done.stderr
    for job in held:
        job.terminate()
        job.communicate(timeout=60)


def test_12_connections_that_say_nothing(node):
    first, last = os.pipe()
    words, who = command("bob", "flood_of_connections", 2000, first)
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, pass_fds=[first], **who) as flood:
        os.close(first)
        assert int(flood.stdout.readline()) > 0
        wait_until(lambda: len(descriptors(node.pid)) < len(node.descriptors) + 200, "silent connections closed", deadline=30)
        os.close(last)
        flood.stdout.read()


def test_12_connections_of_many_subordinate_ids(node):
    """alice has subordinate ids, as users of rootless containers have. The kernel reports subordinate ids to pinfoldd, no matter who has made the
    user namespace."""
    first, last = os.pipe()
    words = [sys.executable, ATTACKS, "flood_of_ids", str(SUBORDINATES), "66", "300", str(first)]
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, pass_fds=[first]) as flood:
        os.close(first)
        assert sum(int(flood.stdout.readline()) for _ in range(66)) > 0
        wait_until(lambda: len(descriptors(node.pid)) < len(node.descriptors) + 200, "silent connections closed", deadline=30)
        os.close(last)
        flood.stdout.read()


def test_12_descriptors_on_the_bus(node):
    """Sends pinfoldd more descriptors than the kernel allows pinfoldd to have open at the same time. Each descriptor refers to a file whose close()
    hangs for ever in pinfoldd, but not in other programs."""
    messages = 4500
    unique = str(dbus.SystemBus().get_name_owner("org.pinfold1"))
    with alices_server() as server:
        words, _ = command("alice", "descriptors_on_the_bus", f"{MOUNT}/unclosed-pinfoldd", identity("alice")["user"], unique, messages)
        refused = json.loads(run(*in_namespaces_of(server), *words, timeout=600).stdout)
        print(f"{refused} of {messages} messages refused, {len(descriptors(node.pid))} descriptors of pinfoldd")
        run("pinfold-run", "--job", "root.12", "--", "true")
        assert refused == messages
        assert len(descriptors(node.pid)) < len(node.descriptors) + 200


def test_13_a_cgroup_of_a_name():
    uid = identity("alice")["user"]
    run("systemctl", "start", f"user@{uid}")
    above = CGROUP / f"user.slice/user-{uid}.slice/user@{uid}.service"
    session = above / "session"
    session.mkdir()
    words, _ = command("alice", "cgroup_of_a_name", above, f"/batch.slice/batch-{VICTIM}.slice/job-{VICTIM}.scope")
    log_in = ["sh", "-c", f'echo $$ >{session}/cgroup.procs; exec setpriv --reuid=alice --regid=alice --clear-groups "$@"', "log in"]
    done = run(*log_in, *words)
    assert json.loads(done.stdout) == "NoSuchJob"
    run("systemctl", "stop", f"user@{uid}")


def test_15_keys_of_the_batch_system():
    assert set(attack("bob", "take_keys", "crowd.999999", "slurm.1", "manual.1000")) == {"Denied"}


def test_16_a_node_that_looks_sick():
    with alices_server() as server:
        job = start_job("user.sick", *waits_for(server))
        expect_the_wait(server)
        run("pinfold", "stop", "--grace", "0", "user.sick")
        wait_until(lambda: live_jobs()["user.sick"].get("unkillable_in_fuse"), "pinfoldd's word of it")
        assert json.loads(run("pinfold", "status", "--json").stdout)["draining"] is False
        server.kill()
        job.communicate(timeout=60)


def test_17_names_that_fill_the_history():
    """The leader of each job ends before the other processes of the job. For pinfoldd, processes that outlive the leader are leftovers. pinfoldd
    writes the names of the leftovers into the receipt."""
    name = '"' * 4096
    many = f"for i in $(seq 40); do (exec -a '{name}' sleep 1000 <&- >&- 2>&-) & done"
    for key in ("long.0", "long.1", "long.2"):
        go = Path("/tmp") / key
        with job_of("alice", key, "bash", "-c", f"{many}; until [ -e {go} ]; do sleep 0.1; done") as job:
            wait_until(lambda key=key: len(processes(key)) >= 41, "its processes")
            go.touch()
            job.communicate(timeout=60)
    written = wait_until(lambda: len(found := history("long")) == 3 and found, "three receipts")
    assert max(len(json.dumps(receipt)) for receipt in written) < 32 << 10
    assert [receipt["leftovers"] for receipt in written] == [40] * 3


def test_18_what_signals_say():
    words, who = command("bob", "listen", 20)
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, **who) as spy:
        assert spy.stdout.readline() == "listening\n"
        heard = json.loads(spy.stdout.read())
    assert {name for _, _, told in heard for name in told} == {"result"}


def test_19_forged_words_of_pinfoldd():
    attack("bob", "forge_journal", "pinfoldd has deleted your thesis", "leftover-removed")
    assert "thesis" in read_journal("PINFOLD_EVENT=leftover-removed")
    assert "thesis" not in read_journal("_UID=0", "PINFOLD_EVENT=leftover-removed")


def test_20_where_another_process_is():
    pid = main_pid("dbus")
    assert "dbus" not in attack("bob", "look_at", pid)


def test_21_the_answer_that_was_anothers():
    pid, = processes(VICTIM)
    bus, at_the_socket = attack("bob", "same_again", VICTIM, pid)
    assert bus.endswith(".AccessDenied") and "Denied" in json.dumps(at_the_socket)


@contextlib.contextmanager
def shepherd_of(key, user):
    """Makes a job of the user. The leader of the job is a shepherd, which is a process of the batch system."""
    with subprocess.Popen(["sleep", "1000"]) as shepherd:
        try:
            manager = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
            manager.CreateJob(key, dbus.types.UnixFd(os.pidfd_open(shepherd.pid)), {"shepherd": True, "uid": dbus.UInt32(identity(user)["user"])})
            yield shepherd
        finally:
            shepherd.kill()
    wait_until(lambda: key not in live_jobs(), "the end of the job", deadline=60)


def give_numbers_away(key, grace):
    """Ends a job. While the job ends, the job's owner makes new processes of root take the process ids of the job's processes. The first returned
    number says how many new processes of root got a process id of the job. The second number says how many of these new processes ended by a
    signal."""
    words = [RECYCLER, "give", SOCKET, key]
    with shepherd_of(key, "alice") as shepherd, subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **identity("alice")) as giver:
        try:
            assert giver.stdout.readline() == "ready\n"
            run("pinfold", "stop", "--grace", grace, key)
            taken, hit = giver.communicate(timeout=60)[0].split()
            assert shepherd.poll() is None
        finally:
            giver.kill()
    return int(taken), int(hit)


@pytest.mark.parametrize("grace", ["1h", "0"], ids=["SIGTERM", "SIGKILL"])
def test_22_processes_that_are_roots_by_now(tmp_path, grace):
    """If a job has a shepherd, pinfoldd reads a list of the job's processes, and signals these processes one by one."""
    with few_numbers(tmp_path, 4000), forking_daemon():
        tries = [give_numbers_away(f"herd.{number}", grace) for number in range(HERDS)]
    taken, hit = (sum(column) for column in zip(*tries))
    print(f"{HERDS} tries: {taken} processes of root got a number of the job, {hit} were signalled")
    assert taken > HERDS and hit == 0, tries


def test_23_anothers_process_for_her_job():
    """root asks pinfoldd to adopt a process of alice, but the process id now belongs to a process of bob."""
    run("pinfold", "open", "owner.1", "--uid", "alice", "--linger", "infinity")
    with subprocess.Popen(["sleep", "1000"], **identity("bob")) as bobs:
        refused = run("pinfold", "adopt", "owner.1", "--owner", "alice", bobs.pid, check=False)
        assert refused.returncode == 5 and "not to user" in refused.stderr, refused
        assert "owner.1" not in cgroup_of(bobs.pid)
        bobs.kill()
    run("pinfold", "end", "owner.1")


def test_26_a_sweep_that_cannot_know_all():
    with job_of("bob", "leaves.2", "sh", "-c", "echo left >/tmp/leaves.2; exec sleep 1000"):
        wait_until(Path("/tmp/leaves.2").exists, "what the job leaves")
    wait_until(lambda: history("leaves"), "its receipt")
    with endless_mappings("alice"):
        done = run("pinfold", "strays", "--files", "--remove", check=False, timeout=300)
        assert done.returncode == 1 and "no file of alice is removed" in done.stderr, done.stderr
        assert not Path("/tmp/leaves.2").exists()


def test_27_messages_that_nobody_takes(node):
    """pinfoldd can neither write to the standard error of alice's jobs nor close this standard error. pinfoldd has 16 threads that write to jobs."""
    def unclosed():
        return sum("unclosed" in file for file in descriptors(node.pid))
    with alices_server() as server:
        words, _ = command("alice", "jobs_with_the_output", f"{MOUNT}/unclosed-pinfoldd", 17)
        assert run(*in_namespaces_of(server), *words).stdout == "[]\n"
        wait_until(lambda: not any(key.startswith("user.unheard") for key in live_jobs()), "the end of her jobs", deadline=60)
        done = user_run("bob", "sleep", "1000", options=["--exec", "--run-time-max", "100ms"])
        assert "it reached its run time limit of 100ms" in done.stderr, done
        assert unclosed() >= 17
    wait_until(lambda: unclosed() == 0, "all files closed", deadline=60)


# Every user can see all processes of the node, so every user is allowed to see the live jobs. same_again() calls CreateJob. ListReceipts returns only
# the caller's receipts.
OPEN_TO_ALL = {"ListJobs", "ListMoreJobs", "GetJob", "GetJobByPID", "GetJobByUnit", "CreateJob", "ListReceipts"}


def test_everything_about_anothers_job():
    answers = attack("bob", "all_calls", VICTIM)
    assert set(attack("bob", "methods")) == set(answers) | OPEN_TO_ALL
    assert answers.pop("GetReceipt") == "NoSuchReceipt", "as for a job that does not exist"
    assert set(answers.values()) == {"Denied"}, answers


# This test must run last, because it checks how all attacks have affected the user dora and pinfoldd.
def test_nobody_noticed(node, crowd, request):
    crowd.finish()
    crowd.compare()
    slow = SLOW * busy()
    figures = [f"hostile: {len(crowd.keys)} jobs"]
    for who, calls in crowd.calls.items():
        took = calls["took"]
        figures.append(f"{len(took)} calls of {who}: median {statistics.median(took):.3f} s, slowest {max(took):.3f} s")
    figures.append(f"pinfoldd: {node.memory} KiB before, {resident(node.pid)} KiB right after; {len(node.descriptors)} descriptors before, "
                   f"{len(descriptors(node.pid))} after")
    request.config.hostile_summary = figures
    print("\n".join(figures))
    assert crowd.wrong == []
    assert len(crowd.keys) >= LEAST
    for who, calls in crowd.calls.items():
        assert (who, calls["failed"]) == (who, [])
        assert max(calls["took"]) < slow, who
    assert main_pid() == node.pid
    wait_until(lambda: resident(node.pid) <= 1.5 * node.memory, f"at most 1.5 times the memory of {node.memory} KiB", deadline=30)
    wait_until(lambda: len(descriptors(node.pid)) <= len(node.descriptors),
               f"no descriptor more than {node.descriptors}; there are {descriptors(node.pid)}", deadline=30)
