-- SPDX-License-Identifier: LGPL-2.1-or-later
-- How much memory did each user ask for, how much was used at the peak, and how many jobs had no limit?
SELECT coalesce(max(owner), uid::text) AS "user", count(*) AS jobs,
    count(*) FILTER (WHERE without_memory_limit) AS jobs_without_limit,
    round(sum(memory_asked_byte_us) / 3600000000) AS memory_asked_byte_hours,
    round(sum(memory_peak_byte_us) / 3600000000) AS memory_peak_byte_hours
FROM pinfold.jobs($1, $2)
GROUP BY uid
ORDER BY sum(memory_asked_byte_us) DESC NULLS LAST, uid
LIMIT 1000
