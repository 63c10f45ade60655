// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive/coming_weeks.hpp"

#include "archive/patience.hpp"
#include "base/parse.hpp"

namespace pinfold {
namespace {

// If a timer runs `pinfold archive prune` every night, the archive has tables for at least the next seven weeks. kQuery looks for
// the tables of the present week and of the next two weeks. If kQuery finds that a table is missing, the timer of `pinfold
// archive prune` has not run for weeks. If the timer has missed only a few runs, no table is missing, and nobody gets a warning.
constexpr const char* kQuery =
    "SELECT (extract(epoch FROM min(week)) * 1000000)::bigint"
    " FROM generate_series(date_trunc('week', now() AT TIME ZONE 'UTC'), now() AT TIME ZONE 'UTC' + interval '2 weeks',"
    "  interval '1 week') AS week"
    " WHERE to_regclass('pinfold.receipt_' || to_char(week, 'IYYY\"w\"IW')) IS NULL";

} // namespace

Result<std::optional<RealTime>> weekWithoutTable(PostgresConnection& connection) {
    const auto found = connection.run(kQuery, {}, kQueryPatience);
    if (!found)
        return found.error();
    const auto& week = found->rows.at(0).at(0);
    if (!week)
        return std::optional<RealTime>();
    const auto begin = parseUnsigned(*week);
    if (!begin)
        return begin.error();
    return std::optional(fromUsec<RealTime>(*begin));
}

} // namespace pinfold
