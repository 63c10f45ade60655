-- SPDX-License-Identifier: LGPL-2.1-or-later
-- This file makes version 1 of the archive's tables and functions, for PostgreSQL 14 and later. `pinfold archive init` runs this file as a
-- superuser, in one transaction. The database has the encoding UTF8, and no other program uses the database.

-- Roles ---------------------------------------------------------------------------------------------------------------------------

-- In PostgreSQL, all databases of a server share their roles. If the server had an archive of pinfold earlier, the roles may still exist.
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

-- All nodes use the role pinfold_node. PostgreSQL lets a session end all other sessions of its own role. PostgreSQL also lets every role
-- store large objects. With these two rights, an attacker who controls one node could end the sessions of other nodes, and could fill the
-- disk with large objects. The next statement revokes the right to end sessions and the right to store large objects.
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

-- A column whose name ends with _us has microseconds. If a number in the receipt is too large for the type of its column, the column has
-- the largest number that its type can store. If a time in the receipt is after the year 9999, the column has the last day of the year
-- 9999. The column `body` always has the exact numbers and times of the receipt.
CREATE TABLE pinfold.receipt (
    node text NOT NULL,                 -- the name in the node's certificate
    epoch text NOT NULL,                -- the name of the history in which the node stored this receipt
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
    unkillable_processes bigint,        -- how many processes SIGKILL did not end (the highest number at one time); NULL if pinfoldd reported none
    cpu_us bigint,                      -- user time plus system time
    memory_peak bigint,                 -- bytes, including page cache
    memory_need bigint,                 -- bytes, without page cache; NULL if the node did not measure the memory while the job ran
    memory_max bigint,                  -- the limit in bytes; NULL if the job had no limit
    cpus_us bigint,                     -- the number of CPUs that the job asked for, multiplied by 1,000,000; NULL if this number is not known
    oom_cause text,
    labels jsonb,
    received timestamptz NOT NULL DEFAULT now(),
    body jsonb NOT NULL,                -- the whole receipt, without its members whose value is null
    -- On a node with 100 disks, the largest receipt of pinfoldd has 320 KiB. On a node with 1,000 disks, the largest receipt has 460 KiB
    -- (tests/unit/model/receipt_json_test.cpp). An attacker who controls a node could send a receipt of any size. The CHECK limits the size
    -- of a receipt, because pinfold-archive must have enough memory for each receipt. The CHECK measures the text that PostgreSQL makes
    -- from the jsonb. The text can be much longer than the JSON that the node sent, because PostgreSQL writes the number 1e131071 with
    -- 131,072 digits.
    CONSTRAINT at_most_1_mib CHECK (octet_length(body::text) <= 1048576),
    PRIMARY KEY (node, id, ended)
) PARTITION BY RANGE (ended);
CREATE INDEX receipt_by_key ON pinfold.receipt (key, cluster, run);
CREATE INDEX receipt_by_owner ON pinfold.receipt (uid, ended);
CREATE INDEX receipt_by_end ON pinfold.receipt (ended);

-- The table receipt_default has receipts from nodes whose clock is wrong. If a week has no partition yet, the receipts of the week are in
-- receipt_default, too.
CREATE TABLE pinfold.receipt_default PARTITION OF pinfold.receipt DEFAULT;

-- The table profile says how much CPU time, memory and I/O each job used over time. `encode(Profile)` in src/model/profile.cpp defines the
-- form of the column `body`. Profiles have their own table, because queries that list receipts or make reports do not need profiles. A
-- profile and its receipt are in partitions of the same week.
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
    position bigint NOT NULL DEFAULT 0, -- for each sequence up to `position`, the archive has the receipt or an entry in pinfold.gap
    newest bigint NOT NULL DEFAULT 0,   -- the highest sequence among the receipts of the node
    boot text,
    seen timestamptz NOT NULL DEFAULT now(), -- when the node last called put(), by the server's clock
    complete timestamptz,               -- when the archive last had all receipts of the node, by the server's clock
    clock_off interval,                 -- the time of the node's clock minus the time of the server's clock
    restored timestamptz,               -- when the archive last noticed that an older copy had replaced the node's history
    PRIMARY KEY (node, epoch)
);

