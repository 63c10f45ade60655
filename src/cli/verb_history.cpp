// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "bus_client/events_watch.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/receipt_table.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace pinfold {
namespace {

constexpr std::uint32_t kMostListed = 10'000;

struct HistoryOptions {
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
    std::optional<LabelFilter> label;
    std::optional<std::uint64_t> after;
    std::optional<std::string> epoch;
    bool follow = false;
    bool json = false;
    bool lines = false;
};

Result<std::string> parseScheduler(const std::string& text) {
    if (isSchedulerName(text))
        return text;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a scheduler name: use lower case letters and digits", printable(text, 100))};
}

OptionSet describe(HistoryOptions& options) {
    return {{.name = "--since",
             .letter = 'S',
             .value = "TIME",
             .help = "show only jobs that ended since this time: 2026-11-20, \"2026-11-20 12:00\", -1h, today",
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
             .set = into(options.number, numberFrom(1, kMostListed))},
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
            {.name = "--leftovers", .help = "show only jobs that left processes behind", .set = into(options.leftovers)},
            {.name = "--label",
             .value = "NAME[=VALUE]",
             .help = "show only jobs with this label",
             .set = into(options.label, labelFilter)},
            {.name = "--after",
             .value = "SEQUENCE",
             .help = "show only receipts with a sequence above SEQUENCE, the lowest first",
             .set = into(options.after, numberFrom(0, INT64_MAX))},
            {.name = "--epoch",
             .value = "EPOCH",
             .help = "the epoch of SEQUENCE; if the history has another epoch, show its receipts from the first on",
             .set = into(options.epoch),
             .needs = "--after"},
            {.name = "--follow",
             .letter = 'f',
             .help = "print receipts as they come, until interrupted",
             .set = into(options.follow)},
            {.name = "--json",
             .value = "FORM",
             .help = "print one JSON document, or with \"lines\" one document per line for each receipt",
             .set = [&options](const std::string& form) -> Result<void> {
                 options.json = true;
                 options.lines = form == "lines";
                 return {};
             },
             .values = Values::Optional,
             .words = {"lines"}}};
}

Result<ReceiptFilter> filterFrom(const HistoryOptions& options) {
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
    filter.label = options.label;
    filter.after = options.after;
    filter.epoch = options.epoch;
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

std::string linesOf(const std::vector<Receipt>& receipts) {
    std::string text;
    for (const auto& receipt : receipts)
        text += jsonReceiptLine(receipt);
    return text;
}

/// Prints each receipt once, as soon as the receipt is in the history, and without a pager. `filter_.after` is the sequence
/// number of the receipt that Follower printed last.
class Follower {
public:
    Follower(ReceiptFilter filter, const VerbContext& context, bool json)
        : filter_(std::move(filter)), json_(json), amounts_(context.amounts), style_(context.tableStyle()) {}

    /// Prints all receipts that were not printed before. If pinfoldd does not answer, catchUp() returns true, and the next call
    /// of catchUp() prints the remaining receipts. Returns false if nothing can be printed any more.
    bool catchUp() {
        while (filter_.after) {
            const auto client = ManagerClient::connect();
            const auto receipts = client ? client->receipts(filter_) : Result<std::vector<Receipt>>(client.error());
            if (!receipts) {
                const auto code = receipts.error().code;
                if (code == ErrorCode::Unreachable || code == ErrorCode::TimedOut || code == ErrorCode::Busy)
                    return true;
                failed_ = receipts.error();
                return false;
            }
            if (receipts->empty())
                return true;
            if (!print(*receipts))
                return false;
            filter_.after = receipts->back().sequence;
            filter_.epoch = receipts->back().epoch;
        }
        return true;
    }

    bool heard(const Event& event) {
        if (event.stored && !filter_.after) {
            filter_.after = event.stored->first - 1;
            filter_.epoch = event.stored->epoch;
        }
        return (!event.stored && event.name != "daemon-started") || catchUp();
    }

    ExitStatus over() const { return failed_ ? fail(*failed_) : ExitStatus::Ok; }

private:
    bool print(const std::vector<Receipt>& receipts) {
        std::fputs((json_ ? linesOf(receipts) : receiptTable(receipts, amounts_, style_)).c_str(), stdout);
        style_.legend = false;
        return std::fflush(stdout) == 0;
    }

    ReceiptFilter filter_;
    bool json_;
    Amounts amounts_;
    TableStyle style_;
    std::optional<Error> failed_;
};

ExitStatus follow(const VerbContext& context, const ReceiptFilter& filter, bool json) {
    auto watch = EventsWatch::connect(); // the watch begins before the first query, so that `follow` misses no receipt
    if (!watch)
        return fail(watch.error());
    Follower follower(filter, context, json);
    if (!follower.catchUp())
        return follower.over();
    const auto heard = watch->listen([&follower](const Event& event) { return follower.heard(event); });
    return heard ? follower.over() : fail(heard.error());
}

ExitStatus history(const VerbContext& context, const HistoryOptions& options) {
    const auto filter = filterFrom(options);
    if (!filter)
        return fail(filter.error());
    if (options.follow)
        return follow(context, *filter, context.json || options.json);
    const auto receipts = findReceipts(*filter);
    if (!receipts)
        return fail(receipts.error());
    if (options.lines)
        context.terminal.print(linesOf(*receipts));
    else if (context.json || options.json)
        context.terminal.print(jsonReceipts(*receipts));
    else
        context.terminal.print(receiptTable(*receipts, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

} // namespace

Verb historyVerb() { return makeVerb<HistoryOptions>("history", "list receipts of ended jobs, newest first", describe, history); }

} // namespace pinfold
