// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/adoption.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbAdopt(const VerbContext& context) {
    const auto processes = openProcesses(context.line.arguments, context.line.owner);
    if (!processes)
        return fail(processes.error());
    if (context.line.batch && processes->size() != 1)
        return fail({ErrorCode::InvalidArgument, "--batch takes one PID: a job has one batch script"});
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto& key = context.line.job;
    if (context.line.dryRun) {
        const auto job = client->job(key);
        if (!job)
            return fail(job.error());
        context.terminal.print("would move " + counted(processes->size(), "process", "processes") + " into a new scope in " +
                               job->slice + "\n");
        return ExitStatus::Ok;
    }
    const auto added = context.line.batch ? client->addBatchScript(key, processes->front()) : client->adopt(key, *processes);
    if (!added)
        return fail(added.error());
    context.terminal.print(context.line.json
                               ? jsonTask(key, added->first, added->second)
                               : "task " + std::to_string(added->first) + " of job " + key + ": " + added->second + "\n");
    return ExitStatus::Ok;
}

} // namespace pinfold
