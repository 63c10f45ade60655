// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process_killer.hpp"

#include <chrono>
#include <csignal>
#include <set>
#include <thread>

namespace pinfold {
namespace {

constexpr int kRounds = 10;
constexpr std::chrono::milliseconds kPause{20}; // the kernel needs some time between a signal and the end of the process

} // namespace

void KernelProcessKiller::killEach(const CgroupDir& cgroup, const std::string& path) const {
    // A frozen process can neither fork nor end a thread. SIGKILL ends even a frozen process.
    (void)cgroup.freeze(true);
    for (int round = 0; round < kRounds && cgroup.populated(); ++round) {
        killListed(cgroup, path);
        (void)cgroup.kill(); // kills the processes that were forked while the kernel froze the cgroup
        std::this_thread::sleep_for(kPause);
    }
    (void)cgroup.freeze(false);
}

void KernelProcessKiller::killListed(const CgroupDir& cgroup, const std::string& path) const {
    std::set<pid_t> seen;
    if (const auto pids = cgroup.processes())
        for (const auto pid : *pids)
            if (seen.insert(pid).second)
                killInside(pid, pid, path);
    // killListed() goes through the cgroup's list of processes, and then through the cgroup's list of threads. For a process
    // whose first thread has ended, the kernel lists the process only in the last cgroup of the first thread. After the end of
    // the first thread, the process's remaining threads could have moved into the killed cgroup.
    if (const auto threads = cgroup.threads())
        for (const auto thread : *threads)
            if (const auto pid = processes_.processOf(thread); pid && seen.insert(*pid).second)
                killInside(*pid, thread, path);
}

void KernelProcessKiller::killInside(pid_t pid, pid_t thread, const std::string& path) const {
    const auto pidfd = openPidfd(pid);
    const auto where = pidfd ? processes_.cgroupOfThread(pid, thread) : pidfd.error();
    // If the process of `pidfd` still lives, the path `where` is the cgroup of one of the process's threads.
    if (where && (*where == path || where->starts_with(path + "/")) && !hasEnded(pidfd->get()))
        (void)sendSignalTo(pidfd->get(), SIGKILL);
}

std::vector<pid_t> KernelProcessKiller::killTracers(const CgroupDir& cgroup, const UserIds& owner) const {
    std::set<pid_t> tracers;
    const auto threads = cgroup.threads();
    auto traced = threads ? *threads : std::vector<pid_t>();
    while (!traced.empty()) {
        const auto thread = traced.back();
        traced.pop_back();
        const auto tracer = killTracer(thread, owner);
        if (!tracer || !tracers.insert(*tracer).second)
            continue;
        // killTracers() also looks for processes that trace a tracer, because such a process can prevent the tracer's end.
        if (const auto further = processes_.threadsOf(*tracer))
            traced.insert(traced.end(), further->begin(), further->end());
    }
    return {tracers.begin(), tracers.end()};
}

std::optional<pid_t> KernelProcessKiller::killTracer(pid_t thread, const UserIds& owner) const {
    const auto tracer = processes_.tracerOf(thread);
    if (!tracer || *tracer == 0)
        return std::nullopt;
    const auto pid = processes_.processOf(*tracer);
    const auto pidfd = pid ? openPidfd(*pid) : pid.error();
    const auto info = pidfd ? processes_.read(*pid) : pidfd.error();
    // kill(2) lets the owner send SIGKILL to a process whose real or saved user id is one of the owner's ids.
    if (!info || !(owner.has(info->realUid) || owner.has(info->savedUid)))
        return std::nullopt;
    // The thread `*tracer` still belongs to the process `*pid` if two things are true: `*tracer` still traces `thread`, and the
    // process of the pidfd has not ended.
    const auto now = processes_.tracerOf(thread);
    if (!now || *now != *tracer || hasEnded(pidfd->get()))
        return std::nullopt;
    return sendSignalTo(pidfd->get(), SIGKILL) ? std::optional(*pid) : std::nullopt;
}

} // namespace pinfold
