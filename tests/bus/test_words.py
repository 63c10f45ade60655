# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the words that the D-Bus interface accepts. For an argument or entry, the XML can list the possible words. If the XML lists the possible
words, pinfoldd refuses every other word, and says which words are possible."""

import re
from pathlib import Path

import dbus
import pytest

from conftest import new_world, pidfd

XML = (Path(__file__).resolve().parents[2] / "dbus/org.pinfold1.Manager.xml").read_text()
REFUSED = "org.pinfold1.Error.InvalidArgument"
WRONG = "no such word"

# TEXTS lists the arguments and entries in which a caller may put any text.
TEXTS = {"account", "after", "before", "epoch", "group", "job_name", "key", "project", "queue", "reason", "submit_directory", "submit_host"}


def methods():
    """Returns a dictionary that maps the name of each method to the method's comment and to its arguments."""
    found = re.findall(r'<!--((?:(?!-->).)*)-->\s*<method name="(\w+)">(.*?)</method>', XML, re.S)
    return {name: (comment, re.findall(r'<arg name="(\w+)" type="(\S+)" direction="in"/>', body)) for comment, name, body in found}


METHODS = methods()


def described(comment, argument):
    return re.search(rf"@{argument}: (.*?)(?=\n\s*@|\n\s*\n|$(?![\s\S]))", comment, re.S)[1]


def entries(text):
    """Returns a dictionary that maps the name of each entry of type string to the entry's description."""
    found = re.findall(r"^ *((?:`\w+` \([^)]*\)(?:,\s+)?)+): (.*?)(?=^ *`\w+` \(|\Z)", text, re.M | re.S)
    return {name: about for names, about in found for name, kind in re.findall(r"`(\w+)` \(([^)]*)\)", names) if kind == "s"}


def words(about):
    """Returns the words that a description lists in the form "`a`, `b` or `c`"."""
    listed = re.search(r"(?:`[a-z-]+`,\s+)*`[a-z-]+`\s+or\s+`[a-z-]+`", about)
    return re.findall(r"`([a-z-]+)`", listed[0]) if listed else []


def places():
    """Yields each place in which a caller can put a string, and the words that the interface lists for the place. Each place consists of three names:
    the name of a method, the name of an argument, and the name of an entry. If the argument is not a dictionary, the entry is None."""
    for method, (comment, arguments) in METHODS.items():
        for argument, kind in arguments:
            text = described(comment, argument)
            if kind == "s":
                yield method, argument, None, words(text)
            if kind == "a{sv}":
                inherited = entries(described(METHODS["CreateJob"][0], "options")) if "of CreateJob" in text else {}
                for entry, about in (inherited | entries(text)).items():
                    yield method, argument, entry, words(about)


PLACES = list(places())


@pytest.fixture(scope="module")
def node():
    with new_world() as world:
        world.leader = world.process()
        yield world


def refusal(world, method, argument, entry):
    """Calls the method with the word WRONG in the place that the caller names. Returns pinfoldd's message about the word WRONG, or None if pinfoldd
    accepts the word. If pinfoldd accepts the word but refuses the call, for example because the key is in use, the result is None."""
    leader = pidfd(world.leader)
    values = {"s": "bus.1", "h": leader, "ah": [leader], "a{sv}": dbus.Dictionary({}, signature="sv"), "i": 15, "u": 2}
    arguments = METHODS[method][1]
    passed = {name: values[kind] for name, kind in arguments}
    passed[argument] = dbus.Dictionary({entry: WRONG}, signature="sv") if entry else WRONG
    try:
        world.bus.call_blocking("org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", method, "".join(kind for _, kind in arguments),
                                list(passed.values()))
    except dbus.DBusException as error:
        message = error.get_dbus_message()
        about_the_word = WRONG in message or f"unknown entry '{entry}'" in message
        return message if error.get_dbus_name() == REFUSED and about_the_word else None
    return None


@pytest.mark.parametrize("method, argument, entry, known", PLACES, ids=[f"{method}-{entry or argument}" for method, argument, entry, _ in PLACES])
def test_who_passes_a_wrong_word_gets_to_know_the_right_ones(node, method, argument, entry, known):
    message = refusal(node, method, argument, entry)
    if known:
        assert message and set(known) <= set(re.findall("[a-z-]+", message.split(": use ")[1])), message
    elif message is None:
        assert (entry or argument) in TEXTS, "takes any text"
    else:
        assert ": use " in message or message.startswith(f"unknown entry '{entry}'"), message


def test_the_walk_finds_the_words():
    found = {(method, entry or argument): sorted(known) for method, argument, entry, known in PLACES if known}
    policies = ["job", "process"]
    results = sorted(["exited", "signaled", "stopped", "timeout", "out-of-memory", "supervisor-lost", "node-shutdown", "node-lost", "lost"])
    assert found == {("CreateJob", "oom_policy"): policies, ("OpenJob", "oom_policy"): policies, ("SetLimits", "oom_policy"): policies,
                     ("ListReceipts", "result"): results}
