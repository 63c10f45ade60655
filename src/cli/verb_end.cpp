// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_name.hpp"
#include "cli/retry.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

struct EndOptions {
    std::string job;
    ExitState exit;
    Microseconds timeout = kDefaultTimeout;
};

OptionSet describe(EndOptions& options) {
    return {jobArgument(options.job),
            {.name = "--exit-status",
             .value = "N",
             .help = "report the exit status of the batch script",
             .set = into(options.exit.status, numberFrom(0, 255))},
            {.name = "--exit-signal",
             .value = "SIGNAL",
             .help = "report the signal that ended the batch script (name or number)",
             .set = into(options.exit.signal, parseSignal),
             .excludes = "--exit-status"},
            {.name = "--timeout",
             .value = "TIME",
             .help = "exit with status 124 after this time (default 5min)",
             .set = into(options.timeout, parseDuration)}};
}

ExitStatus end(const VerbContext& context, const EndOptions& options) {
    const auto key = keyOf(options.job);
    if (!key)
        return fail(key.error());
    const auto receipt =
        retryWhileAway<Receipt>([&](const ManagerClient& client) { return client.end(*key, options.exit, options.timeout); });
    return endWithReceipt(context, *key, options.timeout, receipt);
}

} // namespace

Verb endVerb() { return makeVerb<EndOptions>("end", "end a job: stop its processes, wait until it is over", describe, end); }

} // namespace pinfold
