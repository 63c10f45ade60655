-- SPDX-License-Identifier: LGPL-2.1-or-later
-- How did the jobs end?
SELECT cause, count(*) AS jobs, count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs
FROM pinfold.jobs($1, $2)
GROUP BY cause
ORDER BY jobs DESC, cause
LIMIT 1000
