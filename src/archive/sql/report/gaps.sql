-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Which receipts will never be in the archive, because the node had removed them before it sent them? first and last are sequences of the
-- node's history with the name epoch.
SELECT node, epoch, first, last, last - first + 1 AS receipts, date_trunc('second', noted) AS noted,
    count(*) OVER () AS all_rows, sum(last - first + 1) OVER () AS all_receipts
FROM pinfold.gap
WHERE noted >= $1 AND noted < $2
ORDER BY receipts DESC, node, epoch, first
LIMIT 1000
