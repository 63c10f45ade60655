# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the example of docs/ansible. The example installs pinfold in a Grid Engine cell, and upgrades pinfold node by node while jobs run.
node1 is the control node, and Ansible reaches both nodes by ssh."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import debs
import grid_engine
from grid_engine import Job
from jobs import run, wait_until
from nodes import NODES, ask, on

EXAMPLE = Path("/usr/share/doc/pinfold/ansible")
MAIN = Path("/etc/pinfold/pinfold.toml")
PACKAGES = ("pinfold", "pinfold-grid-engine")
# In some containers, the controllers memory, cpu and pids are missing.
LACKING = ["cgroup.memory", "cgroup.cpu", "cgroup.pids"]
VARIABLES = {"pinfold_configuration": '[jobs]\nlinger = "1s"\nunenforced_limits = "warn"\n', "pinfold_accepted_failures": LACKING}


class Play:
    """Runs the playbook with the packages in `directory`. `changed` maps each node to the number of tasks that have changed something on the node."""

    def __init__(self, directory):
        done = run("ansible-playbook", "--inventory", "inventory.yml", "--extra-vars", json.dumps({**VARIABLES, "pinfold_debs": str(directory)}),
                   "pinfold.yml", cwd=EXAMPLE, env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=900, check=False)
        self.output = done.stdout + done.stderr
        self.failed = done.returncode != 0
        recap = re.findall(r"^(\w+) +: ok=\d+ +changed=(\d+) ", self.output, re.M)
        self.changed = {node: int(number) for node, number in recap}


def play(directory):
    done = Play(directory)
    assert not done.failed, done.output
    return done


def versions(node):
    shown = on(node, "dpkg-query", "--show", "--showformat=${Package} ${Version} ${db:Status-Status}\n").stdout.splitlines()
    return {name: version for name, version, status in map(str.split, shown) if name in PACKAGES and status == "installed"}


def newest():
    return {name: debs.field(name, "Version") for name in PACKAGES}


def install(node, *files):
    on(node, "dpkg", "--force-confold", "--install", *files)


def status(node):
    return json.loads(on(node, "pinfold", "status", "--json").stdout)


def failures(node):
    findings = json.loads(on(node, "pinfold", "doctor", "--json", check=False).stdout)["findings"]
    assert findings
    return [finding["id"] for finding in findings if finding["state"] == "fail" and finding["id"] not in LACKING]


def local(node):
    """Returns the node's local configuration of Grid Engine, or None if the node does not have a local configuration."""
    done = run("qconf", "-sconf", node, check=False)
    return grid_engine.settings(done.stdout) if done.returncode == 0 else None


def set_local(node, values):
    """Sets the node's local configuration of Grid Engine. If `values` is None, set_local() removes the node's local configuration."""
    if values is None:
        run("qconf", "-dconf", node)
    else:
        grid_engine.store("-Mconf" if local(node) else "-Aconf", node, values)


@pytest.fixture(scope="module", autouse=True)
def older(cell):
    """Makes packages of an older version. At first, neither node has pinfold, and the Grid Engine cell does not use pinfold."""
    was = {node: local(node) for node in NODES}
    grid_engine.configure(shepherd_cmd=grid_engine.PLAIN)
    for name in PACKAGES:
        debs.older(name)
    run("scp", "-q", "-r", debs.OLDER_DIRECTORY, f"node2:{debs.OLDER_DIRECTORY.parent}")
    for node in NODES:
        on(node, "dpkg", "--purge", *(name for name in debs.NAMES if name != "pinfold-doc"))
    yield debs.OLDER_DIRECTORY
    for node, values in was.items():
        set_local(node, values)
        on(node, "sh", "-c", "rm -f /etc/pinfold/pinfold.toml.d/ansible.toml; pinfold undrain")
        # dpkg of the box leaves out /usr/share/doc, so a second installation of pinfold-doc would remove the pages.
        install(node, *(file for file in debs.DIRECTORY.glob("*.deb") if not file.name.startswith("pinfold-doc_")))
        run("qmod", "-e", f"*@{node}")


def test_it_installs_pinfold_and_connects_grid_engine(older):
    play(older)
    for node in NODES:
        assert versions(node) == dict.fromkeys(PACKAGES, debs.OLDER)
        assert failures(node) == []
        assert local(node)["shepherd_cmd"] == grid_engine.PINFOLD
    assert local("node2")["execd_params"] == "ENABLE_ADDGRP_KILL=false", "what the node had for itself before"
    grid_engine.configure()
    for node in NODES:
        job = Job("exit 5", node=node).wait()
        assert [receipt["exit_status"] for receipt in ask(node, "receipts", job.key())] == [5]


