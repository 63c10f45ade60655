# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets the node's state in PBS in two cases: the node takes no jobs, or SIGKILL does not end the processes of a job."""

import json
import os

import pbs

from .failure import Failure


def mom_home():
    return pbs.pbs_conf.get("PBS_MOM_HOME") or pbs.pbs_conf["PBS_HOME"]


def mom_began_after(start):
    """Returns true if MoM was started after the time `start` (in whole seconds). MoM writes the file mom.lock only once, when it starts."""
    try:
        return start is not None and os.stat(os.path.join(mom_home(), "mom_priv", "mom.lock")).st_mtime > start + 1
    except FileNotFoundError:
        return False


def unkillable_policy():
    """Returns the setting `unkillable` of the hook's configuration."""
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
    """If SIGKILL did not end the processes of a job, tell_state() writes a comment to the node's vnodes. If the setting `unkillable` is "offline",
    tell_state() also sets these vnodes offline. When the job's processes have ended, tell_state() removes the comment, and resets the state of the
    vnodes. Call tell_state() only while the node takes jobs. The hook tells MoM each state of the node only once. MoM sends the state to the server
    repeatedly, until the server has received the state. If an administrator has changed the hook's comment on a vnode, the hook does not reset the
    vnode's state."""
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
    """Sets vnodes offline, because the node has refused a job and would refuse all further jobs. When a job begins, MoM lists only the vnodes of the
    job, so go_offline() sets only these vnodes offline. The server ignores what a MoM says about the vnodes of other hosts. go_offline() does not
    check whether an administrator has set a vnode offline, because the server sends no job to such a vnode."""
    said = say(event, event.vnode_list.keys(), "pinfold: " + refusal[:300], True, refusal=True)
    write_note(event, {**read_note(event), **said})


def note_of(event):
    """Returns the path of the file that says which comments and states of vnodes the hook has set."""
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
    """Returns true if two conditions hold: the server answers, and no administrator has set the vnode offline."""
    vnode = pbs.server().vnode(name)
    return vnode is not None and not int(vnode.state) & pbs.ND_OFFLINE


def say(event, names, comment, offline, refusal=False):
    # The server strips blanks at the end of a comment, so the hook strips these blanks.
    word = {"comment": comment.rstrip(), "offline": offline, "refusal": refusal}
    for name in names:
        event.vnode_list[name].comment = word["comment"]
        if offline:
            event.vnode_list[name].state = pbs.ND_OFFLINE
    return {name: word for name in names}


def take_back(event, name, word):
    """Resets the state of a vnode. If the server does not answer, take_back() returns false, and the hook calls take_back() again in a later
    run."""
    vnode = pbs.server().vnode(name)
    if vnode is None:
        return False
    if vnode.comment == word["comment"]:
        if name not in event.vnode_list:  # only the server knows that the vnode belongs to this host
            event.vnode_list[name] = pbs.vnode(name)
        event.vnode_list[name].comment = None
        if word["offline"]:
            event.vnode_list[name].state = pbs.ND_FREE
    return True
