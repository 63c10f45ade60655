// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/receipt_table.hpp"

#include "base/escape.hpp"
#include "cli/format.hpp"
#include "model/hosts_of_job.hpp"

#include <cstddef>
#include <set>

namespace pinfold {
namespace {

constexpr std::ptrdiff_t kHostColumn = 2; // the column for the host is the third column, and follows the column for the job's key

/// Returns true if the table needs a column for the host. Receipts from an earlier version of pinfold do not name the host.
bool areOfSeveralHosts(const std::vector<Receipt>& receipts) {
    std::set<std::string> hosts;
    for (const auto& receipt : receipts)
        if (receipt.origin.host)
            hosts.insert(keyOfHost(*receipt.origin.host));
    return hosts.size() > 1;
}

} // namespace

std::string receiptTable(const std::vector<Receipt>& receipts, const Amounts& amounts, const TableStyle& style) {
    std::vector<Column> columns{{.name = "ended"},
                                {.name = "key", .least = 12},
                                {.name = "user", .least = 8, .leaves = 2},
                                {.name = "result"},
                                {.name = "exit", .number = true},
                                {.name = "wall", .number = true},
                                {.name = "cpu_time", .number = true, .leaves = 1, .heading = "cpu"},
                                {.name = "memory_need", .number = true, .heading = "memory"},
                                {.name = "leftovers", .number = true, .leaves = 3}};
    const bool withHost = areOfSeveralHosts(receipts);
    if (withHost)
        columns.insert(columns.begin() + kHostColumn, {.name = "host", .least = 8});
    std::vector<std::vector<std::string>> rows;
    for (const auto& receipt : receipts) {
        const auto& usage = receipt.usage;
        const auto cpu = usage.cpuUser && usage.cpuSystem ? std::optional(*usage.cpuUser + *usage.cpuSystem) : std::nullopt;
        rows.push_back({tableTime(receipt.ended, style), receipt.key, userName(receipt.uid),
                        std::string(toString(receipt.result)), exitText(receipt.exit), amounts.runTime(receipt.wall),
                        amounts.duration(cpu), amounts.size(usage.memoryNeed), std::to_string(receipt.leftovers.count)});
        if (withHost)
            rows.back().insert(rows.back().begin() + kHostColumn, legible(receipt.origin.host.value_or("-"), kMostHostBytes));
    }
    return formatTable(columns, rows, style);
}

} // namespace pinfold
