// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/unkillable.hpp"

#include "base/parse.hpp"
#include "base/paths.hpp"
#include "core/end/leftovers.hpp"
#include "core/report/events.hpp"
#include "os/fuse_mounts.hpp"
#include "os/replace_file.hpp"
#include "os/trusted_program.hpp"
#include "systemd/unit_properties.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kMostKeys = 10;  // the maximum number of jobs that the node's comment names
constexpr std::size_t kMostPids = 100; // the maximum number of process ids in the arguments of the script

/// Returns true if a process waits for a FUSE server that a user possibly runs. A process that waits in FUSE can hold a lock, and
/// other processes of the job can wait for the lock. In the user namespaces of ordinary users, nobody but ordinary users mounts
/// file systems. If all hanging processes are in user namespaces of ordinary users, an ordinary user runs the FUSE server. A
/// process outside of users' namespaces can wait for any FUSE server that a user runs on the node. A user can pass an open file
/// of the user's FUSE server to a process. A FUSE file system that fusermount mounts is visible to all processes of the node. If
/// all of the node's own FUSE servers answer, a process that hangs in FUSE must be waiting for a user's FUSE server.
bool waitForUsersFileServer(const std::vector<ProcessInfo>& stuck, const std::filesystem::path& root) {
    const auto waitsInFuse = [](const ProcessInfo& process) { return isInFuse(process.waitPoint.value_or("")); };
    const auto isUsers = [](const ProcessInfo& process) { return process.ownNamespace; };
    if (std::ranges::none_of(stuck, waitsInFuse))
        return false;
    return std::ranges::all_of(stuck, isUsers) || usersServeFuse(root) ||
           (std::ranges::all_of(stuck, [&](const auto& one) { return isUsers(one) || waitsInFuse(one); }) &&
            nodesFuseServersAnswer(root));
}

// kSecondKill is the time from a job's second SIGKILL to the report that the job cannot be killed. The kernel needs only
// milliseconds to kill a process.
constexpr Microseconds kSecondKill = 1s;
constexpr Microseconds kLookAgain = 1s;

/// Returns true if the process has ended. pinfoldd possibly does not know where in the kernel an ended process hung.
bool hasGone(const ProcessTable& table, const ProcessInfo& process) {
    const auto now = table.read(process.pid);
    return now ? now->started != process.started : now.error().code == ErrorCode::PidGone;
}

} // namespace

std::optional<UnkillableJobs> unkillableJobs(const Registry& registry) {
    UnkillableJobs jobs{.words = {}, .count = 0, .since = RealTime::max()};
    for (const auto& [key, job] : registry.all()) {
        const auto& since = job->record.unkillableSince;
        if (!since || job->record.unkillableInFuse)
            continue;
        jobs.since = std::min(jobs.since, *since);
        if (++jobs.count <= kMostKeys)
            jobs.words +=
                fmt::format("{}{} cannot be killed since {}", jobs.count > 1 ? ", job " : "job ", key, formatUtc(*since));
    }
    if (jobs.count > kMostKeys)
        jobs.words += fmt::format(" and {} more", jobs.count - kMostKeys);
    return jobs.count > 0 ? std::optional(std::move(jobs)) : std::nullopt;
}

void UnkillablePolicy::watch(const JobPtr& job) {
    const auto after = core_.context.config.unkillable.after;
    const auto last = std::min<Microseconds>(kSecondKill, after / 2);
    const auto killedAt = core_.context.loop.realTime();
    job->unkillableTimer = core_.context.loop.after(after - last, [this, last, killedAt, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            killAgain(live, last, killedAt);
    });
}

void UnkillablePolicy::killAgain(const JobPtr& job, Microseconds last, RealTime killedAt) {
    if (!job->slice->populated())
        return onEmpty(job);
    const auto done = std::make_shared<bool>(false);
    if (core_.killer.killStubborn(job->key(), job->record.uid, [done] { *done = true; }))
        return reportAfter(job, done, last, killedAt);
    job->unkillableTimer = core_.context.loop.after(kLookAgain, [this, last, killedAt, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            killAgain(live, last, killedAt);
    });
}

void UnkillablePolicy::reportAfter(const JobPtr& job, const std::shared_ptr<const bool>& done, Microseconds wait,
                                   RealTime killedAt) {
    job->unkillableTimer = core_.context.loop.after(wait, [this, done, killedAt, weak = WeakJob(job)] {
        const auto live = weak.lock();
        if (live && *done)
            report(live, killedAt);
        else if (live)
            reportAfter(live, done, kLookAgain, killedAt);
    });
}

void UnkillablePolicy::reportLater(const JobPtr& job, RealTime killedAt) {
    job->unkillableTimer = core_.context.loop.after(kLookAgain, [this, killedAt, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            report(live, killedAt);
    });
}

