# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a run of the chaos does, decided beforehand from its seed alone: the jobs in their order, and what happens beside them. A
disturbance comes when so many jobs have begun, not at a time, so that a slow machine sees the same."""

import random
from dataclasses import dataclass

USERS = ("root", "alice", "bob")
FEWEST_BETWEEN, MOST_BETWEEN = 4, 24  # jobs from one disturbance to the next
SHORTEST, LONGEST = 0.3, 3.0  # seconds that something stands still
FEWEST_IN_WINDOW, MOST_IN_WINDOW = 6, 30  # jobs that begin while a lasting disturbance lasts


@dataclass(frozen=True)
class Item:
    """A job, or several that belong together, for one lane."""

    number: int  # of its first job, from 0
    kind: str
    size: int  # jobs
    user: str
    seed: int  # of the item's own decisions, so that they do not depend on how the lanes come to run

    @property
    def key(self):
        # A scheduler for each 5,000 jobs: `pinfold history` gives at most 10,000 receipts at once. Users' own are all below `user`.
        return f"chaos{self.number // 5000}.{self.number}" if self.user == "root" else f"user.{self.number}"


@dataclass(frozen=True)
class Event:
    """A disturbance, from when `after` jobs have begun until `until` have; at once over where these are equal."""

    name: str
    after: int
    until: int
    seconds: float  # how long something stands still, where that is the disturbance


@dataclass(frozen=True)
class Plan:
    seed: int
    items: tuple
    events: tuple

    @property
    def jobs(self):
        return sum(item.size for item in self.items)


def make(seed, jobs, kinds, disturbances):
    """`kinds`: by name (weight, size). `disturbances`: by name (weight, whether it lasts until it is ended)."""
    chance = random.Random(seed)
    items = tuple(_items(chance, jobs, kinds))
    return Plan(seed, items, tuple(_events(chance, sum(item.size for item in items), disturbances)))


def _items(chance, jobs, kinds):
    names, weights = list(kinds), [weight for weight, _ in kinds.values()]
    number = 0
    while number < jobs:
        kind = chance.choices(names, weights)[0]
        size = kinds[kind][1]
        yield Item(number, kind, size, chance.choice(USERS), chance.getrandbits(32))
        number += size


def _events(chance, jobs, disturbances):
    names, weights = list(disturbances), [weight for weight, _ in disturbances.values()]
    open_until = dict.fromkeys(names, -1)
    after = 0
    while (after := after + chance.randint(FEWEST_BETWEEN, MOST_BETWEEN)) < jobs:
        name, seconds = chance.choices(names, weights)[0], chance.uniform(SHORTEST, LONGEST)
        until = after + (chance.randint(FEWEST_IN_WINDOW, MOST_IN_WINDOW) if disturbances[name][1] else 0)
        if after > open_until[name]:  # what lasts still can't begin anew
            open_until[name] = until if disturbances[name][1] else -1
            yield Event(name, after, until, seconds)
