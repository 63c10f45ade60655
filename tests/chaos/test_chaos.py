# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs jobs of all kinds. While the jobs run, the test kills, stops, restarts and reloads other programs of the node. The test also fills up the
node's disks. The node must not lose a job, count a job twice or leave a job behind. Each job must end in a way that the job's kind allows. If
PINFOLD_CHAOS_SEED contains the seed of an earlier run, the run makes the same decisions as the earlier run. PINFOLD_CHAOS_JOBS is the number of
jobs."""

import json
import os
import random
import statistics
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import disturbances
import kinds
import plan
import sanitizers
import verify
from asking import TAG, identity
from calls import MOST
from disturbances import Disturber, MOST_DUE, STATE
from jobs import BATCH, busy, daemon_ready, leftovers_of_pinfold, run, text_of, wait_until
from probe import Probe
from story import Log, Story

LANES = 16
STORIES_TOLD = 10
UNDISTURBED_CALL, ANY_CALL = 2.0, 30.0  # seconds
LOOP_WAIT = 0.1  # the longest allowed wait of pinfoldd's loop in seconds, on a machine that is not busy
PROGRESS = Path("/results/progress")
SET_ASIDE = Path("/run/pinfold/receipts")


class Chaos:
    """Makes one run of a plan, and stores the state in which the run left the node."""

    def __init__(self, seed, jobs):
        self.plan = plan.make(seed, jobs, kinds.WEIGHTS, disturbances.WEIGHTS)
        self.log = Log()
        self.stories = []
        self.disturber = Disturber(self.plan.events, self.log)
        self.probe = Probe()
        self._lock = threading.Lock()

    def run(self):
        begin = time.monotonic()
        self.disturber.start()
        self.probe.start()
        with ThreadPoolExecutor(LANES) as lanes:
            list(lanes.map(self.one, self.plan.items))
        self.seconds = time.monotonic() - begin
        self.busy = busy()
        self.disturber.finish()
        self.probe.finish()
        daemon_ready()
        self.left = left_behind()
        wait_until(lambda: not list(SET_ASIDE.glob("*")), "the receipts that were set aside while the disk was full are written")
        self.receipts = all_receipts(self.stories)
        run("journalctl", "--sync")
        # The time stamps of `journalctl -o short-monotonic` and the log of the disturbances use the same clock.
        self.journal = run("journalctl", "-b", "-o", "short-monotonic", "--no-hostname", "-u", "pinfoldd").stdout.splitlines()
        self.faults = verify.check_all(self.stories, self.receipts)

    def one(self, item):
        self.disturber.begun(item.size)
        story = Story(item, self.log, identity(item.user).get("user", 0))
        try:
            kinds.BY_NAME[item.kind](story)
        except Exception:
            story.fault(traceback.format_exc())
        story.end = time.monotonic()
        with self._lock:
            self.stories.append(story)
            with PROGRESS.open("a", encoding="utf-8") as progress:
                progress.write(f"{item.number} {item.kind} {story.end - story.begin:.3f} s{''.join(f' WRONG: {text}' for text in story.wrong)}\n")

    def tell(self, number):
        story, = [story for story in self.stories if story.item.number == number]
        keys = {story.key, *(attempt.key for attempt in story.attempts)}
        found = [receipt for receipt in self.receipts if receipt["key"] in keys]
        lines = [line for key in sorted(keys) for line in run("journalctl", "-b", "-o", "short-precise", "--no-hostname",
                                                             f"PINFOLD_JOB={key}").stdout.splitlines()]
        return "\n".join([*(f"FAULT: {text}" for text in self.faults.get(number, [])), story.tell(found, lines)])

    def summary(self):
        refused = sum(story.refused for story in self.stories)
        times = sorted(call.seconds for call in self.probe.calls)
        return [f"chaos: seed {self.plan.seed}, {self.plan.jobs} jobs, {refused} refused, {len(self.receipts)} receipts, "
                f"{len(self.log.entries)} disturbances; {self.seconds:.0f} s, {self.plan.jobs / self.seconds:.1f} jobs a second; "
                f"others' calls: median {statistics.median(times):.3f} s, slowest {times[-1]:.3f} s"]


def all_receipts(stories):
    """One answer contains a limited number of receipts, so the function asks for the receipts of each scheduler and user separately. The result
    includes the newest receipts of each user and each scheduler. all_receipts() returns every new receipt, even a receipt that does not belong to a
    job of the run."""
    schedulers = {story.key.split(".")[0] for story in stories} | {"manual"}
    found = {receipt["id"]: receipt for scheduler in schedulers for user in plan.USERS
             for receipt in history("--scheduler", scheduler, "--user", user)}
    return list({**{receipt["id"]: receipt for receipt in history()}, **found}.values())


def history(*options):
    return json.loads(run("pinfold", "history", "--json", "-n", "10000", *options, timeout=120).stdout)["receipts"]


def tagged():
    """Returns the processes that have the variable TAG in their environment. Only processes of the run's jobs have the variable TAG."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"{TAG}=".encode() in (entry / "environ").read_bytes():
                    found.append((entry.name, (entry / "cmdline").read_bytes(), (entry / "cgroup").read_text()))
            except OSError:
                pass
    return found