void UnkillablePolicy::report(const JobPtr& job, RealTime killedAt) {
    if (!job->slice->populated())
        return onEmpty(job);
    const auto pids = job->slice->processes();
    if (!pids)
        logWarning(core_.context, job->key(), "processes that outlived SIGKILL cannot be listed: " + pids.error().message);
    const auto left = pids ? *pids : std::vector<pid_t>{};
    const bool looking = core_.describer.describeStuck(
        job->record.uid, glance(core_.context, left), [this, job, killedAt, left](std::vector<ProcessInfo> named) {
            if (job->record.state != JobState::Ending || !job->slice->populated())
                return; // the processes of the job have ended since the call of describeStuck()
            std::erase_if(named, [this](const ProcessInfo& process) { return hasGone(core_.context.processes, process); });
            if (named.empty() && !left.empty())
                return reportLater(job, killedAt);
            const bool first = !job->record.unkillableSince;
            if (first)
                job->record.unkillableSince = killedAt;
            countProcesses(job, left.size());
            judge(*job, left, std::move(named), first);
        });
    if (!looking)
        reportLater(job, killedAt);
}

void UnkillablePolicy::countProcesses(const JobPtr& job, std::size_t left) {
    // The slice is not empty, so `count` is at least 1 even if pinfoldd cannot list the slice's processes.
    const auto count = static_cast<std::uint32_t>(std::max<std::size_t>(left, 1));
    auto& most = job->record.unkillableProcesses;
    if (most.value_or(0) >= count)
        return;
    most = count;
    rows_.expect(job); // sometimes an administrator has to reset the node to get rid of the processes
}

void UnkillablePolicy::judge(Job& job, const std::vector<pid_t>& left, std::vector<ProcessInfo> named, bool first) {
    job.record.unkillableInFuse = waitForUsersFileServer(named, core_.context.root);
    core_.save(job); // the record is saved before the script runs, so that a restarted pinfoldd does not run the script again
    keepToPolicy(core_.context, named);
    logUnkillable(core_.context, job, left.size(), named);
    core_.observer->unkillable(job.key(), left.size());
    publish();
    if (first && !job.record.unkillableInFuse && core_.context.config.unkillable.action == UnkillableAction::Script)
        runScript(job, left);
}

void UnkillablePolicy::over(Job& job) {
    job.unkillableTimer.reset();
    job.record.unkillableInFuse = false;
    if (std::exchange(job.record.unkillableSince, std::nullopt))
        publish();
}

void UnkillablePolicy::publish() const {
    const auto file = inRoot(core_.context.root, kRuntimeDirectory) / "comment";
    const bool wanted = core_.context.config.unkillable.action == UnkillableAction::Comment;
    const auto jobs = wanted ? unkillableJobs(core_.registry) : std::nullopt;
    Result<void> done;
    std::error_code error;
    if (jobs)
        done = replaceFile(file, fmt::format("pinfold: {}\n", jobs->words), 0644);
    else if (std::filesystem::remove(file, error); error)
        done = Error{ErrorCode::Internal, fmt::format("{}: {}", file.string(), error.message())};
    if (!done)
        logNodeWarning(core_.context, "the node's comment could not be updated: " + done.error().message);
    node_.tell();
}

void UnkillablePolicy::runScript(const Job& job, const std::vector<pid_t>& pids) const {
    const auto complain = [&context = core_.context, key = job.key()](const std::string& why) {
        logWarning(context, key, "unkillable.script was not run: " + why);
    };
    std::vector<std::string> arguments{job.key().text(), std::to_string(job.record.uid)};
    for (std::size_t i = 0; i < std::min(pids.size(), kMostPids); ++i)
        arguments.push_back(std::to_string(pids[i]));
    // PID 1 starts the script. If pinfoldd started the script, the script would run in pinfoldd's sandbox, and a stop of
    // pinfoldd would end the script.
    auto start = [&systemd = core_.context.systemd, complain, arguments = std::move(arguments),
                  unit = "pinfold-unkillable-" + job.key().escaped() + ".service"](const Result<std::filesystem::path>& program) {
        if (!program)
            return complain(program.error().message);
        std::vector<std::string> argv{program->string()};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        systemd.startService({unit, programProperties("Script for a job that cannot be killed"), std::move(argv)},
                             [complain](const SystemdOutcome& outcome) {
                                 if (outcome)
                                     complain(outcome->message);
                             });
    };
    // A thread checks the script file, because the script file can be on a file server that does not answer.
    const bool asked = core_.context.background.ask(
        Lane::Script, [script = core_.context.config.unkillable.script] { return trustedProgram(script); }, std::move(start));
    if (!asked)
        complain("the file system of the script hangs");
}

} // namespace pinfold
