// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process_killer.hpp"

#include <chrono>
#include <csignal>
#include <set>
#include <thread>

namespace pinfold {
namespace {

constexpr int kRounds = 10;
constexpr std::chrono::milliseconds kPause{20}; // the kernel's work between a signal and the end of who gets it

} // namespace

void KernelProcessKiller::killEach(const CgroupDir& cgroup, const std::string& path) const {
    // Who is frozen can neither fork nor end a thread meanwhile, and SIGKILL ends it all the same.
    (void)cgroup.freeze(true);
    for (int round = 0; round < kRounds && cgroup.populated(); ++round) {
        killListed(cgroup, path);
        (void)cgroup.kill(); // what was forked before all were frozen
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
    // If the first thread ended elsewhere, before the others came here, the kernel lists the process there alone.
    if (const auto threads = cgroup.threads())
        for (const auto thread : *threads)
            if (const auto pid = processes_.processOf(thread); pid && seen.insert(*pid).second)
                killInside(*pid, thread, path);
}

void KernelProcessKiller::killInside(pid_t pid, pid_t thread, const std::string& path) const {
    const auto pidfd = openPidfd(pid);
    const auto where = pidfd ? processes_.cgroupOfThread(pid, thread) : pidfd.error();
    // The number is still that process's if the process has not ended since its pidfd was opened.
    if (where && (*where == path || where->starts_with(path + "/")) && !hasEnded(pidfd->get()))
        (void)sendSignalTo(pidfd->get(), SIGKILL);
}

} // namespace pinfold