def left_behind():
    def nothing():
        return not leftovers_of_pinfold() and not tagged()
    try:
        wait_until(nothing, "nothing left", deadline=60)
    except AssertionError:
        return [*leftovers_of_pinfold(), *tagged()]
    return []


@pytest.fixture(scope="module")
def small_disk():
    """Puts the history on a small file system, which a test can fill up. The file system has room for all receipts of the run."""
    jobs = int(os.environ.get("PINFOLD_CHAOS_JOBS", "2000"))
    run("systemctl", "stop", "pinfoldd.socket", "pinfoldd")
    sanitizers.prepare()
    STATE.mkdir(mode=0o700, exist_ok=True)
    run("mount", "-t", "tmpfs", "-o", f"mode=0700,size={(32 << 20) + jobs * 8192}", "pinfold-chaos", STATE)
    run("systemctl", "start", "pinfoldd.socket", "pinfoldd")
    daemon_ready()
    return jobs


@pytest.fixture(scope="module")
def chaos(request, small_disk):
    Path("/etc/pinfold/pinfold.toml.d").mkdir(parents=True, exist_ok=True)
    # With all lanes at work, PID 1 can need about a second until it sends SIGTERM, even if nothing disturbs PID 1.
    Path("/etc/pinfold/pinfold.toml.d/chaos.toml").write_text(
        '[jobs]\nallow_user_jobs = true\nkill_grace = "2s"\n\n[history]\npatience = "2s"\n', encoding="utf-8")
    run("systemctl", "restart", "pinfoldd")
    daemon_ready()
    seed = int(os.environ.get("PINFOLD_CHAOS_SEED", random.SystemRandom().randrange(1 << 31)))
    PROGRESS.write_text(f"seed {seed}\n", encoding="utf-8")
    done = Chaos(seed, small_disk)
    done.run()
    request.config.chaos_summary = done.summary()
    return done


def test_each_job_ended_as_it_may_and_has_its_receipt(chaos):
    numbers = [number for number in chaos.faults if number is not None]
    told = "\n\n".join(chaos.tell(number) for number in sorted(numbers)[:STORIES_TOLD])
    Path("/results/stories").write_text("\n\n".join(chaos.tell(number) for number in sorted(numbers)), encoding="utf-8")
    assert not numbers, f"seed {chaos.plan.seed}: {len(numbers)} stories are wrong, all of them are in stories:\n{told}"


def test_no_receipt_is_nobodys(chaos):
    assert chaos.faults.get(None, []) == [], f"seed {chaos.plan.seed}"


def test_nothing_is_left(chaos):
    assert chaos.left == [], f"seed {chaos.plan.seed}"
    assert "populated 1" not in text_of(BATCH / "cgroup.events")
    failed = run("systemctl", "--failed", "--no-legend", "--plain").stdout.splitlines()
    assert [line for line in failed if "job-" in line or "batch-" in line or "pinfold" in line] == []


def test_what_was_done_was_done(chaos):
    assert chaos.disturber.failures == [], f"seed {chaos.plan.seed}"
    # If all jobs are over, the Disturber begins no more disturbances. The log lacks a disturbance at the end of the plan if this disturbance never
    # began.
    assert len(chaos.log.entries) >= len(chaos.plan.events) * 0.9 - MOST_DUE


def test_others_are_answered(chaos):
    undisturbed = max(UNDISTURBED_CALL, MOST * chaos.busy)
    assert verify.slow_calls(chaos.probe.calls, chaos.log, undisturbed, ANY_CALL) == [], f"seed {chaos.plan.seed}"


def test_the_journal_has_nothing_unexpected(chaos):
    assert verify.journal_faults(chaos.journal) == [], f"seed {chaos.plan.seed}"


def test_the_loop_never_waits(chaos):
    """The loop sometimes waits for a lock in the kernel. The process that holds the kernel's lock perhaps waits for a processor. On a busier machine,
    the process that holds the lock waits longer for a processor."""
    assert verify.loop_faults(chaos.journal, chaos.log, LOOP_WAIT * chaos.busy) == [], f"seed {chaos.plan.seed}"
