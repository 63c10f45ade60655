# SPDX-License-Identifier: LGPL-2.1-or-later
"""The node's state in PBS, while it takes no jobs or while processes of a job can't be killed."""

import json
import os

import pbs

from .failure import Failure


def mom_home():
    return pbs.pbs_conf.get("PBS_MOM_HOME") or pbs.pbs_conf["PBS_HOME"]


def mom_began_after(start):
    """start: in whole seconds, as PBS has it. MoM writes mom.lock once, when it begins."""
    try:
        return start is not None and os.stat(os.path.join(mom_home(), "mom_priv", "mom.lock")).st_mtime > start + 1
    except FileNotFoundError:
        return False


def unkillable_policy():
    """Of the hook's configuration."""
    path = os.environ.get("PBS_HOOK_CONFIG_FILE")
    if not path:
        return "offline"
    with open(path) as text:
        config = json.load(text)
    policy = config.get("unkillable", "offline") if isinstance(config, dict) and not set(config) - {"unkillable"} else None
    if policy not in ("none", "comment", "offline"):
        raise Failure('the hook\'s configuration must be {"unkillable": "none"}, "comment" or "offline"')
    return policy


def note_of(event):
    """Where it is kept what we have said."""
    return os.path.join(mom_home(), "mom_priv", "hooks", event.hook_name + ".said")


def tell_state(event, unkillable):
    """Of a node that takes jobs. MoM passes what a hook sets on to the server until that has it. So once is enough, and an administrator who
    says otherwise afterwards is not contradicted: what we said is taken back only where nobody has changed it."""
    said = note_of(event)
    if read(said).get("refusal"):
        take_back(event, said)
    policy = unkillable_policy()
    if unkillable and policy != "none" and not os.path.exists(said):
        say(event, said, "pinfold: SIGKILL did not end processes of " + ", ".join(unkillable)[:200], policy == "offline")
    elif not unkillable and os.path.exists(said):
        take_back(event, said)


def go_offline(event, refusal):
    """When it has refused a job, and will refuse each other one. Since the job came here, no administrator had set the node offline."""
    say(event, note_of(event), "pinfold: " + refusal[:300], True, refusal=True)


def read(said):
    try:
        with open(said) as note:
            return json.load(note)
    except FileNotFoundError:
        return {}


def say(event, said, comment, offline, refusal=False):
    with open(said, "w") as note:
        json.dump({"comment": comment, "offline": offline, "refusal": refusal}, note)
    for name in event.vnode_list.keys():
        event.vnode_list[name].comment = comment
        if offline:
            event.vnode_list[name].state = pbs.ND_OFFLINE


def take_back(event, said):
    ours = read(said)
    for name in event.vnode_list.keys():
        if pbs.server().vnode(name).comment == ours["comment"]:
            event.vnode_list[name].comment = None
            if ours["offline"]:
                event.vnode_list[name].state = pbs.ND_FREE
    os.unlink(said)
