# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what is left of a node's jobs after a reboot and after a reset (scenario.py)."""

import json
from collections import Counter

import pytest

from scenario import NUMBER, OLD_ENOUGH, STATE, WAYS, keys

REBOOT, RESET = range(len(WAYS))
BOTH = pytest.mark.parametrize("boot", [REBOOT, RESET], ids=["reboot", "reset"])
MICROSECONDS = 1_000_000


def before(boot):
    return json.loads((STATE / f"before-{boot}.json").read_text())


def after(boot):
    return json.loads((STATE / f"after-{boot}.json").read_text())


def of(boot, kind):
    """Returns the receipts of the jobs that belong to this boot and this kind. The result maps the key of the job to the receipt. Each job has at
    most one receipt."""
    found = [receipt for receipt in after(boot)["receipts"] if receipt["key"] in keys(kind, boot)]
    assert [key for key, number in Counter(receipt["key"] for receipt in found).items() if number > 1] == []
    return {receipt["key"]: receipt for receipt in found}


@BOTH
def test_the_node_was_full(boot):
    assert before(boot)["states"] == {**dict.fromkeys(keys("run", boot), "running"), **dict.fromkeys(keys("end", boot), "ending"),
                                      **dict.fromkeys(keys("start", boot), "creating")}
    assert len(before(boot)["states"]) == 4 * NUMBER


@BOTH
def test_all_but_those_being_started_began_a_second_before(boot):
    ages = {key: before(boot)["down"] - began for key, began in before(boot)["began"].items()}
    assert sorted(ages) == sorted([*keys("run", boot), *keys("end", boot)])
    assert min(ages.values()) >= OLD_ENOUGH, ages
    assert set(before(boot)["rows"]).isdisjoint(keys("over", boot))


@BOTH
def test_what_ran_has_one_receipt(boot):
    found = of(boot, "run")
    assert sorted(found) == sorted(keys("run", boot))
    assert {receipt["result"] for receipt in found.values()} == {("node-shutdown", "node-lost")[boot]}


def test_what_ran_at_a_reboot_says_so_once():
    for key in keys("run", REBOOT):
        [line] = (STATE / f"{key}.err").read_text().splitlines()
        assert line.startswith(f"pinfold: job {key} on ")
        assert " was stopped: the node is being shut down. It ran for " in line


@BOTH
def test_what_was_ending_has_one_receipt(boot):
    found = of(boot, "end")
    assert sorted(found) == sorted(keys("end", boot))
    assert {receipt["result"] for receipt in found.values()} == {("stopped", "node-lost")[boot]}


@BOTH
def test_what_was_over_is_not_counted_again(boot):
    found = of(boot, "over")
    assert sorted(found) == sorted(keys("over", boot))
    assert {receipt["result"] for receipt in found.values()} == {"exited"}


def test_what_was_being_started_at_a_reboot_has_a_receipt_if_it_ran():
    found = of(REBOOT, "start")
    assert set(found) >= set(after(REBOOT)["began"])
    assert {receipt["result"] for receipt in found.values()} <= {"node-shutdown"}


def test_what_was_being_started_at_a_reset_has_no_receipt():
    assert of(RESET, "start") == {}, "PID 1 had not started any of these jobs"


def test_at_a_reboot_it_is_known_what_was_used():
    for receipt in of(REBOOT, "run").values():
        assert receipt["cpu_user"] is not None and receipt["memory_peak"] > 0, receipt
        assert receipt["leftovers"] == 0


def test_at_a_reset_the_end_is_the_last_sign_of_life():
    booted = after(RESET)["booted"] * MICROSECONDS
    for receipt in [*of(RESET, "run").values(), *of(RESET, "end").values()]:
        assert receipt["started"] <= receipt["ended"] <= booted, receipt
        assert receipt["wall"] == receipt["ended"] - receipt["started"]
        assert receipt["exit_status"] is None
        # pinfoldd copies the CPU time from the job's row in the history. If pinfoldd never looked at the job, the row has no CPU time.
        assert receipt["cpu_user"] is None or receipt["cpu_user"] <= receipt["wall"], receipt


@BOTH
def test_nothing_is_left(boot):
    assert after(boot)["left"] == []


@BOTH
def test_the_node_is_drained_still(boot):
    drained = after(boot)["drained"]
    assert drained["draining"] and "before it went down" in json.dumps(drained)
