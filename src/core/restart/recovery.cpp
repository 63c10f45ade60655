// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/restart/recovery.hpp"

#include "core/end/task_log.hpp"
#include "core/report/events.hpp"
#include "model/limit_table.hpp"

#include <fmt/core.h>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace pinfold {
namespace {

/// Removes each limit on a disk if users can change the path that the limit contains. Returns a text about the removed limits, or
/// "" if dropUnsteadyDisks() has removed no limit.
std::string dropUnsteadyDisks(ResourceLimits& limits) {
    std::string dropped;
    forEachLimit(limits, [&dropped](const LimitRow& row, auto& limit) {
        if constexpr (std::is_same_v<decltype(limit), std::optional<DeviceAmounts>&>) {
            if (!limit)
                return;
            for (const auto& device : limit->dropUnsteady())
                dropped += fmt::format("{}{} of {}", dropped.empty() ? "" : ", ", row.name, device);
            if (limit->amounts.empty())
                limit.reset();
        }
    });
    return dropped;
}

} // namespace

void Recovery::run(std::function<void(Result<void>)> ready) {
    auto loaded = core_.context.records.load();
    if (!loaded)
        return ready(loaded.error());
    const bool complete = loaded->unreadable.empty();
    auto records = std::make_shared<std::vector<JobRecord>>(std::move(loaded->records));
    // The bus delivers calls in the order in which the callers sent the calls. When PID 1 answers listUnits(), PID 1 has already
    // received every call that an earlier pinfoldd sent.
    core_.context.systemd.listUnits({"batch-*.slice", "job-*.scope"}, [this, records, complete, ready](const auto& answer) {
        if (const auto* error = std::get_if<SystemdError>(&answer))
            return ready(Error{ErrorCode::SystemdFailed, "systemd did not list its units: " + error->message});
        Reconciliation found;
        for (const auto& record : *records)
            if (lacksUnit(record))
                found.recordsEnded.push_back(record.key.text());
        Result<void> taken;
        try {
            taken = takeUp(std::move(*records), namesOf(std::get<std::vector<UnitStatus>>(answer)));
        } catch (const std::exception& error) { // an exception occurs if no file descriptor is free for a watch
            taken = Error{ErrorCode::Internal, error.what()};
        }
        if (taken) {
            logReconciled(core_.context, found);
            parts_.lost.settle(complete);
        }
        ready(std::move(taken));
    });
}

Result<void> Recovery::takeUp(std::vector<JobRecord> records, const std::set<std::string>& loaded) {
    std::vector<JobPtr> jobs;
    for (auto& record : records) {
        auto job = reopen(std::move(record));
        if (!job)
            return job.error();
        jobs.push_back(std::move(*job));
    }
    std::erase_if(jobs, [this](const JobPtr& job) { return !core_.registry.add(job); });
    for (const auto& job : jobs) {
        parts_.creator.tookUp(job->key());
        takeUp(job, loaded);
    }
    return {};
}

bool Recovery::lacksUnit(const JobRecord& record) const {
    const bool hasUnit = record.state == JobState::Running || record.state == JobState::Ending;
    return hasUnit && !core_.context.cgroups.exists(slicePath(record.key));
}

Result<JobPtr> Recovery::reopen(JobRecord record) const {
    auto job = std::make_shared<Job>(std::move(record));
    const auto path = slicePath(job->key());
    // An attempt to open an existing slice can fail, for example if pinfoldd has no free descriptor.
    if (auto slice = core_.context.cgroups.open(path))
        job->slice = std::move(*slice);
    else if (core_.context.cgroups.exists(path))
        return slice.error();
    Result<void> all;
    const auto open = [&](const std::optional<ProcessIdentity>& identity, UniqueFd& pidfd) {
        if (!identity)
            return;
        if (auto process = reopenProcess(core_.context, *identity))
            pidfd = std::move(*process);
        else
            all = process.error();
    };
    for (const auto& [number, task] : job->record.tasks) {
        open(task.supervisor, job->tasks[number].supervisor);
        open(task.leader, job->tasks[number].leader);
    }
    open(job->record.supervisor, job->supervisor);
    readBatchCommand(core_.context, *job); // the records of jobs do not contain the name of the batch script's program
    if (!all)
        return all.error();
    job->endMissed = leaderEnded(*job);
    return job;
}

