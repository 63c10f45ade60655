# SPDX-License-Identifier: LGPL-2.1-or-later
"""These tests check lists that users can make very long. dbus-daemon would disconnect pinfoldd if pinfoldd sent a message of more than 32
MiB."""

import json
import sqlite3
import subprocess

import dbus

from conftest import BUILD, error_name
from test_callers import USER
from test_history import options, run_job
from test_open_job import open_job

LONG = "x" * 4096
PATIENCE = 120


def expect_the_same_pinfoldd(world):
    assert world.daemon.poll() is None, "pinfoldd has gone"


def multiply(world, number, uid=0, **entries):
    """Writes copies of the newest receipt of "sge.1" for the keys sge.2, sge.3 and so on. Up to 700 copies of the receipt have the same time of
    end."""
    with sqlite3.connect(world.root / "var/lib/pinfold/history.db", timeout=60) as history:
        text, kind = history.execute("SELECT receipt, kind FROM receipts WHERE key = 'sge.1'").fetchone()
        receipt = json.loads(text)
        rows = []
        for i in range(2, number + 2):
            receipt.update(id=f"{receipt['id'][:20]}-{i}", key=f"sge.{i}", uid=uid, ended=receipt["started"] + 10**9 + i // 700, **entries)
            rows.append((receipt["id"], receipt["key"], uid, receipt["ended"], json.dumps(receipt, separators=(",", ":")), kind))
        history.executemany("INSERT INTO receipts (id, key, uid, ended, receipt, kind) VALUES (?, ?, ?, ?, ?, ?)", rows)
    history.close()


def all_pages(first, following):
    """Returns the entries of all pages, and the number of pages."""
    pages = [first()]
    while pages[-1] and pages[-1][-1].get("more"):
        assert not any("more" in entry for entry in pages[-1][:-1]), "only the last entry tells"
        pages.append(following(pages[-1][-1]))
    return [entry for page in pages for entry in page], len(pages)


def receipts(world, **filter):
    ask = world.manager().ListReceipts
    return all_pages(lambda: ask(options(**filter), timeout=PATIENCE), lambda last: ask(options(before=str(last["id"]), **filter), timeout=PATIENCE))


def pinfold(world, *words, uid=0):
    with open(BUILD / "src/cli/pinfold", "rb") as program:  # the user may not be able to read the program in its directory
        done = subprocess.run([f"/proc/self/fd/{program.fileno()}", *words], env=world.environment, capture_output=True, text=True, user=uid,
                              timeout=PATIENCE, pass_fds=[program.fileno()])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_receipts_that_an_earlier_pinfold_left_large(world):
    """Each of the 170 receipts has 50 command lines of 4 KiB. A message of 32 MiB has no room for all 170 receipts."""
    run_job(world, "sge.1")
    multiply(world, 170, leftovers=50, leftover_commands=[LONG] * 50)
    found, _ = receipts(world, limit=dbus.UInt32(170))
    assert [str(receipt["key"]) for receipt in found] == [f"sge.{i}" for i in range(171, 1, -1)]
    assert all(len(receipt["leftover_commands"]) == 50 and receipt["leftover_commands"][0].endswith("x…") for receipt in found)
    assert world.manager().GetReceipt("sge.7")["leftovers"] == 50
    expect_the_same_pinfoldd(world)


def test_receipts_with_very_many_tasks(world):
    run_job(world, "sge.1")
    task = {"number": 1, "kind": "task", "command": "x" * 60, "started": 1, "ended": 2, "cpu": 3, "memory_peak": 4, "exact": True}
    multiply(world, 240, tasks=64, task_list=[{**task, "number": number} for number in range(64)])
    found, pages = receipts(world, limit=dbus.UInt32(1000))
    assert [str(receipt["key"]) for receipt in found] == [f"sge.{i}" for i in range(241, 0, -1)]
    assert all([task["number"] for task in receipt["task_list"]] == list(range(64)) for receipt in found[:-1])
    assert pages > 5, "the entries of the tasks count, because the time of an answer depends on them"
    expect_the_same_pinfoldd(world)


def test_thousands_of_receipts_come_in_pages(world):
    run_job(world, "sge.1")
    multiply(world, 2500)
    keys = [f"sge.{i}" for i in range(2501, 0, -1)]
    found, pages = receipts(world, limit=dbus.UInt32(10000))
    assert [str(receipt["key"]) for receipt in found] == keys
    assert pages >= 10, "the loop has other things to do between them"
    found, pages = receipts(world)
    assert [str(receipt["key"]) for receipt in found] == keys[:100] and pages == 1, "what nobody asked more of is whole"
    kinds = receipts(world, limit=dbus.UInt32(10000), scheduler="sge", failed=True, unknown=True)[0]
    assert [str(receipt["key"]) for receipt in kinds] == keys, "merged of several indexes"
    assert world.manager().ListReceipts(options(before="there was none")) == []
    assert error_name(lambda: world.manager().ListReceipts(options(before=dbus.UInt32(1)))) == "org.pinfold1.Error.InvalidArgument"
    shown = pinfold(world, "history", "--json", "-n", "2300")["receipts"]
    assert [receipt["key"] for receipt in shown] == keys[:2300]


def test_an_ordinary_user_gets_all_of_theirs_though_it_takes_a_while(world):
    run_job(world, "sge.1")
    multiply(world, 1500, uid=USER)
    shown = pinfold(world, "history", "--json", "-n", "10000", uid=USER)["receipts"]
    assert [receipt["key"] for receipt in shown] == [f"sge.{i}" for i in range(1501, 1, -1)]


def fill(world, key, number, command):
    """Adds `number` processes to the job: writes the files in which the kernel would show the processes. The leader is a real process, and the other
    processes exist only in files."""
    leader = world.process()
    world.create(key, leader)
    proc = world.root / "proc"
    files = {name: (proc / str(leader.pid) / name).read_bytes() for name in ("stat", "status", "cgroup")}
    pids = range(5_000_000, 5_000_000 + number)
    for pid in pids:
        directory = proc / str(pid)
        directory.mkdir()
        (directory / "cmdline").write_bytes(command)
        for name, content in files.items():
            (directory / name).write_bytes(content.replace(b"%d " % leader.pid, b"%d " % pid) if name == "stat" else content)
    scope = world.root / f"sys/fs/cgroup/batch.slice/batch-{key}.slice/job-{key}.scope/cgroup.procs"
    scope.write_text("".join(f"{pid}\n" for pid in reversed(pids)) + f"{leader.pid}\n")
    return [leader.pid, *pids]


def test_processes_with_long_names_come_in_pages(world):
    """A list of 8,200 processes does not fit into one message of 32 MiB if each name has 4096 bytes. pinfoldd returns a long list in pages of less
    than 4 MiB."""
    pids = fill(world, "sge.1", 2500, LONG.encode())
    manager = world.manager()
    found, pages = all_pages(lambda: manager.ListProcesses("sge.1", timeout=PATIENCE),
                             lambda last: manager.ListMoreProcesses("sge.1", dbus.UInt32(last["pid"]), timeout=PATIENCE))
    assert [int(process["pid"]) for process in found] == pids and pages == 3
    assert len(pinfold(world, "ps", "sge.1", "--json")["processes"]) == 2501
    expect_the_same_pinfoldd(world)


def test_a_list_of_jobs_goes_on_after_any_key(world):
    """pinfoldd can list the jobs after a given key even if the job with this key has ended."""
    keys = [f"bus.{i}" for i in range(5)]
    for key in keys:
        open_job(world, key)
    manager = world.manager()
    for after, rest in (("", keys), ("bus.1", keys[2:]), ("bus.20", keys[3:]), ("bus.4", [])):
        assert [str(job["key"]) for job in manager.ListMoreJobs(after)] == rest
    assert [str(job["key"]) for job in manager.ListJobs()] == keys
    assert [job["key"] for job in pinfold(world, "list", "--json")["jobs"]] == keys
