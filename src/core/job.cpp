// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job.hpp"

#include "os/process.hpp"

#include <algorithm>

namespace pinfold {

std::string slicePath(const JobKey& key) { return "/" + std::string(kBatchSlice) + "/" + key.sliceName(); }

std::string scopePath(const JobKey& key, std::uint32_t task) { return slicePath(key) + "/" + key.scopeName(task); }

std::optional<UnitIdentity> identifyPath(std::string_view path) {
    // Below their own service manager (user@.service), users can create slices of any name. identifyPath() accepts only paths
    // below /batch.slice, because users cannot create slices below /batch.slice.
    static const std::string jobs = "/" + std::string(kBatchSlice) + "/";
    if (!path.starts_with(jobs))
        return std::nullopt;
    path.remove_prefix(jobs.size());
    const auto slice = path.substr(0, path.find('/'));
    auto job = identifyUnit(slice);
    if (!job || job->task)
        return std::nullopt;
    if (slice.size() == path.size())
        return job;
    // In `path`, the name of the scope comes directly after the name of the slice. Processes in cgroups that the job has created
    // below the scope are also processes of the scope.
    path.remove_prefix(slice.size() + 1);
    auto scope = identifyUnit(path.substr(0, path.find('/')));
    return scope && scope->task && scope->key == job->key ? scope : job;
}

Microseconds runTimeLeft(const Job& job, std::optional<std::uint64_t> limit, BootTime now) {
    const auto whole = timeLimit(limit).value_or(kForever);
    const auto until = job.record.suspendedSince.value_or(now);
    return whole == kForever ? whole : whole - std::min(whole, until - job.record.createdBoot - job.record.suspended);
}

Microseconds usualGraceOf(const Job& job, Microseconds ofSite, BootTime now) {
    const auto& limits = job.record.limits;
    const auto usual = timeLimit(limits.killGrace).value_or(ofSite);
    const auto left = runTimeLeft(job, limits.runTimeMax, now);
    const auto ofRunTime = timeLimit(limits.runTimeGrace);
    return ofRunTime && *ofRunTime < usual && left < usual - *ofRunTime ? left + *ofRunTime : usual;
}

bool leaderEnded(const Job& job) {
    const auto task = job.tasks.find(0);
    return task == job.tasks.end() || !task->second.leader || hasEnded(task->second.leader.get());
}

JobSummary summarize(const Job& job) {
    const auto& record = job.record;
    JobSummary summary{.key = job.key(),
                       .state = record.state,
                       .uid = record.uid,
                       .created = record.created,
                       .suspended = record.suspendedSince.has_value(),
                       .limits = record.limits,
                       .limitsNotEnforced = record.limitsNotEnforced,
                       .allocation = record.allocation,
                       .slots = record.slots,
                       .unkillableSince = record.unkillableSince,
                       .unkillableInFuse = record.unkillableInFuse,
                       .memoryNeed = job.recorder.need()};
    for (const auto& [number, task] : record.tasks) {
        summary.tasks.push_back(number);
        if (number == 0 && task.leader)
            summary.leader = task.leader->pid;
    }
    return summary;
}

Usage lookAtUsage(Job& job) {
    auto usage = job.slice ? job.slice->usage() : Usage{};
    // If the memory use is within 2 % of the peak, lookAtUsage() stores the present memory figures in Job::peakSplit.
    if (usage.memoryCurrent && usage.memoryPeak && usage.memoryAnon && usage.memoryFile &&
        *usage.memoryCurrent >= *usage.memoryPeak - *usage.memoryPeak / 50)
        job.peakSplit = PeakSplit{*usage.memoryPeak, *usage.memoryAnon, *usage.memoryFile, usage.memoryShmem.value_or(0)};
    if (job.peakSplit && usage.memoryPeak && job.peakSplit->peak >= *usage.memoryPeak - *usage.memoryPeak / 50) {
        usage.memoryPeakAnon = job.peakSplit->anon;
        usage.memoryPeakFile = job.peakSplit->file;
        usage.memoryPeakShmem = job.peakSplit->shmem;
    }
    // After the end of the last process, the memory figures are too low, because the kernel has freed the job's anonymous memory.
    if (usage.memoryAnon && usage.memoryShmem && job.slice->populated())
        job.recorder.needs(*usage.memoryAnon + *usage.memoryShmem);
    usage.memoryNeed = job.recorder.need();
    return usage;
}

void addLastLook(Usage& usage, const Job& job) {
    if (!job.lastLook)
        return;
    const auto& seen = job.lastLook->usage;
    const auto add = [](auto& figure, const auto& earlier) {
        if (!figure)
            figure = earlier;
    };
    add(usage.cpuUser, seen.cpuUser);
    add(usage.cpuSystem, seen.cpuSystem);
    add(usage.cpuThrottled, seen.cpuThrottled);
    add(usage.memoryPressure, seen.memoryPressure);
    add(usage.ioRead, seen.ioRead);
    add(usage.ioWritten, seen.ioWritten);
    add(usage.ioReads, seen.ioReads);
    add(usage.ioWrites, seen.ioWrites);
    if (usage.ioDevices.empty())
        usage.ioDevices = seen.ioDevices;
}

bool Job::isStarting(std::uint32_t number) const {
    const auto task = tasks.find(number);
    return task != tasks.end() && task->second.starting;
}

bool Job::isStartingTasks() const {
    return std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.second.starting; });
}

