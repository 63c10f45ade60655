# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs commands on the nodes of a cluster. The tests run on node1. A test machine without a cluster has only node1."""

import json
import shlex
import socket
from pathlib import Path

import jobs
from jobs import run

NODES = ("node1", "node2") if Path("/payload/cluster").exists() else ("node1",)
SITE = Path("/etc/pinfold/pinfold.toml.d/cluster.toml")

ASK = """
import json, sys
sys.path.insert(0, "/payload/tests/container")
import jobs
print(json.dumps(getattr(jobs, sys.argv[1])(*json.loads(sys.argv[2]))))
"""


def on(node, *command, **options):
    """Runs the command on the node, by ssh if necessary. The function passes `options` to run()."""
    if node == socket.gethostname():
        return run(*command, **options)
    return run("ssh", node, shlex.join(str(part) for part in command), **options)


def ask(node, function, *arguments):
    """Calls a function of jobs.py on the node, and returns the result of the function."""
    if node == socket.gethostname():
        return getattr(jobs, function)(*arguments)
    return json.loads(on(node, "/usr/bin/python3", "-c", ASK, function, json.dumps(arguments)).stdout)


def alive(node, pid):
    return on(node, "test", "-d", f"/proc/{pid}", check=False).returncode == 0


def kill(node, *pids):
    on(node, "sh", "-c", 'for pid; do kill -9 "$pid" 2>/dev/null; done; true', "kill", *pids)


def set_site(node, text):
    """Makes `text` the only configuration of pinfoldd on the node."""
    on(node, "sh", "-c", f"mkdir -p {SITE.parent} && cat >{SITE} <<'END'\n{text}END\nsystemctl restart pinfoldd")
