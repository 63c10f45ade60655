// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/shepherds.hpp"

#include "os/process.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
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

/// Sends the signal only if the process is still in the job. The caller read `pid` from a list of the job's processes. If the
/// process has ended since the caller listed the processes, the process id can belong to a new process. A process outside of the
/// job must not get the signal. To be safe, signalInside() first opens a pidfd, and after that reads the cgroup of the process.
/// If the process ends before signalInside() reads the cgroup, the process id can belong to a new process. A signal through the
/// pidfd reaches only the process for which signalInside() opened the pidfd.
Result<void> signalInside(const CoreContext& context, const std::string& slice, pid_t pid, int signal) {
    const auto pidfd = openPidfd(pid);
    if (!pidfd)
        return pidfd.error().code == ErrorCode::PidGone ? Result<void>() : Result<void>(pidfd.error());
    const auto path = context.processes.cgroupOf(pid);
    if (!path)
        return path.error().code == ErrorCode::PidGone ? Result<void>() : Result<void>(path.error());
    if (*path != slice && !path->starts_with(slice + "/"))
        return {};
    const auto sent = sendSignalTo(pidfd->get(), signal);
    return sent ? sent : Error{sent.error().code, fmt::format("process {}: {}", pid, sent.error().message)};
}

} // namespace

bool shepherdLives(const Job& job) { return !shepherdsOf(job).empty(); }

Result<void> signalAllButShepherds(const CoreContext& context, const Job& job, int signal) {
    const auto pids = job.slice->processes();
    if (!pids)
        return pids.error();
    const auto slice = slicePath(job.key());
    const auto shepherds = shepherdsOf(job);
    Result<void> sent;
    for (const auto pid : *pids)
        if (std::find(shepherds.begin(), shepherds.end(), pid) == shepherds.end())
            if (auto one = signalInside(context, slice, pid, signal); !one)
                sent = one;
    return sent;
}

} // namespace pinfold
