-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Which jobs left processes behind? The jobs whose processes had used the most CPU time come first.
SELECT key AS job, run, coalesce(owner, uid::text) AS "user", hosts, leftovers, leftover_cpu_us,
    date_trunc('second', ended) AS ended, count(*) OVER () AS all_rows
FROM pinfold.jobs($1, $2)
WHERE leftovers > 0
ORDER BY leftover_cpu_us DESC NULLS LAST, leftovers DESC, jobs.ended DESC, key
LIMIT 50
