-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Version 1 of the archive's tables and functions, for PostgreSQL 14 and later. `pinfold archive init` runs this file as a
-- superuser, in one transaction, in a database that belongs to pinfold alone and has the encoding UTF8.

-- Roles ---------------------------------------------------------------------------------------------------------------------------

-- Roles belong to the whole server, so they may be left over from an earlier archive.
DO $$
DECLARE
    wanted record;
BEGIN
    FOR wanted IN SELECT * FROM (VALUES ('pinfold_owner', 'NOLOGIN'), ('pinfold_node', 'LOGIN'), ('pinfold_reader', 'LOGIN')) AS r(name, login)
    LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name) THEN
            EXECUTE format('CREATE ROLE %I %s', wanted.name, wanted.login);
        END IF;
    END LOOP;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO pinfold_owner, pinfold_node, pinfold_reader', current_database());
END
$$;

-- All nodes share one role. PostgreSQL lets a role end the sessions of the same role, and lets everybody store large objects. A node that was
-- taken over must be able neither to end sessions of other nodes nor to store large objects.
REVOKE EXECUTE ON FUNCTION pg_catalog.pg_terminate_backend(integer, bigint), pg_catalog.pg_cancel_backend(integer),
    pg_catalog.lo_creat(integer), pg_catalog.lo_create(oid), pg_catalog.lo_from_bytea(oid, bytea) FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
ALTER ROLE pinfold_reader SET default_transaction_read_only = on;

CREATE SCHEMA pinfold AUTHORIZATION pinfold_owner;
CREATE EXTENSION sslinfo SCHEMA pinfold;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pinfold FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pinfold.ssl_client_dn_field(text), pg_catalog.pg_terminate_backend(integer, bigint) TO pinfold_owner;
GRANT pg_signal_backend, pg_read_all_stats TO pinfold_owner;

SET LOCAL ROLE pinfold_owner;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA pinfold GRANT SELECT ON TABLES TO pinfold_reader;
GRANT USAGE ON SCHEMA pinfold TO pinfold_node, pinfold_reader;

-- Tables --------------------------------------------------------------------------------------------------------------------------

CREATE TABLE pinfold.schema_version (
    version int PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);

-- Columns whose names end with _us are microseconds. If a number of the receipt is too large for its column, the column has the largest number
-- of its type. If a time is after the last day of the year 9999, the column has that day. `body` always has the exact value.
CREATE TABLE pinfold.receipt (
    node text NOT NULL,                 -- the name in the node's certificate
    epoch text NOT NULL,                -- the name of the node's history to which the sequence belongs
    sequence bigint NOT NULL,
    id text NOT NULL,
    cluster text NOT NULL DEFAULT '',
    key text NOT NULL,
    run bigint NOT NULL DEFAULT 0,
    uid bigint NOT NULL,
    owner text,
    account text,
    queue text,
    project text,
    host text,
    started timestamptz NOT NULL,
    ended timestamptz NOT NULL,
    wall_us bigint,
    result text NOT NULL,
    exit_status int,
    exit_signal int,
    outcome text NOT NULL,              -- failed, succeeded or unknown, as outcomeOf() in src/model/receipt.cpp says
    tasks int,
    leftovers bigint,
    leftover_cpu_us bigint,
    unkillable_processes bigint,        -- the most processes that outlived SIGKILL at once; NULL if the node never reported such a process
    cpu_us bigint,                      -- user and system
    memory_peak bigint,                 -- bytes, with page cache
    memory_need bigint,                 -- bytes, without page cache; NULL if the node did not look at the job while the job ran
    memory_max bigint,                  -- the limit in bytes; NULL means that the job had no limit
    cpus_us bigint,                     -- the CPUs that the job asked for, in microseconds of CPU time a second; NULL is unknown
    oom_cause text,
    labels jsonb,
    received timestamptz NOT NULL DEFAULT now(),
    body jsonb NOT NULL,                -- the whole receipt, without the members that are null
    -- The largest receipt of pinfoldd has 320 KiB on a node with 100 disks, and 460 KiB on a node with 1,000 disks
    -- (tests/unit/model/receipt_json_test.cpp). pinfold-archive must have room for each receipt, also for a receipt of a node that was taken
    -- over. The check measures the receipt as text, because a number such as 1e131071 is short in JSON and long in the text of a jsonb.
    CONSTRAINT at_most_1_mib CHECK (octet_length(body::text) <= 1048576),
    PRIMARY KEY (node, id, ended)
) PARTITION BY RANGE (ended);
CREATE INDEX receipt_by_key ON pinfold.receipt (key, cluster, run);
CREATE INDEX receipt_by_owner ON pinfold.receipt (uid, ended);
CREATE INDEX receipt_by_end ON pinfold.receipt (ended);

