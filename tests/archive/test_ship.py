# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pinfold-ship between a real pinfoldd on a private bus and a real PostgreSQL. After each fault that a test causes, the archive must
have each receipt of the node, and nothing else."""

import contextlib
import random
import re
import shutil
import signal
import sqlite3
import stat
import subprocess

import dbus
import pytest

from conftest import BUILD
from ship_node import new_node, options, wait_until

TROUBLE, OVER = "receipts do not reach the archive", "receipts reach the archive again"


@pytest.fixture(name="node")
def running_node(archive):
    with new_node(archive) as node:
        yield node


def test_receipts_arrive_once(node):
    node.run_jobs(3)
    node.start()
    node.arrives()
    node.run_jobs(5)
    node.arrives()
    assert node.archive.status()["newest"] == 8
    node.stop()
    node.start()
    node.run_job()
    node.arrives()
    wait_until(lambda: node.sent()["sequence"] == 9, "the file of pinfold-ship")
    assert stat.S_IMODE((node.state / "sent").stat().st_mode) == 0o644
    assert node.lines() == [], "nothing was worth a line"
    body = node.archive.rows("SELECT body FROM pinfold.receipt WHERE sequence = 9")[0]["body"]
    assert body["epoch"] == node.sent()["epoch"] and body["id"] in node.receipts()


def test_a_profile_arrives_with_its_receipt(node):
    """pinfoldd looks at a job for the first time when the job is one second old. The second job of this test ends before pinfoldd looks at
    the job."""
    process = node.world.process()
    node.world.create("sge.7", process)
    wait_until(lambda: len(node.world.manager().GetProfile("sge.7")["lengths"]), "the first look at the job")
    process.kill()
    process.wait()
    node.world.manager().EndJob("sge.7", options(exit_status=dbus.Int32(1)))
    node.run_job()
    node.start()
    node.arrives()
    with sqlite3.connect(node.world.root / "var/lib/pinfold/history.db", timeout=30) as history:
        [(number, expected)] = history.execute("SELECT number, profile FROM profiles").fetchall()
    history.close()
    rows = node.archive.rows("SELECT r.sequence, encode(p.body, 'hex') AS body FROM pinfold.profile p JOIN pinfold.receipt r USING (node, id, ended)")
    assert rows == [{"sequence": number, "body": expected.hex()}]


def test_a_good_job_arrives_within_a_minute(node):
    node.start()
    node.run_job(status=0)
    node.arrives(deadline=75)


def test_the_first_failed_job_of_a_node_arrives_at_once(node):
    """Before the first job of the node begins, pinfold-ship has already received an answer from the archive."""
    node.start()
    wait_until(lambda: "pinfold_ship_last_success_seconds" in node.figures(), "the first answer of the archive")
    assert node.archive.count("node") == 0
    node.run_job()
    node.arrives(deadline=20)


def test_a_node_without_receipts_says_that_the_archive_is_down(node):
    node.relay.close()
    node.start()
    wait_until(lambda: node.has_said(TROUBLE), "the trouble")
    wait_until(lambda: node.figures()["pinfold_ship_failing"] == 1, "the trouble in the metrics")
    node.relay.open()
    wait_until(lambda: node.has_said(OVER), "the end of the trouble")


def test_the_metrics_of_an_earlier_run_are_not_shown(node):
    node.start()
    wait_until(lambda: "pinfold_ship_last_success_seconds" in node.figures(), "the first answer of the archive")
    node.stop()
    node.relay.close()
    node.start()
    wait_until(lambda: "pinfold_ship_last_success_seconds" not in node.figures(), "the metrics of the new run")
    wait_until(lambda: node.figures()["pinfold_ship_failing"] == 1, "the failure of the new run")
    node.relay.open()


def test_the_metrics_say_what_was_sent(node):
    node.start()
    node.run_jobs(2)
    node.arrives()
    file = node.state / "pinfold-ship.prom"
    wait_until(lambda: file.exists() and "\npinfold_ship_receipts_total 2\n" in file.read_text(), "two receipts in the metrics")
    text = file.read_text()
    assert "\npinfold_ship_unsent 0\n" in text and "\npinfold_ship_failing 0\n" in text
    assert "\npinfold_ship_certificate_expires_seconds " in text


@pytest.mark.parametrize("seconds", [0, 3600, -3600])
def test_the_metrics_compare_the_clocks(node, seconds):
    node.start(LD_PRELOAD=str(BUILD / "tests/wrongclock.so"), WRONGCLOCK_SECONDS=str(seconds))
    node.run_job()
    node.arrives()
    wait_until(lambda: "pinfold_ship_clock_offset_seconds" in node.figures(), "the difference of the clocks")
    assert node.figures()["pinfold_ship_clock_offset_seconds"] == pytest.approx(seconds, abs=20 if seconds else 0)
    assert node.figures()["pinfold_ship_missing"] == 0


@contextlib.contextmanager
def answering(archive, answer):
    """Until the context ends, every call of pinfold.put() returns `answer`. `answer` has three values: a sequence number, the server's time, and the
    number of missing receipts. The sequence number says up to which receipt the archive has the node's receipts. If an archive has a fault, or if
    somebody has taken over the server, an answer may contain anything."""
    put = archive.sql("SELECT pg_get_functiondef('pinfold.put'::regproc)")
    try:
        archive.sql(f"{put[:put.index('LANGUAGE')]} LANGUAGE sql SECURITY DEFINER AS $$ SELECT {answer} $$")
        yield
    finally:
        archive.sql(put)


@pytest.mark.parametrize("answer", ["NULL::bigint, now(), 0", "1, NULL::timestamptz, 0", "1, now(), -1", "-1, now(), 0",
                                    "1, timestamptz 'infinity', 0", "1, timestamptz '1969-01-01', 0"])
def test_an_answer_that_is_nonsense_is_an_error(node, answer):
    with answering(node.archive, answer):
        node.start()
        node.run_job()
        wait_until(lambda: node.has_said(TROUBLE), "the trouble")
        assert "pinfold_ship_missing" not in node.figures()
    node.arrives(deadline=90)
    wait_until(lambda: node.figures().get("pinfold_ship_missing") == 0, "the next answer")


def test_a_time_that_no_clock_can_have_is_a_wrong_clock(node):
    with answering(node.archive, "last, timestamptz '290000-01-01', 9223372036854775807"):
        node.start()
        node.run_job()
        wait_until(lambda: node.figures().get("pinfold_ship_missing") == 2**63, "the answer")
        assert node.figures()["pinfold_ship_clock_offset_seconds"] < -9e12 / 1000


def test_an_answer_to_the_commit_that_is_lost(node):
    node.start()
    node.run_job()
    node.arrives()
    wait_until(lambda: node.sent()["sequence"] == 1, "the file of pinfold-ship")
    for accident in (1, 2, 3):
        before = node.archive.count()
        node.relay.answers.clear()
        node.run_jobs(3)
        wait_until(lambda: node.archive.count() > before, "the archive has committed")
        assert node.sent()["sequence"] == before, "pinfoldd keeps the receipts until the archive has answered"
        node.relay.cut()
        node.relay.answers.set()
        node.arrives()
        wait_until(lambda: node.has_said(OVER) == accident, "the answer to the same receipts")
        wait_until(lambda: node.sent()["sequence"] == before + 3, "the file of pinfold-ship")


def test_an_idle_node_keeps_no_connection(node):
    """The server runs one process for each connection, and a site has thousands of nodes."""
    connections = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pinfold_node'"
    node.start()
    node.run_job()
    node.arrives()
    wait_until(lambda: node.archive.sql(connections) == "0", "the end of the connection")
    node.run_job()
    node.arrives()
    assert not node.has_said(TROUBLE)


def test_postgres_is_killed_while_receipts_come(node):
    node.start()
    node.run_jobs(2)
    node.arrives()
    node.archive.server.kill_9()
    try:
        node.run_jobs(3)
        wait_until(lambda: node.has_said(TROUBLE), "the trouble")
    finally:
        node.archive.server.start()
    node.run_jobs(2)
    node.arrives()
    wait_until(lambda: node.has_said(OVER), "the end of the trouble")
    assert node.has_said(TROUBLE) <= 2, "the server is first away, and then it starts"


def test_postgres_is_stopped_for_a_while(node):
    node.start()
    node.run_job()
    node.arrives()
    node.archive.server.stop()
    try:
        node.run_jobs(2)
        wait_until(lambda: node.figures()["pinfold_ship_failures_total"] >= 3, "three tries")
        assert node.has_said(TROUBLE) == 1, node.lines()
        assert len(node.receipts()) == 3
    finally:
        node.archive.server.start()
    node.arrives()
    wait_until(lambda: node.has_said(OVER), "the end of the trouble")
    assert node.has_said(TROUBLE) == 1 and node.has_said(OVER) == 1, node.lines()


def test_a_port_that_is_closed(node):
    node.relay.close()
    node.start()
    node.run_jobs(3)
    wait_until(lambda: node.has_said(TROUBLE), "the trouble")
    assert node.archive.count() == 0
    node.relay.open()
    node.arrives()


@pytest.mark.parametrize("state", ["connecting", "in a put"])
def test_an_archive_that_hangs_does_not_keep_pinfold_ship(node, state):
    if state == "in a put":
        node.start()
        node.run_job()
        node.arrives()
    node.relay.answers.clear()
    accepted = node.relay.accepted
    if state == "connecting":
        node.start()
    node.run_job()
    wait_until(lambda: node.archive.count() == 2 if state == "in a put" else node.relay.accepted > accepted, state)
    assert node.stop() < 8, "pinfold-ship waits for a connection for 10 s, and for the answer to a put for 60 s"
    node.relay.cut()
    node.relay.answers.set()
    node.start()
    node.arrives()


def test_pinfold_ship_is_killed_in_every_state(node):
    moment = random.Random(812)
    for _ in range(12):
        node.run_jobs(2)
        # The relay passes on a random number of bytes (fewer than 5500), and then the test kills pinfold-ship. A connection that sends
        # receipts transfers more than 5500 bytes.
        point = node.relay.passed + moment.randrange(5500)
        node.start()
        wait_until(lambda point=point: node.relay.passed >= point, "the point of the conversation")
        node.stop(signal.SIGKILL)
    node.start()
    node.arrives()
    node.run_job()
    node.arrives()


def test_pinfoldd_is_killed(node):
    node.start()
    node.run_jobs(2)
    node.arrives()
    node.world.daemon.kill()
    node.world.daemon.wait()
    node.world.daemon = node.world.start_daemon()
    node.run_jobs(2)
    node.arrives()
    assert node.process.poll() is None


def test_the_bus_is_killed(node):
    node.start()
    node.run_jobs(2)
    node.arrives()
    bus = node.world.processes[0]
    bus.kill()
    bus.wait()
    node.world.daemon.wait(30)
    wait_until(lambda: node.has_said(TROUBLE), "the trouble")
    for made_by_systemd in ("proc", "sys"):
        shutil.rmtree(node.world.root / made_by_systemd)
    node.world.boot()
    node.run_jobs(2)
    node.arrives()
    assert node.process.poll() is None and node.has_said(TROUBLE) == 1, node.lines()
    assert node.stop() < 8


@contextlib.contextmanager
def calls_on(world, method):
    """While the context lasts, collects the destination of each call of the method `method`."""
    lines, destinations = world.directory / "calls", []
    with open(lines, "w") as file:
        address = world.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        monitor = subprocess.Popen(["dbus-monitor", "--address", address, f"type='method_call',member='{method}'"], stdout=file)
    try:
        wait_until(lambda: "member=NameLost" in lines.read_text(), "the monitor")  # dbus-monitor begins to monitor after NameLost
        yield destinations
        wait_until(lambda: f"member={method}" in lines.read_text(), "a call")
    finally:
        monitor.terminate()
        monitor.wait()
    destinations += re.findall(rf"^method call .* destination=(\S+) .*member={method}$", lines.read_text(), re.M)


def test_pinfoldd_that_is_stopped_stays_stopped(node):
    """If pinfold-ship called the name org.pinfold1 on the system bus, the bus would start pinfoldd. On the bus of this test, a call of org.pinfold1
    would start a program that creates the file `started`."""
    started = node.world.directory / "started"
    services = node.world.directory / "services"
    services.mkdir()
    (services / "org.pinfold1.service").write_text(f"[D-BUS Service]\nName=org.pinfold1\nExec=/usr/bin/touch {started}\n")
    configuration = node.world.directory / "bus.conf"
    configuration.write_text(configuration.read_text().replace("<auth>", f"<servicedir>{services}</servicedir><auth>"))
    node.world.bus.call_blocking("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig", "", ())
    with calls_on(node.world, "ListReceipts") as destinations:
        node.start()
        node.run_job()
        node.arrives()
    # If a client sent a call to the name org.pinfold1 right after the end of pinfoldd, the bus would start pinfoldd again.
    assert destinations and all(name.startswith(":") for name in destinations), destinations
    node.world.stop_daemon()
    node.stop()
    node.start()
    wait_until(lambda: node.has_said("pinfoldd does not run"), "the trouble")
    assert not started.exists()
    node.world.daemon = node.world.start_daemon()
    node.run_job()
    node.arrives()


def test_a_report_after_the_end_amends_the_row(node):
    node.start()
    receipt = node.run_job(status=None)
    node.run_job()
    node.arrives()
    assert node.archived()[str(receipt["id"])][4] == ""
    node.world.manager().EndJob(str(receipt["key"]), options(exit_status=dbus.Int32(3)))
    node.arrives(deadline=75)
    assert node.archived()[str(receipt["id"])][4] == "3"


def test_a_report_while_pinfold_ship_does_not_run_amends_the_row(node):
    node.start()
    receipt = node.run_job(status=None)
    node.run_job()
    node.arrives()
    node.stop()
    node.world.manager().EndJob(str(receipt["key"]), options(exit_status=dbus.Int32(3)))
    node.start()
    node.arrives()
    assert node.archived()[str(receipt["id"])][4] == "3"


def test_a_new_history_is_another_epoch(node):
    node.start()
    node.run_jobs(3)
    node.arrives()
    first = node.receipts()
    node.world.stop_daemon()
    for file in (node.world.root / "var/lib/pinfold").glob("history.db*"):
        file.unlink()
    node.world.daemon = node.world.start_daemon()
    node.run_jobs(2)
    both = {**first, **node.receipts()}
    assert len(both) == 5
    wait_until(lambda: node.archived() == both, "the receipts of both histories")
    status = node.archive.status()
    assert (status["replaced_histories"], status["position"], status["gaps"]) == (1, 2, 0)


def test_an_older_copy_of_the_history_loses_no_receipt(node):
    """An administrator replaces the history's file by an older copy while pinfold-ship continues to run."""
    history, copy = node.world.root / "var/lib/pinfold/history.db", node.world.directory / "copy.db"

    def without_daemon(action):
        node.world.stop_daemon()
        action()
        node.world.daemon = node.world.start_daemon()

    node.start()
    node.run_jobs(3)
    without_daemon(lambda: shutil.copy(history, copy))
    node.run_jobs(4)
    node.arrives()
    before = node.receipts()
    wait_until(lambda: node.sent()["sequence"] == 7, "the file of pinfold-ship")
    without_daemon(lambda: shutil.copy(copy, history))
    node.run_jobs(2)
    after = node.receipts()
    assert sorted(receipt[0] for receipt in after.values()) == [1, 2, 3, 4, 5]
    wait_until(lambda: node.archived() == {**before, **after}, "the receipts of both copies")
    assert len(node.archived()) == 9
    wait_until(lambda: node.archive.status()["restored"], "the archive knows what has happened")
    assert node.archive.status()["gaps"] == 0


