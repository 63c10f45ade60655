// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/retry.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

struct WaitOptions {
    std::vector<std::string> jobs;
    std::optional<Microseconds> timeout;
};

OptionSet describe(WaitOptions& options) {
    return {jobsArgument(options.jobs, Offer::AllJobs),
            {.name = "--timeout",
             .value = "TIME",
             .help = "exit with status 124 after this time (default: never)",
             .set = into(options.timeout, parseDuration)}};
}

ExitStatus wait(const VerbContext& context, const WaitOptions& options) {
    const SharedTimeout timeout(options.timeout, options.jobs.size());
    return forEachJob(context, options.jobs, {}, [&](const VerbContext& one, const std::string& key) {
        const auto left = timeout.left().value_or(kForever);
        const auto receipt = retryWhileAway<Receipt>([&](const ManagerClient& client) { return client.wait(key, left); });
        return endWithReceipt(one, key, options.timeout.value_or(kForever), receipt);
    });
}

} // namespace

Verb waitVerb() { return makeVerb<WaitOptions>("wait", "wait until jobs are over", describe, wait); }

} // namespace pinfold
