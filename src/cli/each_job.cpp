// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/each_job.hpp"

#include "cli/job_name.hpp"
#include "cli/json.hpp"
#include "cli/time_out.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace pinfold {
namespace {

/// All jobs of a command share one time limit. If the time limit is over, the command still waits for each remaining job, but
/// only for kLeastTime. kLeastTime is long enough to find out whether a job is already over.
constexpr Microseconds kLeastTime = 100ms;

} // namespace

ExitStatus forEachJob(const VerbContext& context, const std::vector<std::string>& jobs, JobsStyle style,
                      const std::function<ExitStatus(const VerbContext& context, const std::string& key)>& handle) {
    style.several = style.several || jobs.size() > 1;
    auto output = context.output;
    if (style.several)
        output.terminal.pager = false; // if `pager` stayed true, each job would open its own pager
    auto first = ExitStatus::Ok;
    bool printed = false;
    for (const auto& job : jobs) {
        if (style.pages && printed && !context.json)
            std::puts("");
        if (style.several)
            nameErrorsAfter(job);
        const auto key = keyOf(job, style.orProcess);
        VerbContext one(output);
        if (key && style.several && !output.pairs)
            one.title = fmt::format("Job {}\n", *key);
        const auto status = key ? handle(one, *key) : fail(key.error());
        printed |= status == ExitStatus::Ok || status == ExitStatus::NotRunning;
        if (first == ExitStatus::Ok)
            first = status;
    }
    return first;
}

std::optional<Microseconds> SharedTimeout::left() const {
    return timeout_ && several_ ? std::max(countdown_.left(), kLeastTime) : timeout_;
}

ExitStatus sayWhatWouldBeDone(const VerbContext& context, const ManagerClient& client, const std::string& key,
                              const std::function<std::string(const JobInfo& job)>& what) {
    const auto job = client.job(key);
    if (!job)
        return fail(job.error());
    const auto would = what(*job);
    context.terminal.print(context.json ? jsonDryRun(key, {would}) : fmt::format("would {}\n", would));
    return ExitStatus::Ok;
}

ExitStatus endWithReceipt(const VerbContext& context, const std::string& key, Microseconds timeout,
                          const Result<Receipt>& receipt) {
    if (!receipt)
        return fail(explained(receipt.error(), key, timeout));
    if (context.json)
        context.terminal.print(jsonReceipt(*receipt));
    return ExitStatus::Ok;
}

} // namespace pinfold
