-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Which users asked for the most CPU time that their jobs then did not use?
SELECT coalesce(max(owner), uid::text) AS "user", count(*) AS jobs,
    round(sum(cpu_asked_us)) AS cpu_asked_us,
    round(sum(cpu_unused_us)) AS cpu_unused_us,
    count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs,
    round(sum(sum(cpu_asked_us)) OVER ()) AS all_cpu_asked_us,
    round(sum(sum(cpu_unused_us)) OVER ()) AS all_cpu_unused_us
FROM pinfold.jobs($1, $2)
GROUP BY uid
HAVING sum(cpu_unused_us) > 0
ORDER BY sum(cpu_unused_us) DESC, uid
LIMIT 20