bool Recovery::isBeingStarted(const Job& job, std::uint32_t number) const {
    // In general, systemd starts the scope of task 0 together with the job's slice. If the batch script joins an opened job,
    // systemd starts the scope of task 0 after the slice.
    if ((number == 0 && !job.record.linger) || !job.tasks.at(number).leader)
        return false;
    return core_.context.cgroups.isEmpty(scopePath(job.key(), number));
}

void Recovery::resumeStarts(const JobPtr& job, const std::set<std::string>& loaded) {
    for (const auto& [number, task] : std::map(job->record.tasks))
        if (job->tasks.contains(number) && isBeingStarted(*job, number))
            parts_.adder.resume(job, number, loaded.contains(job->key().scopeName(number)));
}

/// An earlier pinfoldd has possibly asked systemd to start scopes. awaitStarts() waits for each start that pinfoldd cannot
/// request again. pinfoldd cannot request the start of an adopted task again, because the record does not name the processes to
/// adopt. If a job is ending, pinfoldd does not repeat the request to start a scope, because the job takes no more processes.
void Recovery::awaitStarts(const JobPtr& job, const std::set<std::string>& loaded) {
    for (const auto& [number, task] : job->record.tasks)
        if (number != 0 && !job->isStarting(number) && loaded.contains(job->key().scopeName(number)) &&
            core_.context.cgroups.isEmpty(scopePath(job->key(), number)))
            parts_.adder.await(job, number);
}

/// An earlier pinfoldd possibly stored a limit on a disk whose path users can replace. If a user replaces the path, pinfoldd
/// possibly has to wait for the file to which the path leads.
void Recovery::forgetUnsteadyDisks(Job& job) {
    const auto dropped = dropUnsteadyDisks(job.record.limits);
    if (dropped.empty())
        return;
    logWarning(core_.context, job.key(),
               fmt::format("pinfoldd forgets {}, because users can make this name point to another disk. systemd keeps the limit "
                           "that it has set. To limit the disk again, use the name that `lsblk` shows.",
                           dropped));
    core_.save(job);
}

void Recovery::takeUp(const JobPtr& job, const std::set<std::string>& loaded) {
    forgetUnsteadyDisks(*job);
    if (job->record.state == JobState::Running)
        resumeStarts(job, loaded);
    if (job->record.state == JobState::Running || job->record.state == JobState::Ending)
        awaitStarts(job, loaded);
    const auto batch = job->tasks.find(0);
    const bool leaderAlive = job->lacksBatchScript() || (batch != job->tasks.end() && batch->second.leader);
    switch (job->record.state) {
    case JobState::Creating:
        if (leaderAlive)
            return parts_.creator.resume(job, loaded.contains(job->key().sliceName()));
        parts_.creator.giveUp(job, {ErrorCode::PidGone, "its leader ended while pinfoldd did not run"});
        return;
    case JobState::Running:
        core_.observer->jobAdded(summarize(*job));
        for (const auto& [number, record] : job->record.tasks)
            parts_.home.expect(job, number);
        parts_.keeper.restore(job);
        parts_.freezer.restore(job);
        if (!leaderAlive)
            parts_.ender.begin(
                job, {.cause = job->record.supervisor && !job->supervisor ? JobResult::SupervisorLost : JobResult::Exited,
                      .by = {},
                      .grace = {}});
        else if (job->record.supervisor && !job->supervisor)
            parts_.ender.begin(job, {.cause = JobResult::SupervisorLost, .by = {}, .grace = {}});
        if (job->record.state != JobState::Accounting)
            parts_.ender.watch(job);
        for (const auto& [number, task] : std::map(job->record.tasks))
            if (number != 0 && job->isLive() && !job->isStarting(number))
                parts_.taskEnder.watch(job, number);
        return;
    case JobState::Ending:
    case JobState::Accounting:
        // A job that never ran needs no receipt, because the caller of CreateJob has already got an error.
        if (!job->record.neverRan)
            core_.observer->jobAdded(summarize(*job));
        parts_.ender.resume(job);
        return;
    }
}

std::set<std::string> namesOf(const std::vector<UnitStatus>& units) {
    std::set<std::string> names;
    for (const auto& unit : units)
        names.insert(unit.name);
    return names;
}

} // namespace pinfold
