// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/host_table.hpp"
#include "cli/job_details.hpp"
#include "cli/json.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"
#include "wording/hosts_text.hpp"
#include "wording/profile_text.hpp"
#include "wording/receipt_text.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct WhyOptions {
    std::vector<std::string> jobs;
    bool hosts = false;
};

OptionSet describe(WhyOptions& options) {
    return {jobsArgument(options.jobs, Offer::AllJobs),
            {.name = "--hosts", .help = "show a table with one line for each host of the job", .set = into(options.hosts)}};
}

std::string pageOn(const VerbContext& context, const Receipt& receipt) {
    return receiptPage(receipt, userName, context.amounts, context.terminal.width()) +
           useOverTime(knownProfileOf(receipt), context.amounts);
}

std::string pageOn(const VerbContext& context, const HostsOfJob& job, const std::string& key) {
    return hostsPage(job, userName, context.amounts, context.terminal.width()) +
           fmt::format("\n`pinfold why --hosts {}` shows each host.\n", key);
}

ExitStatus explain(const VerbContext& context, const WhyOptions& options, const std::string& key) {
    if (isLiveHere(key)) {
        if (context.json)
            context.terminal.print(jsonNotOver(key));
        else
            context.terminal.print(fmt::format("Job {0} is not over yet: `pinfold status {0}` shows it.\n", key));
        return ExitStatus::Ok;
    }
    auto receipts = receiptsOfNewestRun(key, context.json || options.hosts ? WithProfiles::No : WithProfiles::Yes);
    if (!receipts)
        return fail(receipts.error());
    const auto job = hostsOfJob(*std::move(receipts));
    const auto& newest = job.hosts.front().receipts.back();
    const bool several = job.hosts.size() > 1;
    if (context.json)
        context.terminal.print(several ? jsonHosts(job) : jsonReceipt(newest));
    else if (options.hosts)
        context.terminal.print(hostTable(job, context.amounts, context.tableStyle()));
    else
        context.terminal.print(several ? pageOn(context, job, key) : pageOn(context, newest));
    return ExitStatus::Ok;
}

ExitStatus why(const VerbContext& context, const WhyOptions& options) {
    return forEachJob(context, options.jobs, {.pages = true},
                      [&options](const VerbContext& each, const std::string& key) { return explain(each, options, key); });
}

} // namespace

Verb whyVerb() { return makeVerb<WhyOptions>("why", "explain how a job ended, what it used and left behind", describe, why); }

} // namespace pinfold
