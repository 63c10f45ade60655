-- SPDX-License-Identifier: LGPL-2.1-or-later
-- How many jobs ended, how many hosts did they have (a job on three hosts counts three), and how much CPU time did they ask for
-- and use?
SELECT count(*) AS jobs, sum(hosts) AS hosts, count(DISTINCT uid) AS users,
    (SELECT count(DISTINCT node) FROM pinfold.receipt WHERE receipt.ended >= $1 AND receipt.ended < $2) AS nodes,
    round(sum(cpu_asked_us)) AS cpu_asked_us,
    sum(cpu_used_us) AS cpu_used_us,
    round(sum(cpu_unused_us)) AS cpu_unused_us,
    sum(cpu_used_without_request_us) AS cpu_used_without_request_us
FROM pinfold.jobs($1, $2)
