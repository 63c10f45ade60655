// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct SuspendOptions {
    std::vector<std::string> jobs;
    bool dryRun = false;
};

OptionSet describe(SuspendOptions& options) { return {jobsArgument(options.jobs), dryRunOption(options.dryRun)}; }

using Call = Result<void> (ManagerClient::*)(const std::string&) const;

ExitStatus ask(const VerbContext& context, const SuspendOptions& options, Call call, const std::string& what) {
    return forEachJob(context, options.jobs, {}, [&](const VerbContext& one, const std::string& key) {
        const auto client = ManagerClient::connect();
        if (!client)
            return fail(client.error());
        if (options.dryRun)
            return sayWhatWouldBeDone(one, *client, key,
                                      [&](const JobInfo& job) { return fmt::format("{} all processes of {}", what, job.slice); });
        const auto done = ((*client).*call)(key);
        return done ? ExitStatus::Ok : fail(done.error());
    });
}

ExitStatus suspend(const VerbContext& context, const SuspendOptions& options) {
    return ask(context, options, &ManagerClient::suspend, "freeze");
}

ExitStatus resume(const VerbContext& context, const SuspendOptions& options) {
    return ask(context, options, &ManagerClient::resume, "thaw");
}

} // namespace

Verb suspendVerb() { return makeVerb<SuspendOptions>("suspend", "freeze all processes of jobs", describe, suspend); }

Verb resumeVerb() { return makeVerb<SuspendOptions>("resume", "let the processes of suspended jobs continue", describe, resume); }

} // namespace pinfold