def test_it_upgrades_node_by_node_and_no_job_is_lost():
    """Each job waits for a file, and ends when the test has made this file. The configuration file has changed twice: the site has edited it, and the
    new version of pinfold brings a different file."""
    edited = "# the site's\n"
    on("node1", "sh", "-c", f'echo "{edited.strip()}" >>{MAIN}')
    statuses = {}  # the exit status of each job

    def submit(number, node=None, until=None):
        wait = f"while [ ! -e $HOME/{until} ]; do sleep 0.1; done; " if until else ""
        job = Job(f"{wait}exit {number}", node=node)
        statuses[job] = number
        return job

    live = {node: [submit(number, node, f"go-{node}") for number in range(1, 6)] for node in NODES}
    for node in NODES:
        wait_until(lambda: ask(node, "live_jobs").keys() == {job.key() for job in live[node]}, f"the jobs of {node} run")
    home = live["node1"][0].home
    with ThreadPoolExecutor(1) as executor:
        upgrade = executor.submit(play, debs.DIRECTORY)
        try:
            for node, other in (("node1", "node2"), ("node2", "node1")):
                wait_until(lambda: upgrade.done() or status(node)["draining"], f"{node} is drained", 600)
                assert not upgrade.done(), upgrade.result().output
                assert status(node)["drain"]["reason"] == "upgrade by Ansible" and not status(other)["draining"]
                late = [submit(number, node) for number in range(11, 14)]
                elsewhere = [submit(number) for number in range(21, 31)]
                for job in elsewhere:
                    job.wait()
                assert {job.state() for job in late} == {"qw"}
                assert ask(node, "live_jobs").keys() == {job.key() for job in live[node]}, "the upgrade waits for them"
                assert versions(node) == dict.fromkeys(PACKAGES, debs.OLDER)
                (home / f"go-{node}").touch()
        finally:  # the play waits for the jobs, so they must end even after a failure
            for node in NODES:
                (home / f"go-{node}").touch()
        upgrade.result()

    for job, number in statuses.items():
        [account] = job.wait().accounts()
        assert (account["exit_status"].split()[0], account["failed"].split()[0]) == (str(number), "0")
        [receipt] = [receipt for node in NODES for receipt in ask(node, "receipts", job.key())]
        assert (receipt["result"], receipt["exit_status"]) == ("exited", number)
    for node in NODES:
        assert versions(node) == newest()
        assert failures(node) == []
        assert not status(node)["draining"] and grid_engine.queue_state(node) == ""
        ask(node, "expect_nothing_left")
    assert MAIN.read_text().endswith(edited)


def test_a_second_run_changes_nothing():
    pids = [ask(node, "main_pid") for node in NODES]
    assert play(debs.DIRECTORY).changed == dict.fromkeys(NODES, 0)
    assert [ask(node, "main_pid") for node in NODES] == pids


def test_it_refuses_older_packages_before_it_drains_a_node(older):
    refused = Play(older)
    assert refused.failed and "DOWNGRADED" in refused.output, refused.output
    assert versions("node1") == newest()
    assert not status("node1")["draining"] and grid_engine.queue_state("node1") == ""


def test_it_stops_at_a_node_that_is_not_well_and_goes_on_when_the_node_is():
    """An administrator has drained node2. The playbook upgrades node2, and does not resume node2."""
    for node in NODES:
        install(node, *map(debs.older, PACKAGES))
    on("node2", "pinfold", "drain", "--reason", "new disk")
    well = local("node1")
    set_local("node1", {**well, "execd_params": "USE_CGROUPS=true"})
    stopped = Play(debs.DIRECTORY)
    assert stopped.failed and "remove USE_CGROUPS from execd_params" in stopped.output, stopped.output
    assert status("node1")["drain"]["reason"] == "upgrade by Ansible" and "d" in grid_engine.queue_state("node1")
    assert versions("node2") == dict.fromkeys(PACKAGES, debs.OLDER)

    set_local("node1", well)
    play(debs.DIRECTORY)
    assert versions("node1") == versions("node2") == newest()
    assert not status("node1")["draining"] and grid_engine.queue_state("node1") == ""
    assert status("node2")["drain"]["reason"] == "new disk"
