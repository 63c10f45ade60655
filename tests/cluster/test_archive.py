# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two nodes send their receipts to a real PostgreSQL while the network, the server and pinfold's own programs fail. The archive must have
each receipt once."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from jobs import run, systemd_version, wait_until
from kills_of_ship import KILLS_AT_WORK, cursor, kill_while_it_is_idle, main_process
from nodes import NODES, ask, kill, on
from site_archive import CERTIFICATES, SETTINGS, Site, history, receipts

PLAYS = Path("/usr/share/doc/pinfold/ansible")
ENDED_JOB = 3  # the exit status of `pinfold show` if the job is over
JOBS = 1000
GOES_ON = "/run/stream-of-jobs"
# The files BEGUN and ENDED have a line for each job of the stream. The files BEGUN and ENDED survive a reboot.
BEGUN, ENDED = "/var/lib/stream-of-jobs.begun", "/var/lib/stream-of-jobs.ended"
LONG = "site.long"  # the job that the reboot ends
# Every fourth job of the stream fails. pinfold-ship sends the receipt of a failed job at once.
STREAM = (f"touch {GOES_ON} {BEGUN} {ENDED}; i=0; while [ -e {GOES_ON} ]; do i=$((i + 1)); key=site.$(hostname).$part.$i; echo $key >>{BEGUN}; "
          f"pinfold-run --job $key -- sh -c \"exit $((i % 4 == 0))\"; echo $key $? >>{ENDED}; sleep 0.05; done")


@pytest.fixture(scope="module")
def site():
    return Site()


def status_text(node):
    return on(node, "systemctl", "show", "--property=StatusText", "--value", "pinfold-ship").stdout


def wait_for_trouble():
    for node in NODES:
        wait_until(lambda node=node: "the archive does not take receipts" in status_text(node), f"pinfold-ship of {node} says what is wrong")


def boot_id(node):
    """Returns an empty text while the node does not answer."""
    return on(node, "cat", "/proc/sys/kernel/random/boot_id", check=False).stdout.strip()


def is_active(node, unit):
    return on(node, "systemctl", "is-active", unit, check=False).returncode == 0


# Prints the keys of the jobs that would get a receipt if a power cut happened now.
LIVE_ROWS = """
import sqlite3
print(*(key for key, in sqlite3.connect("file:/var/lib/pinfold/history.db?mode=ro", uri=True).execute("SELECT key FROM live")))
"""


def start_on(node, key, *command):
    process = subprocess.Popen(["ssh", node, "pinfold-run", "--job", key, "--", *command], stderr=subprocess.DEVNULL)
    wait_until(lambda: key in ask(node, "live_jobs"), f"the job {key}")
    return process


class Stream:
    """On each node, runs one job after the other until the `with` block ends."""

    def __enter__(self):
        self.running, self.parts = {}, 0
        for node in NODES:
            self.begin(node)
        return self

    def begin(self, node):
        self.parts += 1
        self.running[node] = subprocess.Popen(["ssh", node, f"part={self.parts}; {STREAM}"], stderr=subprocess.PIPE, text=True)

    def breaks(self, node):
        """An ssh command runs jobs on the node. Waits until the ssh command has ended because its connection is lost."""
        process = self.running.pop(node)
        process.communicate(timeout=60)
        assert process.returncode == 255, "the status of an ssh without a connection"

    def __exit__(self, *_):
        for node in NODES:
            on(node, "rm", "-f", GOES_ON)
        self.errors = [process.communicate(timeout=300)[1] for process in self.running.values()]

    @staticmethod
    def ended(node):
        """Returns (key, exit status) of each job that ran to its end on the node. The jobs exit with 0 or 1, and any other status comes from
        pinfold-run itself."""
        lines = [tuple(line.split()) for line in on(node, "cat", ENDED).stdout.splitlines()]
        return [line for line in lines if line[1] in ("0", "1")]

    @staticmethod
    def interrupted(node):
        """Returns the keys of the jobs that had begun, and had not ended, when the node was rebooted. If the reboot interrupted a job, it is not an
        error if the job has no receipt."""
        return set(on(node, "cat", BEGUN).stdout.split()) - {key for key, _ in Stream.ended(node)}