-- receipt_default has the receipts of nodes whose clock is wrong, and of weeks that have no partition yet.
CREATE TABLE pinfold.receipt_default PARTITION OF pinfold.receipt DEFAULT;

-- The table profile says what the jobs used over time, in the form of encode(Profile) in src/model/profile.cpp. Lists of receipts and reports
-- do not read this table. The profile of a receipt is in the partition of the same week as the receipt.
CREATE TABLE pinfold.profile (
    node text NOT NULL,
    id text NOT NULL,
    ended timestamptz NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (node, id, ended)
) PARTITION BY RANGE (ended);
CREATE TABLE pinfold.profile_default PARTITION OF pinfold.profile DEFAULT;

CREATE TABLE pinfold.node (
    node text NOT NULL,
    epoch text NOT NULL,
    position bigint NOT NULL DEFAULT 0, -- all receipts up to this sequence are in the archive, or in pinfold.gap
    newest bigint NOT NULL DEFAULT 0,   -- the highest sequence that the node has
    boot text,
    seen timestamptz NOT NULL DEFAULT now(), -- the server's time of the last put
    complete timestamptz,               -- the server's time of the last put after which the archive had the newest receipt of the node
    clock_off interval,                 -- the node's clock minus the server's clock
    restored timestamptz,               -- when the node last began to use sequences again that it had used before
    PRIMARY KEY (node, epoch)
);

-- The table gap has the sequences of receipts that a node no longer had when it sent its later receipts.
CREATE TABLE pinfold.gap (
    node text NOT NULL,
    epoch text NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    noted timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (node, epoch, first)
);

-- The table rejected has the receipts that cannot be rows of pinfold.receipt, for example because they are too large, or because a text has
-- the character \u0000.
CREATE TABLE pinfold.rejected (
    node text NOT NULL,
    epoch text NOT NULL,
    noted timestamptz NOT NULL DEFAULT now(),
    why text NOT NULL,
    body text NOT NULL,
    digest bytea NOT NULL,              -- SHA-256 of body, so that the same receipt is kept once
    PRIMARY KEY (node, epoch, digest)
);

-- Partitions ----------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pinfold.partition_name(whole text, moment timestamptz) RETURNS text LANGUAGE sql STABLE
    RETURN whole || '_' || to_char(moment AT TIME ZONE 'UTC', 'IYYY"w"IW');