def test_receipts_that_are_not_in_the_archive_are_not_removed(node):
    node.run_jobs(3)
    vacuum = options(max_age=dbus.UInt64(0))
    assert node.world.manager().VacuumHistory(vacuum)[0] == 0
    node.start()
    node.arrives()
    wait_until(lambda: node.sent()["sequence"] == 3, "the file of pinfold-ship")
    assert node.world.manager().VacuumHistory(vacuum)[0] == 3
    assert node.archive.count() == 3
    node.run_job()
    wait_until(lambda: node.archive.count() == 4, "the next receipt")
    assert node.archive.count("gap") == 0


def test_receipts_that_are_removed_unsent_are_exactly_the_gap(node):
    node.start()
    node.run_jobs(2)
    node.arrives()
    wait_until(lambda: node.sent()["sequence"] == 2, "the file of pinfold-ship")
    node.stop()
    node.run_jobs(4)
    node.configure(more='max_unsent = "1M"\n')
    # The table `ballast` makes the file history.db larger than the setting archive.max_unsent allows.
    with sqlite3.connect(node.world.root / "var/lib/pinfold/history.db", timeout=30) as history:
        history.execute("CREATE TABLE ballast AS SELECT zeroblob(2000000)")
    history.close()
    assert node.world.manager().VacuumHistory(options(max_age=dbus.UInt64(0)))[0] == 6
    node.run_jobs(2)
    node.start()
    wait_until(lambda: node.archive.count() == 4, "the receipts that are left")
    assert node.archive.rows("SELECT first, last FROM pinfold.gap") == [{"first": 3, "last": 6}]
    status = node.archive.status()
    assert (status["position"], status["gaps"], status["unsent"]) == (8, 4, 0)
    wait_until(lambda: node.figures().get("pinfold_ship_missing") == 4, "pinfold-ship knows about the gap")


