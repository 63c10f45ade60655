// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/process_list.hpp"

#include "core/job_manager.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {

void listProcesses(Core& core, const Job& job, pid_t after, Reply<std::vector<JobProcess>> reply) {
    if (!job.slice)
        return reply(std::vector<JobProcess>{});
    auto pids = job.slice->processes();
    if (!pids)
        return reply(pids.error());
    std::ranges::sort(*pids);
    const auto& context = core.context;
    std::vector<ProcessInfo> seen;
    std::vector<std::uint32_t> tasks; // entry i is the number of the task of process `seen[i]`
    for (auto pid = std::ranges::upper_bound(*pids, after); pid != pids->end(); ++pid) {
        if (seen.size() == JobManager::kMostProcessesAtOnce)
            break;
        auto info = context.processes.read(*pid);
        const auto path = context.processes.cgroupOf(*pid);
        const auto identity = path ? identifyPath(*path) : std::nullopt;
        if (!info || !identity || !(identity->key == job.key()))
            continue; // the process has ended, or another process has its process id now
        seen.push_back(std::move(*info));
        tasks.push_back(identity->task.value_or(0));
    }
    const bool hung = job.record.unkillableSince.has_value();
    const auto owner = job.record.uid;
    const Describer::Done answer =
        [reply = std::move(reply), tasks = std::move(tasks),
         booted = bootedAt(context.loop.realTime(), context.loop.bootTime())](const std::vector<ProcessInfo>& described) {
            std::vector<JobProcess> list;
            for (std::size_t i = 0; i < described.size(); ++i) {
                const auto& info = described[i];
                list.push_back({static_cast<std::uint32_t>(info.pid), tasks[i], info.realUid,
                                booted + info.started.time_since_epoch(), info.cpu, info.rss, std::string(1, info.state),
                                info.waitPoint, info.command});
            }
            reply(std::move(list));
        };
    if (!hung || !core.describer.describeStuck(owner, seen, answer))
        core.describer.describe(owner, std::move(seen), answer);
}

} // namespace pinfold
