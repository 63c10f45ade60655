# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what pinfold does with files in /dev/shm and /tmp and with System V IPC objects that ended jobs leave behind. `pinfold strays --files` names
the job of each file or object. The command removes only files and objects that nobody needs."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from endless import endless_mappings
from jobs import (RECORDS, daemon_ready, expect_nothing_left, finish, read_journal, receipts, run, site, start_job, wait_running,
                  wait_until)
from own_server import locked_memories
from sick import hung

HISTORY = Path("/var/lib/pinfold/history.db")
ALICE = {"user": "alice", "group": "alice", "extra_groups": []}
UID = 1000
BOB = 1001
CLOCK_REALTIME_COARSE = 5  # a clock of clock_gettime(2) for which Python has no name

# This program makes one object of each kind with the given name, and does not remove the objects. The program lives until its standard input ends.
LEAVE = """
import ctypes, os, sys
name = sys.argv[1]
tree = f"/tmp/{name}.d"
os.makedirs(f"{tree}/sub/deep")
for file in (f"/dev/shm/{name}", f"/tmp/{name}", f"{tree}/sub/deep/file"):
    with open(file, "w") as out:
        out.write("x" * 8192)
os.symlink("/etc", f"{tree}/etc")
os.link(f"/tmp/{name}", f"{tree}/linked")
os.mkfifo(f"{tree}/fifo")
os.makedirs(f"{tree}/cache/module")
open(f"{tree}/cache/module/file", "w").close()
os.chmod(f"{tree}/cache/module", 0o500)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0, 4096, 0o1600), libc.semget(0, 2, 0o1600), libc.msgget(0, 0o1600), flush=True)
sys.stdin.read()
"""
KINDS = {"shm-file", "tmp-file", "tmp-directory", "sysv-shm", "sysv-sem", "sysv-msg"}


@pytest.fixture(scope="module", autouse=True)
def users_may_have_jobs():
    with site('[jobs]\nallow_user_jobs = true\n[strays]\nfile_min_age = "0"\n'):
        yield


@contextlib.contextmanager
def policy(text):
    """Adds `text` to the section [strays] of the configuration, without a reload of pinfoldd."""
    file = Path("/etc/pinfold/pinfold.toml.d/60-strays.toml")
    file.write_text(f"[strays]\n{text}\n")
    yield
    file.unlink()


class Left:
    """Runs a job that leaves files and IPC objects behind. Contains the paths of the files and the ids of the IPC objects."""

    def __init__(self, key):
        self.key = key
        status, out, err = finish(start_job(key, "python3", "-c", LEAVE, key, **ALICE))
        assert status == 0, err
        shm, sem, msg = (int(number) for number in out.split())
        self.ipc = {"sysv-shm": shm, "sysv-sem": sem, "sysv-msg": msg}
        self.paths = {"shm-file": Path("/dev/shm", key), "tmp-file": Path("/tmp", key), "tmp-directory": Path("/tmp", f"{key}.d")}

    def listed(self, *options, status=0):
        """Runs `pinfold strays --files`. Returns a dictionary that maps each kind to the job's file or IPC object of this kind."""
        done = run("pinfold", "strays", "--files", "--json", *options, check=False)
        assert done.returncode == status, done.stderr
        mine = [file for file in json.loads(done.stdout)["files"] if self.key in file["jobs"]]
        assert all(file["ipc_id"] == self.ipc[file["kind"]] if file["path"] is None else file["path"] == str(self.paths[file["kind"]])
                   for file in mine), mine
        return {file["kind"]: file for file in mine}

    def kept(self, *options, status=0):
        return {kind: file["kept"] for kind, file in self.listed(*options, status=status).items()}

    def there(self):
        """Returns the kinds of the files and IPC objects that still exist. The result does not contain the directory in /tmp if the file in this
        directory is gone."""
        there = {kind for kind, path in self.paths.items() if path.exists()}
        if "tmp-directory" in there and not (self.paths["tmp-directory"] / "sub/deep/file").exists():
            there.remove("tmp-directory")
        for kind, id in self.ipc.items():
            lines = Path("/proc/sysvipc", kind.removeprefix("sysv-")).read_text().splitlines()[1:]
            there |= {kind for line in lines if int(line.split()[1]) == id}
        return there

    def clear(self):
        for path in self.paths.values():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        for option, kind in (("-m", "sysv-shm"), ("-s", "sysv-sem"), ("-q", "sysv-msg")):
            run("ipcrm", option, self.ipc[kind], check=False)