def wait_for_lots(site, deadline=240):
    """Waits until the archive has committed new receipts of each node."""
    for node, before in {node: site.position(node) for node in NODES}.items():
        wait_until(lambda node=node, before=before: site.position(node) > before, f"a lot of {node} committed", deadline)


def swallow_an_answer(site):
    """The server commits receipts of each node, but the server's answers do not reach the nodes."""
    def swallowed():
        wait_for_lots(site)  # if a node has just sent receipts, the node is connected to the server
        site.relay.answers.clear()
        try:
            wait_for_lots(site, 20)
        except AssertionError:  # an answer was lost just before the relay began to look
            return False
        finally:
            site.relay.cut()
            site.relay.answers.set()
        return True
    wait_until(swallowed, "answers lost", 480)


def kill_the_server(site):
    site.server.kill_9()
    wait_for_trouble()
    site.server.start()


def freeze_the_server(site):
    """The connections stay open, but no answer comes for a minute."""
    # While the first process is frozen, it reaps no child, so the process ids of its children stay valid.
    os.kill(site.server.process.pid, signal.SIGSTOP)
    children = site.server.children()
    for pid in children:
        os.kill(pid, signal.SIGSTOP)
    minute = time.monotonic() + 60
    wait_until(lambda: time.monotonic() >= minute, "the end of the minute", 90)
    wait_for_trouble()
    for pid in (*children, site.server.process.pid):
        os.kill(pid, signal.SIGCONT)


def fill_the_disk(site):
    site.server.fill_disk()
    wait_for_trouble()
    site.server.empty_disk()
    print("the full disk has ended the server:", site.server.recover())
    wait_for_lots(site)
    assert site.server.process.poll() is None, "with room on its disk, the server goes on"


def close_the_port(site):
    site.relay.close()
    wait_for_trouble()
    site.relay.open()


def kill_at_any_moment(unit, times):
    def accident(site):
        seed = random.randrange(10**6)
        print("seed of the moments:", seed)
        moments = random.Random(seed)
        for _ in range(times):
            for node in NODES:
                seen = site.server.rows("SELECT count(*) FROM pinfold.receipt")[0][0]
                pid = wait_until(lambda node=node: main_process(node, unit), f"{unit} of {node} running")
                if moments.random() < 0.5:  # the kill comes just after a lot has arrived, or at once
                    wait_until(lambda seen=seen: site.server.rows("SELECT count(*) FROM pinfold.receipt")[0][0] != seen, "another receipt")
                kill(node, pid)
                wait_until(lambda node=node, pid=pid: main_process(node, unit) not in (0, pid), f"{unit} of {node} again")
    return accident


def lost_by_reboot():
    """Returns the result of the job that the reboot ends. With systemd 252, the sandbox of pinfoldd has its own /proc, which shows the boot id of the
    containers' host. This boot id is the same after the reboot, so pinfoldd does not notice the reboot. With systemd 257, the sandbox shows the boot
    id of the container."""
    return "node-lost" if systemd_version() >= 257 else "lost"


