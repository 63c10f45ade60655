# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests queries of the history, removals of receipts, and a history file that an older pinfold wrote."""

import itertools
import json
import select
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import dbus
import pytest
from schemas import expect_document

from conftest import BUILD, error_name, wait_until
from old_history import OLD_SCHEMA
from test_callers import USER, as_user

sys.path.append(str(Path(__file__).resolve().parents[2] / "src/python"))
import pinfold as pinfold_module  # noqa: E402

ERROR = "org.pinfold1.Error."


def options(**entries):
    return dbus.Dictionary(entries, signature="sv")


def keys(world, **entries):
    return [str(receipt["key"]) for receipt in world.manager().ListReceipts(options(**entries))]


def run_job(world, key, stop=False):
    process = world.process()
    world.create(key, process)
    if stop:
        world.manager().StopJob(key, options())
    world.end(key, process)


def test_filters(world):
    run_job(world, "sge.1")
    run_job(world, "pbs.1", stop=True)
    run_job(world, "sge.2", stop=True)
    assert keys(world) == ["sge.2", "pbs.1", "sge.1"]
    assert keys(world, result="stopped") == ["sge.2", "pbs.1"]
    assert keys(world, result="stopped", scheduler="sge") == ["sge.2"]
    assert keys(world, scheduler="sg") == []
    assert keys(world, failed=True) == ["sge.2", "pbs.1"], "somebody stopped them"
    assert keys(world, unknown=True) == ["sge.1"], "nobody said how it exited"
    assert keys(world, failed=True, unknown=True) == ["sge.2", "pbs.1", "sge.1"]
    assert keys(world, failed=False, leftovers=False) == ["sge.2", "pbs.1", "sge.1"]
    assert keys(world, leftovers=True, result="lost") == []


def test_a_report_that_comes_late_is_in_the_receipt_from_then_on(world):
    run_job(world, "sge.1")
    before = world.manager().GetReceipt("sge.1")
    assert "exit_signal" not in before and keys(world, unknown=True) == ["sge.1"]
    amended = world.manager().EndJob("sge.1", options(exit_signal=dbus.Int32(9)))
    assert (amended["id"], amended["result"], amended["exit_signal"]) == (before["id"], "signaled", 9)
    assert world.manager().GetReceipt("sge.1") == amended
    assert keys(world, unknown=True) == [] and keys(world, failed=True, result="signaled") == ["sge.1"]
    assert world.manager().EndJob("sge.1", options(exit_status=dbus.Int32(0))) == amended, "once"


def test_a_job_waits_for_the_report_that_is_announced(world):
    process = world.process()
    world.create("sge.1", process, options(report_within=dbus.UInt64(600_000_000)))
    process.kill()
    process.wait()
    wait_until(lambda: world.live() == {"sge.1": "ending"}, "its end is seen")
    receipt = world.manager().EndJob("sge.1", options(exit_status=dbus.Int32(3)))
    assert (receipt["result"], receipt["exit_status"]) == ("exited", 3)


@pytest.mark.parametrize("entry", [{"result": "crashed"}, {"result": dbus.UInt32(1)}, {"scheduler": "sge.1"}, {"scheduler": ""},
                                   {"failed": "yes"}, {"unknown": 1}, {"leftovers": dbus.UInt32(1)}, {"failedOnly": True}])
def test_filters_that_are_refused(world, entry):
    assert error_name(lambda: world.manager().ListReceipts(options(**entry))) == ERROR + "InvalidArgument"


def test_only_an_administrator_asks_for_the_receipts_of_another_user(world):
    run_job(world, "sge.1")
    assert keys(world, uid=dbus.UInt32(0)) == ["sge.1"]
    theirs = "len(m.ListReceipts(dbus.Dictionary({'uid': dbus.UInt32(%d)}, signature='sv')))"
    assert as_user(world, theirs % 0) == ERROR + "Denied"
    assert as_user(world, theirs % USER) == "0"


def run_job_with(world, key, **entries):
    process = world.process()
    world.create(key, process, options(**entries))
    return world.end(key, process)


