// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/idle_table.hpp"

#include "base/escape.hpp"
#include "cli/format.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

std::string percentOf(const std::optional<Idleness>& idleness) {
    return idleness ? fmt::format("{:.1f}", idleness->percent()) : "-";
}

std::string sizeOf(double bytes, const Amounts& amounts) { return amounts.size(static_cast<std::uint64_t>(bytes)); }

} // namespace

std::string idleTable(const std::vector<IdleRow>& rows, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "key", .least = 24},
                                      {.name = "user", .least = 8},
                                      {.name = "state"},
                                      {.name = "age", .number = true, .leaves = 2},
                                      {.name = "cpus_held", .number = true, .heading = "cpus"},
                                      {.name = "cpus_used", .number = true, .heading = "busy"},
                                      {.name = "used_percent", .number = true, .heading = "busy%"},
                                      {.name = "memory_max", .number = true, .heading = "limit"},
                                      {.name = "memory_need", .number = true, .heading = "need"},
                                      {.name = "memory_need_percent", .number = true, .heading = "need%"},
                                      {.name = "over", .number = true, .leaves = 1}};
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : rows) {
        const auto& [job, age, cpus, memory] = row;
        cells.push_back({printable(job.key), userName(job.uid), std::string(toString(job.state)), amounts.runTime(age),
                         cpus ? fmt::format("{:.4g}", cpus->held) : "-", cpus ? fmt::format("{:.2f}", cpus->used) : "-",
                         percentOf(cpus), memory ? sizeOf(memory->held, amounts) : "-",
                         memory ? sizeOf(memory->used, amounts) : "-", percentOf(memory), amounts.runTime(row.over())});
    }
    return formatTable(columns, cells, style);
}

} // namespace pinfold
