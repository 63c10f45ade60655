// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/idle_table.hpp"

#include "base/escape.hpp"
#include "cli/format.hpp"

#include <fmt/core.h>

namespace pinfold {

std::string idleTable(const std::vector<IdleRow>& rows, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "key", .least = 24},
                                      {.name = "user", .least = 8},
                                      {.name = "state"},
                                      {.name = "age", .number = true, .leaves = 2},
                                      {.name = "cpus", .number = true},
                                      {.name = "busy", .number = true},
                                      {.name = "busy%", .number = true},
                                      {.name = "over", .number = true, .leaves = 1}};
    std::vector<std::vector<std::string>> cells;
    for (const auto& [job, age, idleness] : rows)
        cells.push_back({printable(job.key), userName(job.uid), std::string(toString(job.state)), amounts.runTime(age),
                         fmt::format("{:.4g}", idleness.held), fmt::format("{:.2f}", idleness.used),
                         fmt::format("{:.1f}", idleness.percent()), amounts.runTime(idleness.over)});
    return formatTable(columns, cells, style);
}

} // namespace pinfold
