# SPDX-License-Identifier: LGPL-2.1-or-later
"""One user makes pinfoldd log more lines than journald accepts. The journal still gets pinfoldd's entries about other users."""

import contextlib
import json
import subprocess
from pathlib import Path

from jobs import as_alice, expect_nothing_left, finish, journal, read_journal, receipts, run, start_job, wait_for_entries, wait_until

TASKS, LEFT = 8, 50
COMMAND = 20_000  # bytes


@contextlib.contextmanager
def journald_takes(lines):
    """Makes journald accept only `lines` lines per 30 s from each service. If the disk is large, journald multiplies the limit by a small number."""
    file = Path("/etc/systemd/journald.conf.d/few.conf")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[Journal]\nRateLimitIntervalSec=30s\nRateLimitBurst={lines}\n")
    run("systemctl", "restart", "systemd-journald")
    try:
        yield
    finally:
        file.unlink()
        run("systemctl", "restart", "systemd-journald")


def leave_behind():
    """Runs a task of alice's job. The task leaves processes behind, and the constant LEFT is the number of these processes."""
    task = subprocess.Popen([*as_alice("pinfold-run", "--task", "--job", "journal.alice", "--", "bash", "-c",
                                       f'trap "" TERM; for i in $(seq {LEFT}); do (exec -a "$0" sleep 1000) & done', "x" * COMMAND)], stdin=subprocess.DEVNULL)
    assert task.wait(timeout=120) == 0


@contextlib.contextmanager
def alices_job():
    run("pinfold", "open", "journal.alice", "--uid", "alice", "--linger", "infinity", "--kill-grace", "2s")
    try:
        yield
    finally:
        run("pinfold", "end", "journal.alice")


def test_a_flood_of_leftovers_hides_no_line_about_another_job():
    with journald_takes(20), alices_job():
        for _ in range(TASKS):
            leave_behind()
        assert finish(start_job("journal.other", "true"))[0] == 0
        # One thread of pinfoldd writes all entries in the order of the events. When the journal has the entry about the end of journal.other,
        # pinfoldd has already written the entries about the leftovers of journal.alice.
        ended = wait_for_entries("journal.other", "job-ended")
        assert [entry["PINFOLD_RESULT"] for entry in ended] == ["exited"]
        assert 100 < len(journal("journal.alice", "leftover")) < TASKS * LEFT, "as many as a megabyte has room for"
        unsaid = wait_until(lambda: all_of("leftovers-unsaid"), "what was left out is counted")
        assert [entry["PINFOLD_UID"] for entry in unsaid] == ["1000"]
    assert receipts("journal.alice")[0]["leftovers"] == TASKS * LEFT
    expect_nothing_left()


def all_of(event):
    return [json.loads(line) for line in read_journal("-o", "json", "_UID=0", f"PINFOLD_EVENT={event}").splitlines()]
