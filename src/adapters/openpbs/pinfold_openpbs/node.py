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


def tell_state(event, unkillable):
    """Of a node that takes jobs. MoM passes what a hook sets on to the server until that has it. So once is enough, and an administrator who
    says otherwise afterwards is not contradicted: what we said of a vnode is taken back only where nobody has changed it."""
    said = read_note(event)
    left = {name: word for name, word in said.items() if (unkillable and not word["refusal"]) or not take_back(event, name, word)}
    policy = unkillable_policy()
    if unkillable and policy != "none":
        comment = "pinfold: SIGKILL did not end processes of " + ", ".join(unkillable)[:200]
        names = [name for name in event.vnode_list.keys() if name not in left and in_service(name)]
        left.update(say(event, names, comment, policy == "offline"))
    if left != said:
        write_note(event, left)


def go_offline(event, refusal):
    """When it has refused a job, and will refuse each other one. These are the vnodes of the job, since MoM lists no others when a job begins. The
    server takes no word of this MoM on another host's. Since the job came here, no administrator had set them offline."""
    said = say(event, event.vnode_list.keys(), "pinfold: " + refusal[:300], True, refusal=True)
    write_note(event, {**read_note(event), **said})


def note_of(event):
    """Where it is kept what we have said of which vnode."""
    return os.path.join(mom_home(), "mom_priv", "hooks", event.hook_name + ".said")


def read_note(event):
    try:
        with open(note_of(event)) as note:
            return json.load(note)
    except FileNotFoundError:
        return {}


def write_note(event, said):
    note = note_of(event)
    with open(note + ".part", "w") as part:
        json.dump(said, part)
    os.rename(note + ".part", note)


def in_service(name):
    """An administrator has not set it offline, as far as the server answers."""
    vnode = pbs.server().vnode(name)
    return vnode is not None and not int(vnode.state) & pbs.ND_OFFLINE


def say(event, names, comment, offline, refusal=False):
    word = {"comment": comment.rstrip(), "offline": offline, "refusal": refusal}  # as the server keeps it
    for name in names:
        event.vnode_list[name].comment = word["comment"]
        if offline:
            event.vnode_list[name].state = pbs.ND_OFFLINE
    return {name: word for name in names}


def take_back(event, name, word):
    """False where the server does not answer: later, then."""
    vnode = pbs.server().vnode(name)
    if vnode is None:
        return False
    if vnode.comment == word["comment"]:
        if name not in event.vnode_list:  # only the server knows that it is this host's
            event.vnode_list[name] = pbs.vnode(name)
        event.vnode_list[name].comment = None
        if word["offline"]:
            event.vnode_list[name].state = pbs.ND_FREE
    return True
