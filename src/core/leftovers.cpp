// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/leftovers.hpp"

#include "core/events.hpp"

#include <algorithm>
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
        return std::vector<pid_t>{}; // it ran empty meanwhile, and systemd removed it
    return scope->processes();
}

} // namespace

std::vector<ProcessInfo> nameProcesses(const CoreContext& context, const std::vector<pid_t>& pids, ProcessReader read) {
    const auto& policy = context.config.leftovers;
    std::vector<ProcessInfo> named;
    for (const auto pid : pids) {
        if (named.size() >= policy.reportMax)
            break;
        if (auto process = (context.processes.*read)(pid)) {
            process->command = commandForReport(*process, policy.commandLines);
            named.push_back(std::move(*process));
        }
    }
    return named;
}

void reportLeftovers(Core& core, Job& job, std::uint32_t task) {
    const auto& policy = core.context.config.leftovers;
    const auto pids = processesOf(core, job, task);
    if (!pids) {
        logWarning(core.context, job.key(), "leftovers can't be listed: " + pids.error().message);
        return;
    }
    const auto named = nameProcesses(core.context, *pids, &ProcessTable::readWithCommand);
    if (pids->empty())
        return;

    auto& leftovers = job.record.leftovers;
    leftovers.count += pids->size();
    for (const auto& process : named) {
        leftovers.cpu += process.cpu;
        if (policy.commandLines != CommandLines::None && leftovers.commands.size() < policy.reportMax)
            leftovers.commands.push_back(process.command);
    }
    core.save(job);
    logLeftovers(core.context, job, task, pids->size(), named);
    core.observer->leftoversFound(job.key(), task, pids->size());
}

} // namespace pinfold
