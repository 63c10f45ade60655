# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the events of a chaos run with the events that the stories allow. The functions do no I/O, so unit tests can call them."""

import collections
import re

# The expression NEVER matches messages that must not come: messages of pinfoldd, and messages of systemd about pinfoldd. NEVER does not match
# messages about a kill or about exit status 1, because disturbances cause such messages.
NEVER = re.compile(r"unexpected|terminate called|Sanitizer|runtime error:|core-dump|dumped|Watchdog timeout|status=78|"
                   r"status=6/ABRT|status=11/SEGV|assert", re.IGNORECASE)
# PID 1 asks the bus who owns org.pinfold1. If a disturbance stops the bus before the bus has answered, PID 1 writes NO_BUS.
NO_BUS = "systemd[1]: pinfoldd.service: Unexpected error response from GetNameOwner(): Connection terminated"
# WAITED matches a line of pinfoldd's meter (LoopMeter), in journalctl's format short-monotonic.
WAITED = re.compile(r"^\[ *([\d.]+)\].* the loop waited (\d+) ms ")


def outcome_of(receipt):
    return receipt["result"], receipt.get("exit_status"), receipt.get("exit_signal")


def faults_of(attempt, receipt):
    """Compares the receipt with the attempt, and returns a line for each contradiction."""
    faults = []
    allowed = {(outcome.result, outcome.status, outcome.signal) for outcome in attempt.outcomes}
    if outcome_of(receipt) not in allowed:
        faults.append(f"ended as {outcome_of(receipt)}, not as {sorted(allowed, key=str)}")
    if receipt["uid"] != attempt.uid:
        faults.append(f"of user {receipt['uid']}, not {attempt.uid}")
    for name in ("leftovers", "tasks"):
        # Nobody can predict the figures of a job that perhaps has not run.
        if attempt.needed and receipt.get(name, 0) not in getattr(attempt, name):
            faults.append(f"{name} {receipt.get(name, 0)}, not {getattr(attempt, name)}")
    limits = receipt.get("limits") or {}
    for name, value in attempt.more:
        if receipt.get(name, limits.get(name)) != value:
            faults.append(f"{name} {receipt.get(name, limits.get(name))}, not {value}")
    if not 0 <= receipt["wall"] or receipt["ended"] < receipt["started"]:
        faults.append("it ended before it began")
    return faults


def receipts_by_key(receipts):
    """Returns a dictionary that maps each key to its receipts. The receipts of a key begin with the oldest receipt."""
    found = collections.defaultdict(list)
    for receipt in sorted(receipts, key=lambda receipt: receipt["started"]):
        found[receipt["key"]].append(receipt)
    return found


def same_receipt(told, stored):
    """Returns true if the epilogue got the receipt that the history has stored. If the receipt is still not stored after the time `history.patience`,
    pinfoldd returns the receipt nevertheless. When the history stores a receipt, the receipt gets a sequence and an epoch. A receipt that is not
    stored yet has neither a sequence nor an epoch."""
    if told.get("sequence") is None:
        told, stored = ({name: value for name, value in receipt.items() if name not in ("sequence", "epoch")} for receipt in (told, stored))
    return told == stored


def check_story(story, found):
    """Compares a story's attempts with the receipts in `found`, and returns a line for each fault. `found` is the result of receipts_by_key()."""
    faults = list(story.wrong)
    attempts = collections.defaultdict(list)
    for attempt in story.attempts:
        attempts[attempt.key].append(attempt)
    for key in {story.key, *attempts}:
        expected, there = attempts[key], found.get(key, [])
        fewest = sum(attempt.needed for attempt in expected)
        if len(there) < fewest:
            faults.append(f"lost: {len(there)} receipts of {key}, not {fewest}")
        elif len(there) > len(expected):
            faults.append(f"doubled: {len(there)} receipts of {key}, not {len(expected)}")
        else:
            for attempt, receipt in zip(expected, there):
                faults += [f"{key}: {fault}" for fault in faults_of(attempt, receipt)]
    if story.told and not any(same_receipt(story.told, receipt) for receipt in found.get(story.key, [])):
        faults.append(f"the epilogue was told another receipt than the one that is stored: {story.told}")
    return faults


def check_all(stories, receipts):
    """Returns a dictionary that maps the number of each story to the faults that check_story() found. If a receipt does not belong to a story, the
    dictionary has a line about this receipt under the key None."""
    found = receipts_by_key(receipts)
    faults = {story.item.number: check_story(story, found) for story in stories}
    known = collections.Counter(attempt.key for story in stories for attempt in story.attempts) + collections.Counter(
        {story.key: 1 for story in stories})
    faults[None] = [f"a receipt of {key}, which is no job of ours" for key in found if key not in known]
    shared = [key for key, times in collections.Counter(
        attempt.key for story in stories for attempt in {attempt.key: attempt for attempt in story.attempts}.values()).items() if times > 1]
    faults[None] += [f"{key} was given to two jobs" for key in shared]
    return {number: said for number, said in faults.items() if said}


def journal_faults(lines):
    return [line for line in lines if NEVER.search(line) and NO_BUS not in line]


def loop_faults(lines, log, most):
    """Returns those lines of pinfoldd's meter that report a forbidden wait. The parameter `most` is the longest allowed wait in seconds. For the
    meter, a stopped process looks like a process that waits. The function leaves out each wait during which a disturbance perhaps stopped
    pinfoldd."""
    faults = []
    for line in lines:
        if said := WAITED.match(line):
            end, waited = float(said[1]), int(said[2]) / 1000
            if waited > most and not log.within(end - waited, end, {"stop"}):
                faults.append(line)
    return faults


def slow_calls(calls, log, undisturbed, any_time):
    """Returns the calls that took too long, and the calls that had no answer. A call is not in the result if a disturbance explains the delay of the
    call."""
    faults = []
    for call in calls:
        calm = not log.within(call.begin, call.begin + call.seconds)
        if call.seconds > (undisturbed if calm else any_time):
            faults.append(f"{call.caller}'s call took {call.seconds:.3f} s{'' if calm else ', disturbed'}")
        elif call.status != 0 and calm:
            faults.append(f"{call.caller}'s call: status {call.status}: {call.words}")
    return faults
