// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/receipt_table.hpp"

#include "base/parse.hpp"
#include "cli/format.hpp"

namespace pinfold {
namespace {

std::string exitText(const ExitState& exit) {
    return exit.signal ? signalName(*exit.signal) : exit.status ? std::to_string(*exit.status) : "-";
}

} // namespace

std::string receiptTable(const std::vector<Receipt>& receipts, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "ended"},
                                      {.name = "key", .least = 12},
                                      {.name = "user", .least = 8, .leaves = 2},
                                      {.name = "result"},
                                      {.name = "exit", .number = true},
                                      {.name = "wall", .number = true},
                                      {.name = "cpu", .number = true, .leaves = 1},
                                      {.name = "memory", .number = true},
                                      {.name = "leftovers", .number = true, .leaves = 3}};
    std::vector<std::vector<std::string>> rows;
    for (const auto& receipt : receipts) {
        const auto& usage = receipt.usage;
        const auto cpu = usage.cpuUser && usage.cpuSystem ? std::optional(*usage.cpuUser + *usage.cpuSystem) : std::nullopt;
        rows.push_back({tableTime(receipt.ended, style), receipt.key, userName(receipt.uid),
                        std::string(toString(receipt.result)), exitText(receipt.exit), amounts.runTime(receipt.wall),
                        amounts.duration(cpu), amounts.size(usage.memoryNeed ? usage.memoryNeed : usage.memoryPeak),
                        std::to_string(receipt.leftovers.count)});
    }
    return formatTable(columns, rows, style);
}

} // namespace pinfold
