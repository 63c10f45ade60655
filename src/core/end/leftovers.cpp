// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/leftovers.hpp"

#include "core/report/events.hpp"
#include "core/report/leftover_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

std::string commandForReport(const ProcessInfo& process, CommandLines policy) {
    if (policy == CommandLines::Full)
        return process.command;
    if (policy == CommandLines::None)
        return {};
    return process.command.substr(0, process.command.find(' '));
}

Result<std::vector<pid_t>> processesOf(const Core& core, const Job& job, std::uint32_t task) {
    if (task == 0)
        return job.slice->processes();
    auto scope = core.context.cgroups.open(scopePath(job.key(), task));
    if (!scope)
        return std::vector<pid_t>{}; // the scope has become empty, and systemd has removed the scope
    return scope->processes();
}

/// Adds the command lines of the processes to the leftovers in the job's record. The record contains at most leftovers.report_max
/// command lines, and never more than Leftovers::kMostCommands. Returns the number of command lines in the record.
std::size_t addCommands(const CoreContext& context, Leftovers& leftovers, const std::vector<ProcessInfo>& seen) {
    const auto& policy = context.config.leftovers;
    const auto most = std::min<std::size_t>(policy.reportMax, Leftovers::kMostCommands);
    for (const auto& process : seen)
        if (policy.commandLines != CommandLines::None && leftovers.commands.size() < most)
            leftovers.commands.push_back(process.command);
    leftovers.boundCommands();
    return leftovers.commands.size();
}

} // namespace

std::vector<ProcessInfo> glance(const CoreContext& context, const std::vector<pid_t>& pids) {
    std::vector<ProcessInfo> seen;
    for (const auto pid : pids) {
        if (seen.size() >= context.config.leftovers.reportMax)
            break;
        if (auto process = context.processes.read(pid))
            seen.push_back(std::move(*process));
    }
    return seen;
}

void keepToPolicy(const CoreContext& context, std::vector<ProcessInfo>& processes) {
    for (auto& process : processes)
        process.command = commandForReport(process, context.config.leftovers.commandLines);
}

void reportLeftovers(Core& core, const JobPtr& job, std::uint32_t task) {
    const auto pids = processesOf(core, *job, task);
    if (!pids) {
        logWarning(core.context, job->key(), "leftovers cannot be listed: " + pids.error().message);
        return;
    }
    auto seen = glance(core.context, *pids);
    // A batch system kills the processes of a job and then reports the end of the job. On a busy node, a killed process can still
    // be in the cgroup when the batch system reports the end of the job.
    const auto count = pids->size() - std::erase_if(seen, [](const ProcessInfo& process) { return process.dying; });
    if (count == 0)
        return;
    auto& leftovers = job->record.leftovers;
    leftovers.count += static_cast<std::uint32_t>(count);
    for (const auto& process : seen)
        leftovers.cpu += process.cpu;
    const auto first = leftovers.commands.size();
    const auto last = addCommands(core.context, leftovers, seen);
    core.save(*job); // if pinfoldd restarts before the leftovers are described, the record still names the leftovers
    core.observer->leftoversFound(job->key(), task, count);

    ++job->describing;
    core.describer.describe(job->record.uid, std::move(seen),
                            [&core, job, task, first, last, count](std::vector<ProcessInfo> named) {
                                keepToPolicy(core.context, named);
                                for (auto at = first; at < last; ++at)
                                    job->record.leftovers.commands[at] = named[at - first].command;
                                job->record.leftovers.boundCommands();
                                core.save(*job);
                                core.leftoverLog.say(*job, task, count, std::move(named));
                                if (--job->describing == 0)
                                    for (const auto& then : std::exchange(job->onDescribed, {}))
                                        then();
                            });
}

} // namespace pinfold
