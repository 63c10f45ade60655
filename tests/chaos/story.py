# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records what happens to each job, how each job is allowed to end, and when disturbances occur. After the run, verify.py checks that each receipt
reports an allowed end."""

import random
import threading
import time
from dataclasses import dataclass, field

# When a disturbance has ended, pinfoldd and its callers need up to AFTERMATH seconds to recover.
AFTERMATH = 5.0  # seconds


@dataclass(frozen=True)
class Outcome:
    """Describes the end of a job with the values of a receipt."""

    result: str
    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True)
class Attempt:
    """Describes a job that pinfoldd has admitted. Several jobs can use one key in succession. If `needed` is true, the job must have a receipt. If
    `needed` is false, a missing receipt is not an error."""

    key: str
    uid: int
    outcomes: frozenset
    leftovers: range = range(1)
    tasks: range = range(1, 2)
    needed: bool = True
    more: tuple = ()  # each pair contains a member's name and the value that the receipt must contain


@dataclass
class Disturbance:
    name: str
    begin: float  # all times in this file are seconds of CLOCK_MONOTONIC
    end: float | None = None
    words: str = ""


class Log:
    """Contains the disturbances of a run."""

    def __init__(self):
        self.entries = []
        self._lock = threading.Lock()

    def begin(self, name):
        with self._lock:
            self.entries.append(Disturbance(name, time.monotonic()))
            return self.entries[-1]

    def within(self, begin, end, names=None, aftermath=AFTERMATH):
        """Returns the disturbances that overlap with the time from `begin` to `end`. The function treats each disturbance as if it ended `aftermath`
        seconds later."""
        with self._lock:
            return [entry for entry in self.entries
                    if (names is None or entry.name in names) and entry.begin <= end
                    and (entry.end is None or entry.end + aftermath >= begin)]


@dataclass
class Story:
    """Records what happens to the jobs of one Item of the plan."""

    item: object
    log: Log
    uid: int
    begin: float = field(default_factory=time.monotonic)
    end: float | None = None
    steps: list = field(default_factory=list)
    attempts: list = field(default_factory=list)
    told: dict | None = None  # the receipt that the epilogue got
    refused: int = 0
    asked_again: bool = False  # true if a prologue has perhaps called pinfoldd twice
    wrong: list = field(default_factory=list)

    def __post_init__(self):
        self.chance = random.Random(self.item.seed)
        self.key = self.item.key

    def note(self, text):
        self.steps.append((time.monotonic(), text))

    def fault(self, text):
        self.wrong.append(text)
        self.note(f"WRONG: {text}")

    def expect(self, right, text):
        if not right:
            self.fault(text)
        return right

    def admit(self, outcomes, key=None, **more):
        """Notes that pinfoldd has admitted a job with this key. `outcomes` contains each way in which the job is allowed to end."""
        outcomes = frozenset([outcomes] if isinstance(outcomes, Outcome) else outcomes)
        self.attempts.append(Attempt(key or self.key, more.pop("uid", self.uid), outcomes, **more))

    def disturbed(self, names=None, aftermath=AFTERMATH, since=None):
        return self.log.within(self.begin if since is None else since, self.end or time.monotonic(), names, aftermath)

    def tell(self, receipts, journal):
        """Returns all that is known about the job, as text for people."""
        end = self.end or time.monotonic()
        lines = [f"job {self.item.number}: {self.item}"]
        lines += [f"  wrong: {text}" for text in self.wrong]
        happened = [(when, text) for when, text in self.steps]
        for entry in self.log.within(self.begin, end):
            lasted = f"{entry.end - entry.begin:.3f} s" if entry.end else "to the end"
            happened.append((entry.begin, f"*** {entry.name}, {lasted} {entry.words}"))
        lines += [f"  {when - self.begin:+9.3f} {text}" for when, text in sorted(happened)]
        lines += [f"  may be: {attempt}" for attempt in self.attempts]
        lines += [f"  receipt: { {name: value for name, value in receipt.items() if value not in (None, [])} }" for receipt in receipts]
        return "\n".join(lines + [f"  journal: {line}" for line in journal])
