-- SPDX-License-Identifier: LGPL-2.1-or-later
-- How much memory did each account ask for, how much was used at the peak, and how many jobs had no limit? The account is null
-- for jobs without an account.
SELECT account, count(*) AS jobs,
    count(*) FILTER (WHERE without_memory_limit) AS jobs_without_limit,
    round(sum(memory_asked_byte_us) / 3600000000) AS memory_asked_byte_hours,
    round(sum(memory_peak_byte_us) / 3600000000) AS memory_peak_byte_hours
FROM pinfold.jobs($1, $2)
GROUP BY account
ORDER BY sum(memory_asked_byte_us) DESC NULLS LAST, account
LIMIT 1000
