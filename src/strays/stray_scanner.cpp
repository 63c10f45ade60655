// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/stray_scanner.hpp"

#include "base/clock.hpp"
#include "base/escape.hpp"
#include "base/paths.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace pinfold {
namespace {

constexpr std::chrono::seconds kLastWords{10};
constexpr std::chrono::seconds kCommandLinePatience{1}; // the time limit for reading one command line

/// Waits a moment for the end of each pinfold-run that looks like a stray. After the end of a job, no record names the job's
/// pinfold-run any more. When the job has ended, pinfold-run still runs for a moment, because it writes its last messages.
void awaitLeavers(std::vector<Stray>& strays) {
    const auto isLeaver = [](const Stray& stray) { return stray.kind == StrayKind::Supervisor && stray.actedOn(); };
    const auto deadline = std::chrono::steady_clock::now() + kLastWords;
    for (const auto& stray : strays) {
        if (!isLeaver(stray))
            continue;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd end{stray.process.pidfd.get(), POLLIN, 0};
        (void)::poll(&end, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    }
    std::erase_if(strays, [&](const Stray& stray) { return isLeaver(stray) && hasEnded(stray.process.pidfd.get()); });
}

} // namespace

StrayScanner::StrayScanner(const std::filesystem::path& root, JobLister jobs, StrayPolicy policy)
    : processes_(root), cgroups_(root), records_(inRoot(root, kRecordsDirectory)), jobs_(std::move(jobs)),
      policy_(std::move(policy)) {
    if (auto own = processes_.cgroupOf(::getpid()))
        policy_.ownCgroup = std::move(*own);
}

Findings StrayScanner::look(Pidfds pidfds) const {
    // StrayScanner reads the processes first, and the jobs afterwards. If the list of jobs does not contain the job of a process,
    // both the job and the process have ended.
    auto scan = scanProcesses(
        processes_, [this](uid_t uid) { return isOrdinaryUser(uid, policy_.config); }, pidfds);
    ProcessLooks looks(kCommandLinePatience, policy_.subordinates);
    std::vector<std::string> unread;
    auto findings = judge(std::move(scan.processes), [&](ProcessInfo& info) {
        if (auto command = commandOf(looks, info))
            info.command = std::move(*command);
        else
            unread.push_back(command.error().message);
    });
    cutShort(unread);
    findings.unread = std::move(unread);
    findings.unseen = std::move(scan.problems);
    if (pidfds == Pidfds::Keep)
        awaitLeavers(findings.strays);
    return findings;
}

Findings StrayScanner::lookAgain(std::vector<Stray> strays) const {
    std::vector<SeenProcess> processes;
    std::vector<std::string> unseen;
    for (auto& stray : strays) {
        if (const auto read = readAgain(processes_, stray.process))
            processes.push_back(std::move(stray.process));
        else if (read.error().code != ErrorCode::PidGone)
            unseen.push_back(read.error().message);
    }
    // lookAgain() passes an empty function `describe`, so that nobody reads the command lines a second time.
    auto findings = judge(std::move(processes), [](ProcessInfo&) {});
    findings.unseen = std::move(unseen);
    return findings;
}

Findings StrayScanner::judge(std::vector<SeenProcess> processes, const Describe& describe) const {
    const auto jobs = learnJobs(jobs_, records_, cgroups_);
    Findings findings;
    findings.jobsKnown = jobs.jobsKnown;
    findings.strays = findStrays(std::move(processes), jobs, readLogins(), policy_, BootClock::now(), describe);
    // An orphan and its job can end while StrayScanner asks for the list of jobs.
    std::erase_if(findings.strays, [this](const Stray& stray) {
        if (stray.kind != StrayKind::Orphan)
            return false;
        const auto cgroup = processes_.cgroupOf(stray.process.info);
        return !cgroup || *cgroup != stray.process.cgroup;
    });
    findings.doubts = policy_.problems;
    findings.doubts.insert(findings.doubts.end(), jobs.problems.begin(), jobs.problems.end());
    return findings;
}

Result<std::string> StrayScanner::commandOf(ProcessLooks& looks, const ProcessInfo& info) const {
    return looks.into(info.pid, info.realUid, [table = processes_, info]() -> Result<std::string> {
        auto command = table.commandOf(info);
        // If the process ended before commandOf() read the command line, a new process can have the same pid.
        const auto again = table.read(info.pid);
        if (again && again->started == info.started)
            return command;
        return info.command;
    });
}

Result<void> StrayScanner::confirm(Stray& stray) const {
    const auto cgroup = stray.process.cgroup;
    if (auto read = readAgain(processes_, stray.process); !read)
        return read;
    if (stray.process.cgroup != cgroup)
        return Error{ErrorCode::PidGone, "it is now in another cgroup, " + printable(stray.process.cgroup)};
    return {};
}

} // namespace pinfold
