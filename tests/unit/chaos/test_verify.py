# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the chaos check finds the faults that it should find."""

import pytest

import verify
from plan import Item
from probe import Call
from story import Disturbance, Log, Outcome, Story

EXITED = Outcome("exited", 3)
RECEIPT = {"id": "a", "key": "chaos0.5", "uid": 0, "started": 10, "ended": 20, "wall": 10, "result": "exited", "exit_status": 3, "leftovers": 0,
           "tasks": 1}


@pytest.fixture
def story():
    return Story(Item(5, "exits", 1, "root", 1), Log(), 0)


def faults(story, *receipts):
    return verify.check_all([story], receipts)


def test_what_is_right_is_no_fault(story):
    story.admit(EXITED)
    assert faults(story, RECEIPT) == {}


@pytest.mark.parametrize("change, what", [({"result": "lost"}, "ended as"), ({"exit_status": None}, "ended as"), ({"exit_signal": 9}, "ended as"),
                                          ({"uid": 1000}, "of user 1000"), ({"leftovers": 1}, "leftovers 1"), ({"tasks": 2}, "tasks 2"),
                                          ({"ended": 9}, "before it began")])
def test_a_receipt_that_is_wrong(story, change, what):
    story.admit(EXITED)
    assert what in faults(story, {**RECEIPT, **change})[5][0]


def test_lost_and_doubled(story):
    story.admit(EXITED)
    assert "lost: 0 receipts" in faults(story)[5][0]
    assert "doubled: 2 receipts" in faults(story, RECEIPT, {**RECEIPT, "id": "b"})[5][0]


def test_a_refused_job_has_none(story):
    assert faults(story) == {}
    assert "doubled: 1 receipts of chaos0.5, not 0" in faults(story, RECEIPT)[5]


def test_what_may_never_have_run(story):
    story.admit({EXITED, Outcome("lost")}, needed=False)
    assert faults(story) == {}
    assert faults(story, {**RECEIPT, "result": "lost", "exit_status": None, "leftovers": 1}) == {}
    assert 5 in faults(story, {**RECEIPT, "result": "timeout"})


def test_a_key_that_is_used_again_has_a_receipt_for_each_time(story):
    story.admit(EXITED)
    story.admit(Outcome("timeout", None, 15))
    second = {**RECEIPT, "id": "b", "started": 30, "ended": 40, "result": "timeout", "exit_status": None, "exit_signal": 15}
    assert faults(story, second, RECEIPT) == {}
    assert len(faults(story, {**second, "started": 5}, RECEIPT)[5]) == 2, "in another order"


def test_receipts_of_nobody_and_keys_of_two(story):
    other = Story(Item(6, "without_a_key", 1, "root", 1), Log(), 0)
    for each in (story, other):
        each.admit(EXITED, key="manual.1")
    found = verify.check_all([story, other], [{**RECEIPT, "key": "manual.1"}, {**RECEIPT, "id": "b", "key": "manual.2"}])
    assert found[None] == ["a receipt of manual.2, which is no job of ours", "manual.1 was given to two jobs"]


def test_what_the_epilogue_was_told(story):
    story.admit(EXITED)
    story.told = dict(RECEIPT)
    assert faults(story, RECEIPT) == {}
    story.told["wall"] = 11
    assert "the epilogue was told another" in faults(story, RECEIPT)[5][0]


def test_what_the_epilogue_was_told_before_it_was_stored(story):
    stored = {**RECEIPT, "sequence": 7, "epoch": "e"}
    story.admit(EXITED)
    story.told = {**RECEIPT, "sequence": None, "epoch": None}
    assert faults(story, stored) == {}
    story.told["wall"] = 11
    assert "the epilogue was told another" in faults(story, stored)[5][0]
    story.told = {**stored, "sequence": 8}
    assert "the epilogue was told another" in faults(story, stored)[5][0]


@pytest.mark.parametrize("line, bad", [("pinfoldd[7]: unexpected: bad_alloc", True), ("pinfoldd[7]: ==7==ERROR: AddressSanitizer", True),
                                       ("systemd[1]: pinfoldd.service: Main process exited, code=dumped, status=6/ABRT", True),
                                       ("systemd[1]: pinfoldd.service: Watchdog timeout (limit 30s)!", True),
                                       ("systemd[1]: pinfoldd.service: Main process exited, code=killed, status=9/KILL", False),
                                       ("systemd[1]: pinfoldd.service: Unexpected error response from GetNameOwner(): Connection terminated", False),
                                       ("systemd[1]: pinfoldd.service: Unexpected error response from GetNameOwner(): Invalid argument", True),
                                       ("pinfoldd[7]: ready, 3 jobs taken up", False)])
def test_the_journal(line, bad):
    assert bool(verify.journal_faults([line])) == bad


def test_the_loop_waits_only_while_pinfoldd_is_stopped():
    log = Log()
    log.entries += [Disturbance("stop", 100.0, 101.0), Disturbance("bus", 200.0, 201.0)]
    lines = [f"[  {end}] pinfoldd[7]: the loop waited {waited} ms in a system call, in a call from the bus"
             for end, waited in (("50.000001", 400), ("60.000001", 200), ("101.200000", 900), ("201.500000", 900))]
    assert verify.loop_faults([*lines, "[  70.000001] pinfoldd[7]: ready, 3 jobs taken up"], log, most=0.3) == [lines[0], lines[3]]


def test_calls_are_slow_only_when_nothing_excuses_it():
    log = Log()
    log.entries.append(Disturbance("kill", 100.0, 101.0))
    calls = [Call("bob", 50.0, 3.0, 0, ""), Call("bob", 50.0, 1.0, 6, "gone"), Call("bob", 100.5, 3.0, 6, "gone"), Call("bob", 103.0, 31.0, 0, "")]
    said = verify.slow_calls(calls, log, undisturbed=2.0, any_time=30.0)
    assert [fault.split("'s call")[1].split(" ")[:2] for fault in said] == [["", "took"], [":", "status"], ["", "took"]] and len(said) == 3
