-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Whose jobs left processes behind, how many processes, and how much CPU time had these processes used?
SELECT coalesce(max(owner), uid::text) AS "user", count(*) AS jobs, sum(leftovers) AS leftovers, sum(leftover_cpu_us) AS leftover_cpu_us,
    count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs, sum(sum(leftovers)) OVER () AS all_leftovers,
    sum(sum(leftover_cpu_us)) OVER () AS all_leftover_cpu_us
FROM pinfold.jobs($1, $2)
WHERE leftovers > 0
GROUP BY uid
ORDER BY sum(leftovers) DESC, uid
LIMIT 1000
