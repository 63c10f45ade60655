# SPDX-License-Identifier: LGPL-2.1-or-later
"""pinfold doctor reports no problem on a healthy node, and finds each fault that the tests cause."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from jobs import RECORDS, daemon_ready, finish, main_pid, run, start_job, stopped, wait_running, wait_until

LIBEXEC = Path("/usr/libexec/pinfold")
SSHD = Path("/etc/pam.d/sshd")
RUNUSER = Path("/etc/pam.d/runuser-l")  # in Debian, the file runuser-l contains pam_systemd
before = {}
# seconds: Without the doctor's own limits, each wait would take at least 25 s. The machine may be busy.
SOON = 20
CONTROLLERS = {"memory": "fail", "cpu": "fail", "pids": "fail", "cpuset": "warn", "io": "warn"}


def doctor(*options, **how):
    return run("pinfold", *options, "doctor", "--json", check=False, **how)


def findings(**how):
    done = doctor(**how)
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    by_id = {finding["id"]: finding for finding in document["findings"]}
    assert len(by_id) == len(document["findings"])
    assert done.returncode == (1 if any(finding["state"] == "fail" for finding in by_id.values()) else 0), done.stderr
    return by_id


def wrong():
    return {name: finding["state"] for name, finding in findings().items() if finding["state"] != "ok"}


def expected():
    """Returns the findings that `pinfold doctor` reports because the node is a box. Some hosts do not give all controllers to the box. Grid Engine
    is not set up in the box."""
    there = Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
    missing = {f"cgroup.{name}": state for name, state in CONTROLLERS.items() if name not in there}
    return {**missing, "grid-engine.shepherd": "warn"}


def new():
    """Returns the problems that did not exist when the test began."""
    return {name: state for name, state in wrong().items() if before.get(name) != state}


def remedy(name):
    """Runs the finding's remedy as a shell command, exactly as the doctor prints it."""
    run("sh", "-ec", findings()[name]["remedy"].split(";")[0])


@contextlib.contextmanager
def file(path, text, mode=0o644):
    """At the end of the context, restores the earlier state of the file."""
    path = Path(path)
    former = path.read_bytes() if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        if former is not None:
            path.write_bytes(former)


@contextlib.contextmanager
def unit_file(path, text):
    with file(Path("/etc/systemd/system") / path, text):
        run("systemctl", "daemon-reload")
        yield
    run("systemctl", "daemon-reload")


