// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/retry.hpp"
#include "cli/time_out.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct StopOptions {
    std::vector<std::string> jobs; ///< the jobs on the command line; empty if `user` is set
    std::optional<std::string> user;
    std::optional<Microseconds> grace;
    bool wait = false;
    Microseconds timeout = kDefaultTimeout;
    bool dryRun = false;
};

OptionSet describe(StopOptions& options) {
    auto jobs = jobsArgument(options.jobs);
    jobs.required = false;
    auto user = userOption(options.user);
    user.help = "stop all live jobs of this user (name or id)";
    user.excludes = "JOB";
    return {std::move(jobs),
            std::move(user),
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

/// If the user passed --user, and a job ends before pinfold can stop the job, pinfold reports no error.
bool hasEndedMeanwhile(const Error& error, const StopOptions& options) {
    return options.user && error.code == ErrorCode::NoSuchJob;
}

ExitStatus waited(const Result<Receipt>& receipt, const std::string& key, Microseconds timeout) {
    return receipt ? ExitStatus::Ok : fail(explained(receipt.error(), key, timeout));
}

Result<std::vector<std::string>> jobsOf(const std::string& user) {
    const auto uid = userId(user);
    if (!uid)
        return uid.error();
    const auto client = ManagerClient::connect();
    if (!client)
        return client.error();
    const auto jobs = client->listJobs();
    if (!jobs)
        return jobs.error();
    std::vector<std::string> keys;
    for (const auto& job : *jobs)
        if (job.uid == *uid)
            keys.push_back(job.key);
    return keys;
}

ExitStatus stopJob(const VerbContext& context, const StopOptions& options, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    if (options.dryRun)
        return sayWhatWouldBeDone(context, *client, key, [&](const JobInfo& job) {
            const auto grace = options.grace ? formatDuration(*options.grace) : "the configured jobs.kill_grace";
            return fmt::format("send SIGTERM to all processes of {}, send SIGKILL after {}, and remove the slice", job.slice,
                               grace);
        });
    const auto stopped = client->stop(key, options.grace);
    if (!stopped)
        return hasEndedMeanwhile(stopped.error(), options) ? ExitStatus::Ok : fail(stopped.error());
    // If the command line has only one job, `pinfold stop` waits on the connection that is already open. If pinfold made a new
    // connection, the job could end before the wait begins. pinfoldd does not remember an ended job without a receipt.
    if (options.wait && options.jobs.size() == 1)
        return waited(client->wait(key, options.timeout), key, options.timeout);
    return ExitStatus::Ok;
}

ExitStatus waitFor(const VerbContext& context, const StopOptions& options, const std::vector<std::string>& jobs) {
    const SharedTimeout timeout(options.timeout, jobs.size());
    return forEachJob(context, jobs, {.several = true}, [&](const VerbContext&, const std::string& key) {
        const auto left = *timeout.left();
        const auto over = retryWhileAway<Receipt>([&](const ManagerClient& client) { return client.wait(key, left); });
        return !over && hasEndedMeanwhile(over.error(), options) ? ExitStatus::Ok : waited(over, key, options.timeout);
    });
}

/// Asks pinfoldd to stop all jobs, and afterwards waits for the end of each job. pinfoldd gets all requests before the first
/// wait begins, so the grace times of the jobs run at the same time.
ExitStatus stop(const VerbContext& context, const StopOptions& options) {
    if (options.jobs.empty() && !options.user)
        return fail({ErrorCode::InvalidArgument, "name a job, or use --user"});
    const auto jobs = options.user ? jobsOf(*options.user) : options.jobs;
    if (!jobs)
        return fail(jobs.error());
    std::vector<std::string> stopped;
    const auto asked =
        forEachJob(context, *jobs, {.several = options.user.has_value()}, [&](const VerbContext& one, const std::string& key) {
            const auto status = stopJob(one, options, key);
            if (status == ExitStatus::Ok)
                stopped.push_back(key);
            return status;
        });
    if (!options.wait || options.dryRun || options.jobs.size() == 1)
        return asked;
    const auto over = waitFor(context, options, stopped);
    return asked == ExitStatus::Ok ? over : asked;
}

} // namespace

Verb stopVerb() { return makeVerb<StopOptions>("stop", "end jobs: SIGTERM, then SIGKILL after the grace time", describe, stop); }

} // namespace pinfold
