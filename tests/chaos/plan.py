# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the plan of a chaos run: the jobs in their order, and the disturbances. The plan depends on nothing but the seed. Each disturbance begins
when a given number of jobs have begun. The speed of the machine does not change the plan."""

import random
from dataclasses import dataclass

USERS = ("root", "alice", "bob")
FEWEST_BETWEEN, MOST_BETWEEN = 4, 24  # the number of jobs from one disturbance to the next
SHORTEST, LONGEST = 0.3, 3.0  # the seconds for which a disturbance stops a program
FEWEST_IN_WINDOW, MOST_IN_WINDOW = 6, 30  # the number of jobs that begin during a lasting disturbance


@dataclass(frozen=True)
class Item:
    """Describes one job, or several jobs of one kind that the same thread runs."""

    number: int  # number of the item's first job; the first job of a run has the number 0
    kind: str
    size: int  # number of jobs
    user: str
    seed: int  # the seed of the item's random numbers; the numbers must not depend on the order in which threads run items

    @property
    def key(self):
        # Each group of 5,000 jobs has its own scheduler name, because `pinfold history` prints at most 10,000 receipts at once. All jobs that an
        # ordinary user starts have the scheduler `user`.
        return f"chaos{self.number // 5000}.{self.number}" if self.user == "root" else f"user.{self.number}"


@dataclass(frozen=True)
class Event:
    """Describes a disturbance. The disturbance begins when the number of jobs that have begun reaches the member `after`. A lasting disturbance ends
    when the number of jobs that have begun reaches the member `until`. If the disturbance is not lasting, the members `after` and `until` are
    equal."""

    name: str
    after: int
    until: int
    seconds: float  # how long a program stands still; disturbances that stop no program ignore this member


@dataclass(frozen=True)
class Plan:
    seed: int
    items: tuple
    events: tuple

    @property
    def jobs(self):
        return sum(item.size for item in self.items)


def make(seed, jobs, kinds, disturbances):
    """`kinds` maps each kind to two numbers: its weight, and the number of jobs of one Item. `disturbances` maps the name of each disturbance to
    two values: a weight, and true if the disturbance lasts until somebody ends it."""
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


def _dealt(chance, names):
    """Yields all names in a random order, then all names in another random order, and so on for ever. After len(names) names, every name has
    occurred, so rare disturbances occur even in a short run."""
    while True:
        yield from chance.sample(names, len(names))


def _events(chance, jobs, disturbances):
    names = _dealt(chance, [name for name, (weight, _) in disturbances.items() for _ in range(weight)])
    open_until = dict.fromkeys(disturbances, -1)
    after = 0
    while (after := after + chance.randint(FEWEST_BETWEEN, MOST_BETWEEN)) < jobs:
        name, seconds = next(names), chance.uniform(SHORTEST, LONGEST)
        until = after + (chance.randint(FEWEST_IN_WINDOW, MOST_IN_WINDOW) if disturbances[name][1] else 0)
        if after > open_until[name]:  # a disturbance that still lasts cannot begin again
            open_until[name] = until if disturbances[name][1] else -1
            yield Event(name, after, until, seconds)