def reboot(site, stream):
    """Kills all processes of node2 at once, while jobs run and receipts wait. node2 boots again from its disk."""
    site.relay.close()
    long = start_on("node2", LONG, "sleep", "86400")
    wait_until(lambda: LONG in on("node2", "python3", "-c", LIVE_ROWS).stdout.split(), "the history knows the job")
    wait_until(lambda: site.newest("node2") >= site.position("node2") + 20, "receipts that wait")
    before = history("node2")
    boot = boot_id("node2")
    # The tests of Grid Engine have started Grid Engine's daemon on node2, but have not enabled the daemon.
    grid_engine = is_active("node2", "gridengine-exec")
    # The connection breaks before the command can end.
    on("node2", "systemctl", "reboot", "--force", "--force", check=False)
    stream.breaks("node2")
    assert long.wait(60) == 255
    wait_until(lambda: boot_id("node2") not in ("", boot), "node2 again", 120)
    wait_until(lambda: is_active("node2", "pinfold-ship"), "pinfold-ship of node2 again", 120)
    if grid_engine:
        on("node2", "systemctl", "start", "gridengine-exec", timeout=300)
    after = history("node2")
    assert before.items() <= after.items(), "the receipts that waited are on the disk"
    assert site.position("node2") < max(sequence for sequence, _ in before.values())
    stream.begin("node2")
    site.relay.open()
    expected = [[lost_by_reboot()]]
    wait_until(lambda: site.server.rows(f"SELECT result FROM pinfold.receipt WHERE key = '{LONG}'") == expected,
               "the archive knows that the reboot ended the job", 300)


ACCIDENTS = (swallow_an_answer, kill_the_server, freeze_the_server, fill_the_disk, close_the_port, *KILLS_AT_WORK,
             kill_at_any_moment("pinfoldd", 3))


def expect_one_receipt_for_each_job(site, node):
    """Compares the jobs of the stream with two lists: the receipts of the node, and the receipts in the archive."""
    ended, interrupted = Stream.ended(node), Stream.interrupted(node)
    assert len(interrupted) <= (node == "node2"), "only the reboot may interrupt a job"
    of_node = [(one["key"], str(one["exit_status"])) for one in receipts(node)]
    of_archive = [tuple(row) for row in site.server.rows(f"SELECT key, exit_status FROM pinfold.receipt WHERE node = '{node}'")]
    for found in (of_node, of_archive):
        found = [one for one in found if one[0].startswith(f"site.{node}.")]
        assert sorted(one for one in found if one[0] not in interrupted) == sorted(ended)
        assert len(found) - len(ended) <= len(interrupted)
    return len(ended)


def test_each_receipt_is_there_once_whatever_fails(site):
    with Stream() as stream:
        for accident in ACCIDENTS:
            site.wait_sent()
            accident(site)
        site.wait_sent()
        reboot(site, stream)
        wait_until(lambda: sum(len(stream.ended(node)) for node in NODES) >= JOBS, "enough jobs", 600)
    assert stream.errors == ["", ""]
    site.wait_sent()
    kill_while_it_is_idle(site)
    archived = site.archived()
    expected = {}
    for node in NODES:
        expected |= history(node)
    assert archived == expected
    assert sum(expect_one_receipt_for_each_job(site, node) for node in NODES) >= JOBS
    assert sum(one["key"] == LONG for node in NODES for one in receipts(node)) == 1
    assert site.server.rows(f"SELECT node, result FROM pinfold.receipt WHERE key = '{LONG}'") == [["node2", lost_by_reboot()]]
    assert site.server.rows("SELECT * FROM pinfold.gap") == site.server.rows("SELECT * FROM pinfold.rejected") == []
    shown = run("pinfold", "archive", "status", *site.connection())
    assert "complete" in shown.stdout and "missing" not in shown.stdout, shown.stdout


def test_a_node_that_goes_silent_and_comes_back(site):
    """While pinfold-ship of node2 is stopped, a job ends on node2. The job's receipt arrives in the archive when pinfold-ship runs again."""
    site.wait_sent()
    before = len(site.archived())
    on("node2", "systemctl", "stop", "pinfold-ship")
    on("node2", "pinfold-run", "--job", "site.silent", "--", "true")
    assert site.newest("node2") == site.position("node2") + 1 and len(site.archived()) == before
    on("node2", "systemctl", "start", "pinfold-ship")
    site.wait_sent()
    assert len(site.archived()) == before + 1


def test_a_node_sends_only_its_own_receipts(site):
    """node2 has a certificate with the name node2. The archive stores receipts under the name in the certificate, even if the node's host name is
    different."""
    on("node2", "hostname", "node1")
    try:
        on("node2", "systemctl", "restart", "pinfold-ship")
        on("node2", "pinfold-run", "--job", "site.liar", "--", "true")
        site.wait_sent()
        assert site.server.rows("SELECT DISTINCT node FROM pinfold.receipt WHERE key = 'site.liar'") == [["node2"]]
    finally:
        on("node2", "hostname", "node2")


