-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Which nodes does completeness.sql count as incomplete, and which nodes sent receipts that the archive cannot store? complete is the last
-- time at which the archive had all receipts of the node. seen is the last time at which the node wrote to the archive, and unsent is the
-- number of the node's receipts that the archive lacked at that time.
SELECT node, date_trunc('second', complete) AS complete, date_trunc('second', seen) AS seen, unsent, rejected.receipts AS rejected,
    date_trunc('second', clock_off) AS clock_off, count(*) OVER () AS all_rows
FROM pinfold.status, LATERAL (
    SELECT count(*) AS receipts FROM pinfold.rejected AS r WHERE r.node = status.node AND r.noted >= $1 AND r.noted < $2) AS rejected
WHERE (complete >= least($2, now()) - interval '15 minutes') IS NOT TRUE OR rejected.receipts > 0
ORDER BY status.complete NULLS FIRST, node
LIMIT 1000
