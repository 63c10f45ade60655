// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/scan.hpp"

#include <fmt/core.h>

#include <sys/resource.h>
#include <unistd.h>

#include <optional>

namespace pinfold {
namespace {

constexpr std::size_t kMostProblems = 10;

/// Raises the soft limit of descriptors, because a scan keeps one descriptor for each wanted process. Programs that use select(2)
/// need the usual soft limit of 1024 descriptors. pinfold does not use select(2).
void raiseDescriptorLimit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// Looks at one process. Returns nullopt if the process is a kernel thread, or if `wanted` rejects the process's user id. If the
/// process has ended, look() returns nullopt or the error PidGone.
Result<std::optional<SeenProcess>> look(const ProcessTable& table, pid_t pid, const std::function<bool(uid_t)>& wanted) {
    SeenProcess seen;
    auto pidfd = openPidfd(pid);
    if (!pidfd)
        return pidfd.error();
    seen.pidfd = std::move(*pidfd);
    auto info = table.read(pid);
    if (!info)
        return info.error();
    if (info->kernelThread || !wanted(info->realUid))
        return std::optional<SeenProcess>();
    auto cgroup = table.cgroupOf(*info);
    if (!cgroup)
        return cgroup.error();
    seen.info = std::move(*info);
    seen.cgroup = std::move(*cgroup);
    // If the process has ended and a new process has the same process id, the files below /proc/PID describe the new process.
    if (hasEnded(seen.pidfd.get()))
        return std::optional<SeenProcess>();
    return std::optional(std::move(seen));
}

} // namespace

void cutShort(std::vector<std::string>& problems) {
    if (problems.size() <= kMostProblems)
        return;
    const auto more = problems.size() - kMostProblems;
    problems.resize(kMostProblems);
    problems.push_back(fmt::format("and {} more", more));
}

Scan scanProcesses(const ProcessTable& table, const std::function<bool(uid_t)>& wanted, Pidfds pidfds) {
    Scan scan;
    if (pidfds == Pidfds::Keep)
        raiseDescriptorLimit();
    if (const auto all = table.showsAll(); !all)
        scan.problems.push_back(all.error().message);
    const auto pids = table.pids();
    if (!pids) {
        scan.problems.push_back(pids.error().message);
        return scan;
    }
    for (const auto pid : *pids) {
        if (pid == 1 || pid == ::getpid())
            continue;
        auto seen = look(table, pid, wanted);
        if (!seen && seen.error().code != ErrorCode::PidGone)
            scan.problems.push_back(seen.error().message);
        if (!seen || !*seen)
            continue;
        if (pidfds == Pidfds::Close)
            (*seen)->pidfd.reset();
        scan.processes.push_back(std::move(**seen));
    }
    cutShort(scan.problems);
    return scan;
}

Result<void> readAgain(const ProcessTable& table, SeenProcess& seen) {
    auto info = table.read(seen.info.pid);
    auto cgroup = info ? table.cgroupOf(*info) : Result<std::string>(info.error());
    if (!cgroup)
        return cgroup.error();
    if (hasEnded(seen.pidfd.get()) || info->started != seen.info.started)
        return Error{ErrorCode::PidGone, "it has ended"};
    if (info->realUid != seen.info.realUid)
        return Error{ErrorCode::PidGone, fmt::format("it now runs as user {}", info->realUid)};
    info->command = std::move(seen.info.command);
    seen.info = std::move(*info);
    seen.cgroup = std::move(*cgroup);
    return {};
}

} // namespace pinfold
