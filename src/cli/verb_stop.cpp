// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/time_out.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"

namespace pinfold {
namespace {

ExitStatus sayWhatWouldBeDone(const VerbContext& context, const JobInfo& job) {
    const auto grace = context.line.grace ? formatDuration(*context.line.grace) : "the configured jobs.kill_grace";
    context.terminal.print("would send SIGTERM to all processes of " + job.slice + ", after " + grace +
                           " SIGKILL, and remove the slice\n");
    return ExitStatus::Ok;
}

} // namespace

ExitStatus verbStop(const VerbContext& context) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto& key = context.line.job;
    if (context.line.dryRun) {
        const auto job = client->job(key);
        return job ? sayWhatWouldBeDone(context, *job) : fail(job.error());
    }
    if (auto stopped = client->stop(key, context.line.grace); !stopped)
        return fail(stopped.error());
    if (!context.line.wait)
        return ExitStatus::Ok;
    const auto timeout = context.line.timeout.value_or(CommandLine::kDefaultTimeout);
    const auto receipt = client->wait(key, timeout);
    return receipt ? ExitStatus::Ok : fail(explained(receipt.error(), key, timeout));
}

} // namespace pinfold
