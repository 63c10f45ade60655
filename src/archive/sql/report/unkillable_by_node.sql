-- SPDX-License-Identifier: LGPL-2.1-or-later
-- On which nodes did processes outlive SIGKILL? A job counts on each host on which pinfoldd reported that SIGKILL did not end a process of the
-- job. most_processes is the highest number of such processes that one job had on a host. The receipt of the job comes when the processes are
-- gone, or after the next boot of the node.
SELECT node, count(*) AS jobs, max(unkillable_processes) AS most_processes, date_trunc('second', max(ended)) AS last_ended,
    count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs, max(max(unkillable_processes)) OVER () AS all_most_processes
FROM pinfold.receipt
WHERE ended >= $1 AND ended < $2 AND unkillable_processes > 0
GROUP BY node
ORDER BY jobs DESC, node
LIMIT 1000
