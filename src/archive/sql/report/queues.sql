-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Which queues were the busiest? The queue is null for jobs without a queue.
SELECT queue, count(*) AS jobs, sum(hosts) AS hosts, sum(run_time_us) AS run_time_us,
    round(sum(cpu_asked_us)) AS cpu_asked_us,
    sum(cpu_used_us) AS cpu_used_us,
    count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs, sum(sum(hosts)) OVER () AS all_hosts,
    sum(sum(run_time_us)) OVER () AS all_run_time_us,
    round(sum(sum(cpu_asked_us)) OVER ()) AS all_cpu_asked_us,
    sum(sum(cpu_used_us)) OVER () AS all_cpu_used_us
FROM pinfold.jobs($1, $2)
GROUP BY queue
ORDER BY sum(run_time_us) DESC NULLS LAST, queue
LIMIT 100