-- Each row of the table gap has a range of sequences. The archive cannot get receipts whose sequence is in such a range, because the node
-- had removed the receipts before pinfold-ship could send the receipts.
CREATE TABLE pinfold.gap (
    node text NOT NULL,
    epoch text NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    noted timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (node, epoch, first)
);

-- The table rejected has receipts that PostgreSQL cannot store in the table pinfold.receipt. PostgreSQL cannot store a receipt that is too
-- large, or that contains the character \u0000.
CREATE TABLE pinfold.rejected (
    node text NOT NULL,
    epoch text NOT NULL,
    noted timestamptz NOT NULL DEFAULT now(),
    why text NOT NULL,
    body text NOT NULL,
    digest bytea NOT NULL,              -- the SHA-256 sum of `body`, so that the table has a receipt only once even if the node sends it again
    PRIMARY KEY (node, epoch, digest)
);

-- Partitions ----------------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pinfold.partition_name(whole text, moment timestamptz) RETURNS text LANGUAGE sql STABLE
    RETURN whole || '_' || to_char(moment AT TIME ZONE 'UTC', 'IYYY"w"IW');

-- Makes the partitions for the week of the time `moment`, if these partitions do not exist. make_partition() moves the receipts and
-- profiles of this week from receipt_default and profile_default to the new partitions. Only prune() and the installation call
-- make_partition(). When a session attaches a partition, all readers and nodes wait until the session's transaction ends. Nodes are not
-- allowed to call make_partition(), because a node that an attacker controls would never end its transaction.
--
-- make_partition() writes times into a statement, and PostgreSQL reads the times. With some settings of a session, PostgreSQL would misread
-- the times, and the partition would have wrong bounds. make_partition() has its own settings, so that PostgreSQL never misreads the times.
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

-- Makes the partitions for all weeks from the time `since` until eight weeks from now. If `since` is more than a year ago,
-- make_partitions() begins a year ago. If nothing calls prune() any more, the site has eight weeks to notice it. Until these eight weeks
-- are over, receipts from nodes with a correct clock do not go to receipt_default.
CREATE FUNCTION pinfold.make_partitions(since timestamptz) RETURNS void LANGUAGE sql
    SET search_path = pinfold, pg_temp SET TimeZone = 'UTC' AS $$
    SELECT make_partition(week)
    FROM generate_series(greatest(since, now() - interval '1 year'), now() + interval '8 weeks', interval '1 week') AS week
$$;

-- Values of receipts --------------------------------------------------------------------------------------------------------------

CREATE FUNCTION pinfold.bounded(number numeric) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN number > 9223372036854775807 THEN 9223372036854775807 ELSE number::bigint END;

-- In a receipt, the largest unsigned number of 64 bits means that there is no limit.
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

-- Stores receipts and their profiles in one statement, and returns the sequences of the receipts. A receipt that is already in the archive
-- changes only if the exit of its job was unknown and is now known. A profile that is already in the archive never changes. store() needs
-- no setting for the search_path, because put() calls store() and sets the search_path.
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

