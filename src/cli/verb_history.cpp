// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/receipt_table.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr std::uint32_t kMostReceipts = 10'000;

struct Options {
    std::optional<std::string> since;
    std::optional<std::string> until;
    std::optional<std::string> user;
    std::string job;
    std::uint32_t number = 100;
    std::optional<std::string> result;
    std::optional<std::string> scheduler;
    bool failed = false;
    bool unknown = false;
    bool leftovers = false;
};

Result<std::string> parseScheduler(const std::string& text) {
    if (isSchedulerName(text))
        return text;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a scheduler name: use lower case letters and digits", printable(text, 100))};
}

OptionSet describe(Options& options) {
    return {{.name = "--since",
             .letter = 'S',
             .value = "TIME",
             .help = "show only jobs that ended since this time: 2026-11-20, \"2026-11-20 12:00\", -1h, today (UTC)",
             .set = into(options.since)},
            {.name = "--until",
             .letter = 'E',
             .value = "TIME",
             .help = "show only jobs that ended before this time",
             .set = into(options.until)},
            userOption(options.user),
            {.name = "--job",
             .letter = 'j',
             .value = "KEY",
             .help = "show only receipts of the job with this key",
             .set = into(options.job),
             .offer = Offer::EndedJobs},
            {.name = "--number",
             .letter = 'n',
             .value = "N",
             .help = "show at most this many receipts (default 100)",
             .set = into(options.number, numberFrom(1, kMostReceipts))},
            {.name = "--result",
             .value = "RESULT",
             .help = "show only jobs with this result",
             .set = into(options.result),
             .words = jobResultNames()},
            {.name = "--scheduler",
             .value = "NAME",
             .help = "show only jobs of this scheduler (the key up to the dot)",
             .set = into(options.scheduler, parseScheduler)},
            {.name = "--failed", .help = "show only jobs that did not exit with status 0", .set = into(options.failed)},
            {.name = "--unknown", .help = "show only jobs whose exit status is unknown", .set = into(options.unknown)},
            {.name = "--leftovers", .help = "show only jobs that left processes behind", .set = into(options.leftovers)}};
}

Result<ReceiptFilter> filterFrom(const Options& options) {
    const auto now = RealClock::now();
    ReceiptFilter filter;
    filter.limit = options.number;
    filter.result = options.result;
    filter.scheduler = options.scheduler;
    if (options.failed)
        filter.outcomes.push_back(JobOutcome::Failed);
    if (options.unknown)
        filter.outcomes.push_back(JobOutcome::Unknown);
    filter.leftoversOnly = options.leftovers;
    if (!options.job.empty())
        filter.key = options.job;
    if (options.user) {
        const auto uid = userId(*options.user);
        if (!uid)
            return uid.error();
        filter.uid = *uid;
    }
    for (const auto& [text, member] : {std::pair{&options.since, &filter.since}, std::pair{&options.until, &filter.until}}) {
        if (!*text)
            continue;
        const auto when = parseWhen(**text, now);
        if (!when)
            return when.error();
        *member = *when;
    }
    return filter;
}

ExitStatus history(const VerbContext& context, const Options& options) {
    const auto filter = filterFrom(options);
    if (!filter)
        return fail(filter.error());
    const auto receipts = findReceipts(*filter);
    if (!receipts)
        return fail(receipts.error());
    if (context.json) {
        context.terminal.print(jsonReceipts(*receipts));
        return ExitStatus::Ok;
    }
    context.terminal.print(receiptTable(*receipts, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace

Verb historyVerb() { return makeVerb("history", "list receipts of ended jobs, newest first", describe, history); }

} // namespace pinfold
