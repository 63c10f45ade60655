# SPDX-License-Identifier: LGPL-2.1-or-later
"""If a user's text contains SQL, neither pinfoldd, pinfold-ship, PostgreSQL nor a login node executes the SQL."""

import json
import re
import shutil
import subprocess

import dbus
import pytest

from archive_service import configuration, starter
from conftest import BUILD
from ship_node import NODE, new_node, options, private_bus

PROGRAM = "';DROP TABLE x-"  # the kernel keeps 15 characters of the name of a program
TEXTS = {
    "SQL": "x' OR true; DROP TABLE pinfold.receipt; -- $1 %s é",
    "the end of a quotation": "'; SELECT pinfold.prune('1 day'); $$; $body$; */ \"",
    "backslashes": "\\'; DELETE FROM pinfold.node; -- \\\\\" \\x27 \\u0027 \\u0000 E'\\''",
    "the end of an array": '"},{"NULL",NULL,{}}\',"\\',
    "the end of a JSON text": '","sequence":1,"uid":0,"key":"sge.99"}]',
    "no value": "NULL",
}
FACTS = ("job_name", "account", "queue", "project", "group", "submit_host", "submit_directory")


def run_job(node, program, text):
    """Runs a job that has `text` in every place where a user can choose a text, and returns the job's key."""
    world = node.world
    node.configure(more='[leftovers]\ncommand_lines = "full"\n')
    shutil.copy("/bin/sleep", program)
    leader, task = world.process([str(program), "1000"]), world.process([str(program), "1000"])
    left = world.process(["sh", "-c", "read line", text], stdin=subprocess.PIPE)
    key = "user." + re.sub("[^!-~]|/", "", text)  # a key contains only printable ASCII characters, and no blank or slash
    world.create(key, leader, options(**dict.fromkeys(FACTS, text), labels=dbus.Dictionary({"evil": text}, signature="ss")))
    assert world.manager().AddTask(key, private_bus.pidfd(task), options())[0] == 1
    [job] = world.manager().ListJobs()
    world.systemd.Move(dbus.UInt32(left.pid), f"/batch.slice/{job['slice']}/{job['unit']}")
    for process in (task, leader):
        process.kill()
        process.wait()
    world.manager().WaitJob(key)
    return key


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_sql_in_the_texts_of_a_real_job_stays_text(archive, tmp_path, text):
    with new_node(archive) as node, starter() as start:
        key = run_job(node, tmp_path / PROGRAM, text)
        node.run_job()
        node.start()
        node.arrives()
        login = start(configuration(archive.server) + "ask = true\n")
        on_the_node = json.loads(subprocess.run([BUILD / "src/cli/pinfold", "history", "--json"], env=node.world.environment, capture_output=True,
                                                text=True, timeout=60, check=True).stdout)
        for receipt in on_the_node["receipts"]:
            receipt["host"] = NODE  # the archive stores the name from the node's certificate as the host
        assert json.loads(login.pinfold("history", "--json")) == on_the_node

        [receipt] = json.loads(login.pinfold("history", "--json", "--job", key, "--label", f"evil={text}"))["receipts"]
        assert {receipt[name] for name in FACTS} == {text} and receipt["labels"] == {"evil": text}
        assert any(text.replace("\\", "\\\\") in command for command in receipt["leftover_commands"]), receipt["leftover_commands"]
        assert PROGRAM in [entry["command"] for entry in receipt["task_list"]], receipt["task_list"]
        assert key in login.pinfold("why", key)
