# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests actions that pinfoldd must refuse to a user. Tests false statements of users that pinfoldd must not believe."""

import contextlib
import os
import pwd
import signal
import subprocess
from pathlib import Path

import pytest

from jobs import expect_nothing_left, finish, live_jobs, read_journal, receipts, run, site, start_job, wait_for_journal, wait_running, wait_until

USER, OTHER = "alice", "bob"

# Runs as another user, calls a method, and prints the reply or the error's name. A request that passes a process to pinfoldd goes through the
# wrapper's socket.
CALL = f"""
import dbus, os, subprocess, sys
sys.path.append({str(Path(__file__).parent)!r})
import at_the_socket
m = dbus.Interface(dbus.SystemBus().get_object("org.pinfold1", "/org/pinfold1"), "org.pinfold1.Manager")
own = subprocess.Popen(["sleep", "100"])
fd = lambda pid: dbus.types.UnixFd(os.pidfd_open(pid))
pidfd = os.pidfd_open
try:
    print(repr(eval(sys.argv[1])))
except dbus.DBusException as e:
    print(e.get_dbus_name())
except at_the_socket.Refused as e:
    print("org.pinfold1.Error." + str(e))
own.kill()
"""


def as_user_command(user):
    return "setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "/usr/bin/python3", "-c", CALL


def as_user(user, expression):
    return run(*as_user_command(user), expression).stdout.strip()


