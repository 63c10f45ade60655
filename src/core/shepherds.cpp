// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/shepherds.hpp"

#include "os/process.hpp"

#include <algorithm>
#include <vector>

namespace pinfold {
namespace {

std::vector<pid_t> shepherdsOf(const Job& job) {
    std::vector<pid_t> shepherds;
    for (const auto& [number, record] : job.record.tasks) {
        const auto task = job.tasks.find(number);
        if (record.shepherd && record.leader && task != job.tasks.end() && task->second.leader &&
            !hasEnded(task->second.leader.get()))
            shepherds.push_back(record.leader->pid);
    }
    return shepherds;
}

} // namespace

bool shepherdLives(const Job& job) { return !shepherdsOf(job).empty(); }

Result<void> signalAllButShepherds(const Job& job, int signal) {
    const auto pids = job.slice->processes();
    if (!pids)
        return pids.error();
    const auto shepherds = shepherdsOf(job);
    Result<void> sent;
    for (const auto pid : *pids)
        if (std::find(shepherds.begin(), shepherds.end(), pid) == shepherds.end())
            if (auto one = sendSignal(pid, signal); !one)
                sent = one;
    return sent;
}

} // namespace pinfold
