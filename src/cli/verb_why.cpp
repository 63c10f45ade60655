// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/json.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"
#include "wording/profile_text.hpp"
#include "wording/receipt_text.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct Options {
    std::vector<std::string> jobs;
};

OptionSet describe(Options& options) { return {jobsArgument(options.jobs, Offer::AllJobs)}; }

bool isLive(const std::string& key) {
    const auto client = ManagerClient::connect();
    return client && client->job(key);
}

/// Returns an error if pinfoldd does not answer or does not know the job's profile.
Result<Profile> profileOf(const std::string& key) {
    const auto client = ManagerClient::connect();
    return client ? client->profile(key) : Result<Profile>(client.error());
}

ExitStatus explain(const VerbContext& context, const std::string& key) {
    if (isLive(key)) {
        if (context.json)
            context.terminal.print(jsonNotOver(key));
        else
            context.terminal.print(fmt::format("Job {0} is not over yet: `pinfold status {0}` shows it.\n", key));
        return ExitStatus::Ok;
    }
    ReceiptFilter filter;
    filter.key = key;
    filter.limit = 1;
    const auto receipts = findReceipts(filter);
    if (!receipts)
        return fail(receipts.error());
    if (receipts->empty())
        return fail({ErrorCode::NoSuchReceipt,
                     fmt::format("no receipt of a job '{}' that you may see: `pinfold history` lists the receipts",
                                 printable(key, 300))});
    const auto& receipt = receipts->front();
    context.terminal.print(context.json ? jsonReceipt(receipt)
                                        : receiptPage(receipt, userName, context.amounts, context.terminal.width()) +
                                              useOverTime(profileOf(key), context.amounts));
    return ExitStatus::Ok;
}

ExitStatus why(const VerbContext& context, const Options& options) {
    return forEachJob(context, options.jobs, {.pages = true}, explain);
}

} // namespace

Verb whyVerb() { return makeVerb("why", "explain how a job ended, what it used and left behind", describe, why); }

} // namespace pinfold
