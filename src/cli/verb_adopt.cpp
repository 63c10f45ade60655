// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/adoption.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_name.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <utility>

namespace pinfold {
namespace {

struct AdoptOptions {
    std::string job;
    std::vector<std::string> processes;
    std::optional<std::string> owner;
    bool batch = false;
    bool dryRun = false;
};

OptionSet describe(AdoptOptions& options) {
    return {jobArgument(options.job),
            {.name = "PID",
             .help = "the ids of the processes to move into the job",
             .set = into(options.processes),
             .values = Values::Several,
             .offer = Offer::Processes,
             .required = true},
            ownerOption(options.owner),
            {.name = "--batch",
             .help = "the process is the batch script of a job that `pinfold open` created",
             .set = into(options.batch)},
            dryRunOption(options.dryRun)};
}

/// On the bus, only admins are allowed to pass processes to pinfoldd. A user who is not an admin passes processes to the
/// wrapper's socket, one process at a time.
Result<AddedTask> addTo(const ManagerClient& client, const std::string& key, bool batch, const std::vector<UniqueFd>& processes) {
    auto added = batch ? client.addBatchScript(key, processes.front()) : client.adopt(key, processes);
    if (added || added.error().code != ErrorCode::Denied || ::geteuid() == 0)
        return added;
    if (processes.size() > 1)
        return Error{ErrorCode::Denied, added.error().message + "; only root and the members of pinfold-admin may name several " +
                                            "processes: run `pinfold adopt` once for each process"};
    if (batch)
        return addBatchScriptAtSocket(key, processes.front());
    const auto job = client.job(key);
    return job ? adoptAtSocket(key, job->uid, processes.front()) : job.error();
}

ExitStatus adopt(const VerbContext& context, const AdoptOptions& options) {
    const auto processes = openProcesses(options.processes, options.owner);
    if (!processes)
        return fail(processes.error());
    if (options.batch && processes->size() != 1)
        return fail({ErrorCode::InvalidArgument, "--batch takes one PID: a job has one batch script"});
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto key = keyOf(options.job);
    if (!key)
        return fail(key.error());
    if (options.dryRun)
        return sayWhatWouldBeDone(context, *client, *key, [&](const JobInfo& job) {
            return fmt::format("move {} into a new scope in {}", counted(processes->size(), "process", "processes"), job.slice);
        });
    const auto added = addTo(*client, *key, options.batch, *processes);
    if (!added)
        return fail(added.error());
    context.terminal.print(context.json ? jsonTask(*key, added->first, added->second)
                                        : fmt::format("task {} of job {}: {}\n", added->first, *key, added->second));
    return ExitStatus::Ok;
}

} // namespace

Verb adoptVerb() { return makeVerb<AdoptOptions>("adopt", "move processes into a job, as a new task", describe, adopt); }

} // namespace pinfold