@pytest.fixture
def left(request):
    left = Left(f"manual.{request.node.name.replace('[', '-').rstrip(']').replace('_', '-')}")
    yield left
    left.clear()
    expect_nothing_left()


def removals(left):
    lines = read_journal("-o", "json", "PINFOLD_EVENT=leftover-removed", f"PINFOLD_JOB={left.key}").splitlines()
    return [json.loads(line) for line in lines]


def test_named_and_left_alone(left):
    files = left.listed()
    assert set(files) == KINDS
    for file in files.values():
        assert (file["user"], file["kept"], file["removed"]) == ("alice", None, False), file
        assert file["jobs"] == [left.key] or file["path"] is None, "of IPC it could also be another that ran in the same second"
    tree = files["tmp-directory"]
    assert tree["entries"] == 10 and tree["size"] >= 16384 and tree["entries_of_others"] == 0
    assert files["tmp-file"]["size"] == files["shm-file"]["size"] == 8192
    assert left.listed("--mode=configured").keys() == KINDS, "the site's policy is to report"
    assert left.there() == KINDS and removals(left) == []
    lines = [line.split() for line in run("pinfold", "strays", "--files", "--no-legend").stdout.splitlines() if left.key in line]
    assert {line[0] for line in lines} == KINDS and all(line[-3:-1] == ["may", "go"] or "key" in line[-2] for line in lines), lines


def test_a_dry_run_says_what_is_then_removed(left):
    plan = run("pinfold", "strays", "--files", "--remove", "--dry-run", "--pairs").stdout
    assert left.there() == KINDS
    done = run("pinfold", "strays", "--files", "--remove", "--pairs").stdout
    assert done == plan.replace("would be removed", "removed") and plan.count("would be removed") == len(KINDS)
    assert left.there() == set()


def test_removed_by_hand(left):
    etc = sorted(Path("/etc").iterdir())
    files = left.listed("--remove")
    assert {kind for kind, file in files.items() if file["removed"]} == KINDS, files
    assert left.there() == set() and not left.paths["tmp-directory"].exists()
    assert sorted(Path("/etc").iterdir()) == etc
    entries = {entry["PINFOLD_LEFTOVER_FILE_KIND"]: entry for entry in removals(left)}
    assert set(entries) == KINDS
    assert entries["tmp-directory"]["PINFOLD_LEFTOVER_FILE_NAME"] == str(left.paths["tmp-directory"])
    assert entries["sysv-sem"]["PINFOLD_LEFTOVER_FILE_NAME"].startswith(f"{left.ipc['sysv-sem']} (key 0x")
    assert all(entry["PINFOLD_LEFTOVER_FILE_UID"] == str(UID) and entry["MESSAGE_ID"] and entry["SYSLOG_IDENTIFIER"] == "pinfold-strays"
               for entry in entries.values())
    assert left.listed() == {}


def test_removed_by_the_timers_policy(left):
    run("systemctl", "start", "pinfold-strays-files")
    assert left.there() == KINDS
    with policy('files = "remove"'):
        assert left.kept("--mode=configured", "--dry-run") == dict.fromkeys(KINDS)
        assert left.there() == KINDS
        run("systemctl", "start", "pinfold-strays-files")
    assert left.there() == set() and not left.paths["tmp-directory"].exists()
    assert len(removals(left)) == len(KINDS)


def test_another_users_file_in_the_tree_stays(left):
    """The test makes bob's file in the directory of alice's job while the job runs. If the test made bob's file after the job's end, pinfold would
    have a second reason to keep the directory, because the directory would have changed."""
    key = "manual.shared"
    job = start_job(key, "sh", "-c", "mkdir -m 1777 /tmp/shared /tmp/shared/sub; touch /tmp/shared/own; echo; cat", stdin=subprocess.PIPE, **ALICE)
    job.stdout.readline()
    run("setpriv", "--reuid=bob", "--regid=bob", "--clear-groups", "sh", "-c", "mkdir /tmp/shared/sub/bobs; echo > /tmp/shared/sub/bobs/file")
    finish(job)
    [shared] = [file for file in json.loads(run("pinfold", "strays", "--files", "--remove", "--json").stdout)["files"] if file["jobs"] == [key]]
    assert (shared["path"], shared["removed"], shared["entries"], shared["entries_of_others"]) == ("/tmp/shared", True, 3, 1)
    assert Path("/tmp/shared/sub/bobs/file").exists() and not Path("/tmp/shared/own").exists()
    shutil.rmtree("/tmp/shared")


