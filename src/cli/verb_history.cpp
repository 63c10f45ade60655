// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/json.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"

#include <chrono>

namespace pinfold {
namespace {

Result<ReceiptFilter> filterFrom(const CommandLine& line) {
    const auto now = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
    ReceiptFilter filter;
    filter.limit = line.limit;
    filter.result = line.result;
    filter.scheduler = line.scheduler;
    if (line.failed)
        filter.outcomes.push_back(JobOutcome::Failed);
    if (line.unknown)
        filter.outcomes.push_back(JobOutcome::Unknown);
    filter.leftoversOnly = line.leftovers;
    if (!line.job.empty())
        filter.key = line.job;
    if (line.user) {
        const auto uid = userId(*line.user);
        if (!uid)
            return uid.error();
        filter.uid = *uid;
    }
    for (const auto& [text, member] : {std::pair{&line.since, &filter.since}, std::pair{&line.until, &filter.until}}) {
        if (!*text)
            continue;
        const auto when = parseWhen(**text, now);
        if (!when)
            return when.error();
        *member = *when;
    }
    return filter;
}

std::string exitText(const ExitState& exit) {
    return exit.signal ? signalName(*exit.signal) : exit.status ? std::to_string(*exit.status) : "-";
}

} // namespace

ExitStatus verbHistory(const VerbContext& context) {
    const auto filter = filterFrom(context.line);
    if (!filter)
        return fail(filter.error());
    const auto receipts = findReceipts(*filter);
    if (!receipts)
        return fail(receipts.error());
    if (context.line.json) {
        context.terminal.print(jsonReceipts(*receipts));
        return ExitStatus::Ok;
    }
    const std::vector<Column> columns{{"ended"},          {"key"},        {"user"},      {"result"},
                                      {"exit", true},     {"wall", true}, {"cpu", true}, {"memory_peak", true},
                                      {"leftovers", true}};
    std::vector<std::vector<std::string>> rows;
    const auto& amounts = context.amounts;
    for (const auto& receipt : *receipts) {
        const auto& usage = receipt.usage;
        const auto cpu = usage.cpuUser && usage.cpuSystem ? std::optional(*usage.cpuUser + *usage.cpuSystem) : std::nullopt;
        rows.push_back({formatUtc(receipt.ended), receipt.key, userName(receipt.uid), std::string(toString(receipt.result)),
                        exitText(receipt.exit), amounts.duration(receipt.wall), amounts.duration(cpu),
                        amounts.size(usage.memoryPeak), std::to_string(receipt.leftovers.count)});
    }
    context.terminal.print(formatTable(columns, rows, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace pinfold
