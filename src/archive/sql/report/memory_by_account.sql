-- SPDX-License-Identifier: LGPL-2.1-or-later
-- How much memory did each account ask for, and how much did the jobs need (without page cache)? Hosts on which a job had no limit, or
-- on which its need is not known because the job was too short, are not in the two figures. The account is null for jobs without an
-- account.
SELECT account, count(*) AS jobs,
    count(*) FILTER (WHERE without_memory_limit) AS jobs_without_limit,
    count(*) FILTER (WHERE without_memory_need) AS jobs_with_unknown_need,
    round(sum(memory_asked_byte_us) / 3600000000) AS memory_asked_byte_hours,
    round(sum(memory_needed_byte_us) / 3600000000) AS memory_needed_byte_hours,
    count(*) OVER () AS all_rows, sum(count(*)) OVER () AS all_jobs,
    sum(count(*) FILTER (WHERE without_memory_limit)) OVER () AS all_jobs_without_limit,
    sum(count(*) FILTER (WHERE without_memory_need)) OVER () AS all_jobs_with_unknown_need,
    round(sum(sum(memory_asked_byte_us)) OVER () / 3600000000) AS all_memory_asked_byte_hours,
    round(sum(sum(memory_needed_byte_us)) OVER () / 3600000000) AS all_memory_needed_byte_hours
FROM pinfold.jobs($1, $2)
GROUP BY account
ORDER BY sum(memory_asked_byte_us) DESC NULLS LAST, account
LIMIT 1000
