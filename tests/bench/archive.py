#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how much disk space a receipt takes in the archive of a site. Measures how long `pinfold why`, `pinfold history` and the site report
take. The program starts a server of its own in the directory of the option --directory. At the end, the program removes the server. The exit status
is 1 if a query reads a partition that it does not need, or reads a whole table.

    /usr/bin/python3 tests/bench/archive.py
    /usr/bin/python3 tests/bench/archive.py --rows 10000000 --plans --directory /var/tmp

One INSERT adds a million receipts. pinfold.put() would make the same rows, tables and indexes as this INSERT, but would use three times the CPU
time."""

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support/python"))
from postgres_server import TOP, PostgresServer

NODES, USERS, DAYS = 2000, 500, 28
EPOCH = "5e0c" * 8
EXAMPLE = json.loads((TOP / "tests/archive/receipt.json").read_text())
AT_ONCE = 1_000_000  # rows of one INSERT
# The settings are those of docs/examples/archive for a server with 8 GiB of memory. fsync is on, as in the archive of a site.
SETTINGS = "fsync = on\nshared_buffers = '2GB'\nmax_wal_size = '8GB'"
# OF_SERVICE contains the settings that the service pinfold-archive always has. OF_REPORT contains the settings that the service adds for a
# report.
OF_SERVICE, OF_REPORT = "SET jit = off", "; SET work_mem = '256MB'"
REPORT = "report: "
PARTITION = r"receipt_(\d{4}w\d{2}|default)"

# Nine of ten jobs have one host each, and the tenth job has four hosts. Some users have many more jobs than others.
FILL = """
INSERT INTO pinfold.receipt (node, epoch, sequence, id, cluster, key, run, uid, owner, account, queue, project, host, started, ended,
    wall_us, result, exit_status, outcome, tasks, leftovers, leftover_cpu_us, cpu_us, memory_peak,
    memory_need, memory_max, cpus_us, labels, body)
SELECT node, body ->> 'epoch', i, id, 'main', key, 0, uid, 'user' || uid, account, queue, 'p1', node, started, ended,
    wall, CASE WHEN failed THEN 'signaled' ELSE 'exited' END, CASE WHEN NOT failed THEN 0 END, CASE WHEN failed THEN 'failed' ELSE 'succeeded' END,
    1, left_behind, left_behind * 1000000, used, peak, peak / 2, {gib} * 4::bigint, 4000000, body -> 'labels',
    body || jsonb_build_object('id', id, 'sequence', i, 'key', key, 'uid', uid, 'host', node, 'account', account, 'queue', queue,
        'user', 'user' || uid, 'wall', wall, 'cpu_user', used, 'memory_peak', peak, 'memory_need', peak / 2, 'leftovers', left_behind,
        'started', (extract(epoch FROM started) * 1000000)::bigint, 'ended', (extract(epoch FROM ended) * 1000000)::bigint)
FROM (SELECT *, 'sge.' || job AS key, 'node' || (job * 7919 + greatest(part - 9, 0) * 31) % {nodes} AS node, md5(i::text) AS id,
          1000 + floor({users} * ((job * 2654435761 % 4294967296) / 4294967296.0) ^ 3)::bigint AS uid,
          'account' || job * 31 % 40 AS account, 'queue' || job % 7 AS queue, job % 20 = 0 AS failed,
          CASE WHEN job % 50 = 0 THEN 3 ELSE 0 END AS left_behind, ended - wall * interval '1 microsecond' AS started,
          (wall * 4 * ((i * 40503) % 65536) / 65536.0)::bigint AS used, ({gib} * 4::bigint * ((i * 30011) % 65536) / 65536.0)::bigint AS peak
      FROM (SELECT i, i / 13 * 10 + least(i % 13, 9) AS job, i % 13 AS part, 60000000 + i * 48271 % 7200000000 AS wall,
                date_trunc('hour', now()) - interval '{days} days' * (1 - i::double precision / {rows}) AS ended
            FROM generate_series({first}::bigint, {last}::bigint) AS i) AS numbers) AS jobs,
     (SELECT jsonb_strip_nulls('{body}'::jsonb) AS body OFFSET 0) AS template
