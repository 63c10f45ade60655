// SPDX-License-Identifier: LGPL-2.1-or-later
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

ExitStatus explain(const VerbContext& context, const std::string& key) {
    if (isLive(key)) {
        if (context.json)
            context.terminal.print(jsonNotOver(key));
        else
            context.terminal.print(fmt::format("Job {0} is not over yet: `pinfold status {0}` shows it.\n", key));
        return ExitStatus::Ok;
    }
    const auto receipt = newestReceipt(key);
    if (!receipt)
        return fail(receipt.error());
    context.terminal.print(context.json ? jsonReceipt(*receipt)
                                        : receiptPage(*receipt, userName, context.amounts, context.terminal.width()) +
                                              useOverTime(profileOfReceipt(key), context.amounts));
    return ExitStatus::Ok;
}

ExitStatus why(const VerbContext& context, const Options& options) {
    return forEachJob(context, options.jobs, {.pages = true}, explain);
}

} // namespace

Verb whyVerb() { return makeVerb("why", "explain how a job ended, what it used and left behind", describe, why); }

} // namespace pinfold
