// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_page.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

struct PsOptions {
    std::vector<std::string> jobs;
};

OptionSet describe(PsOptions& options) { return {jobsArgument(options.jobs)}; }

ExitStatus processesOf(const VerbContext& context, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto processes = client->processes(key);
    if (!processes)
        return fail(processes.error());
    context.terminal.print(context.json ? jsonProcesses(*processes)
                                        : context.title + processTable(*processes, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

ExitStatus ps(const VerbContext& context, const PsOptions& options) {
    return forEachJob(context, options.jobs, {.pages = true}, processesOf);
}

} // namespace

Verb psVerb() { return makeVerb<PsOptions>("ps", "list the processes of live jobs", describe, ps); }

} // namespace pinfold
