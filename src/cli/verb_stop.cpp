// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/retry_while_away.hpp"
#include "cli/time_out.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct Options {
    std::vector<std::string> jobs;
    std::optional<Microseconds> grace;
    bool wait = false;
    Microseconds timeout = kDefaultTimeout;
    bool dryRun = false;
};

OptionSet describe(Options& options) {
    return {jobsArgument(options.jobs),
            {.name = "--grace",
             .value = "TIME",
             .help = "the time between SIGTERM and SIGKILL (default: as configured)",
             .set = into(options.grace, parseDuration)},
            {.name = "--wait", .help = "wait until the jobs are over", .set = into(options.wait)},
            {.name = "--timeout",
             .value = "TIME",
             .help = "with --wait: exit with status 124 after this time (default 5min)",
             .set = into(options.timeout, parseDuration)},
            dryRunOption(options.dryRun)};
}

ExitStatus waited(const Result<Receipt>& receipt, const std::string& key, Microseconds timeout) {
    return receipt ? ExitStatus::Ok : fail(explained(receipt.error(), key, timeout));
}

ExitStatus stopJob(const VerbContext& context, const Options& options, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    if (options.dryRun)
        return sayWhatWouldBeDone(context, *client, key, [&](const JobInfo& job) {
            const auto grace = options.grace ? formatDuration(*options.grace) : "the configured jobs.kill_grace";
            return fmt::format("send SIGTERM to all processes of {}, after {} SIGKILL, and remove the slice", job.slice, grace);
        });
    const auto stopped = client->stop(key, options.grace);
    if (!stopped)
        return fail(stopped.error());
    // If `pinfold stop` stops only one job, it uses the open connection also to wait for the end of the job. A new connection
    // would take time. While pinfold connects again, pinfoldd may forget a job that gets no receipt.
    if (options.wait && options.jobs.size() == 1)
        return waited(client->wait(key, options.timeout), key, options.timeout);
    return ExitStatus::Ok;
}

/// First asks pinfoldd to stop all jobs, and then waits for the end of each job. Because all stop requests come first, the
/// grace times of the jobs run at the same time.
ExitStatus stop(const VerbContext& context, const Options& options) {
    std::vector<std::string> stopped;
    const auto asked = forEachJob(context, options.jobs, {}, [&](const VerbContext& one, const std::string& key) {
        const auto status = stopJob(one, options, key);
        if (status == ExitStatus::Ok)
            stopped.push_back(key);
        return status;
    });
    if (!options.wait || options.dryRun || options.jobs.size() == 1)
        return asked;
    const SharedTimeout timeout(options.timeout, options.jobs.size());
    const auto over = forEachJob(context, stopped, {.several = true}, [&](const VerbContext&, const std::string& key) {
        const auto left = *timeout.left();
        return waited(retryWhileAway<Receipt>([&](const ManagerClient& client) { return client.wait(key, left); }), key, left);
    });
    return asked == ExitStatus::Ok ? over : asked;
}

} // namespace

Verb stopVerb() { return makeVerb("stop", "end jobs: SIGTERM, then SIGKILL after the grace time", describe, stop); }

} // namespace pinfold