Phase phaseOf(const Job& job) {
    switch (job.record.state) {
    case JobState::Creating:
        return Phase::Starting;
    case JobState::Running:
        return job.record.suspendedSince ? Phase::Suspended : Phase::Running;
    case JobState::Ending:
    case JobState::Accounting:
        break;
    }
    return Phase::Ending;
}

Target targetOf(const std::string& key, const Job* job) {
    Target target;
    target.key = key;
    if (job) {
        target.phase = phaseOf(*job);
        target.owner = job->record.uid;
    }
    return target;
}

JobPtr Registry::find(std::string_view key) const {
    const auto it = jobs_.find(key);
    return it == jobs_.end() ? nullptr : it->second;
}

JobPtr Registry::findByLeader(const ProcessIdentity& leader) const {
    for (const auto& [key, job] : jobs_) {
        const auto task = job->record.tasks.find(0);
        if (task != job->record.tasks.end() && task->second.leader == leader)
            return job;
    }
    return nullptr;
}

bool Registry::add(JobPtr job) {
    const auto key = job->key().text();
    return jobs_.try_emplace(key, std::move(job)).second;
}

bool Registry::has(const Job& job) const { return find(job.key().text()).get() == &job; }

void Registry::remove(const Job& job) {
    if (has(job))
        jobs_.erase(jobs_.find(job.key().text()));
}

std::size_t Registry::furtherTasksOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const {
    std::size_t tasks = 0;
    for (const auto& [key, job] : jobs_)
        tasks += countsAs(job->record.uid) == user ? job->furtherTasks() : 0;
    return tasks;
}

std::vector<JobPtr> Registry::jobsOf(uid_t user) const {
    std::vector<JobPtr> theirs;
    for (const auto& [key, job] : jobs_)
        if (job->record.uid == user)
            theirs.push_back(job);
    // jobsOf() sorts the jobs by createdBoot, because nobody can set back the clock that createdBoot uses.
    const auto rank = [](const JobPtr& job) {
        return std::pair(job->record.state == JobState::Running, job->record.createdBoot);
    };
    std::ranges::stable_sort(theirs, std::ranges::greater(), rank);
    return theirs;
}

std::size_t Registry::countOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const {
    return static_cast<std::size_t>(
        std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return countsAs(entry.second->record.uid) == user; }));
}

} // namespace pinfold
