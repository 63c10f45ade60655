-- SPDX-License-Identifier: LGPL-2.1-or-later
-- How much CPU time did each account ask for, use and not use? The account is null for jobs without an account.
SELECT account, count(*) AS jobs,
    round(sum(cpu_asked_us)) AS cpu_asked_us,
    sum(cpu_used_us) AS cpu_used_us,
    round(sum(cpu_unused_us)) AS cpu_unused_us,
    sum(cpu_used_without_request_us) AS cpu_used_without_request_us,
    count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs,
    round(sum(sum(cpu_asked_us)) OVER ()) AS all_cpu_asked_us,
    sum(sum(cpu_used_us)) OVER () AS all_cpu_used_us,
    round(sum(sum(cpu_unused_us)) OVER ()) AS all_cpu_unused_us,
    sum(sum(cpu_used_without_request_us)) OVER () AS all_cpu_used_without_request_us
FROM pinfold.jobs($1, $2)
GROUP BY account
ORDER BY sum(cpu_used_us) DESC NULLS LAST, account
LIMIT 1000
