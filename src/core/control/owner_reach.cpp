// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/owner_reach.hpp"

#include <fmt/core.h>

#include <set>
#include <utility>

namespace pinfold {
namespace {

// While pinfoldd reads the list of processes, the job can fork new processes, so pinfoldd reads the list again. If a job never
// stops forking, the owner can end the job with StopJob.
constexpr int kMostLooks = 16;

} // namespace

Result<OwnerReach::Process> OwnerReach::look(pid_t pid) const {
    const auto info = processes_.read(pid);
    const auto place = info ? processes_.cgroupOf(pid) : info.error();
    if (!place)
        return place.error().code == ErrorCode::PidGone ? Result(Process::Elsewhere) : place.error();
    if (*place != slice_ && !place->starts_with(slice_ + "/"))
        return Process::Elsewhere;
    // kill(2) counts a set-user-ID program as a process of the user who started the program.
    return owner_.has(info->realUid) || owner_.has(info->savedUid) ? Process::Owners : Process::Others;
}

Result<void> OwnerReach::signal(int number) const {
    const auto slice = cgroups_.open(slice_);
    if (!slice)
        return {}; // the slice has no process
    std::set<pid_t> seen;
    bool reached = false;
    bool spared = false;
    for (int i = 0; i < kMostLooks; ++i) {
        const auto pids = slice->processes();
        if (!pids)
            return pids.error();
        const auto before = seen.size();
        for (const auto pid : *pids) {
            if (!seen.insert(pid).second)
                continue;
            // OwnerReach opens the pidfd before it reads /proc. If the process ends before OwnerReach reads /proc, the process id
            // can belong to a new process. A signal through the pidfd reaches only the process for which OwnerReach opened the
            // pidfd.
            const auto pidfd = openPidfd(pid);
            const auto process = pidfd ? look(pid) : pidfd.error();
            if (!process && process.error().code != ErrorCode::PidGone)
                return process.error();
            spared = spared || (process && *process == Process::Others);
            if (!process || *process != Process::Owners)
                continue;
            if (auto sent = sendSignalTo(pidfd->get(), number); !sent)
                return sent;
            reached = true;
        }
        if (seen.size() == before)
            break;
    }
    if (spared && !reached)
        return Error{
            ErrorCode::Denied,
            fmt::format("all processes in this job belong to other users, and the job's owner, user {}, may not signal them",
                        owner_.user)};
    return {};
}

Result<void> OwnerReach::coversAll() const {
    const auto slice = cgroups_.open(slice_);
    if (!slice)
        return {};
    const auto pids = slice->processes();
    if (!pids)
        return pids.error();
    for (const auto pid : *pids) {
        const auto process = look(pid);
        if (!process)
            return process.error();
        if (*process == Process::Others)
            return Error{
                ErrorCode::Denied,
                fmt::format("process {} in this job belongs to another user, so only root and pinfold-admin may suspend the job",
                            pid)};
    }
    return {};
}

Result<void> takeOwnersTurn(Job& job) {
    if (std::exchange(job.ownersTurn, true))
        return Error{
            ErrorCode::Busy,
            fmt::format("another signal or suspension by the owner is in progress for job '{}': try again", job.key().text())};
    return {};
}

} // namespace pinfold