-- Makes the partitions of the week in which `moment` is, if they do not exist, and moves the week's receipts and profiles out of
-- receipt_default and profile_default. Only prune() and the installation call this function, and no node can. When a session attaches a
-- partition, all readers and nodes wait until the session's transaction ends, and a node that was taken over would not end its transaction.
--
-- With some settings of a session, PostgreSQL reads a time that it has written itself as another time, and a partition would get wrong bounds.
-- So this function does not use the settings of the session.
CREATE FUNCTION pinfold.make_partition(moment timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pinfold, pg_temp SET DateStyle = 'ISO' SET TimeZone = 'UTC' SET default_tablespace = ''
    SET default_table_access_method = 'heap' AS $$
DECLARE
    whole text;
    part text;
    week timestamp := date_trunc('week', moment AT TIME ZONE 'UTC');
    monday timestamptz := week AT TIME ZONE 'UTC';
    next_monday timestamptz := (week + interval '7 days') AT TIME ZONE 'UTC';
BEGIN
    FOREACH whole IN ARRAY ARRAY['receipt', 'profile'] LOOP
        part := partition_name(whole, moment);
        CONTINUE WHEN to_regclass('pinfold.' || part) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, whole);
        EXECUTE format('WITH moved AS (DELETE FROM %I WHERE ended >= $1 AND ended < $2 RETURNING *)
                        INSERT INTO %I SELECT * FROM moved', whole || '_default', part) USING monday, next_monday;
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', whole, part, monday, next_monday);
    END LOOP;
END
$$;

-- Makes the partitions of all weeks from the time `since` on, but at most of the last year, and of the next eight weeks. So a site has two
-- months to notice that nothing calls prune() any more. During these two months, no receipt of an honest node goes to receipt_default.
CREATE FUNCTION pinfold.make_partitions(since timestamptz) RETURNS void LANGUAGE sql
    SET search_path = pinfold, pg_temp SET TimeZone = 'UTC' AS $$
    SELECT make_partition(week)
    FROM generate_series(greatest(since, now() - interval '1 year'), now() + interval '8 weeks', interval '1 week') AS week
$$;

-- Values of receipts --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pinfold.bounded(number numeric) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN number > 9223372036854775807 THEN 9223372036854775807 ELSE number::bigint END;

-- pinfold writes "no limit" as the largest number of 64 bits.
CREATE FUNCTION pinfold.limited(number numeric) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN number < 18446744073709551615 THEN pinfold.bounded(number) END;

CREATE FUNCTION pinfold.moment_of(us numeric) RETURNS timestamptz LANGUAGE sql STABLE
    RETURN timestamptz 'epoch' + (CASE WHEN us > 253402214400000000 THEN 253402214400000000 ELSE us END)::double precision
        * interval '1 microsecond';

-- Counts the CPUs in a list such as 0-3,8.
CREATE FUNCTION pinfold.cpus_in(list text) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN list ~ '^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$' THEN
        (SELECT sum(coalesce(nullif(split_part(part, '-', 2), ''), part)::bigint - split_part(part, '-', 1)::bigint + 1)
         FROM string_to_table(list, ',') AS part) END;

-- The nodes' interface ------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pinfold.check_caller(node text) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pinfold, pg_temp AS $$
DECLARE
    certified text := ssl_client_dn_field('CN');
BEGIN
    IF certified IS DISTINCT FROM check_caller.node THEN
        RAISE EXCEPTION USING ERRCODE = '28000', MESSAGE = format(
            'receipts of the node %L need a certificate with this name, and the certificate of this connection has the name %L',
            check_caller.node, coalesce(certified, 'none'));
    END IF;
END
$$;

CREATE FUNCTION pinfold.position(node text, epoch text) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pinfold, pg_temp AS $$
BEGIN
    PERFORM check_caller("position".node);
    RETURN coalesce((SELECT n.position FROM node n WHERE n.node = "position".node AND n.epoch = "position".epoch), 0);
END
$$;

-- Stores receipts and their profiles in one statement, and returns the sequences of the receipts. A stored receipt changes only if the
-- exit of the job was unknown and is known now. A stored profile never changes. put() calls store() with its own search_path.
CREATE FUNCTION pinfold.store(node text, epoch text, first bigint, last bigint, receipts text[], profiles bytea[]) RETURNS bigint[]
    LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    sequences bigint[];
BEGIN
    WITH parsed AS MATERIALIZED (
        SELECT r.*, r.exit_status IS NOT NULL OR r.exit_signal IS NOT NULL AS exit_known, b.body, t.profile
        FROM unnest(store.receipts, store.profiles) AS t(receipt, profile),
            LATERAL (SELECT t.receipt::jsonb) AS b(body),
            LATERAL jsonb_to_record(b.body) AS r(
                id text, sequence bigint, cluster text, key text, run numeric, uid bigint, "user" text, account text, queue text,
                project text, host text, started numeric, ended numeric, wall numeric, result text, exit_status int, exit_signal int,
                tasks numeric, leftovers numeric, leftover_cpu numeric, cpu_user numeric, cpu_system numeric, memory_peak numeric,
                memory_need numeric, memory_max numeric, unkillable_processes numeric, cpu_quota numeric, allocated_cpus text,
                slots numeric, oom_cause text, labels jsonb)
    ), stored AS (
        INSERT INTO receipt AS r (node, epoch, sequence, id, cluster, key, run, uid, owner, account, queue, project, host, started,
            ended, wall_us, result, exit_status, exit_signal, outcome, tasks, leftovers, leftover_cpu_us, unkillable_processes, cpu_us,
            memory_peak, memory_need, memory_max, cpus_us, oom_cause, labels, body)
        SELECT store.node, store.epoch, sequence, id, coalesce(cluster, ''), key, coalesce(bounded(run), 0), uid, "user", account,
            queue, project, host, moment_of(started), moment_of(ended), bounded(wall), result, exit_status, exit_signal,
            CASE WHEN result = 'exited' AND NOT exit_known THEN 'unknown'
                 WHEN result = 'exited' AND exit_status = 0 THEN 'succeeded'
                 ELSE 'failed' END,
            least(tasks, 2147483647)::int, bounded(leftovers), bounded(leftover_cpu), bounded(unkillable_processes),
            bounded(cpu_user + cpu_system), bounded(memory_peak), bounded(memory_need), limited(memory_max),
            coalesce(limited(cpu_quota), cpus_in(allocated_cpus) * 1000000, bounded(slots * 1000000)), oom_cause,
            nullif(labels, 'null'), jsonb_strip_nulls(body)
        FROM parsed
        ON CONFLICT (node, id, ended) DO UPDATE
            SET result = excluded.result, exit_status = excluded.exit_status, exit_signal = excluded.exit_signal,
                outcome = excluded.outcome, body = excluded.body
            WHERE coalesce(r.exit_status, r.exit_signal) IS NULL AND coalesce(excluded.exit_status, excluded.exit_signal) IS NOT NULL
    ), drawn AS (
        INSERT INTO profile (node, id, ended, body)
        SELECT store.node, id, moment_of(ended), profile FROM parsed WHERE profile <> ''
        ON CONFLICT DO NOTHING
    )
    SELECT array_agg(sequence) INTO sequences FROM parsed;
    IF EXISTS (SELECT FROM unnest(sequences) AS s WHERE s < store.first OR s > store.last) THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format(
            'a receipt has a sequence that is not in its lot of %s to %s', store.first, store.last);
    END IF;
    RETURN sequences;
END
$$;

-- Notes the sequences from `first` to `last` that are not in `present`.
CREATE FUNCTION pinfold.note_gaps(node text, epoch text, first bigint, last bigint, present bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO pinfold.gap (node, epoch, first, last)
    SELECT $1, $2, s.sequence + 1, s.following - 1
    FROM (SELECT p.sequence, lead(p.sequence) OVER (ORDER BY p.sequence) AS following
          FROM (SELECT $3 - 1 UNION SELECT $4 + 1 UNION SELECT unnest($5)) AS p(sequence)
          WHERE p.sequence BETWEEN $3 - 1 AND $4 + 1) AS s
    WHERE s.following > s.sequence + 1
$$;

-- Ends the sessions that no honest node has: those whose transaction takes longer than `longer_than`, those that have been idle for a minute,
-- and all sessions of a certificate except the newest eight. pinfold-ship has one connection, closes it after ten idle seconds, and gives up a
-- lot after 60 s. A node that was taken over could otherwise hold locks and connections on purpose. Only the serial number tells certificates
-- apart, because PostgreSQL cuts the names of certificates to 63 bytes.
CREATE FUNCTION pinfold.end_stuck_sessions(longer_than interval) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_stat_clear_snapshot(); -- without this, a second call in the same transaction would see the sessions of the first call
    RETURN (SELECT count(pg_terminate_backend(pid))
            FROM (SELECT *, row_number() OVER (PARTITION BY client_serial, issuer_dn ORDER BY backend_start DESC) AS nth
                  FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
                  WHERE datname = current_database() AND usename = 'pinfold_node') AS session
            WHERE xact_start < clock_timestamp() - longer_than
                OR state = 'idle' AND state_change < clock_timestamp() - interval '60 s'
                OR nth > 8);
END
$$;

-- Counts the receipts of a node that the archive cannot get any more: receipts that the node had removed, and receipts that were lost with an
-- earlier history of the node. `epoch` is the name of the node's present history. put() calls this function. The function must not read a
-- view, because a node that was taken over can forbid its role to read views (restrict_nonsystem_relation_kind).
CREATE FUNCTION pinfold.missing(node text, epoch text) RETURNS bigint LANGUAGE sql STABLE
    RETURN pinfold.bounded(
        coalesce((SELECT sum(g.last - g.first + 1) FROM pinfold.gap g WHERE g.node = missing.node), 0)
        + coalesce((SELECT sum(greatest(n.newest - n.position, 0)) FROM pinfold.node n
                    WHERE n.node = missing.node AND n.epoch <> missing.epoch), 0));

-- Takes a lot of receipts: those of the sequences `first` to `last` that the node still has. An empty lot (last = first - 1) says
-- only that the node lives. If the answer is lost, the node sends the same lot again. `profiles` has the profile of each receipt in the
-- same order, and '' for a receipt without a profile. The answer tells the node what it cannot know by itself: the time of the server,
-- and how many receipts of the node the archive can never get.
CREATE FUNCTION pinfold.put(node text, boot text, epoch text, first bigint, last bigint, newest bigint, node_time timestamptz, receipts text[],
        profiles bytea[])
    RETURNS TABLE ("position" bigint, server_time timestamptz, missing bigint) LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pinfold, pg_temp AS $$
#variable_conflict use_column
DECLARE
    before bigint;
    present bigint[];
    one record;
    arrived timestamptz := clock_timestamp();
BEGIN
    PERFORM check_caller(put.node);
    IF (octet_length(put.epoch) BETWEEN 1 AND 64 AND coalesce(octet_length(put.boot), 0) <= 64 AND put.first >= 1
        AND put.last BETWEEN put.first - 1 AND 9223372036854775806 AND put.newest >= 0 AND isfinite(put.node_time)
        AND cardinality(put.receipts) <= 1000 AND array_position(put.receipts, NULL) IS NULL
        AND cardinality(put.profiles) = cardinality(put.receipts) AND array_position(put.profiles, NULL) IS NULL
        AND (SELECT count(*) FROM unnest(put.profiles) AS p WHERE octet_length(p) > 4096) = 0) IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format(
            'this is not a lot: epoch %L, boot %L, sequences %s to %s of %s, %s receipts (at most 1000) with %s profiles (each at most 4096 '
            'bytes), time %s', left(put.epoch, 100), left(put.boot, 100), put.first, put.last, put.newest, cardinality(put.receipts),
            cardinality(put.profiles), put.node_time);
    END IF;

    PERFORM end_stuck_sessions('60 s');
    -- All sessions take their locks in the same order, so no two sessions wait for each other: first receipt, then profile, then the
    -- partitions of both, and last the rows of other tables.
    LOCK TABLE ONLY receipt IN ROW EXCLUSIVE MODE;
    INSERT INTO node (node, epoch) VALUES (put.node, put.epoch) ON CONFLICT DO NOTHING;
    SELECT n.position INTO before FROM node n WHERE n.node = put.node AND n.epoch = put.epoch FOR UPDATE;
    IF put.first > before + 1 THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format(
            'the lot begins with the sequence %s, and the archive has the receipts of %s only up to %s', put.first, put.node, before);
    END IF;

    BEGIN
        present := store(put.node, put.epoch, put.first, put.last, put.receipts, put.profiles);
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR cardinality_violation THEN
        -- One receipt has made the statement fail, or two receipts are of the same job.
        present := '{}';
        FOR one IN SELECT * FROM unnest(put.receipts, put.profiles) AS t(receipt, profile) LOOP
            BEGIN
                present := present || store(put.node, put.epoch, put.first, put.last, ARRAY[one.receipt], ARRAY[one.profile]);
            EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
                INSERT INTO rejected (node, epoch, why, body, digest)
                VALUES (put.node, put.epoch, SQLERRM || ' (SQLSTATE ' || SQLSTATE || ')', one.receipt, sha256(convert_to(one.receipt, 'UTF8')))
                ON CONFLICT DO NOTHING;
                -- A quotation mark inside of a text is \", and values of labels are texts, so only the member itself matches.
                present := present || substring(one.receipt FROM '"sequence": ?([0-9]{1,18})[,}]')::bigint;
            END;
        END LOOP;
    END;

    IF put.last > before THEN
        PERFORM note_gaps(put.node, put.epoch, before + 1, put.last, present);
    END IF;
    UPDATE node n
    SET position = greatest(before, put.last), newest = greatest(put.newest, put.last), boot = put.boot, seen = arrived,
        complete = CASE WHEN greatest(before, put.last) >= put.newest THEN arrived ELSE n.complete END,
        clock_off = put.node_time - arrived,
        -- The highest sequence of a history goes down only if somebody has replaced the history by an older copy of it.
        restored = CASE WHEN put.newest < least(before, n.newest) THEN arrived ELSE n.restored END
    WHERE n.node = put.node AND n.epoch = put.epoch;
    RETURN QUERY SELECT greatest(before, put.last), arrived, missing(put.node, put.epoch);
END
$$;
GRANT EXECUTE ON FUNCTION pinfold.position(text, text),
    pinfold.put(text, text, text, bigint, bigint, bigint, timestamptz, text[], bytea[]) TO pinfold_node;

-- Reports -------------------------------------------------------------------------------------------------------------------------

-- Returns the jobs that ended from `since` on and before `until`, one row for each job. The queries in report/ use jobs().
--
-- All receipts of one job on its hosts have the same cluster, key, run and owner. The n-th receipt with the same key and run on a node belongs
-- to the n-th job with this name. Keys that pinfoldd or users have chosen (manual.*, user.*) name a job on one node only. If the job ended on
-- some hosts before `since` or after `until`, the row has the figures of the other hosts.
--
-- Amounts are sums over the hosts. A request is the amount that the job asked for, multiplied by the run time, because a job of ten days keeps
-- CPUs and memory from other jobs longer than a job of one minute. A request is compared with the use only on hosts for which both are known.
-- A host on which the job used more than it asked for does not make up for a host on which the job used less. The used memory is the memory
-- need (memory_need), because a job can do without its page cache.
--
-- The cause is what ended the job first. A batch system stops the job's other hosts after the end of the batch script, so a host that was
-- stopped or killed by a signal is the cause only if no host failed by itself, and no host had ended with status 0 earlier.
--
-- PostgreSQL puts a function in the language SQL that consists of one SELECT into the query that calls it. So a report computes
-- only the columns that it uses.
CREATE FUNCTION pinfold.jobs(since timestamptz, until timestamptz) RETURNS TABLE (
    cluster text, key text, run bigint, uid bigint, owner text, account text, queue text, ended timestamptz, hosts bigint,
    cause text, run_time_us numeric,
    cpu_asked_us numeric, cpu_used_us numeric, cpu_unused_us numeric,
    cpu_used_without_request_us numeric,    -- the use on hosts where the request is not known
    memory_asked_byte_us numeric,
    memory_needed_byte_us numeric,
    without_memory_limit boolean,           -- true if the limit is missing on at least one host
    without_memory_need boolean,            -- true if the need is not known on at least one host
    leftovers numeric, leftover_cpu_us numeric)
LANGUAGE sql STABLE AS $$
    SELECT r.cluster, r.key, r.run, r.uid, max(r.owner), max(r.account), max(r.queue), max(r.ended), count(*),
        (array_agg(
            CASE WHEN r.result = 'exited' AND r.outcome = 'succeeded' THEN 'exited with status 0'
                 WHEN r.result = 'exited' AND r.outcome = 'failed' THEN 'exited with another status'
                 WHEN r.result = 'exited' THEN 'exited, status not reported'
                 ELSE r.result || coalesce(' (' || r.oom_cause || ')', '') END
            ORDER BY r.outcome = 'unknown', r.outcome = 'succeeded' OR r.result IN ('signaled', 'stopped'), r.ended, r.node))[1],
        sum(r.wall_us),
        sum(r.asked) FILTER (WHERE r.cpu_us IS NOT NULL),
        sum(r.cpu_us) FILTER (WHERE r.asked IS NOT NULL),
        sum(greatest(r.asked - r.cpu_us, 0)) FILTER (WHERE r.asked IS NOT NULL AND r.cpu_us IS NOT NULL),
        sum(r.cpu_us) FILTER (WHERE r.asked IS NULL),
        sum(r.memory_max::numeric * r.wall_us) FILTER (WHERE r.memory_need IS NOT NULL),
        sum(r.memory_need::numeric * r.wall_us) FILTER (WHERE r.memory_max IS NOT NULL),
        bool_or(r.memory_max IS NULL), bool_or(r.memory_need IS NULL), sum(r.leftovers), sum(r.leftover_cpu_us)
    FROM (
        SELECT *, cpus_us::numeric * wall_us * 0.000001 AS asked,
            CASE WHEN key LIKE 'manual.%' OR key LIKE 'user.%' THEN node ELSE '' END AS place,
            row_number() OVER (PARTITION BY cluster, key, run, uid, node ORDER BY ended, id) AS nth
        FROM pinfold.receipt
        WHERE ended >= since AND ended < until
    ) AS r
    GROUP BY r.cluster, r.key, r.run, r.uid, r.place, r.nth
$$;
GRANT EXECUTE ON FUNCTION pinfold.jobs(timestamptz, timestamptz) TO pinfold_reader;

-- The administrator's interface ---------------------------------------------------------------------------------------------------

-- One row for each node, with the history that the node has now. `gaps` counts the receipts that the archive cannot get any more.
CREATE VIEW pinfold.status AS
SELECT n.node, n.epoch, n.position, n.newest, greatest(n.newest - n.position, 0) AS unsent, n.seen, n.complete,
    pinfold.missing(n.node, n.epoch) AS gaps,
    (SELECT count(*) FROM pinfold.rejected j WHERE j.node = n.node) AS rejected,
    n.clock_off, n.histories - 1 AS replaced_histories, n.restored
FROM (SELECT DISTINCT ON (node) *, count(*) OVER (PARTITION BY node) AS histories FROM pinfold.node ORDER BY node, seen DESC) AS n
ORDER BY n.node;
GRANT EXECUTE ON FUNCTION pinfold.missing(text, text), pinfold.bounded(numeric) TO pinfold_reader;

-- Locks receipt and profile against all other sessions. A lot takes less than a second, so a session of a node that keeps its lock for longer
-- does so on purpose. If lock_tables() does not get the lock in time, it ends all sessions of nodes that are in a transaction, even if the
-- transaction has just begun, because a node that was taken over could begin new transactions again and again. An honest node sends its lot
-- again.
CREATE FUNCTION pinfold.lock_tables() RETURNS void LANGUAGE plpgsql SET search_path = pinfold, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM end_stuck_sessions('60 s');
    FOR attempt IN 1..6 LOOP
        BEGIN
            LOCK TABLE ONLY receipt, ONLY profile IN ACCESS EXCLUSIVE MODE;
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            IF attempt = 6 THEN
                RAISE;
            END IF;
            PERFORM end_stuck_sessions('0');
        END;
    END LOOP;
END
$$;

-- Makes the partitions of the coming weeks. Removes the partitions that end before the time `older_than` ago, and all other data that the
-- archive received before that time. Receipts in receipt_default may have wrong times, so prune() uses the time at which the archive received
-- them. Returns the number of receipts that were removed.
CREATE FUNCTION pinfold.prune(older_than interval) RETURNS bigint LANGUAGE plpgsql
    SET search_path = pinfold, pg_temp SET lock_timeout = '30s' AS $$
DECLARE
    cutoff timestamptz := now() - older_than;
    weeks text[];
    week text;
    removed bigint := 0;
    rows bigint;
BEGIN
    IF cutoff >= now() THEN
        RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('%s does not lie in the past', older_than);
    END IF;
    weeks := ARRAY(
        SELECT right(c.relname, 7) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'receipt'::regclass AND c.relname ~ '^receipt_[0-9]{4}w[0-9]{2}$'
            AND (to_date(right(c.relname, 7), 'IYYY"w"IW') + 7)::timestamp AT TIME ZONE 'UTC' <= cutoff);
    FOREACH week IN ARRAY weeks LOOP
        EXECUTE format('SELECT count(*) FROM %I', 'receipt_' || week) INTO rows;
        removed := removed + rows;
    END LOOP;
    -- All nodes and readers wait from here to the end of the transaction, so prune() counts the receipts before it takes the lock. The lock is
    -- the strongest that DETACH needs, and prune() takes it before it touches the partitions. Otherwise, prune() and another session could
    -- wait for each other.
    PERFORM lock_tables();
    PERFORM make_partitions(cutoff);
    DELETE FROM receipt_default WHERE received < cutoff;
    GET DIAGNOSTICS rows = ROW_COUNT;
    removed := removed + rows;
    DELETE FROM profile_default p
    WHERE NOT EXISTS (SELECT FROM receipt r WHERE r.node = p.node AND r.id = p.id AND r.ended = p.ended);
    DELETE FROM rejected WHERE noted < cutoff;
    DELETE FROM gap WHERE noted < cutoff;
    DELETE FROM node WHERE seen < cutoff;
    UPDATE node SET restored = NULL WHERE restored < cutoff;
    FOREACH week IN ARRAY weeks LOOP
        EXECUTE format('ALTER TABLE receipt DETACH PARTITION %I', 'receipt_' || week);
        EXECUTE format('ALTER TABLE profile DETACH PARTITION %I', 'profile_' || week);
        EXECUTE format('DROP TABLE %I, %I', 'receipt_' || week, 'profile_' || week);
    END LOOP;
    RETURN removed;
END
$$;

INSERT INTO pinfold.schema_version (version) VALUES (1);
SELECT pinfold.make_partitions('-infinity');
RESET ROLE;
