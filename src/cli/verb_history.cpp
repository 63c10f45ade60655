// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/receipt_table.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

Result<ReceiptFilter> filterFrom(const CommandLine& line) {
    const auto now = realTimeNow();
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
    context.terminal.print(receiptTable(*receipts, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace pinfold
