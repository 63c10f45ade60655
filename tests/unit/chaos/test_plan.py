# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the chaos plan depends only on the seed, and that every step of the plan is possible."""

import pytest

import disturbances
import kinds
import plan

KINDS = {"short": (5, 1), "burst": (1, 12), "never": (0, 1)}
DISTURBANCES = {"kill": (3, False), "drain": (1, True), "never": (0, True)}


def made(seed=1, jobs=2000):
    return plan.make(seed, jobs, KINDS, DISTURBANCES)


def test_a_seed_repeats_it():
    assert made(7) == made(7)
    assert made(7).items != made(8).items and made(7).events != made(8).events


@pytest.mark.parametrize("jobs", [1, 50, 2000])
def test_numbers_have_no_gaps(jobs):
    number = 0
    for item in made(jobs=jobs).items:
        assert (item.number, item.size) == (number, KINDS[item.kind][1])
        number += item.size
    assert jobs <= number < jobs + 12
    assert made(jobs=jobs).jobs == number


def test_all_that_has_a_weight_comes():
    assert {item.kind for item in made().items} == {"short", "burst"}
    assert {item.user for item in made().items} == set(plan.USERS)
    assert {event.name for event in made().events} == {"kill", "drain"}


@pytest.mark.parametrize("seed", range(20))
def test_a_default_run_has_all_kinds_and_all_disturbances(seed):
    whole = plan.make(seed, 2000, kinds.WEIGHTS, disturbances.WEIGHTS)
    assert {item.kind for item in whole.items} == set(kinds.WEIGHTS)
    assert {event.name for event in whole.events} == set(disturbances.WEIGHTS)
    assert whole == plan.make(seed, 2000, kinds.WEIGHTS, disturbances.WEIGHTS)


def test_disturbances_are_in_order_and_those_that_last_do_not_overlap():
    last = dict.fromkeys(DISTURBANCES, -1)
    before = 0
    for event in made().events:
        assert before < event.after < made().jobs
        assert (event.until > event.after) == DISTURBANCES[event.name][1]
        assert event.after > last[event.name]
        assert plan.SHORTEST <= event.seconds <= plan.LONGEST
        before = event.after
        if DISTURBANCES[event.name][1]:
            last[event.name] = event.until


def test_keys_are_spread_over_schedulers():
    keys = [item.key for item in made(jobs=12000).items]
    assert len(set(keys)) == len(keys)
    assert {key.split(".")[0] for key in keys} == {"chaos0", "chaos1", "chaos2", "user"}
    assert {item.key.split(".")[0] for item in made().items if item.user != "root"} == {"user"}, "others are refused"
