-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Of how many nodes does the archive have all receipts of jobs that ended before $2? A node sends its receipts at least once a minute and a
-- sign of life every 5 minutes, so a node counts as incomplete only if the archive has not been complete for 15 minutes. missing_receipts
-- counts the receipts that nodes had removed before they sent them, if the archive learnt of the removal from $1 on and before $2.
SELECT count(*) AS nodes,
    count(*) FILTER (WHERE complete >= least($2, now()) - interval '15 minutes') AS complete_nodes,
    (SELECT coalesce(sum(last - first + 1), 0) FROM pinfold.gap WHERE noted >= $1 AND noted < $2) AS missing_receipts
FROM pinfold.status