def test_a_certificate_that_has_expired_is_one_line(node):
    node.archive.server.authority.issue("expired", days=-1)
    node.configure(certificate="expired")
    node.run_job()
    node.start()
    wait_until(lambda: node.figures().get("pinfold_ship_failures_total", 0) >= 3, "three tries")
    assert node.has_said(TROUBLE) == len(node.lines()) == 1, node.lines()
    assert "expired" in node.lines()[0]
    assert node.archive.count() == 0


def test_a_server_without_a_free_connection_says_what_to_raise(node):
    """A site has more nodes than its server has connections."""
    node.archive.sql("ALTER ROLE pinfold_node CONNECTION LIMIT 0")
    try:
        node.start()
        node.run_job()
        wait_until(lambda: node.has_said(TROUBLE), "the trouble")
        assert node.has_said("too many connections") and node.has_said("raise max_connections")
    finally:
        node.archive.sql("ALTER ROLE pinfold_node CONNECTION LIMIT -1")
    node.arrives()
    wait_until(lambda: node.has_said(OVER), "the end of the trouble")
    assert node.has_said(TROUBLE) == node.has_said(OVER) == 1


def test_without_a_server_there_is_nothing_to_do(node):
    (node.world.root / "etc/pinfold/pinfold.toml").write_text("")
    node.start()
    assert node.process.wait(30) == 0
    assert node.lines() == ["<6>archive.server is not set in pinfold.toml, so there is no archive to send receipts to"]


def test_a_wrong_configuration_is_not_tried_again(node):
    (node.world.root / "etc/pinfold/pinfold.toml").write_text("[archive]\nport = 0\n")
    node.start()
    assert node.process.wait(30) == 78
    assert "1 to 65535" in node.lines()[0]


def test_a_full_disk_of_the_node_stops_nothing(node):
    (node.state / "sent").mkdir()  # the file can be neither written nor read
    node.start()
    node.run_jobs(2)
    node.arrives()
    wait_until(lambda: node.has_said("cannot write a file") == 1, "the line about the file")  # pinfold-ship writes it after the archive's answer
    node.run_jobs(2)
    node.arrives()
    assert node.has_said("cannot write a file") == 1, node.lines()
    assert node.world.manager().VacuumHistory(options(max_age=dbus.UInt64(0)))[0] == 0, "pinfoldd keeps the receipts"