def test_kept_while_the_user_has_a_live_job(left):
    job = start_job("manual.live", "cat", stdin=subprocess.PIPE, **ALICE)
    wait_running("manual.live")
    assert left.kept("--remove") == dict.fromkeys(KINDS, "live-job")
    run("pinfold", "suspend", "manual.live")
    assert left.kept("--remove") == dict.fromkeys(KINDS, "live-job")
    run("pinfold", "resume", "manual.live")
    finish(job)
    assert left.there() == KINDS and left.kept() == dict.fromkeys(KINDS)


def test_kept_while_the_user_has_a_job_without_a_process(left):
    run("pinfold", "open", "pbs.opened", "--uid", "alice")
    assert left.kept("--remove") == dict.fromkeys(KINDS, "live-job")
    run("pinfold", "end", "pbs.opened")
    assert left.there() == KINDS


def test_kept_while_the_user_has_a_process(left):
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, **ALICE)
    assert left.kept("--remove") == dict.fromkeys(KINDS, "processes")
    process.communicate()
    assert left.there() == KINDS and left.kept() == dict.fromkeys(KINDS)


# Maps the name of each kind of use to two texts: the kind of the object, and a Python program that uses the object.
USES = {
    "open": ("shm-file", "file = open(path)"),
    "mapped": ("shm-file", "import mmap\nmap = mmap.mmap(os.open(path, os.O_RDWR), 0)\nos.close(3)"),
    "deep": ("tmp-directory", "file = open(path + '/sub/deep/file')"),
    "directory": ("tmp-directory", "os.chdir(path + '/sub')"),
    "thread": ("shm-file", "import threading\nfile = open(path)\nthreading.Thread(target=serve).start()\nserve = lambda: libc.syscall(60, 0)"),
    "attached": ("sysv-shm", "libc.shmat.restype = ctypes.c_void_p\nassert libc.shmat(int(path), None, 0o10000) != 2 ** 64 - 1"),
}