-- Adds to pinfold.gap all sequences from `first` to `last` that are not in the array `present`.
CREATE FUNCTION pinfold.note_gaps(node text, epoch text, first bigint, last bigint, present bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO pinfold.gap (node, epoch, first, last)
    SELECT $1, $2, s.sequence + 1, s.following - 1
    FROM (SELECT p.sequence, lead(p.sequence) OVER (ORDER BY p.sequence) AS following
          FROM (SELECT $3 - 1 UNION SELECT $4 + 1 UNION SELECT unnest($5)) AS p(sequence)
          WHERE p.sequence BETWEEN $3 - 1 AND $4 + 1) AS s
    WHERE s.following > s.sequence + 1
$$;

-- Ends sessions of a node if these sessions last too long, or if the node has too many sessions. A session lasts too long if its
-- transaction is older than `longer_than`, or if the session has been idle for a minute. If more than eight sessions use one certificate,
-- end_stuck_sessions() keeps only the newest eight. A node's pinfold-ship stays below the limits of end_stuck_sessions(). pinfold-ship has
-- one connection, closes the connection after ten idle seconds, and waits for put() for at most 60 s. Without end_stuck_sessions(), a node
-- that an attacker controls could keep its locks and connections forever. end_stuck_sessions() distinguishes certificates by their serial
-- number, because PostgreSQL cuts the name in a certificate to 63 bytes.
CREATE FUNCTION pinfold.end_stuck_sessions(longer_than interval) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_stat_clear_snapshot(); -- with this call, PostgreSQL reads the list of sessions again, even within one transaction
    RETURN (SELECT count(pg_terminate_backend(pid))
            FROM (SELECT *, row_number() OVER (PARTITION BY client_serial, issuer_dn ORDER BY backend_start DESC) AS nth
                  FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
                  WHERE datname = current_database() AND usename = 'pinfold_node') AS session
            WHERE xact_start < clock_timestamp() - longer_than
                OR state = 'idle' AND state_change < clock_timestamp() - interval '60 s'
                OR nth > 8);
END
$$;

-- Counts the receipts that the archive cannot get any more from a node. Either the node has removed the receipt, or the receipt was lost
-- together with an earlier history of the node. `epoch` is the name of the history that the node has now. An attacker who controls a node
-- can forbid the node's role to read views (by the setting restrict_nonsystem_relation_kind). missing() must not read a view, because put()
-- calls missing() in the session of the node.
CREATE FUNCTION pinfold.missing(node text, epoch text) RETURNS bigint LANGUAGE sql STABLE
    RETURN pinfold.bounded(
        coalesce((SELECT sum(g.last - g.first + 1) FROM pinfold.gap g WHERE g.node = missing.node), 0)
        + coalesce((SELECT sum(greatest(n.newest - n.position, 0)) FROM pinfold.node n
                    WHERE n.node = missing.node AND n.epoch <> missing.epoch), 0));

-- A lot is a group of receipts that a node sends together. put() stores the lot with the sequences from `first` to `last`. `receipts` lacks
-- the receipts that the node has already removed. If the lot is empty (last = first - 1), put() only notes that the node is alive. If the
-- node does not get the answer of put(), the node sends the lot once more. The array `profiles` has one element for each element of the
-- array `receipts`, in the order of `receipts`. If a receipt has no profile, its element in `profiles` is ''. The answer of put() has two
-- values that the node cannot know by itself. One value is the time of the server. The other value is the number of the node's receipts
-- that the archive can never get.
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
    -- All sessions take their locks in the same order, so that two sessions never wait for each other. A session first locks the table
    -- receipt, then the table profile, and then the partitions of these two tables. After the receipts and profiles, the session locks rows
    -- of the other tables.
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
        -- store() has failed for the whole lot of receipts, because one receipt is invalid or two receipts have the same id and end time.
        -- put() repeats store() for each receipt of the lot.
        present := '{}';
        FOR one IN SELECT * FROM unnest(put.receipts, put.profiles) AS t(receipt, profile) LOOP
            BEGIN
                present := present || store(put.node, put.epoch, put.first, put.last, ARRAY[one.receipt], ARRAY[one.profile]);
            EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
                INSERT INTO rejected (node, epoch, why, body, digest)
                VALUES (put.node, put.epoch, SQLERRM || ' (SQLSTATE ' || SQLSTATE || ')', one.receipt, sha256(convert_to(one.receipt, 'UTF8')))
                ON CONFLICT DO NOTHING;
                -- The pattern matches only the receipt's own member "sequence". In JSON, each quotation mark inside of a text has a
                -- backslash before it, so the pattern never matches inside of a text. A label with the name "sequence" cannot match,
                -- because the value of each label is in quotation marks.
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
        -- The highest sequence of a node becomes smaller only if somebody has replaced the node's history by an older copy.
        restored = CASE WHEN put.newest < least(before, n.newest) THEN arrived ELSE n.restored END
    WHERE n.node = put.node AND n.epoch = put.epoch;
    RETURN QUERY SELECT greatest(before, put.last), arrived, missing(put.node, put.epoch);
END
$$;
GRANT EXECUTE ON FUNCTION pinfold.position(text, text),
    pinfold.put(text, text, text, bigint, bigint, bigint, timestamptz, text[], bytea[]) TO pinfold_node;

-- Reports -------------------------------------------------------------------------------------------------------------------------

-- Returns one row for each job that ended at the time `since` or later, and before the time `until`. The queries in src/archive/sql/report
-- use jobs().
--
-- A job has a receipt on each of its hosts. Receipts of the same job have the same cluster, key, run and owner. Several jobs with the same
-- cluster, key, run and owner may have run one after another. If two such jobs ran, each node's first receipt is for the first job, and
-- each node's second receipt is for the second job. If a key begins with "manual." or "user.", pinfoldd or a user chose the key. Two nodes
-- may have used the same chosen key for different jobs, so jobs() does not combine the receipts of several nodes for such a key. If a job
-- ended on some hosts before `since` or after `until`, the row has the figures of the other hosts only.
--
-- Each amount is a sum over the hosts of the job. A request is the amount that the job asked for, multiplied by the run time of the job.
-- jobs() multiplies by the run time, because a long job keeps its CPUs and memory from other jobs for a long time. jobs() compares the
-- request with the amount that the job used, but only on hosts for which both amounts are known. Some jobs use more than they requested on
-- one host, and less than they requested on a second host. jobs() does not subtract the excess on the first host from the unused amount on
-- the second host. For the used memory, jobs() takes the column memory_need, because a job can run without its page cache.
--
-- The column `cause` tells what ended the job. Usually, the column contains the job's first failure on any host. When the batch script
-- ends, the batch system stops the job on the hosts without the batch script. For jobs(), a stop or a signal is not a failure, because the
-- batch system stops jobs. If the job failed on no host, `cause` is the cause on the host on which the job ended first. jobs() uses a host
-- with an unknown outcome only if no host has a known outcome.
--
-- PostgreSQL can merge a function into the query that calls the function, if the function is one SELECT in the language SQL. Because
-- PostgreSQL merges jobs() into the query of a report, the report computes only the columns that the report uses.
CREATE FUNCTION pinfold.jobs(since timestamptz, until timestamptz) RETURNS TABLE (
    cluster text, key text, run bigint, uid bigint, owner text, account text, queue text, ended timestamptz, hosts bigint,
    cause text, run_time_us numeric,
    cpu_asked_us numeric, cpu_used_us numeric, cpu_unused_us numeric,
    cpu_used_without_request_us numeric,    -- the CPU time used on hosts where the request is not known
    memory_asked_byte_us numeric,
    memory_needed_byte_us numeric,
    without_memory_limit boolean,           -- true if the job had no memory limit on at least one host
    without_memory_need boolean,            -- true if memory_need is not known on at least one host
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

-- The view status has one row for each node, and shows the history that the node uses now. The column `gaps` counts the receipts that the
-- archive cannot get any more.
CREATE VIEW pinfold.status AS
SELECT n.node, n.epoch, n.position, n.newest, greatest(n.newest - n.position, 0) AS unsent, n.seen, n.complete,
    pinfold.missing(n.node, n.epoch) AS gaps,
    (SELECT count(*) FROM pinfold.rejected j WHERE j.node = n.node) AS rejected,
    n.clock_off, n.histories - 1 AS replaced_histories, n.restored
FROM (SELECT DISTINCT ON (node) *, count(*) OVER (PARTITION BY node) AS histories FROM pinfold.node ORDER BY node, seen DESC) AS n
ORDER BY n.node;
GRANT EXECUTE ON FUNCTION pinfold.missing(text, text), pinfold.bounded(numeric) TO pinfold_reader;

-- Locks the tables receipt and profile against all other sessions. put() takes less than a second. If a node's session holds its lock for
-- much longer than a second, an attacker probably controls the node. If lock_tables() does not get the lock in time, lock_tables() ends
-- each session of a node in which a transaction is open. lock_tables() ends even new transactions, because an attacker could begin new
-- transactions again and again. If lock_tables() has interrupted a transaction, pinfold-ship sends the receipts of the transaction again.
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

-- Makes the partitions of the coming weeks, and removes old data. The cutoff is the present time minus `older_than`. prune() removes each
-- partition whose week ended before the cutoff. In tables without partitions, prune() removes the rows that the archive received before the
-- cutoff. A receipt in receipt_default may have a wrong end time, so prune() uses the time at which the archive received the receipt.
-- prune() returns the number of removed receipts.
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
    -- While prune() holds the lock, all nodes and readers wait. prune() counts the receipts before it takes the lock, so that nodes and
    -- readers do not wait for the count. DETACH needs the strongest lock on a table. prune() takes the strongest lock before prune()
    -- touches the partitions, so that prune() and a second session cannot wait for each other.
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
