-- SPDX-License-Identifier: LGPL-2.1-or-later
-- On which nodes were jobs lost? node_lost counts the jobs that ran when the node went down without a shutdown, lost counts the jobs whose
-- units disappeared, and supervisor_lost counts the jobs whose pinfold-run was killed. A job counts on each host that lost it.
SELECT node,
    count(*) FILTER (WHERE result = 'node-lost') AS node_lost,
    count(*) FILTER (WHERE result = 'lost') AS lost,
    count(*) FILTER (WHERE result = 'supervisor-lost') AS supervisor_lost,
    date_trunc('second', max(ended)) AS last_ended,
    count(*) OVER () AS all_rows,
    sum(count(*) FILTER (WHERE result = 'node-lost')) OVER () AS all_node_lost,
    sum(count(*) FILTER (WHERE result = 'lost')) OVER () AS all_lost,
    sum(count(*) FILTER (WHERE result = 'supervisor-lost')) OVER () AS all_supervisor_lost
FROM pinfold.receipt
WHERE ended >= $1 AND ended < $2 AND result IN ('node-lost', 'lost', 'supervisor-lost')
GROUP BY node
ORDER BY count(*) DESC, node
LIMIT 1000