"""

SIZES = """
SELECT sum(pg_relation_size(c.oid)), sum(pg_indexes_size(c.oid)), sum(pg_total_relation_size(c.oid)), count(*)
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'pinfold.receipt'::regclass
"""

# The program uses the queries of src/archive_service/receipt_query.cpp. The queries find the newest run of a key, the receipts of this run,
# and a page of a user's receipts.
BODY = ("(CASE WHEN split_part(lower(body ->> 'host'), '.', 1) = split_part(lower(node), '.', 1) THEN body ELSE body || "
        "jsonb_build_object('host', node) END)::text")
PAGE = ("SELECT ended, node, id, body FROM (SELECT ended, node, id, body, sum(octet_length(body)) OVER newest_first - octet_length(body) AS "
        f"bytes_before FROM (SELECT ended, node, id, {BODY} AS body FROM pinfold.receipt WHERE {{}} ORDER BY ended DESC, node DESC, id DESC "
        "LIMIT 100) AS page WINDOW newest_first AS (ORDER BY ended DESC, node DESC, id DESC)) AS sized WHERE bytes_before < 262144 "
        "ORDER BY ended DESC, node DESC, id DESC")
NEWEST_RUN = (
    "WITH newest AS (SELECT cluster, key, run, uid FROM pinfold.receipt WHERE key = '{key}' ORDER BY started DESC, node DESC, id DESC LIMIT 1), "
    "ends AS (SELECT receipt.cluster, receipt.run, receipt.uid, receipt.ended, receipt.ended < min(receipt.started) OVER newer - interval '1 day' "
    "AS earlier FROM pinfold.receipt JOIN newest USING (cluster, key, run, uid) WINDOW newer AS (ORDER BY receipt.ended DESC ROWS BETWEEN "
    "UNBOUNDED PRECEDING AND 1 PRECEDING)) SELECT cluster, run, uid, min(ended) AS since FROM ends WHERE ended > coalesce((SELECT max(ended) "
    "FROM ends WHERE earlier), '-infinity') GROUP BY cluster, run, uid")


def queries(server, key, uid):
    since_of_run = server.psql(f"SELECT min(ended) FROM pinfold.receipt WHERE key = '{key}' AND uid = {uid}")
    since, until = server.psql("SELECT now() - interval '7 days', now()").split("|")
    found = {
        "why JOB: the newest run": NEWEST_RUN.format(key=key),
        "why JOB: its receipts": PAGE.format(f"cluster = 'main' AND key = '{key}' AND run = 0 AND uid = {uid} AND ended >= '{since_of_run}'"),
        "history -u USER": PAGE.format(f"uid = {uid}"),
        "history": PAGE.format("true"),
    }
    for file in sorted((TOP / "src/archive/sql/report").glob("*.sql")):
        sql = re.sub("^--.*\n", "", file.read_text(), flags=re.M)
        found[f"{REPORT}{file.stem}"] = sql.replace("$1", f"'{since}'::timestamptz").replace("$2", f"'{until}'::timestamptz")
    return found


def parts_of(plan):
    """Returns the plan `plan` and all plans inside of it. The result does not contain plans that PostgreSQL did not execute."""
    parts = [plan] if plan["Actual Loops"] else []
    return sum((parts_of(child) for child in plan.get("Plans", [])), parts)


def partitions_of(plan):
    return {part["Relation Name"] for part in parts_of(plan) if re.match(PARTITION + "$", part.get("Relation Name", ""))}


def indexes_of(plan):
    """Returns the names of the indexes that a plan uses. The function removes the partition's name from each index's name."""
    return sorted({re.sub(f"^{PARTITION}_", "", part["Index Name"]) for part in parts_of(plan) if "Index Name" in part})


def lines_of(plan, depth=1):
    """Returns the plan as text. The text leaves out partitions that PostgreSQL did not read."""
    if not plan["Actual Loops"]:
        return []
    place = " ".join(plan[name] for name in ("Relation Name", "Index Name") if name in plan)
    disk = f", {plan['Temp Written Blocks'] // 128} MiB written to temporary files" if plan["Temp Written Blocks"] else ""
    line = (f"{'  ' * depth}{plan['Node Type']} {place}".rstrip() + f": {plan['Actual Rows'] * plan['Actual Loops']:.0f} rows, "
            f"{plan['Shared Hit Blocks']} pages from memory, {plan['Shared Read Blocks']} pages read{disk}")
    return sum((lines_of(child, depth + 1) for child in plan.get("Plans", [])), [line])


def run(server, sql, settings, times):
    """Runs a statement several times over one connection. Returns the plans with their times, and the server's CPU time per run in milliseconds."""
    processes_time = "SELECT trim(pg_read_file('/proc/self/stat'), E'\\n')"
    answer = server.psql(f"SET default_transaction_read_only = on; {settings}; {processes_time};"
                         + f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON, TIMING OFF) {sql};" * times + processes_time)
    before, text, after = answer.partition("\n")[0], answer.partition("\n")[2].rpartition("]")[0] + "]", answer.rpartition("]")[2]
    ticks = [sum(map(int, stat.rpartition(")")[2].split()[11:13])) for stat in (before, after)]
    found = []
    while text:
        [plan], end = json.JSONDecoder().raw_decode(text)
        found.append(plan)
        text = text[end:].lstrip()
    return found, (ticks[1] - ticks[0]) * 1000 / os.sysconf("SC_CLK_TCK") / times