def pinfold_as(user, *words, status=0):
    """If the test expects an error, the function returns the messages of `pinfold`."""
    done = run("runuser", "-u", user, "--", "pinfold", *words, check=False)
    assert done.returncode == status, f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr if status not in (0, ENDED_JOB) else done.stdout


@pytest.fixture
def login(site):
    with site.login_node():
        yield


@pytest.fixture(scope="module")
def job_of_two_hosts(site):
    """Runs a job of alice on two hosts. The part of the job on node2 crashes, and the batch script on node1 then gives up."""
    key = "user.two-hosts"
    part = shlex.join(["pinfold-run", "--job", key, "--", "sh", "-c", "kill -SEGV $$"])
    script = f"ssh node2 {shlex.quote(part)} || exit 3"
    with site.login_node():
        done = run("runuser", "-u", "alice", "--", "pinfold-run", "--job", key, "--", "sh", "-c", script, check=False)
    assert done.returncode == 3, done.stderr
    wait_until(lambda: site.server.rows(f"SELECT node FROM pinfold.receipt WHERE key = '{key}' ORDER BY node") == [["node1"], ["node2"]],
               "the receipts of both hosts in the archive")
    return key


def keys(history_json):
    return [receipt["key"] for receipt in json.loads(history_json)["receipts"]]


def test_a_login_node_explains_a_job_of_two_hosts(job_of_two_hosts, login):
    key = job_of_two_hosts
    page = pinfold_as("alice", "why", key)
    assert re.search(r"^  hosts +2$", page, re.M) and re.search(r"^  first end +node2, ", page, re.M) and "node1" in page, page
    table = pinfold_as("alice", "why", "--hosts", key).splitlines()
    assert [line.split()[0] for line in table] == ["HOST", "node2", "node1"], table
    for document in (json.loads(pinfold_as("alice", "--json", "why", key)), json.loads(pinfold_as("alice", "show", "--json", key, status=ENDED_JOB))):
        assert {(one["host"], one["exit_status"], one["exit_signal"]) for one in document["receipts"]} == {("node1", 3, None), ("node2", None, 11)}
        assert document["first_end"]["host"] == "node2"
    assert keys(pinfold_as("alice", "history", "--json")).count(key) == 2
    assert pinfold_as("alice", "history", "--job", key).count(key) == 2
    hosts = [line for line in pinfold_as("alice", "show", key, status=ENDED_JOB).splitlines() if line.startswith("host=")]
    assert sorted(hosts) == ["host=node1", "host=node2"]


def test_a_login_node_keeps_the_job_from_other_users(job_of_two_hosts, login):
    for words in (["why"], ["why", "--hosts"], ["--json", "why"], ["show"]):
        message = pinfold_as("bob", *words, job_of_two_hosts, status=4)
        assert "node2" not in message, message
    assert job_of_two_hosts not in keys(pinfold_as("bob", "history", "--json"))


def test_a_login_node_says_that_the_archive_is_down(site, job_of_two_hosts, login):
    site.server.stop()
    try:
        for words in (["why", job_of_two_hosts], ["show", job_of_two_hosts], ["history", "--job", job_of_two_hosts]):
            message = pinfold_as("alice", *words, status=6)
            assert "the archive of receipts is not reachable" in message and "ran on node1" in message, message
        assert "the archive of receipts is not reachable" in pinfold_as("alice", "history", status=6)
    finally:
        site.server.start()
    # pinfold-archive remembers for one second that the server is down.
    wait_until(lambda: run("runuser", "-u", "alice", "--", "pinfold", "why", job_of_two_hosts, check=False).returncode == 0, "the archive again", 60)