def test_a_receipt_says_whose_the_job_was_and_where(world):
    world.configure('[daemon]\ncluster = "blue"\n')
    receipt = run_job_with(world, "sge.1", slots=dbus.UInt64(4), job_name="train\nme", account="physics", queue="batch.q", array_job=dbus.UInt64(12),
                           array_task=dbus.Int32(3), run=dbus.UInt32(0), nodes=dbus.Array(["node1", "node2"], signature="s"),
                           node_count=dbus.UInt64(2), labels=dbus.Dictionary({"project": "x"}, signature="ss"))
    assert (receipt["slots"], receipt["job_name"], receipt["account"], receipt["queue"]) == (4, "train\\x0ame", "physics", "batch.q")
    assert (receipt["array_job"], receipt["array_task"], receipt["run"], receipt["node_count"]) == (12, 3, 0, 2)
    assert receipt["nodes"] == ["node1", "node2"] and receipt["labels"] == {"project": "x"}
    assert receipt["host"] == socket.gethostname() and receipt["cluster"] == "blue"
    assert receipt["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert receipt["version"] and receipt["sequence"] == 1 and len(receipt["epoch"]) == 16
    assert "project" not in receipt and "submit_host" not in receipt
    assert world.manager().GetReceipt("sge.1") == receipt


def ask_the_archive(world, *words):
    """Runs the command line on a host whose configuration sets the key archive.ask. No service of the archive runs on this host."""
    (world.root / "etc/pinfold").mkdir(parents=True, exist_ok=True)
    (world.root / "etc/pinfold/pinfold.toml").write_text('[archive]\nserver = "archive.example.org"\nask = true\n')
    done = subprocess.run(["unshare", "--mount", "bash", "-c", 'mount --bind "$0/etc" /etc && exec "$@"', world.root, BUILD / "src/cli/pinfold", *words],
                          env=world.environment, capture_output=True, text=True)
    assert done.returncode == 6 and "the archive of receipts is not reachable" in done.stderr, done
    return done.stderr


def test_a_host_names_the_hosts_of_its_job_if_the_archive_is_down(world):
    many = [f"node{n}" for n in range(12)]
    run_job_with(world, "slurm.1", nodes=dbus.Array(["node1", "n\u202eode2"], signature="s"), node_count=dbus.UInt64(2))
    run_job_with(world, "slurm.2", nodes=dbus.Array(many, signature="s"), node_count=dbus.UInt64(3000))
    run_job_with(world, "slurm.3")
    for verb in ("why", "show", "plot"):
        assert "; job slurm.1 ran on node1, n\\xe2\\x80\\xaeode2: each" in ask_the_archive(world, verb, "slurm.1")
    assert "; job slurm.1 ran on node1, " in ask_the_archive(world, "why", "1"), "the id without the batch system"
    assert "; job slurm.1 ran on node1, " in ask_the_archive(world, "history", "--job", "slurm.1")
    assert "ran on node0, node1, node2, node3, node4 and 2995 more: each" in ask_the_archive(world, "why", "slurm.2")
    assert f"; job slurm.3 ran on {socket.gethostname()}: each" in ask_the_archive(world, "why", "slurm.3")
    for words in (["why", "slurm.4"], ["history"]):
        assert "ran on" not in ask_the_archive(world, *words)


@pytest.mark.parametrize("entries", [{"labels": dbus.Dictionary({"a b": "x"}, signature="ss")}, {"labels": "a=b"}, {"account": dbus.UInt32(1)},
                                     {"labels": dbus.Dictionary({"a": "x\ny"}, signature="ss")}, {"nodes": "node1"}, {"run": dbus.Int32(-1)},
                                     {"labels": dbus.Dictionary({"n%d" % n: "" for n in range(17)}, signature="ss")}])
def test_facts_that_are_refused(world, entries):
    process = world.process()
    assert error_name(lambda: world.create("sge.1", process, options(**entries))) == ERROR + "InvalidArgument"
    assert world.live() == {}


def test_the_python_module_passes_facts_and_reads_them(world):
    node = pinfold_module.Pinfold(world.bus)
    process = world.process()
    node.create_job("sge.1", process.pid, labels={"project": "x"}, nodes=["node1", "node2"], run=1)
    process.kill()
    process.wait()
    receipt = node.end_job("sge.1")
    assert receipt["labels"] == {"project": "x"} and receipt["nodes"] == ["node1", "node2"] and receipt["run"] == 1


def test_labels_are_found(world):
    run_job_with(world, "sge.1", labels=dbus.Dictionary({"project": "x"}, signature="ss"))
    run_job_with(world, "sge.2", labels=dbus.Dictionary({"project": "y"}, signature="ss"))
    run_job(world, "sge.3")
    assert keys(world, label="project") == ["sge.2", "sge.1"]
    assert keys(world, label="project=x") == ["sge.1"]
    assert keys(world, label="x") == []
    assert error_name(lambda: keys(world, label="no such name")) == ERROR + "InvalidArgument"


def test_a_reader_goes_on_after_the_last_receipt_that_it_has(world):
    for number in range(3):
        run_job(world, f"sge.{number}")
    assert keys(world, after=dbus.UInt64(0)) == ["sge.0", "sge.1", "sge.2"]
    assert keys(world, after=dbus.UInt64(2)) == ["sge.2"]
    assert keys(world, after=dbus.UInt64(0), limit=dbus.UInt32(2)) == ["sge.0", "sge.1"]
    last = world.manager().ListReceipts(options())[0]
    assert keys(world, after=last["sequence"], epoch=last["epoch"]) == []
    assert keys(world, after=last["sequence"], epoch="another") == ["sge.0", "sge.1", "sge.2"]
    assert error_name(lambda: keys(world, after=dbus.UInt64(1), before="x")) == ERROR + "InvalidArgument"
    world.daemon.terminate()
    assert world.daemon.wait(20) == 0
    world.daemon = world.start_daemon()
    run_job(world, "sge.3")
    assert keys(world, after=last["sequence"], epoch=last["epoch"]) == ["sge.3"], "a restart leaves no gap"


def pinfold(world, *arguments):
    done = subprocess.run([BUILD / "src/cli/pinfold", *arguments], env=world.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_history_for_programs(world):
    run_job_with(world, "sge.1", labels=dbus.Dictionary({"project": "x"}, signature="ss"))
    run_job(world, "sge.2")
    lines = [json.loads(line) for line in pinfold(world, "history", "--after", "0", "--json=lines").splitlines()]
    assert [(line["schema"], line["key"], line["sequence"]) for line in lines] == [(1, "sge.1", 1), (1, "sge.2", 2)]
    assert lines[0]["labels"] == {"project": "x"} and lines[1]["labels"] == {} and lines[1]["account"] is None
    later = json.loads(pinfold(world, "history", "--after", "1", "--epoch", lines[0]["epoch"], "--json"))
    assert [receipt["key"] for receipt in later["receipts"]] == ["sge.2"]
    assert "sge.1" in pinfold(world, "history", "--label", "project=x") and "sge.2" not in pinfold(world, "history", "--label", "project")
    page = pinfold(world, "why", "sge.1")
    assert "labels       project=x" in page and f"host         {socket.gethostname()}" in page


def test_followers_get_each_receipt_once_and_also_after_a_restart(world):
    run_job(world, "sge.1")
    follower = subprocess.Popen([BUILD / "src/cli/pinfold", "history", "--follow", "--after", "0", "--json"], env=world.environment, bufsize=0,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    world.processes.append(follower)

    def line():
        assert select.select([follower.stdout], [], [], 60)[0], "no line"
        document = json.loads(follower.stdout.readline())
        expect_document(document, "history-line")
        return document
    assert line()["key"] == "sge.1"
    run_job(world, "sge.2")
    assert line()["key"] == "sge.2"
    process = world.process()
    world.create("sge.3", process)
    world.daemon.kill()
    world.daemon.wait()
    process.kill()
    process.wait()
    world.daemon = world.start_daemon()
    assert line()["key"] == "sge.3"
    run_job(world, "sge.4")
    assert line()["sequence"] == 4
    assert not select.select([follower.stdout], [], [], 0)[0], "each once"
    follower.stdout.close()


def test_a_follower_without_a_place_begins_with_the_next_receipt(world):
    run_job(world, "sge.1")
    follower = subprocess.Popen([BUILD / "src/cli/pinfold", "history", "--follow"], env=world.environment, bufsize=0, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
    world.processes.append(follower)
    numbers = itertools.count(2)

    def hears():
        run_job(world, f"sge.{next(numbers)}")
        return select.select([follower.stdout], [], [], 0.2)[0]
    wait_until(hears, "it listens")
    assert follower.stdout.readline().split()[0] == b"ENDED"
    assert b"sge.1 " not in follower.stdout.readline()
    follower.stdout.close()


def test_vacuum(world):
    run_job(world, "sge.1")
    vacuum = world.manager().VacuumHistory
    removed, size = vacuum(options())
    assert removed == 0 and size > 0, "within the configured limits"
    assert error_name(lambda: vacuum(options(max_age="1d"))) == ERROR + "InvalidArgument"
    assert error_name(lambda: vacuum(options(max_rows=dbus.UInt32(1)))) == ERROR + "InvalidArgument"
    assert as_user(world, "m.VacuumHistory(none)") == ERROR + "Denied"
    assert keys(world) == ["sge.1"]
    assert vacuum(options(max_age=dbus.UInt64(0)))[0] == 1
    assert keys(world) == []


def copy_receipt(world, copies):
    """The history contains one receipt, and the function adds copies of this receipt. Each copy of the receipt is an hour older than the previous
    copy."""
    db = sqlite3.connect(world.root / "var/lib/pinfold/history.db", timeout=60)
    with db:
        db.execute("""WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ?)
                      INSERT INTO receipts (number, id, key, uid, ended, receipt, kind)
                      SELECT number + n, id || n, key, uid, ended - 3600000000 * n, receipt, kind FROM receipts, copies""", (copies,))
    db.close()


def number_of_receipts(world):
    db = sqlite3.connect(world.root / "var/lib/pinfold/history.db", timeout=60)
    [(number,)] = db.execute("SELECT count(*) FROM receipts").fetchall()
    db.close()
    return number


def vacuum_by_hand(world, *words):
    done = subprocess.run([BUILD / "src/cli/pinfold", "vacuum", *words], env=world.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_dry_run_of_vacuum_has_the_figures_of_the_removal_that_follows(world):
    run_job(world, "sge.1")
    copy_receipt(world, 1000)
    size = world.manager().VacuumHistory(options())[1]
    for words in (["--max-size", str(size // 2)], ["--max-age", "6030min"]):
        before = number_of_receipts(world)
        dry = json.loads(vacuum_by_hand(world, *words, "--dry-run", "--json"))
        said = vacuum_by_hand(world, *words, "--dry-run")
        assert number_of_receipts(world) == before
        real = json.loads(vacuum_by_hand(world, *words, "--json"))
        assert 100 < real["removed"] == before - number_of_receipts(world)
        assert dry == {**real, "dry_run": True} and real["dry_run"] is False
        assert said.startswith(f"Dry run; nothing was changed:\n{real['removed']} receipts would be removed; the remaining receipts would take ")
    assert error_name(lambda: world.manager().VacuumHistory(options(dry_run="yes"))) == ERROR + "InvalidArgument"
    assert as_user(world, "m.VacuumHistory(dbus.Dictionary({'dry_run': True}, signature='sv'))") == ERROR + "Denied"


def make_old(directory):
    """Changes the tables of history.db to those of schema 1, and keeps the receipt that history.db contains."""
    with sqlite3.connect(directory / "history.db") as new:
        rows = new.execute("SELECT id, key, uid, ended, receipt FROM receipts").fetchall()
    new.close()
    for file in directory.iterdir():
        file.unlink()
    with sqlite3.connect(directory / "history.db") as old:
        old.executescript(OLD_SCHEMA)
        old.executemany("INSERT INTO receipts (id, key, uid, ended, receipt) VALUES (?, ?, ?, ?, ?)", rows)
    old.close()
    assert len(rows) == 1


def test_a_start_that_migrates_asks_for_time(world):
    """If pinfoldd did not ask systemd for more time, the start time-out of the unit would end the migration. If the start time-out ended the
    migration, the next start of pinfoldd would repeat the whole migration."""
    run_job(world, "sge.1")
    world.daemon.terminate()
    assert world.daemon.wait(20) == 0
    make_old(world.root / "var/lib/pinfold")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as notified:
        notified.bind(str(world.directory / "notify"))
        world.environment["NOTIFY_SOCKET"] = str(world.directory / "notify")
        world.daemon = world.start_daemon()
        said = []

        def ready():
            try:
                said.append(notified.recv(4096).decode())
            except BlockingIOError:
                pass
            return said and said[-1].startswith("READY=1")
        wait_until(ready, "READY=1")
    assert said[0].startswith("EXTEND_TIMEOUT_USEC=3600000000\nSTATUS=converting the receipts of an older pinfold")
    assert keys(world, scheduler="sge") == ["sge.1"]


def test_a_profile_is_there_while_the_job_runs_and_afterwards(world):
    def lengths():
        return [int(length) for length in world.manager().GetProfile("sge.1")["lengths"]]

    process = world.process()
    begun = time.monotonic()
    world.create("sge.1", process)
    assert lengths() == [] or time.monotonic() - begun > 1, "pinfoldd looks at a job for the first time when the job is a second old"
    assert as_user(world, "m.GetProfile('sge.1')") == ERROR + "Denied"
    wait_until(lengths, "a look at the job")
    world.end("sge.1", process)
    profile = world.manager().GetProfile("sge.1")
    receipt = world.manager().GetReceipt("sge.1")
    assert abs(sum(profile["lengths"]) - receipt["wall"]) < 1000 * len(profile["lengths"]), "it covers the whole time"
    assert {len(numbers) for numbers in profile.values()} == {len(profile["lengths"])}
    assert set(profile) == {"lengths"} | {f"{name}_{kind}" for kind in ("mean", "max")
                                          for name in ("anon", "shmem", "cache", "cpu", "io", "tasks", "memory_pressure")}
    assert error_name(lambda: world.manager().GetProfile("sge.2")) == ERROR + "NoSuchReceipt"
    assert as_user(world, "m.GetProfile('sge.1')") == ERROR + "NoSuchReceipt", "of his own there is none"
