# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the queries of the site report. The tests compute each answer in Python, and compare the result with the answer of the query."""

import json
import random
import tempfile
from collections import Counter, defaultdict
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

import pytest

from postgres_server import LOGIN_HOST, TOP, PostgresServer

QUERIES = {file.stem: file.read_text() for file in sorted((TOP / "src/archive/sql/report").glob("*.sql"))}
SINCE = datetime(2026, 11, 20, tzinfo=timezone.utc)
UNTIL = datetime(2026, 11, 27, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
LARGEST = 2**63 - 1
ENDS = [("exited", "succeeded", None), ("exited", "failed", None), ("exited", "unknown", None), ("signaled", "failed", None),
        ("stopped", "failed", None), ("timeout", "failed", None), ("out-of-memory", "failed", "own-limit"),
        ("out-of-memory", "failed", None), ("node-lost", "failed", None), ("lost", "failed", None), ("supervisor-lost", "failed", None)]


def receipts():
    """Makes receipts that cover all special cases of the queries. In some receipts, values are missing or infinite. Some receipts have the same key.
    Some jobs end exactly when the period of the report begins or ends."""
    chance = random.Random(17)
    edges = [SINCE, SINCE - MICROSECOND, UNTIL, UNTIL - MICROSECOND]
    made = []

    def add(node, **values):
        result, outcome, oom_cause = values.pop("end", None) or chance.choice(ENDS)
        ended = chance.choice(edges) if chance.random() < 0.05 else SINCE + timedelta(hours=chance.uniform(-10, 178))
        maybe = lambda *choices: chance.choice([None, *choices])
        made.append({
            "node": node, "epoch": "e1", "sequence": len(made) + 1, "id": f"id{len(made):04}", "cluster": "", "run": 0, "uid": 1000,
            "started": (ended - timedelta(hours=1)).isoformat(), "ended": ended.isoformat(),
            "received": ended.isoformat(), "body": {}, "result": result, "outcome": outcome, "oom_cause": oom_cause,
            "wall_us": maybe(chance.randrange(10**12), 1, 0), "cpu_us": maybe(chance.randrange(10**12), 0),
            "cpus_us": maybe(2_500_000, 128_000_000, LARGEST), "memory_peak": LARGEST,
            "memory_need": maybe(chance.randrange(2**36), LARGEST),
            "memory_max": maybe(2**30, chance.randrange(2**40), LARGEST), "leftovers": maybe(0, 0, 1, chance.randrange(50)),
            "leftover_cpu_us": maybe(0, chance.randrange(10**9)),
            "unkillable_processes": chance.choice([None, None, None, 1, chance.randrange(1, 2**32)]), "when": ended, **values})

    for number in range(300):
        uid = chance.choice([1000, 1001, 1002, 1003])
        facts = {"key": f"sge.{number % 200}", "cluster": chance.choice(["", "", "c2"]), "run": chance.choice([0, 0, 1]), "uid": uid}
        account, queue = chance.choice([None, "physics", "<b>bio</b>"]), chance.choice([None, "all.q", "long.q", "gpu.q"])
        for node in chance.sample([f"node{n}" for n in range(8)], chance.choice([1, 1, 1, 2, 5])):
            add(node, owner=chance.choice([None, f"user{uid}"]) if uid != 1003 else None,
                account=chance.choice([account, account, None]), queue=chance.choice([queue, queue, None]), **facts)
    for number in range(60):
        add(f"node{number % 8}", key=f"manual.{number % 3}", uid=1000, owner="user1000", account=None, queue=None)
        add(f"node{number % 8}", key="user.nightly", uid=1001, owner="user1001", account=None, queue=None)
    return made


RECEIPTS = receipts()
PERIOD = [receipt for receipt in RECEIPTS if SINCE <= receipt["when"] < UNTIL]


@pytest.fixture(scope="module")
def server():
    """The tests in test_site_report.py use a server of their own, because tests in other files replace the database."""
    with tempfile.TemporaryDirectory(prefix="pinfold-report-") as directory, PostgresServer(Path(directory)) as it:
        it.psql("CREATE DATABASE pinfold TEMPLATE template0 ENCODING 'UTF8'", database="postgres")
        it.psql((TOP / "src/archive/sql/0001.sql").read_text(), "--single-transaction")
        yield it


@pytest.fixture(scope="module")
def filled(server):
    insert(server, "receipt", RECEIPTS)
    return server


def insert(server, table, rows):
    """If the first row lacks a column, the column gets its default value in all rows."""
    columns = ", ".join(f'"{name}"' for name in rows[0] if name != "when")
    server.psql(f"INSERT INTO pinfold.{table} ({columns}) SELECT {columns} FROM jsonb_populate_recordset(NULL::pinfold.{table}, "
                f"$rows${json.dumps(rows, default=str)}$rows$)")


def ask_whole(server, name, since=SINCE, until=UNTIL):
    """Runs a query as the role pinfold_reader, as the service on a login host does. The parameters of the query are the start and the end of the
    report's period."""
    answer = server.psql(f"SET TimeZone = 'UTC'; PREPARE report(timestamptz, timestamptz) AS SELECT to_json(t) FROM ({QUERIES[name]}) AS t;\n"
                         f"EXECUTE report('{since.isoformat()}', '{until.isoformat()}');", login=LOGIN_HOST)
    return [json.loads(line) for line in answer.splitlines()]


def is_of_all(column):
    """Says whether the figures in a column are totals over all rows, including the rows that LIMIT cuts off."""
    return column.startswith("all_")


def ask(server, name, since=SINCE, until=UNTIL):
    """Returns the answer to a query, without the columns that contain totals over all rows."""
    return [{column: value for column, value in row.items() if not is_of_all(column)} for row in ask_whole(server, name, since, until)]


def jobs():
    """Returns a list of receipts for each job."""
    seen, found = Counter(), defaultdict(list)
    for receipt in sorted(PERIOD, key=lambda receipt: (receipt["when"], receipt["id"])):
        name = tuple(receipt[part] for part in ("cluster", "key", "run", "uid"))
        seen[name, receipt["node"]] += 1
        alone = receipt["key"].split(".")[0] in ("manual", "user")
        found[name, receipt["node"] if alone else None, seen[name, receipt["node"]]].append(receipt)
    return list(found.values())


def rounded(value):
    return None if value is None else (2 * value.numerator + value.denominator) // (2 * value.denominator)


def total(values):
    """Returns the sum of the values that are known, or None if no value is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def product(*factors):
    return None if None in factors else Fraction(factors[0]) * factors[1]


def cpu_of(hosts):
    asked = [product(host["cpus_us"], host["wall_us"]) for host in hosts]
    asked = [None if value is None else value / 10**6 for value in asked]
    both = [(want, host["cpu_us"]) for want, host in zip(asked, hosts) if want is not None and host["cpu_us"] is not None]
    return {"cpu_asked_us": rounded(total(want for want, _ in both)), "cpu_used_us": total(use for _, use in both),
            "cpu_unused_us": rounded(total(max(want - use, 0) for want, use in both)),
            "cpu_used_without_request_us": total(host["cpu_us"] for want, host in zip(asked, hosts) if want is None)}


def memory_of(hosts):
    both = [host for host in hosts if None not in (host["memory_max"], host["memory_need"], host["wall_us"])]
    hours = lambda name: rounded(total(Fraction(host[name] * host["wall_us"], 3_600_000_000) for host in both))
    return {"memory_asked_byte_hours": hours("memory_max"), "memory_needed_byte_hours": hours("memory_need")}


def only(hosts, name):
    """Returns the value that the hosts have in common. The function ignores hosts without a value."""
    values = {host[name] for host in hosts} - {None}
    assert len(values) < 2 or name in ("account", "queue")
    return max(values, default=None)


def groups(by):
    """Returns a dictionary that maps each value of the column `by` to the jobs with this value."""
    found = defaultdict(list)
    for job in jobs():
        found[only(job, by)].append(job)
    return found


def hosts_of(some_jobs):
    return [host for job in some_jobs for host in job]


def user(uid, some_jobs):
    return only(hosts_of(some_jobs), "owner") or str(uid)


def by_name(rows):
    """Returns a dictionary that maps the first value of each row to the row. No value may occur twice in the first column."""
    found = {next(iter(row.values())): row for row in rows}
    assert len(found) == len(rows)
    return found


def descending(rows, column):
    """Returns true if the row with the highest value is first, and the rows without a value are last."""
    values = [row[column] for row in rows]
    known = [value for value in values if value is not None]
    return known == sorted(known, reverse=True) and values[:len(known)] == known


def test_each_query_has_a_comment_and_is_tested_and_refers_to_the_period(filled):
    text = open(__file__, encoding="utf-8").read()
    for name, sql in QUERIES.items():
        assert sql.splitlines()[1].startswith("-- ") and "$1" in sql and "$2" in sql and f'"{name}"' in text.replace("'", '"'), name
        code = "".join(line for line in sql.splitlines() if not line.startswith("--"))
        assert ";" not in code and code.count("LIMIT") == (name not in ("totals", "completeness")), name
    assert len(QUERIES) > 10


def test_the_receipts_have_what_can_go_wrong():
    several = [job for job in jobs() if len(job) > 1]
    assert len(PERIOD) < len(RECEIPTS) and len(several) > 50 and len(jobs()) > 200
    assert sum(1 for receipt in PERIOD if receipt["when"] == SINCE) > 0
    assert any(receipt["when"] == UNTIL for receipt in RECEIPTS)
    assert any(len({host["result"] for host in job}) > 1 for job in several)


def test_totals(filled):
    [row] = ask(filled, "totals")
    assert row == {"jobs": len(jobs()), "hosts": len(PERIOD), "users": 4, "nodes": len({receipt["node"] for receipt in PERIOD}),
                   **cpu_of(PERIOD)}


def cause_of(job):
    """Says how a job ended. The function looks at one host after the other, in the order in which the job ended on the hosts."""
    ends = sorted(job, key=lambda host: (host["when"], host["node"]))
    own = [host for host in ends if host["outcome"] == "failed" and host["result"] not in ("stopped", "signaled")]
    known = [host for host in ends if host["outcome"] != "unknown"]
    first = (own or known or ends)[0]
    exited = {"succeeded": "exited with status 0", "failed": "exited with another status", "unknown": "exited, status not reported"}
    if first["result"] == "exited":
        return exited[first["outcome"]]
    return first["result"] + (f" ({first['oom_cause']})" if first["oom_cause"] else "")


def test_end_causes(filled):
    rows = ask(filled, "end_causes")
    assert {row["cause"]: row["jobs"] for row in rows} == Counter(map(cause_of, jobs()))
    assert descending(rows, "jobs") and len(rows) > 8


@pytest.mark.parametrize("query, by, figures, order", [
    ("cpu_by_user", "uid", cpu_of, "cpu_used_us"),
    ("cpu_by_account", "account", cpu_of, "cpu_used_us"),
    ("memory_by_user", "uid", memory_of, "memory_asked_byte_hours"),
    ("memory_by_account", "account", memory_of, "memory_asked_byte_hours"),
])
def test_use_by_user_and_account(filled, query, by, figures, order):
    expected = {}
    for value, members in groups(by).items():
        row = {"jobs": len(members), **figures(hosts_of(members))}
        if figures is memory_of:
            row["jobs_without_limit"] = sum(any(host["memory_max"] is None for host in job) for job in members)
            row["jobs_with_unknown_need"] = sum(any(host["memory_need"] is None for host in job) for job in members)
        expected[user(value, members) if by == "uid" else value] = row
    rows = ask(filled, query)
    assert descending(rows, order)
    name = "user" if by == "uid" else "account"
    assert by_name(rows) == {value: {name: value, **row} for value, row in expected.items()}


def test_unused_cpu(filled):
    rows = ask(filled, "unused_cpu")
    expected = {}
    for uid, members in groups("uid").items():
        cpu = cpu_of(hosts_of(members))
        name = user(uid, members)
        expected[name] = {"user": name, "jobs": len(members), "cpu_asked_us": cpu["cpu_asked_us"], "cpu_unused_us": cpu["cpu_unused_us"]}
    assert by_name(rows) == expected and descending(rows, "cpu_unused_us") and "1003" in expected


def test_queues(filled):
    rows = ask(filled, "queues")
    expected = {}
    for queue, members in groups("queue").items():
        hosts = hosts_of(members)
        cpu = cpu_of(hosts)
        expected[queue] = {"queue": queue, "jobs": len(members), "hosts": len(hosts), "run_time_us": total(host["wall_us"] for host in hosts),
                           "cpu_asked_us": cpu["cpu_asked_us"], "cpu_used_us": cpu["cpu_used_us"]}
    assert by_name(rows) == expected and descending(rows, "run_time_us") and None in expected


def leaving():
    return [job for job in jobs() if (total(host["leftovers"] for host in job) or 0) > 0]


def test_leftovers_by_user(filled):
    expected = {}
    for uid, members in groups("uid").items():
        left = hosts_of(job for job in members if job in leaving())
        name = user(uid, [left])
        expected[name] = {"user": name, "jobs": sum(job in leaving() for job in members),
                          "leftovers": total(host["leftovers"] for host in left),
                          "leftover_cpu_us": total(host["leftover_cpu_us"] for host in left)}
    rows = ask(filled, "leftovers_by_user")
    assert by_name(rows) == expected and descending(rows, "leftovers")


def test_leftover_jobs(filled):
    rows = ask(filled, "leftover_jobs")
    worst = sorted(leaving(), reverse=True, key=lambda job: (
        -1 if (cpu := total(host["leftover_cpu_us"] for host in job)) is None else cpu, total(host["leftovers"] for host in job)))[:50]
    assert len(rows) == 50 and descending(rows, "leftover_cpu_us")
    expected = [{"job": job[0]["key"], "run": job[0]["run"], "user": only(job, "owner") or str(job[0]["uid"]), "hosts": len(job),
                 "leftovers": total(host["leftovers"] for host in job), "leftover_cpu_us": total(host["leftover_cpu_us"] for host in job),
                 "ended": max(host["when"] for host in job).replace(microsecond=0).isoformat()} for job in worst]
    assert rows == expected


def test_lost_jobs_by_node(filled):
    rows = ask(filled, "lost_jobs_by_node")
    expected = defaultdict(lambda: {"node_lost": 0, "lost": 0, "supervisor_lost": 0, "last_ended": SINCE})
    for receipt in PERIOD:
        if receipt["result"] in ("node-lost", "lost", "supervisor-lost"):
            row = expected[receipt["node"]]
            row[receipt["result"].replace("-", "_")] += 1
            row["last_ended"] = max(row["last_ended"], receipt["when"])
    assert by_name(rows) == {node: {"node": node, **row, "last_ended": row["last_ended"].replace(microsecond=0).isoformat()}
                             for node, row in expected.items()}
    counts = [row["node_lost"] + row["lost"] + row["supervisor_lost"] for row in rows]
    assert counts == sorted(counts, reverse=True)


def test_unkillable_by_node(filled):
    rows = ask(filled, "unkillable_by_node")
    expected = {}
    for node in {receipt["node"] for receipt in PERIOD}:
        stuck = [receipt for receipt in PERIOD if receipt["node"] == node and receipt["unkillable_processes"] is not None]
        expected[node] = {"node": node, "jobs": len(stuck), "most_processes": max(receipt["unkillable_processes"] for receipt in stuck),
                          "last_ended": max(receipt["when"] for receipt in stuck).replace(microsecond=0).isoformat()}
    assert by_name(rows) == expected and descending(rows, "jobs")
    assert sum(row["jobs"] for row in rows) < len(PERIOD) / 2


@pytest.mark.parametrize("name", QUERIES)
def test_a_panel_of_grafana_has_the_same_figures(filled, name):
    """Grafana replaces its macros with texts in quotation marks."""
    dashboard = json.loads((TOP / "docs/monitoring/site-dashboard.json").read_text())
    [sql] = [target["rawSql"] for panel in dashboard["panels"] for target in panel.get("targets", []) if target["refId"] == name]
    sql = sql.replace("$__timeFrom()", "'2026-11-20T00:00:00Z'").replace("$__timeTo()", "'2026-11-27T00:00:00Z'")
    answer = filled.psql(f"SET TimeZone = 'UTC'; SELECT to_json(t) FROM ({sql}) AS t", login=LOGIN_HOST)
    assert [json.loads(line) for line in answer.splitlines()] == ask_whole(filled, name)


@pytest.mark.parametrize("name", QUERIES)
def test_a_time_without_jobs_has_no_figures(server, name):
    rows = ask(server, name, datetime(2001, 1, 1, tzinfo=timezone.utc), datetime(2001, 1, 2, tzinfo=timezone.utc))
    assert all(value in (None, 0) for row in rows for column, value in row.items() if column != "nodes" and column != "complete_nodes")
    assert len(rows) == (name in ("totals", "completeness"))


@pytest.fixture
def nodes(server):
    """Adds nodes to the archive. Some nodes have sent all their receipts, and some nodes have not."""
    now = datetime.now(timezone.utc)
    ago = lambda **time: (now - timedelta(**time)).isoformat()
    fresh = {"epoch": "e1", "position": 7, "newest": 7, "seen": ago(minutes=1), "complete": ago(minutes=1), "clock_off": "0 s"}
    insert(server, "node", [
        {"node": "good", **fresh}, {"node": "late", **fresh, "complete": ago(minutes=14)},
        {"node": "behind", **fresh, "position": 4, "complete": ago(minutes=16)}, {"node": "silent", **fresh, "complete": ago(days=2), "seen": ago(days=2)},
        {"node": "new", **fresh, "position": 0, "complete": None, "clock_off": "-3.5 s"}, {"node": "odd", **fresh}])
    insert(server, "gap", [{"node": "good", "epoch": "e1", "first": 2, "last": 4, "noted": SINCE}, {"node": "good", "epoch": "e1", "first": 6, "last": 6,
                           "noted": UNTIL - MICROSECOND}, {"node": "late", "epoch": "e1", "first": 1, "last": 1, "noted": UNTIL}])
    server.psql(f"INSERT INTO pinfold.rejected VALUES ('odd', 'e1', '{ago(hours=1)}', 'why', 'body', '1'), ('odd', 'e1', '{ago(days=9)}', 'why', 'x', '2')")
    yield now
    server.psql("DELETE FROM pinfold.node; DELETE FROM pinfold.gap; DELETE FROM pinfold.rejected")


def test_completeness_and_incomplete_nodes(server, nodes):
    since, until = nodes - timedelta(days=7), nodes + timedelta(hours=1)
    [row] = ask(server, "completeness", since, until)
    assert (row["nodes"], row["complete_nodes"]) == (6, 3)
    rows = by_name(ask(server, "incomplete_nodes", since, until))
    assert list(rows) == ["new", "silent", "behind", "odd"]
    assert {name: (row["unsent"], row["rejected"]) for name, row in rows.items()} == {
        "new": (7, 0), "silent": (0, 0), "behind": (3, 0), "odd": (0, 1)}
    assert rows["new"]["complete"] is None and rows["new"]["clock_off"] == "-00:00:03"


def test_a_node_that_has_been_silent_since_then_is_complete_for_an_earlier_time(server, nodes):
    since, until = nodes - timedelta(days=7), nodes - timedelta(days=3)
    [row] = ask(server, "completeness", since, until)
    assert (row["nodes"], row["complete_nodes"]) == (6, 5)
    assert list(by_name(ask(server, "incomplete_nodes", since, until))) == ["new"]


def test_gaps(server, nodes):
    rows = ask(server, "gaps")
    assert [(row["node"], row["first"], row["last"], row["receipts"]) for row in rows] == [("good", 2, 4, 3), ("good", 6, 6, 1)]
    [row] = ask(server, "completeness")
    assert row["missing_receipts"] == 4


MANY_SINCE, MANY_UNTIL = SINCE - timedelta(days=60), SINCE - timedelta(days=59)
MANY = [{
    "node": f"many{n}", "epoch": "e1", "sequence": 1, "id": f"many{n}", "cluster": "", "key": f"sge.{9000 + n}", "run": 0, "uid": 20000 + n,
    "account": f"a{n}", "queue": f"q{n}", "started": MANY_SINCE.isoformat(), "ended": MANY_SINCE.isoformat(), "received": MANY_SINCE.isoformat(),
    "body": {}, "result": ["lost", "node-lost", "supervisor-lost"][n % 3], "outcome": "failed", "oom_cause": f"cause{n}", "wall_us": 10**9 + n,
    "cpus_us": 2_500_000, "cpu_us": 10**9 + 7 * n, "memory_max": None if n % 7 == 0 else 2**30 + n, "memory_need": None if n % 10 == 0 else 2**20 + n,
    "leftovers": 1 + n % 5, "leftover_cpu_us": n, "unkillable_processes": 1 + n * 7 % 1009} for n in range(1100)]


@pytest.fixture(scope="module")
def crowded(server):
    """Adds so many users, accounts, queues, causes and nodes to the archive that the tables of the report cannot list all of them. A test that does
    not use this fixture must come before all tests that use the fixture, because the fixture's nodes would change the result of a later test."""
    noted = MANY_SINCE.isoformat()
    insert(server, "receipt", MANY)
    insert(server, "node", [{"node": one["node"], "epoch": "e1", "position": 0, "newest": 0, "seen": noted, "complete": None} for one in MANY])
    insert(server, "gap", [{"node": one["node"], "epoch": "e1", "first": 1, "last": n + 1, "noted": noted} for n, one in enumerate(MANY)])
    yield server
    server.psql("DELETE FROM pinfold.receipt WHERE node LIKE 'many%'; DELETE FROM pinfold.node; DELETE FROM pinfold.gap")


LIMITED = {name: int(sql.rsplit("LIMIT ", 1)[1]) for name, sql in QUERIES.items() if "LIMIT " in sql}


@pytest.mark.parametrize("name", LIMITED)
def test_the_figures_of_all_rows_also_count_rows_that_are_left_out(crowded, name):
    sums = lambda column: sum(one[column] for one in MANY)
    expected = {
        "rows": len(MANY), "jobs": len(MANY), "hosts": len(MANY), "run_time_us": sums("wall_us"), **cpu_of(MANY), **memory_of(MANY),
        "jobs_without_limit": sum(one["memory_max"] is None for one in MANY),
        "jobs_with_unknown_need": sum(one["memory_need"] is None for one in MANY), "leftovers": sums("leftovers"),
        "leftover_cpu_us": sums("leftover_cpu_us"), "most_processes": max(one["unkillable_processes"] for one in MANY),
        **{result.replace("-", "_"): sum(one["result"] == result for one in MANY) for result in ("lost", "node-lost", "supervisor-lost")},
        "receipts": sum(n + 1 for n in range(len(MANY)))}
    rows = ask_whole(crowded, name, MANY_SINCE, MANY_UNTIL)
    assert len(rows) == LIMITED[name] < len(MANY) and "all_rows" in rows[0]
    for row in rows:
        assert {column: row[column] for column in row if is_of_all(column)} == {
            column: expected[column.removeprefix("all_")] for column in rows[0] if is_of_all(column)}
    lists = ("leftover_jobs", "incomplete_nodes")  # each row describes one job or one node, so the lists have no totals
    amounts = {column for column in rows[0] if column in expected} if name not in lists else set()
    assert {column.removeprefix("all_") for column in rows[0] if is_of_all(column)} == {"rows", *amounts}