@contextlib.contextmanager
def mounted(directory, options):
    Path(directory).mkdir(parents=True, exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", options, "tmpfs", directory)
    try:
        yield
    finally:
        run("umount", "-l", directory)


@pytest.fixture(scope="module", autouse=True)
def healthy_site():
    with file("/etc/systemd/logind.conf.d/10-site.conf", "[Login]\nRemoveIPC=no\n"), file(RUNUSER, "session required pam_unix.so\n"):
        run("systemctl", "restart", "systemd-logind")
        wait_until(lambda: run("busctl", "status", "org.freedesktop.login1", check=False).returncode == 0, "logind is back")
        run("systemctl", "start", "pinfoldd")
        yield


@pytest.fixture(autouse=True)
def as_it_was():
    before.clear()
    before.update(wrong())
    yield
    assert wrong() == before


def test_nothing_is_wrong_with_a_healthy_node():
    found = findings()
    assert {name: finding["state"] for name, finding in found.items() if finding["state"] != "ok"} == expected()
    assert all((finding["remedy"] is None) == (finding["state"] == "ok") for finding in found.values())
    topics = {name.split(".")[0] for name in found}
    assert topics >= {"pinfoldd", "jobs", "cgroup", "kernel", "systemd", "bus", "logind", "pam", "space", "clock", "grid-engine", "slurm"}


def test_the_page_has_a_line_a_check_and_the_counts_at_its_end():
    lines = run("pinfold", "doctor", check=False).stdout.splitlines()
    states = [finding["state"] for finding in findings().values()]
    assert lines[-1] == f"{states.count('ok')} ok, {states.count('warn')} warn, {states.count('fail')} fail"
    heads = [line.split()[:2] for line in lines[:-1] if not line.startswith(" ")]
    assert heads == [[finding["state"], finding["id"]] for finding in findings().values()]
    assert "\x1b" not in "".join(lines)
    assert "\x1b[32mok\x1b[0m " in run("pinfold", "--color=always", "doctor", check=False).stdout


def test_a_user_is_told_what_only_root_may_see():
    found = findings(user="alice")
    assert {name: finding["state"] for name, finding in found.items() if finding["state"] != "ok"} == {
        **expected(), "jobs.units": "warn", "history.kept": "warn"}
    assert "run `pinfold doctor` as root" in found["jobs.units"]["remedy"]


# The daemon.


def test_a_stopped_pinfoldd():
    run("systemctl", "stop", "pinfoldd")
    assert new() == {"pinfoldd.running": "warn"}
    assert run("systemctl", "is-active", "pinfoldd", check=False).stdout == "inactive\n", "it was not started by the question"
    remedy("pinfoldd.running")


def test_a_stopped_pinfoldd_with_a_job():
    job = start_job("doctor.1", "sleep", "1000", options=["--exec"])
    wait_running("doctor.1")
    run("systemctl", "stop", "pinfoldd")
    assert new() == {"pinfoldd.running": "fail"}
    remedy("pinfoldd.running")
    daemon_ready()
    run("pinfold", "stop", "--wait", "doctor.1")
    finish(job)


def test_a_socket_that_nobody_listens_on():
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    assert new() == {"pinfoldd.running": "fail", "pinfoldd.socket": "fail"}
    remedy("pinfoldd.socket")


def test_a_masked_unit():
    run("systemctl", "mask", "--now", "pinfoldd.service")
    assert new() == {"pinfoldd.unit": "fail"}
    remedy("pinfoldd.unit")


def test_a_masked_slice():
    run("systemctl", "stop", "batch.slice")
    run("systemctl", "mask", "batch.slice")
    assert new() == {"systemd.batch-slice": "fail"}
    remedy("systemd.batch-slice")


def test_a_pinfoldd_that_hangs_and_who_is_waited_for():
    process = main_pid()
    with stopped(process):
        began = time.monotonic()
        assert new() == {"pinfoldd.answers": "fail"}
        assert time.monotonic() - began < SOON
        ours, its = pty.openpty()
        waiting = subprocess.run(["pinfold", "doctor"], stdout=subprocess.DEVNULL, stderr=its, timeout=60)
        os.close(its)
        assert waiting.returncode == 1
        assert b"waiting for pinfoldd" in os.read(ours, 4096)
        os.close(ours)
        run("systemctl", "restart", "pinfoldd")
    daemon_ready(other_than=process)


def test_a_bus_that_hangs():
    process = int(run("systemctl", "show", "-P", "MainPID", "dbus").stdout)
    os.kill(process, signal.SIGSTOP)
    try:
        began = time.monotonic()
        found = findings()
        assert time.monotonic() - began < SOON
    finally:
        os.kill(process, signal.SIGCONT)
    assert found["bus.answers"]["state"] == "fail"
    assert found["pinfoldd.config"]["state"] == "ok"
    assert "systemd.version" not in found


def test_a_configuration_that_is_wrong():
    with file("/etc/pinfold/pinfold.toml.d/90-wrong.toml", '[jobs]\nkill_grace = "never"\n'):
        assert new() == {"pinfoldd.config": "fail"}
        run("systemctl", "restart", "pinfoldd", check=False)
        wait_until(lambda: run("systemctl", "is-active", "pinfoldd", check=False).stdout == "failed\n", "pinfoldd has given up")
        assert new() == {"pinfoldd.config": "fail", "pinfoldd.running": "fail"}
    with file("/etc/pinfold/pinfold.toml.d/90-wrong.toml", '[jobs]\nkill_graze = "1s"\n'):
        run("systemctl", "restart", "pinfoldd")
        assert new() == {"pinfoldd.config": "warn"}


def test_a_sandbox_that_is_too_tight():
    with unit_file("pinfoldd.service.d/90-tight.conf", "[Service]\nProtectControlGroups=yes\n"):
        assert new() == {"pinfoldd.sandbox": "fail"}
    with unit_file("pinfoldd.service.d/90-tight.conf", "[Service]\nCapabilityBoundingSet=~CAP_KILL\n"):
        assert new() == {"pinfoldd.sandbox": "warn"}
    with unit_file("pinfoldd.service.d/90-tight.conf", "[Service]\nCapabilityBoundingSet=~CAP_SYS_PTRACE\n"):
        assert new() == {}, "a site may do that"
    with unit_file("pinfoldd.service", Path("/lib/systemd/system/pinfoldd.service").read_text()):
        assert new() == {"pinfoldd.unit": "warn"}
    with file("/etc/systemd/system/pinfoldd.service.d/90-new.conf", "[Service]\n"):
        assert new() == {"pinfoldd.unit": "warn"}


def test_a_group_that_is_not_there():
    run("groupdel", "pinfold-admin")
    assert new() == {"pinfoldd.group": "warn"}
    remedy("pinfoldd.group")
    run("gpasswd", "--add", "carol", "pinfold-admin")


# Jobs.


def test_a_slice_that_nobody_knows():
    run("systemctl", "start", "batch-ghost.1.slice")
    assert new() == {"jobs.units": "warn"}
    assert "batch-ghost.1.slice" in findings()["jobs.units"]["found"]
    remedy("jobs.units")


def test_records_of_jobs_that_are_not_there():
    job = start_job("doctor.2", "sleep", "1000")
    wait_running("doctor.2")
    assert new() == {}, "a live job is no orphan"
    record = (RECORDS / "doctor.2.json").read_text().replace("doctor.2", "doctor.3")
    with file(RECORDS / "doctor.3.json", record, 0o600):
        assert new() == {"jobs.records": "warn"}
        assert "doctor.3.json" in findings()["jobs.records"]["found"]
        remedy("jobs.records")
        wait_until(lambda: new() == {}, "the remedy works")
    with file(RECORDS / "doctor.3.json", record[:100], 0o600):
        assert new() == {"jobs.unreadable": "fail"}
    run("pinfold", "stop", "--wait", "doctor.2")
    finish(job)


# The node.


def test_who_removes_the_jobs_shared_memory():
    with file("/etc/systemd/logind.conf.d/90-fault.conf", "[Login]\nRemoveIPC=yes\n"):
        assert new() == {"logind.remove-ipc": "warn"}
        assert findings()["logind.remove-ipc"]["where"] == "/etc/systemd/logind.conf.d/90-fault.conf"
        run("systemctl", "restart", "systemd-logind")
        wait_until(lambda: "true" in run("busctl", "get-property", "org.freedesktop.login1", "/org/freedesktop/login1",
                                         "org.freedesktop.login1.Manager", "RemoveIPC", check=False).stdout, "logind has it")
    assert "still uses yes" in findings()["logind.remove-ipc"]["found"]
    remedy("logind.remove-ipc")
    wait_until(lambda: new() == {}, "the remedy works")


def test_who_lingers():
    Path("/var/lib/systemd/linger/alice").touch()
    assert new() == {"logind.linger": "warn"}
    remedy("logind.linger")


def test_who_kills_for_want_of_memory():
    oomd = Path("/lib/systemd/system/systemd-oomd.service")
    with file(oomd, "[Service]\nExecStart=/bin/sleep infinity\n"), \
            unit_file("slice.d/10-oomd.conf", "[Slice]\nManagedOOMMemoryPressure=kill\n"):
        assert new() == {}, "nobody acts on it"
        run("systemctl", "start", "systemd-oomd")
        assert new() == {"systemd.oomd": "warn"}
        assert "ManagedOOMMemoryPressure=kill of batch.slice" in findings()["systemd.oomd"]["found"]
        run("sh", "-c", findings()["systemd.oomd"]["remedy"], check=False)
        assert new() == {}, "the remedy works"
        run("systemctl", "unmask", "systemd-oomd.service", "systemd-oomd.socket")


@pytest.mark.parametrize("size", ["size=4m", "size=1g,nr_inodes=20", "size=64m"], ids=["full", "no inodes", "scarce"])
def test_a_full_disk(size):
    with mounted("/var/lib/pinfold", size):
        assert new() == {"space.history": "warn" if size == "size=64m" else "fail"}
        assert findings()["space.history"]["where"] == "/var/lib/pinfold"


def test_limits_of_the_bus():
    limit = '<busconfig><limit name="max_replies_per_connection">32</limit></busconfig>\n'
    with file("/etc/dbus-1/system.d/limits.conf", limit):
        assert new() == {"bus.limits": "fail"}
        assert findings()["bus.limits"]["where"] == "/etc/dbus-1/system.d/limits.conf"
    policy = Path("/usr/share/dbus-1/system.d/org.pinfold1.conf")
    aside = policy.rename(policy.with_suffix(".aside"))
    run("systemctl", "reload", "dbus")
    wait_until(lambda: new() == {"bus.policy": "fail", "pinfoldd.answers": "fail"}, "the bus lets nobody through to pinfoldd")
    aside.rename(policy)
    run("systemctl", "reload", "dbus")
    wait_until(lambda: not new(), "the bus knows pinfoldd again")


def test_processes_that_pinfoldd_may_not_see():
    run("mount", "-o", "remount,hidepid=2", "/proc")
    try:
        assert new() == {}
        assert "hidepid=" in findings()["kernel.hidepid"]["found"]
        with unit_file("pinfoldd.service.d/90-tight.conf", "[Service]\nCapabilityBoundingSet=~CAP_SYS_PTRACE\n"):
            assert new() == {"kernel.hidepid": "fail"}
    finally:
        run("mount", "-o", "remount,hidepid=0", "/proc")


# PAM.


def pam(account, session):
    return file(SSHD, f"{account}\n{SSHD.read_text()}\n{session}\n")


def test_the_order_in_pam():
    systemd = "session optional pam_systemd.so"
    session = "session required pam_pinfold.so"
    account = "account required pam_pinfold.so"
    with pam(account, f"{systemd}\n{session}"):
        assert new() == {}
    with pam(account, f"{session}\n{systemd}"):
        assert new() == {"pam.order": "fail"}
    with pam(account, ""):
        assert new() == {}
    with pam(account, session.replace("required", "optional")):
        assert new() == {"pam.sshd": "warn"}
    with pam("", session):
        assert new() == {"pam.sshd": "warn"}
    with pam(f"account sufficient pam_permit.so\n{account}", session):
        assert new() == {"pam.bypass": "fail"}
    with pam(account, session), file("/etc/ssh/sshd_config.d/50-fault.conf", "UsePAM no\n"):
        assert new() == {"pam.use-pam": "fail"}
    with file("/etc/pam.d/systemd-user", session + "\n"):
        assert new() == {"pam.user-manager": "fail"}


def test_who_takes_processes_out_of_jobs():
    def where(*command):
        return finish(start_job("doctor.4", *command, "cat", "/proc/self/cgroup"))[1]
    with file(RUNUSER, "auth sufficient pam_rootok.so\naccount required pam_unix.so\nsession optional pam_systemd.so\n"):
        assert new() == {"pam.movers": "warn"}
        assert "runuser-l" in findings()["pam.movers"]["found"]
        assert "batch.slice" not in finish(start_job("doctor.4", "runuser", "-l", "alice", "-c", "cat /proc/self/cgroup"))[1]
        assert "batch-doctor.4.slice" in where("setpriv", "--reuid=alice", "--regid=alice", "--init-groups")


# Batch systems.


def configure_grid_engine(**changes):
    lines = run("qconf", "-sconf", "global").stdout.replace("\\\n", " ").splitlines()
    settings = dict(line.split(None, 1) for line in lines if line.strip() and not line.startswith("#"))
    with file("/run/doctor/global", "".join(f"{name} {value}\n" for name, value in {**settings, **changes}.items())) as path:
        run("qconf", "-Mconf", path)


def test_grid_engine():
    assert "not known" in findings()["grid-engine.shepherd"]["found"]
    run("systemctl", "start", "gridengine-master", timeout=300)
    wait_until(lambda: run("qconf", "-sh", check=False).returncode == 0, "the queue master answers", 120)
    assert "shepherd_cmd is none" in findings()["grid-engine.shepherd"]["found"]
    configure_grid_engine(shepherd_cmd=LIBEXEC / "grid-engine-shepherd")
    assert findings()["grid-engine.shepherd"]["state"] == "ok"
    configure_grid_engine(shepherd_cmd="/opt/grid-engine-shepherd", execd_params="USE_CGROUPS=true")
    assert new() == {"grid-engine.shepherd": "fail", "grid-engine.cgroups": "fail"}
    configure_grid_engine(shepherd_cmd="none", execd_params="none")
    master = int(run("pgrep", "-o", "sge_qmaster").stdout)
    os.kill(master, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert "did not answer" in findings()["grid-engine.shepherd"]["found"]
        assert time.monotonic() - began < SOON
    finally:
        os.kill(master, signal.SIGCONT)
    run("systemctl", "stop", "gridengine-master", timeout=300)


def test_slurm():
    plugin = LIBEXEC / "pinfold_spank.so"
    epilogue = LIBEXEC / "slurm-epilogue"
    stack = "/etc/slurm/plugstack.conf.d/pinfold.conf"
    with file("/etc/slurm/slurm.conf", "ClusterName=c\nProctrackType=proctrack/linuxproc\n"):
        assert new() == {"slurm.plugin": "warn", "slurm.epilogue": "warn"}
    with file("/etc/slurm/slurm.conf", f"ClusterName=c\nProctrackType=proctrack/linuxproc\nEpilog={epilogue}\n"), file(epilogue, "", 0o755):
        assert new() == {"slurm.plugin": "warn"}
        with file(stack, f"required {plugin}\n"), file(plugin, ""):
            assert new() == {}
        with file(stack, f"optional {plugin}\n"), file(plugin, ""):
            assert new() == {"slurm.plugin": "warn"}
        with file(stack, "required /opt/pinfold_spank.so\n"):
            assert new() == {"slurm.plugin": "fail"}
    with file("/etc/slurm/slurm.conf", "ClusterName=c\nProctrackType=proctrack/cgroup\n"):
        assert new() == {}


def test_torque():
    mom = Path("/var/spool/torque/mom_priv")
    mom.mkdir(parents=True)
    scripts = {f"{name}{parallel}": f"torque-{name}" for name in ("prologue", "epilogue") for parallel in ("", ".parallel")}
    try:
        (mom / "config").write_text("$logevent 255\n")
        assert new() == {"torque.job-starter": "warn", **{f"torque.{name}": "warn" for name in scripts}}
        (mom / "config").write_text(f"$job_starter {LIBEXEC}/torque-job-starter\n")
        assert new() == {"torque.node-check": "warn", **{f"torque.{name}": "fail" for name in scripts}}
        with (mom / "config").open("a") as config:
            config.write(f"$node_check_script {LIBEXEC}/torque-node-check\n")
        assert new() == {f"torque.{name}": "fail" for name in scripts}
        (mom / "prologue.user").touch()
        assert new() == {"torque.prologue.user": "warn", **{f"torque.{name}": "fail" for name in scripts}}
        (mom / "prologue.user").unlink()
        for name in scripts:
            remedy(f"torque.{name}")
            assert (mom / name).resolve() == LIBEXEC / scripts[name]
        assert new() == {}
        (mom / "prologue").unlink()
        with file(mom / "prologue", f'#!/bin/sh\n{LIBEXEC}/torque-prologue "$@" || exit $?\n', 0o775) as prologue:
            assert new() == {"torque.prologue": "fail"}
            remedy("torque.prologue")
            assert new() == {}
            os.chown(prologue, 1000, 1000)
            assert new() == {"torque.prologue": "fail"}
            remedy("torque.prologue")
            prologue.write_text("#!/bin/sh\nexit 0\n")
            assert new() == {"torque.prologue": "fail"}
    finally:
        shutil.rmtree(mom.parent)


def test_openpbs():
    hooks = Path("/var/spool/pbs/mom_priv/hooks")
    hook = ("hook_name=pinfold\nevent=execjob_begin,execjob_launch,execjob_attach,execjob_resize,execjob_postsuspend,execjob_preresume,"
            "execjob_epilogue,execjob_end,execjob_abort,exechost_periodic\nalarm=90\n")
    hooks.mkdir(parents=True)
    hooks.chmod(0o700)
    try:
        with file("/etc/pbs.conf", "PBS_HOME=/var/spool/pbs\nPBS_START_MOM=1\n"):
            assert new() == {"openpbs.hook": "warn"}
            assert findings(user="alice")["openpbs.hook"]["found"].startswith("not known")
            (hooks / "pinfold.HK").write_text(hook)
            assert new() == {"openpbs.hook": "fail"}
            (hooks / "pinfold.PY").touch()
            assert new() == {}
            (hooks / "pinfold.HK").write_text(hook + "enabled=false\n")
            (hooks / "pbs_cgroups.HK").write_text("hook_name=pbs_cgroups\n")
            assert new() == {"openpbs.hook": "warn", "openpbs.cgroups": "fail"}
    finally:
        shutil.rmtree("/var/spool/pbs")