def play(directory, configuration):
    """Runs the play of docs/ansible for the archive. Returns how many tasks have changed something, for each node."""
    variables = {"pinfold_certificates": str(directory), "pinfold_archive_configuration": configuration}
    done = run("ansible-playbook", "--inventory", "inventory.yml", "--extra-vars", json.dumps(variables), "archive.yml", cwd=PLAYS,
               env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {node: int(number) for node, number in re.findall(r"^(\w+) +: ok=\d+ +changed=(\d+) ", done.stdout, re.M)}


def test_the_play_for_ansible_connects_the_nodes(site, tmp_path):
    """node2 is like a new node: it has no certificate and no configuration of the archive."""
    site.wait_sent()
    for node in NODES:
        for source, name in zip(site.server.certificate(node), (f"{node}.crt", f"{node}.key")):
            shutil.copy(source, tmp_path / name)
    shutil.copy(site.server.authority.certificate, tmp_path / "ca.crt")
    on("node2", "sh", "-c", f"systemctl disable --now pinfold-ship; rm -r {CERTIFICATES} {SETTINGS}; systemctl restart pinfoldd")
    assert play(tmp_path, site.settings())["node2"] > 0
    on("node2", "pinfold-run", "--job", "site.play", "--", "true")
    site.wait_sent()
    assert site.server.rows("SELECT node FROM pinfold.receipt WHERE key = 'site.play'") == [["node2"]]
    assert play(tmp_path, site.settings()) == dict.fromkeys(NODES, 0), "a second run changes nothing"


BALLAST = """
import sqlite3, sys
with sqlite3.connect("/var/lib/pinfold/history.db", timeout=30) as history:
    history.execute(sys.argv[1])
"""


def test_exactly_the_gap_that_was_made_is_named(site):
    """node2 removes receipts that it has not sent, because its history is larger than archive.max_unsent. The test comes last, because it
    empties the history of node2."""
    site.wait_sent()
    wait_until(lambda: cursor("node2") == site.newest("node2"), "node2 knows that all its receipts are in the archive")
    before = site.archived()
    on("node2", "systemctl", "stop", "pinfold-ship")
    sent = site.newest("node2")
    try:
        for number in range(4):
            on("node2", "pinfold-run", "--job", f"site.lost.{number}", "--", "true")
        on("node2", "python3", "-c", BALLAST, "CREATE TABLE ballast AS SELECT zeroblob(2000000)")
        site.set("node2", 'max_unsent = "1M"\n')
        on("node2", "pinfold", "vacuum", "--max-age=0")
        assert history("node2") == {}
        for number in range(2):
            on("node2", "pinfold-run", "--job", f"site.after.{number}", "--", "true")
        kept = history("node2")
    finally:
        on("node2", "python3", "-c", BALLAST, "DROP TABLE IF EXISTS ballast")
        site.set("node2")
        on("node2", "systemctl", "start", "pinfold-ship")
    first, last = sent + 1, sent + 4
    assert sorted(sequence for sequence, _ in kept.values()) == [last + 1, last + 2]
    wait_until(lambda: site.position("node2") == last + 2, "the receipts that are left")
    assert site.archived() == before | kept
    assert site.server.rows("SELECT node, first, last FROM pinfold.gap") == [["node2", str(first), str(last)]]
    shown = run("pinfold", "archive", "status", *site.connection(), check=False)
    assert shown.returncode == 1 and "except node2 (4 receipts missing)" in " ".join(shown.stdout.split()), shown.stdout
    status = run("pinfold", "archive", "status", "--json", *site.connection(), check=False)
    nodes = [(one["node"], one["complete"], one["missing"], one["rejected"], one["unsent"]) for one in json.loads(status.stdout)["nodes"]]
    assert nodes == [("node1", True, 0, 0, 0), ("node2", False, 4, 0, 0)]
    with site.login_node():
        page = run("pinfold", "report", "--site").stdout
    gaps = page[page.index("Receipts that will never be in the archive"):]
    cells = re.findall("<td[^>]*>(.*?)</td>", gaps)
    assert (cells[0], *cells[2:5]) == ("node2", str(first), str(last), "4"), gaps
