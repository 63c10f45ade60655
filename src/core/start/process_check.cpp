// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/start/process_check.hpp"

#include "core/job.hpp"
#include "os/descriptor_reserve.hpp"

#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace pinfold {

Result<CheckedProcess> checkProcess(const CoreContext& context, UniqueFd pidfd) {
    const auto pid = context.processes.pidOf(pidfd.get());
    if (!pid)
        return pid.error();
    const auto refused = [&](const char* what) {
        return Error{ErrorCode::InvalidArgument, fmt::format("process {} is {} and cannot be part of a job", *pid, what)};
    };
    // If PIDs= contained the process id 0, systemd would use the process id of pinfoldd instead.
    if (*pid <= 1)
        return refused("the system's init");
    if (*pid == ::getpid())
        return refused("pinfoldd itself");

    const auto info = context.processes.read(*pid);
    if (!info)
        return info.error();
    const auto cgroup = context.processes.cgroupOf(*pid);
    if (!cgroup)
        return cgroup.error();
    // If the process has ended, the facts from /proc possibly describe a later process with the same process id.
    if (hasEnded(pidfd.get()))
        return Error{ErrorCode::PidGone, fmt::format("process {} has ended", *pid)};
    if (info->kernelThread)
        return refused("a kernel thread");
    // The pidfd from the caller possibly refers to a single thread. If pinfoldd moves one thread, the kernel moves all threads of
    // the process, and the other threads can belong to another user. With a file handle of pidfs, every user can make a pidfd
    // that refers to a thread. The pidfd of a thread looks like the pidfd of a process.
    if (info->thread)
        return refused("a thread of another process");

    // The first thread of the process has ended. The kernel shows only the cgroup of the first thread, and the other threads can
    // be in another cgroup.
    if (info->state == kZombie)
        return refused("a process whose first thread has ended");

    CheckedProcess checked;
    checked.pidfd = std::move(pidfd);
    checked.identity = {*pid, info->started};
    checked.uid = info->realUid;
    if (info->realUid == info->effectiveUid && info->realUid == info->savedUid)
        checked.soleUid = info->realUid;
    checked.name = info->name();
    checked.inJob = identifyPath(*cgroup);
    return checked;
}

Result<Newcomer> newcomerOf(pid_t pid, const UniqueFd& pidfd, std::optional<uid_t> soleUid) {
    UniqueFd own(::fcntl(pidfd.get(), F_DUPFD_CLOEXEC, 3)); // NOLINT(cppcoreguidelines-pro-type-vararg)
    if (!own)
        return Error{ErrorCode::Busy, fmt::format("pinfoldd has no file descriptor left for process {}", pid)};
    return Newcomer{pid, std::move(own), soleUid == 0U};
}

Result<CheckedProcess> checkSupervisor(const CoreContext& context, const Caller& caller, UniqueFd pidfd,
                                       std::optional<ProcessIdentity> leader) {
    auto supervisor = checkProcess(context, std::move(pidfd));
    if (!supervisor)
        return supervisor;
    if (!caller.admin && supervisor->soleUid != caller.uid)
        return Error{ErrorCode::Denied, "the supervisor must be a process of the caller"};
    // pinfoldd moves supervisors into pinfold.slice. A process of a job must not become a supervisor, because the move to
    // pinfold.slice takes the process out of its job.
    if (supervisor->inJob || supervisor->identity == leader)
        return Error{ErrorCode::Denied, fmt::format("process {} is {} and cannot be a supervisor", supervisor->identity.pid,
                                                    supervisor->inJob ? "in a job" : "the leader")};
    return supervisor;
}

Result<void> checkDescriptors() {
    if (!onlyReserveIsLeft(kReservedForEnds))
        return {};
    return Error{ErrorCode::Busy, "pinfoldd has nearly reached its limit of open files, and keeps the rest for the "
                                  "live jobs: raise LimitNOFILE= of pinfoldd.service"};
}

Result<void> checkDescriptorsFor(const Caller& caller) {
    if (caller.admin || !onlyRootsQuarterIsLeft())
        return checkDescriptors();
    return Error{ErrorCode::Busy,
                 "pinfoldd has reached three quarters of its limit of open files, and keeps the rest for requests of root and "
                 "pinfold-admin: raise LimitNOFILE= of pinfoldd.service"};
}

Result<UniqueFd> reopenProcess(const CoreContext& context, const ProcessIdentity& identity) {
    auto pidfd = openPidfd(identity.pid);
    if (!pidfd)
        return pidfd.error().code == ErrorCode::PidGone ? Result<UniqueFd>(UniqueFd()) : pidfd.error();
    const auto info = context.processes.read(identity.pid);
    if (!info && info.error().code != ErrorCode::PidGone)
        return info.error();
    // If the start time has changed, another process has the process id now. As long as a process lives, no other process can get
    // the process id of the living process.
    if (!info || info->started != identity.started || hasEnded(pidfd->get()))
        return UniqueFd();
    return pidfd;
}

} // namespace pinfold