def faults_of(name, plan, weeks):
    """Returns what is wrong with a plan. `weeks` contains the partitions that a query of the report must read. `weeks` contains receipt_default,
    because this partition can contain receipts of every week."""
    if name.startswith(REPORT):
        return [f"reads {partition}" for partition in sorted(partitions_of(plan) - weeks)]
    return [f"reads {part['Relation Name']} as a whole" for part in parts_of(plan)
            if part["Node Type"] == "Seq Scan" and part["Shared Hit Blocks"] + part["Shared Read Blocks"] > 0]


def measure(server, key, uid, with_plans):
    """Prints the time of each statement, and its plan. Returns what is wrong with the plans."""
    weeks = set(server.psql("SELECT pinfold.partition_name('receipt', now() - days * interval '1 day') FROM generate_series(0, 7) AS days").splitlines())
    faults, whole, whole_spent = [], 0, 0
    for name, sql in queries(server, key, uid).items():
        # A query of the report reads all rows of a week. A second run would not be faster, so the query runs only once.
        of_report = name.startswith(REPORT)
        found, spent = run(server, sql, OF_SERVICE + (OF_REPORT if of_report else ""), 1 if of_report else 6)
        times = [plan["Planning Time"] + plan["Execution Time"] for plan in found]
        middle, plan = statistics.median(times[1:] or times), found[-1]["Plan"]
        whole, whole_spent = whole + middle * of_report, whole_spent + spent * of_report
        print(f"{middle:9.1f} ms, {times[0]:9.1f} ms at first, {spent:9.1f} ms of CPU time  {name:32} {len(partitions_of(plan))} partitions  "
              f"{', '.join(indexes_of(plan))}", flush=True)
        if with_plans:
            print("\n".join(lines_of(plan)), flush=True)
        faults += [f"{name} {fault}" for fault in faults_of(name, plan, weeks | {"receipt_default"})]
    print(f"{whole:9.1f} ms and {whole_spent:9.1f} ms of CPU time for all queries of the report")
    return faults


def make(server):
    server.psql("CREATE DATABASE pinfold TEMPLATE template0 ENCODING 'UTF8'", database="postgres")
    server.psql((TOP / "src/archive/sql/0001.sql").read_text(), "--single-transaction")
    server.psql(f"SELECT pinfold.make_partition(now() - days * interval '1 day') FROM generate_series(0, {DAYS}) AS days")


def fill(server, rows):
    body = json.dumps({**EXAMPLE, "nodes": ["node1"]}).replace("'", "''")
    begun = time.monotonic()
    for first in range(0, rows, AT_ONCE):
        server.psql(FILL.format(first=first, last=min(first + AT_ONCE, rows) - 1, rows=rows, body=body, gib=2**30, nodes=NODES, users=USERS,
                                days=DAYS))
    server.psql(f"INSERT INTO pinfold.node (node, epoch, position, newest, complete) SELECT 'node' || i, '{EPOCH}', 7, 7, now() "
                f"FROM generate_series(1, {NODES}) AS i")
    print(f"{rows} receipts of {NODES} nodes were added within {time.monotonic() - begun:.0f} s")
    server.psql("VACUUM ANALYZE")


def print_sizes(server, rows):
    table, indexes, everything, partitions = map(int, server.psql(SIZES).split("|"))
    text = int(server.psql("SELECT avg(octet_length(body::text))::int FROM pinfold.receipt TABLESAMPLE system (1)"))
    print(f"a receipt has {text} bytes of JSON and takes {everything / rows:.0f} bytes on the disk: {table / rows:.0f} in the table, "
          f"{indexes / rows:.0f} in indexes, the rest outside of the row; {partitions} partitions")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=1_000_000, help="the number of receipts in the archive (default 1,000,000)")
    options.add_argument("--plans", action="store_true", help="print the plan of each query")
    options.add_argument("--directory", default="/tmp", help="where the server keeps its files (default /tmp)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="pinfold-bench-", dir=chosen.directory) as directory, PostgresServer(Path(directory)) as server:
        server.stop()
        server.configure(SETTINGS)
        server.start()
        make(server)
        fill(server, chosen.rows)
        print_sizes(server, chosen.rows)
        key, uid = server.psql("SELECT key, uid FROM pinfold.receipt WHERE sequence = " + str(chosen.rows // 2 // 13 * 13 + 9)).split("|")
        faults = measure(server, key, uid, chosen.plans)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
