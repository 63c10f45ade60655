// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/format.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "os/process.hpp"

namespace pinfold {
namespace {

Result<std::vector<UniqueFd>> openAll(const std::vector<std::string>& pids) {
    std::vector<UniqueFd> processes;
    for (const auto& text : pids) {
        const auto pid = parseUnsigned(text);
        if (!pid || *pid < 2 || *pid > INT32_MAX)
            return Error{ErrorCode::InvalidArgument, "'" + printable(text, 50) + "' is no process id"};
        auto process = openPidfd(static_cast<pid_t>(*pid));
        if (!process)
            return process.error();
        processes.push_back(std::move(*process));
    }
    return processes;
}

/// Behind each pidfd there is a process of this user: a number that the caller has looked at may be another's by now.
Result<void> checkOwner(const std::vector<UniqueFd>& processes, uid_t owner) {
    const ProcessTable table;
    for (const auto& process : processes) {
        const auto pid = table.pidOf(process.get());
        const auto info = pid ? table.read(*pid) : pid.error();
        if (!info)
            return info.error();
        if (hasEnded(process.get())) // /proc may have spoken of the next one
            return Error{ErrorCode::PidGone, "process " + std::to_string(*pid) + " has ended"};
        if (info->realUid != owner)
            return Error{ErrorCode::Denied, "process " + std::to_string(*pid) + " is one of user " +
                                                std::to_string(info->realUid) + ", not of user " + std::to_string(owner) +
                                                " (--owner)"};
    }
    return {};
}

} // namespace

ExitStatus verbAdopt(const VerbContext& context) {
    const auto processes = openAll(context.line.arguments);
    if (!processes)
        return fail(processes.error());
    if (context.line.batch && processes->size() != 1)
        return fail({ErrorCode::InvalidArgument, "--batch takes one PID: a job has one batch script"});
    if (context.line.user) {
        const auto owner = userId(*context.line.user);
        const auto theirs = owner ? checkOwner(*processes, *owner) : owner.error();
        if (!theirs)
            return fail(theirs.error());
    }
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto& key = context.line.job;
    if (context.line.dryRun) {
        const auto job = client->job(key);
        if (!job)
            return fail(job.error());
        context.terminal.print("would move " + std::to_string(processes->size()) + " process(es) into a new scope in " +
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