@pytest.mark.parametrize("use", USES)
def test_kept_while_it_is_used(left, use):
    kind, how = USES[use]
    what = left.ipc[kind] if kind in left.ipc else left.paths[kind]
    user = subprocess.Popen(["python3", "-c", "import ctypes, os, sys\nlibc = ctypes.CDLL(None)\npath = sys.argv[1]\n"
                             "def serve():\n    print(flush=True)\n    sys.stdin.read()\n    os._exit(0)\n" + how + "\nserve()", str(what)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    user.stdout.readline()
    if use == "thread":
        wait_until(lambda: Path(f"/proc/{user.pid}/stat").read_text().split(")")[1].split()[0] == "Z", "main thread ended")
    # If a process attaches a System V object a second after the job's end, pinfold can report "changed" in place of "in-use".
    assert left.kept()[kind] in ("in-use", "changed")
    kept = {kind: why for kind, why in left.kept("--remove").items() if why}
    assert list(kept) == [kind] and left.there() == {kind}
    user.communicate()
    assert user.returncode == 0
    if use != "attached":
        assert left.kept("--remove") == {kind: None} and left.there() == set()


def test_kept_when_it_was_changed_after_the_jobs_end(left):
    later = time.time() + 100
    os.utime(left.paths["shm-file"], (later, later))
    os.utime(left.paths["tmp-directory"] / "sub/deep/file", (later, later))
    assert {kind for kind, why in left.kept("--remove").items() if why == "changed"} == {"shm-file", "tmp-directory"}
    assert left.there() == {"shm-file", "tmp-directory"}


def test_kept_when_it_holds_what_is_older_than_the_job():
    older = Path("/tmp/alices-own")
    run("install", "-o", "alice", "-d", older)
    Path(older, "thesis").write_text("years of work")
    shutil.chown(older / "thesis", "alice")
    left = Left("manual.moves")
    assert finish(start_job("manual.mover", "sh", "-c", f"mkdir /tmp/mover; mv {older} /tmp/mover", **ALICE))[0] == 0
    files = json.loads(run("pinfold", "strays", "--files", "--remove", "--json").stdout)["files"]
    assert [(file["path"], file["kept"]) for file in files if file["jobs"] == ["manual.mover"]] == [("/tmp/mover", "older")]
    assert Path("/tmp/mover/alices-own/thesis").read_text() == "years of work" and left.there() == set()
    shutil.rmtree("/tmp/mover")


def test_kept_until_the_job_is_over_for_long_enough(left):
    with policy('file_min_age = "1h"'):
        assert left.kept("--remove") == dict.fromkeys(KINDS, "young")
    assert left.there() == KINDS


def test_born_before_or_after_a_job_is_never_its():
    def touch(path):
        run("setpriv", "--reuid=alice", "--regid=alice", "--clear-groups", "touch", path)
    touch("/tmp/alices-before")
    left = Left("manual.between")
    # When a file changes, the kernel sets the file's time stamp to the time of the kernel's last clock tick. The time of the last tick is up to 10 ms
    # in the past, but the receipt has the exact time of the job's end.
    [receipt] = receipts(left.key)
    wait_until(lambda: time.clock_gettime_ns(CLOCK_REALTIME_COARSE) // 1000 > receipt["ended"], "a tick after the job's end")
    touch("/tmp/alices-after")
    names = run("pinfold", "strays", "--files", "--remove", "--json").stdout
    assert "alices-before" not in names and "alices-after" not in names and left.key in names
    assert Path("/tmp/alices-before").exists() and Path("/tmp/alices-after").exists() and left.there() == set()
    for path in ("/tmp/alices-before", "/tmp/alices-after"):
        Path(path).unlink()


def test_of_several_jobs_all_are_named():
    first = start_job("manual.first", "cat", stdin=subprocess.PIPE, **ALICE)
    wait_running("manual.first")
    left = Left("manual.second")
    finish(first)
    assert left.listed()["shm-file"]["jobs"] == ["manual.first", "manual.second"]
    assert left.kept("--remove") == dict.fromkeys(KINDS)
    assert left.there() == set()


@contextlib.contextmanager
def down():
    run("systemctl", "mask", "--runtime", "--now", "pinfoldd.socket", "pinfoldd")
    try:
        yield
    finally:
        run("systemctl", "unmask", "--runtime", "pinfoldd.socket", "pinfoldd")
        run("systemctl", "start", "pinfoldd.socket", "pinfoldd")


@contextlib.contextmanager
def unreadable_record():
    record = RECORDS / "sge.1.json"
    record.write_text("{}")
    try:
        yield
    finally:
        record.unlink()


@pytest.mark.parametrize("trouble", [down, hung, unreadable_record], ids=lambda trouble: trouble.__name__)
def test_nothing_is_removed_on_incomplete_knowledge(left, trouble):
    with trouble():
        done = run("pinfold", "strays", "--files", "--remove", "--json", check=False, timeout=120)
        assert done.returncode == 1 and "pinfold: no file is removed, because pinfold could not find out all it needs to know: " in done.stderr
        assert {file["kept"] for file in json.loads(done.stdout)["files"]} == {"unknown"}, "named all the same"
    daemon_ready()
    assert left.there() == KINDS
    assert left.kept() == dict.fromkeys(KINDS)


# When root reads the memory mappings of bob's process, the kernel shows a path of 16 KiB for each mapping. The list of all mappings is longer than
# the part that pinfold reads for one process.
def test_a_process_that_cant_be_looked_into_keeps_its_own_users_files_only(left):
    with endless_mappings("bob"):
        done = run("pinfold", "strays", "--files", "--remove", "--json", check=False, timeout=300)
        assert done.returncode == 1 and "pinfold: no file of bob is removed, because pinfold could not find out all it needs to know: " in done.stderr, done.stderr
        assert [gap["user"] for gap in json.loads(done.stdout)["gaps_of_users"]] == ["bob"] and json.loads(done.stdout)["gaps"] == []
        assert left.there() == set()


def test_processes_whose_memory_is_locked_hold_up_nobody_elses_files(left):
    """In some kernels, a read of /proc/PID/maps waits for the lock of the process's memory. Newer kernels have a lock for each mapping, so the read
    does not wait."""
    with locked_memories("bob", 6) as locked:
        waits = subprocess.run(["timeout", "2", "cat", f"/proc/{locked[0]}/maps"], stdout=subprocess.DEVNULL).returncode == 124
        done = run("pinfold", "strays", "--files", "--remove", "--json", check=False, timeout=120)
        gaps = json.loads(done.stdout)["gaps_of_users"]
        assert [gap["user"] for gap in gaps] == (["bob"] if waits else []), gaps
        assert all(any(f"process {pid} of user {BOB} cannot be examined" in gap["gap"] for pid in locked) for gap in gaps)
        assert done.returncode == int(waits) and json.loads(done.stdout)["gaps"] == [] and left.there() == set(), done.stderr


def test_nothing_is_removed_when_processes_cant_be_looked_into(left):
    done = run("setpriv", "--inh-caps=-sys_ptrace", "--bounding-set=-sys_ptrace", "pinfold", "strays", "--files", "--remove", check=False)
    assert done.returncode == 1 and "/proc/" in done.stderr and "Permission denied" in done.stderr, done.stderr
    assert left.there() == KINDS


def test_nothing_is_removed_under_a_configuration_that_is_not_understood(left):
    with policy('files = "remove"\nfiles_min_age = "1d"'):
        done = run("pinfold", "strays", "--files", "--mode=configured", check=False)
        assert done.returncode == 1 and "unknown key 'files_min_age'" in done.stderr
    assert left.there() == KINDS


def test_exempt_users_and_groups_keep_their_files(left):
    for key in ('exempt_users = ["alice"]', 'exempt_groups = ["alice"]', 'users = ["bob"]', "min_uid = 1001"):
        with policy(key):
            assert left.listed("--remove") == {}, key
    assert left.listed("--users", "bob") == {}
    assert left.there() == KINDS and left.kept() == dict.fromkeys(KINDS)


def test_modes_for_processes_are_none_for_files():
    done = run("pinfold", "strays", "--files", "--mode=kill", check=False)
    assert done.returncode == 2 and "--mode=kill acts on processes only" in done.stderr


def test_a_directory_that_others_can_rename_in_is_refused(left):
    shared = Path("/srv/open")
    shared.mkdir()
    shared.chmod(0o777)
    with policy('file_directories = ["/tmp", "/srv/open", "/srv/none"]'):
        done = run("pinfold", "strays", "--files", "--remove", check=False)
        assert done.returncode == 1 and "/srv/open: users other than root can rename" in done.stderr and "/srv/none" not in done.stderr
        assert left.there() == KINDS
        shared.chmod(0o1777)
        assert set(left.kept("--remove")) == KINDS - {"shm-file"}
    assert left.there() == {"shm-file"}
    shared.rmdir()


def test_a_link_in_the_directorys_place_does_no_harm(left):
    victim = Path("/srv/victim")
    victim.mkdir()
    Path(victim, "file").write_text("precious")
    for path in (victim, victim / "file"):
        shutil.chown(path, "alice", "alice")
    tree = left.paths["tmp-directory"]
    assert left.kept()["tmp-directory"] is None
    tree.rename("/tmp/elsewhere")
    tree.symlink_to(victim)
    os.chown(tree, UID, UID, follow_symlinks=False)
    run("pinfold", "strays", "--files", "--remove")
    assert Path(victim, "file").read_text() == "precious"
    assert tree.is_symlink() and not Path("/tmp/elsewhere").exists()
    shutil.rmtree(victim)


def test_users_see_their_own_and_remove_nothing(left):
    as_alice = ["setpriv", "--reuid=alice", "--regid=alice", "--clear-groups"]
    listed = json.loads(run(*as_alice, "pinfold", "strays", "--files", "--json").stdout)["files"]
    assert {file["kind"] for file in listed if left.key in file["jobs"]} == KINDS and {file["uid"] for file in listed} == {UID}
    assert {file["kept"] for file in listed} == {"processes"}, "the command itself is one"
    bobs = json.loads(run("setpriv", "--reuid=bob", "--regid=bob", "--clear-groups", "pinfold", "strays", "--files", "--json").stdout)["files"]
    assert bobs == []
    denied = run(*as_alice, "pinfold", "strays", "--files", "--remove", check=False)
    assert denied.returncode == 5 and "only root" in denied.stderr and left.there() == KINDS


def test_named_behind_thousands_of_receipts(left):
    hour = 3_600_000_000
    with sqlite3.connect(HISTORY) as db:
        text, kind = db.execute("SELECT receipt, kind FROM receipts WHERE key = ?", (left.key,)).fetchone()
        receipt = json.loads(text)
        for number in range(2500):
            later = {"id": f"later{number}", "key": f"later.{number}", "uid": UID, "started": receipt["started"] + hour,
                     "ended": receipt["ended"] + hour + number // 3}
            db.execute("INSERT INTO receipts (id, key, uid, ended, receipt, kind) VALUES (?, ?, ?, ?, ?, ?)",
                       (later["id"], later["key"], UID, later["ended"], json.dumps(receipt | later), kind))
    db.close()
    assert left.kept() == dict.fromkeys(KINDS)
    with sqlite3.connect(HISTORY) as db:
        db.execute("DELETE FROM receipts WHERE key LIKE 'later.%'")
    db.close()
