// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process_mover.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

namespace pinfold {
namespace {

// While ProcessMover puts a process back, the process can end, and a new process can get the same process id. If a process id has
// been reused, ProcessMover tries again with the new process. It is unlikely that the process id is reused during several tries
// in a row.
constexpr int kMostTries = 16;

constexpr std::string_view kJobs = "/batch.slice/batch-";

// If the parent of a process has ended, ProcessMover moves the process to pinfold.slice. PID 1's own cgroup has no limits, and
// `pinfold strays` does not look into PID 1's cgroup. ProcessMover moves no process into PID 1's cgroup. `pinfold strays` takes
// the process in pinfold.slice for a stray, because no job record contains the process.
constexpr const char* kLastResort = "/pinfold.slice";

} // namespace

ProcessMover::Outcome KernelProcessMover::move(const Newcomer& process, const std::string& cgroup, const UserIds& owner) const {
    const Error gone{ErrorCode::PidGone, "process " + std::to_string(process.pid) + " ended before it was in " + cgroup};
    const auto target = cgroups_.open(cgroup);
    if (!target)
        return {target.error()};
    // pinfoldd has already checked that the process was not in a job. After this check, another request could have moved the
    // process into a job.
    const auto from = processes_.cgroupOf(process.pid);
    if (from && *from != cgroup && from->starts_with(kJobs))
        return {Error{ErrorCode::Denied, "process " + std::to_string(process.pid) + " is in a job by now: " + *from}};
    if (hasEnded(process.pidfd.get()))
        return {gone};
    auto moved = target->attach(process.pid);
    if (!hasEnded(process.pidfd.get()))
        return {std::move(moved)}; // the process still lives, so its process id was not reused
    return {gone, putBack(process.pid, cgroup, owner)};
}

std::string KernelProcessMover::putBack(pid_t pid, const std::string& cgroup, const UserIds& owner) const {
    const auto said =
        "process " + std::to_string(pid) + ", which does not belong to the job, was moved to " + cgroup + " by mistake";
    auto from = cgroup;
    for (int i = 0; i < kMostTries; ++i) {
        const auto stranger = openPidfd(pid);
        const auto place = processes_.cgroupOf(pid);
        const auto info = processes_.read(pid);
        if (!place || !info || *place != from)
            return i == 0 ? std::string() : said + " and has ended";
        if (!stranger)
            return said + " and stays there: " + stranger.error().message;
        if (hasEnded(stranger->get()))
            continue; // if the process id was reused, `place` and `info` can describe a process other than `stranger`
        if (owner.user != 0 && owner.has(info->realUid) && from == cgroup) {
            (void)sendSignalTo(stranger->get(), SIGKILL);
            return said + " and has been killed, because it belongs to the job's owner, user " + std::to_string(owner.user);
        }
        const auto home = sendHome(*info);
        if (!home)
            return said + " and cannot be put back: " + home.error().message;
        if (!hasEnded(stranger->get()))
            return said + " and has been put back to " + *home;
        from = *home; // if a new process got the number `pid`, sendHome() could have moved the new process to `*home`
    }
    return said + ", and cannot be put back, because its process id was reused at each attempt";
}

std::vector<std::string> KernelProcessMover::clear(const std::string& cgroup, const std::vector<Newcomer>& newcomers,
                                                   const UserIds& owner) const {
    std::vector<std::string> troubles;
    const auto directory = cgroups_.open(cgroup);
    if (!directory)
        return troubles; // the cgroup is gone, so every process in the cgroup has ended
    // putBack() moves a process without the process's children, so the children are still in `cgroup`. The process could have
    // forked a child after strangersIn() listed the cgroup's processes. In the next pass through this loop, clear() finds the
    // children that are still in `cgroup`.
    for (int i = 0; i < kMostTries; ++i) {
        const auto strangers = strangersIn(*directory, newcomers, owner);
        if (!strangers)
            troubles.push_back("processes that were moved to " + cgroup +
                               " by mistake may still be there: " + strangers.error().message);
        if (!strangers || strangers->empty())
            return troubles;
        for (const auto pid : *strangers)
            if (auto trouble = putBack(pid, cgroup, owner); !trouble.empty())
                troubles.push_back(std::move(trouble));
    }
    troubles.push_back("processes that were moved to " + cgroup +
                       " by mistake fork faster than they can be put back, and stay there");
    return troubles;
}

Result<std::vector<pid_t>> KernelProcessMover::strangersIn(const CgroupDir& cgroup, const std::vector<Newcomer>& newcomers,
                                                           const UserIds& owner) const {
    auto pids = cgroup.processes();
    if (!pids)
        return pids;
    const auto isThere = [&](pid_t pid) { return std::find(pids->begin(), pids->end(), pid) != pids->end(); };
    const auto isNewcomer = [&](pid_t pid) {
        return std::any_of(newcomers.begin(), newcomers.end(),
                           [pid](const Newcomer& newcomer) { return newcomer.pid == pid && !hasEnded(newcomer.pidfd.get()); });
    };
    std::vector<pid_t> strangers;
    for (const auto pid : *pids)
        if (const auto info = processes_.read(pid);
            info && !owner.has(info->realUid) && info->parent != ::getpid() && !isThere(info->parent) && !isNewcomer(pid))
            strangers.push_back(pid);
    return strangers;
}

Result<std::string> KernelProcessMover::sendHome(const ProcessInfo& stranger) const {
    const auto attach = [&](const std::string& path) -> Result<std::string> {
        const auto home = cgroups_.open(path);
        const auto moved = home ? home->attach(stranger.pid) : home.error();
        return moved ? Result(path) : moved.error();
    };
    if (const auto birthplace = processes_.cgroupOf(stranger.parent); birthplace && stranger.parent != 1)
        if (auto moved = attach(*birthplace))
            return moved;
    return attach(kLastResort);
}

} // namespace pinfold