def pinfold_as(user, *arguments):
    return run("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "pinfold", *arguments, check=False)


def pinfold_run_as(user, *command):
    return run("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "pinfold-run", "--", *command, check=False)


DENIED = "org.pinfold1.Error.Denied"


@pytest.fixture
def alices_job():
    job = subprocess.Popen(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "sleep", "1000"])
    wait_until(lambda: Path(f"/proc/{job.pid}/comm").read_text() == "sleep\n", "sleep")
    run("busctl", "status", "org.pinfold1", check=False)
    create = f"m.CreateJob('user.alice', fd({job.pid}), {{}})[0]"
    assert as_user("root", create) == "dbus.String('user.alice')"
    yield job
    job.kill()
    job.wait()
    expect_nothing_left()


@pytest.mark.parametrize("call", ["m.StopJob('user.alice', {})", "m.KillJob('user.alice', 15)", "m.ListProcesses('user.alice')",
                                  "m.ListMoreProcesses('user.alice', dbus.UInt32(0))",
                                  "m.GetUsage('user.alice')", "m.GetIdentity('user.alice')", "m.EndJob('user.alice', {})", "m.WaitJob('user.alice')",
                                  "at_the_socket.add_task('user.alice', pidfd(own.pid))"])
def test_another_users_job(alices_job, call):
    assert as_user(OTHER, call) == DENIED
    assert alices_job.poll() is None


def test_the_owner_looks_and_stops(alices_job):
    assert str(alices_job.pid) in as_user(USER, "[int(p['pid']) for p in m.ListProcesses('user.alice')]")
    assert str(alices_job.pid) in as_user(USER, "[int(p['pid']) for p in m.ListMoreProcesses('user.alice', dbus.UInt32(1))]")
    assert as_user(OTHER, "[str(job['key']) for job in m.ListMoreJobs('user.')]") == "['user.alice']"
    assert "cpu_user" in as_user(USER, "m.GetUsage('user.alice')")
    assert as_user(USER, "m.StopJob('user.alice', {})") == "None"
    assert alices_job.wait(timeout=20) == -signal.SIGTERM
    wait_until(lambda: receipts("user.alice"), "receipt")
    assert "user.alice" in as_user(USER, "m.GetReceipt('user.alice')")
    assert as_user(OTHER, "m.GetReceipt('user.alice')") == "org.pinfold1.Error.NoSuchReceipt", "of his own there is none"
    assert "user.alice" not in as_user(OTHER, "m.ListReceipts({})")
    assert pinfold_as(OTHER, "why", "user.alice").returncode in (4, 5)


def test_the_group_of_admins(alices_job):
    assert str(alices_job.pid) in as_user("carol", "[int(p['pid']) for p in m.ListProcesses('user.alice')]")


@pytest.mark.parametrize("call", ["at_the_socket.create('user.own', pidfd(own.pid))", "at_the_socket.create('user.other', pidfd(1))", "m.Reload()"])
def test_users_by_default(call):
    assert as_user(USER, call) in (DENIED, "org.pinfold1.Error.InvalidArgument")
    assert live_jobs() == {}


@pytest.fixture
def user_jobs_allowed():
    drop_in = Path("/etc/pinfold/pinfold.toml.d/users.toml")
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text('[jobs]\nallow_user_jobs = true\n[defaults]\nrun_time_max = "1h"\n')
    run("busctl", "call", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Reload")
    yield
    drop_in.unlink()
    run("busctl", "call", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Reload")
    expect_nothing_left()


def test_users_own_jobs_where_allowed(user_jobs_allowed):
    assert as_user(USER, "at_the_socket.create('user.own', pidfd(own.pid))['key']") == "'user.own'"
    wait_until(lambda: receipts("user.own"), "receipt")
    assert receipts("user.own")[0]["run_time_max"] == 3600 * 10**6
    stranger = subprocess.Popen(["sleep", "1000"])
    assert as_user(USER, f"at_the_socket.create('user.theft', pidfd({stranger.pid}))") == DENIED
    assert as_user(USER, "at_the_socket.create('user.long', pidfd(own.pid), limits={'run_time_max': 7200 * 10**6})") == DENIED
    assert as_user(USER, "at_the_socket.create('user.uid', pidfd(own.pid), owner=0)") == DENIED
    stranger.kill()
    stranger.wait()


@pytest.fixture
def batch_systems_job():
    """Makes a job of alice. If the job has a supervisor, the supervisor runs as root. Returns the key, the leader and the supervisor."""
    leader = subprocess.Popen(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "sleep", "1000"])
    supervisor = subprocess.Popen(["sleep", "1000"])
    wait_until(lambda: Path(f"/proc/{leader.pid}/comm").read_text() == "sleep\n", "sleep")

    def make(key, *, supervised):
        options = f"{{'uid': dbus.UInt32({pwd.getpwnam(USER).pw_uid})" + (f", 'supervisor': fd({supervisor.pid})" if supervised else "") + "}"
        assert as_user("root", f"m.CreateJob('{key}', fd({leader.pid}), {options})[0]") == f"dbus.String('{key}')"
        return leader
    yield make
    for process in (leader, supervisor):
        process.kill()
        process.wait()
    expect_nothing_left()


def status_and_signal(key):
    receipt = wait_until(lambda: receipts(key), "receipt")[0]
    return receipt["exit_status"], receipt["exit_signal"]


def test_the_batch_systems_word_counts_and_the_owners_does_not(batch_systems_job):
    leader = batch_systems_job("trust.forged", supervised=True)
    forger = subprocess.Popen([*as_user_command(USER), "m.EndJob('trust.forged', {'exit_status': 0})['key']"], stdout=subprocess.PIPE, text=True)
    assert leader.wait(timeout=60) == -signal.SIGTERM, "the owner ends the job all the same"
    as_user("root", f"m.EndJob('trust.forged', {{'exit_signal': {int(signal.SIGTERM)}}})")
    assert status_and_signal("trust.forged") == (None, signal.SIGTERM)
    assert forger.communicate(timeout=60)[0].strip() == "dbus.String('trust.forged', variant_level=1)"


def test_the_owners_word_stands_for_nobodys(batch_systems_job):
    batch_systems_job("trust.nobody", supervised=False)
    as_user(USER, "m.EndJob('trust.nobody', {'exit_status': 0})")
    assert status_and_signal("trust.nobody") == (None, None)


def test_the_owners_word_counts_in_a_job_of_the_owners(user_jobs_allowed):
    assert as_user(USER, "at_the_socket.create('user.word', pidfd(own.pid)) and m.EndJob('user.word', {'exit_status': 7})['key']").endswith("variant_level=1)")
    assert status_and_signal("user.word") == (7, None)


def test_users_do_not_take_the_batch_systems_keys(user_jobs_allowed):
    """If a user's job could have the key of a batch system's job, pinfoldd would refuse the batch system's job, because the key would be in use. If
    the user's job were over, pinfoldd could mistake the user's receipt for the receipt of the real job."""
    for key in ("slurm.4712", "manual.4712"):
        refused = pinfold_as(USER, "run", "--job", key, "--", "sh", "-c", "exit 42")
        assert refused.returncode == 125 and f"may not name a job '{key}'" in refused.stderr, refused
        assert finish(start_job(key, "true"))[0] == 0
        assert [receipt["uid"] for receipt in receipts(key)] == [0]
    assert pinfold_as(USER, "run", "--job", "manual.own", "--", "sh", "-c", "exit 42").returncode == 42


def test_whom_pinfoldd_refuses_does_not_run_unconfined():
    with site('[jobs]\non_failure = "run-unconfined"\nallow_user_jobs = true\nmax_per_user = 1\n'):
        first = start_job("user.first", "cat", stdin=subprocess.PIPE, user=USER, group=USER, extra_groups=[])
        wait_running("user.first")
        refused = pinfold_run_as(USER, "echo", "ran")
        assert (refused.returncode, refused.stdout) == (125, "") and "jobs.max_per_user" in refused.stderr, refused
        first.stdin.close()
        first.stdin = None
        finish(first)
        assert pinfold_run_as(USER, "echo", "ran").stdout == "ran\n"
    expect_nothing_left()


@contextlib.contextmanager
def subordinate_ids(text):
    """pinfoldd reads /etc/subuid only when it starts, so the function restarts pinfoldd."""
    file = Path("/etc/subuid")
    before = file.read_text() if file.exists() else ""
    file.write_text(text)
    run("systemctl", "restart", "pinfoldd")
    try:
        yield
    finally:
        file.write_text(before)
        run("systemctl", "restart", "pinfoldd")


SUBORDINATE = 200_007


def as_id(uid, *command):
    return run("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command, check=False)


def test_jobs_of_subordinate_user_ids_count_as_their_owners():
    """newuidmap(1) would let alice use the subordinate ids in the file /etc/subuid. If alice used a subordinate id, the kernel would show the
    subordinate id to pinfoldd."""
    with site("[jobs]\nallow_user_jobs = true\nmax_per_user = 1\n"), subordinate_ids(f"no range\n{USER}:200000:65536\n"):
        first = start_job("user.first", "cat", stdin=subprocess.PIPE, user=USER, group=USER, extra_groups=[])
        wait_running("user.first")
        wait_until(lambda: "jobs.max_per_user" in as_id(SUBORDINATE, "pinfold-run", "--", "true").stderr, "alice's name")
        refused = as_id(SUBORDINATE + 1, "pinfold-run", "--", "echo", "ran")
        assert (refused.returncode, refused.stdout) == (125, "") and "subordinate user ids" in refused.stderr, refused
        assert as_id(OTHER, "pinfold-run", "--", "echo", "ran").stdout == "ran\n"
        first.stdin.close()
        first.stdin = None
        finish(first)
        assert as_id(SUBORDINATE, "pinfold-run", "--", "echo", "ran").stdout == "ran\n"
        words = ("-u", "pinfoldd", "--grep", "/etc/subuid", "-o", "cat")
        wait_for_journal("line 1; ", *words)
        said = read_journal(*words)
        assert said.count("line 1; ") == 1, said
    expect_nothing_left()


FLOOD_AS = """
import dbus, dbus.bus, os, sys, time
def calls(uid):
    os.setresuid(uid, uid, 0)
    bus = dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SYSTEM)
    manager = dbus.Interface(bus.get_object("org.pinfold1", "/org/pinfold1", introspect=False), "org.pinfold1.Manager")
    done = 0
    try:
        while done < 2000:
            last = time.monotonic()
            manager.ListJobs()
            done += 1
    except dbus.DBusException as e:
        assert e.get_dbus_name() == "org.pinfold1.Error.Busy", e
    os.setresuid(0, 0, 0)
    return done, last
_, begun = calls(int(sys.argv[1]))
done, _ = calls(int(sys.argv[2]))
print(done, time.monotonic() - begun)
"""


def test_calls_of_subordinate_user_ids_share_one_throttle():
    """The test makes bob's user id a subordinate id of alice. dbus-daemon would refuse a subordinate id that /etc/passwd does not contain."""
    alice, bob = (pwd.getpwnam(name).pw_uid for name in (USER, OTHER))
    with subordinate_ids(f"{alice}:{bob}:1\n"):
        done, took = run("/usr/bin/python3", "-c", FLOOD_AS, alice, bob).stdout.split()
        assert int(done) <= 100 * float(took) + 20, "a user of their own would have 200 more"
    expect_nothing_left()


def test_no_process_leaves_its_job_as_a_supervisor(alices_job):
    """pinfoldd moves a supervisor into pinfold.slice. In pinfold.slice, a process does not have the limits of the job. When the job ends, a process
    in pinfold.slice stays alive."""
    for supervisor in (alices_job.pid, "own.pid"):
        assert as_user(USER, f"at_the_socket.add_task('user.alice', pidfd(own.pid), pidfd({supervisor}))") == DENIED
    assert "batch-user.alice.slice" in Path(f"/proc/{alices_job.pid}/cgroup").read_text()


# The program tries PTRACE_SEIZE, PTRACE_ATTACH, and other accesses that ptrace_may_access() guards.
TRACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
wrapper = f"/proc/{os.getppid()}"
for request in (0x4206, 16):
    print(libc.ptrace(request, os.getppid(), 0, 0), os.strerror(ctypes.get_errno()))
for look in (lambda: open(f"{wrapper}/mem", "rb"), lambda: os.listdir(f"{wrapper}/fd"), lambda: os.listdir(f"{wrapper}/root")):
    try:
        print("may", look())
    except PermissionError:
        print("may not")
"""


def test_a_job_does_not_trace_its_own_wrapper(user_jobs_allowed):
    """The wrapper runs as the user of the job, and is outside of the job."""
    done = pinfold_run_as(USER, "/usr/bin/python3", "-c", TRACE)
    assert done.stdout.splitlines() == 2 * ["-1 Operation not permitted"] + 3 * ["may not"], done


def test_what_a_wrapper_starts_can_be_looked_into(user_jobs_allowed):
    done = pinfold_run_as(USER, "sh", "-c", "ls /proc/$$/fd >/dev/null && ls /proc/$$/root >/dev/null && echo may")
    assert done.stdout == "may\n", done


def test_nobody_leaves_a_tight_job_for_a_loose_one():
    job = start_job("tight.1", "sleep", "1000", options=["--run-time-max", "1h"])
    wait_running("tight.1")
    inside = int(live_jobs()["tight.1"]["leader"])
    assert as_user("root", f"m.CreateJob('loose.1', fd({inside}), {{}})") == DENIED
    other = start_job("loose.2", "sleep", "1000")
    wait_running("loose.2")
    assert as_user("root", f"m.Adopt('loose.2', [fd({inside})])") == DENIED
    assert "job-tight.1.scope" in Path(f"/proc/{inside}/cgroup").read_text()
    for key, process in (("tight.1", job), ("loose.2", other)):
        run("pinfold", "stop", "--grace", "0", key)
        finish(process)


def test_pinfoldd_and_init_are_no_jobs():
    pid = int(run("systemctl", "show", "-P", "MainPID", "pinfoldd").stdout)
    for target in (1, pid, 2):
        if Path(f"/proc/{target}").exists():
            assert as_user("root", f"m.CreateJob('evil.{target}', fd({target}), {{}})") in (
                "org.pinfold1.Error.InvalidArgument", "org.pinfold1.Error.PidGone")
    assert run("systemctl", "is-active", "pinfoldd").stdout == "active\n"


def test_a_setuid_program_lends_no_rights(tmp_path):
    """The caller sends its call, and then executes a setuid program at once. If pinfoldd read the caller's user id from /proc, pinfoldd would believe
    that root is the caller."""
    su = tmp_path / "sleep"
    run("cp", "/bin/sleep", su)
    os.chmod(tmp_path, 0o755)
    for part in tmp_path.parents:
        os.chmod(part, os.stat(part).st_mode | 0o711)
    os.chmod(su, 0o4755)
    program = ("import dbus, os; b = dbus.SystemBus(); "
               "b.call_async('org.pinfold1', '/org/pinfold1', 'org.pinfold1.Manager', 'Reload', '', (), None, None); b.flush(); "
               "[os.set_inheritable(int(f), True) for f in os.listdir('/proc/self/fd') if int(f) > 2 and os.path.exists(f'/proc/self/fd/{f}')]; "
               f"os.execv('{su}', ['sleep', '1'])")
    run("busctl", "get-property", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Version")
    before = Path("/run/pinfold/on-failure").stat().st_mtime_ns
    run("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "/usr/bin/python3", "-c", program)
    run("busctl", "get-property", "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", "Version")
    assert Path("/run/pinfold/on-failure").stat().st_mtime_ns == before, "a reload would have written it again"


def test_a_bus_in_the_environment_is_not_believed(tmp_path):
    fake = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:path={tmp_path}/bus"],
                            stdout=subprocess.PIPE, text=True)
    address = fake.stdout.readline().strip()
    environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": address, "SYSTEMD_BUS_TIMEOUT": "1us"}
    status, out, err = finish(start_job("env.bus", "sh", "-c", 'echo "$DBUS_SYSTEM_BUS_ADDRESS $SYSTEMD_BUS_TIMEOUT"; cat /proc/self/cgroup',
                                        env=environment))
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == f"{address} 1us", "the job's environment is its own"
    assert "job-env.bus.scope" in out
    fake.terminate()
    fake.wait()


ODD_KEYS = [f"odd.{chr(code)}x{chr(code)}" for code in range(0x21, 0x7f) if chr(code) != "/"]


def test_every_odd_character_in_a_key():
    for key in ODD_KEYS:
        status, _, err = finish(start_job(key, "true"))
        assert (status, err) == (0, ""), key
        assert len(receipts(key)) == 1, key
    expect_nothing_left()


@pytest.mark.parametrize("key", ["odd.a/b", "odd.a b", "odd.a\nb", "odd.", "odd", ".x", "Odd.x", "od d.x", "odd.\x1b[31m", "odd.ä", "x." + "y" * 300])
def test_keys_that_are_refused(key):
    status, _, err = finish(start_job(key, "true"))
    assert status == 125
    assert err.startswith("pinfold-run: job key") and err.count("\n") == 1 and "\x1b" not in err
    assert live_jobs() == {}


def test_no_text_becomes_a_unit_setting():
    """The test puts line breaks into every text that a user can choose. At a daemon-reload, systemd could read the lines of a text as settings of a
    unit."""
    evil = "x\nTasksMax=7\nRuntimeMaxSec=1"
    job = subprocess.Popen(["pinfold-run", "--job", "evil.text", "--", "sh", "-c", "exec sleep 1000", evil], cwd="/tmp", env={**os.environ, "X": evil})
    wait_running("evil.text")
    run("systemctl", "daemon-reload")
    for unit in ("job-evil.text.scope", "batch-evil.text.slice"):
        text = Path(f"/run/systemd/transient/{unit}").read_text()
        assert "RuntimeMax" not in text and "TasksMax=7" not in text
        assert run("systemctl", "show", "-P", "TasksMax", unit).stdout.strip() != "7"
    run("pinfold", "stop", "evil.text")
    job.wait(timeout=20)


def test_a_flood_of_one_user_does_not_hold_up_another():
    flood = ("import dbus, dbus.mainloop.glib\n"
             "buses = [dbus.bus.BusConnection(dbus.bus.BusConnection.TYPE_SYSTEM) for _ in range(8)]\n"
             "print('up', flush=True)\n"
             "while True:\n"
             "  for b in buses:\n"
             "    for _ in range(100):\n"
             "      m = dbus.lowlevel.MethodCallMessage('org.pinfold1', '/org/pinfold1', 'org.pinfold1.Manager', 'ListJobs')\n"
             "      m.set_no_reply(True); b.send_message(m)\n"
             "    b.flush()\n")
    flooder = subprocess.Popen(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "/usr/bin/python3", "-c", flood],
                               stdout=subprocess.PIPE, text=True)
    assert flooder.stdout.readline() == "up\n"
    # The test compares medians, because a busy machine may delay single calls.
    script = ("import dbus, statistics, time\nm = dbus.Interface(dbus.SystemBus().get_object('org.pinfold1', '/org/pinfold1'), 'org.pinfold1.Manager')\n"
              "took = []\nfor _ in range(20):\n  t = time.monotonic(); m.ListJobs(); took.append(time.monotonic() - t)\nprint(statistics.median(took))")
    try:
        out = run("setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "/usr/bin/python3", "-c", script).stdout
    finally:
        flooder.kill()
        flooder.wait()
    assert float(out) < 1.0
