// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/profile/sampler.hpp"

#include "base/paths.hpp"
#include "core/end/task_log.hpp"
#include "model/idleness.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {
namespace {

// When a job reaches the age kFirstLook, Sampler reads the job's figures for the first time. Sampler reads the figures again each
// time the job has become twice as old, up to the age kLastEarlyLook.
constexpr Microseconds kFirstLook = 1s;
constexpr Microseconds kLastEarlyLook = 16s;
// If several jobs start shortly after each other, Sampler wakes up once and reads the figures of all these jobs.
constexpr Microseconds kEarlyGrid = 250ms;
// Sampler needs about 0.1 ms to read the figures of a job. Sampler reads the figures of kLooksInARow jobs, and then lets the loop
// do other work.
constexpr std::size_t kLooksInARow = 16;
constexpr std::uint64_t kLooksPerSave = 5;

Microseconds ageOf(const Job& job, BootTime now) { return timeBetween(job.record.createdBoot, now); }

/// Returns the first multiple of `step` that is later than `time`.
BootTime nextMultiple(BootTime time, Microseconds step) { return BootTime((time.time_since_epoch() / step + 1) * step); }

/// Returns the age at which Sampler next reads the figures of a young job. The argument `age` is the job's present age.
Microseconds nextEarlyLook(Microseconds age) {
    auto next = kFirstLook;
    while (next <= age)
        next *= 2;
    return next;
}

} // namespace

Sampler::Sampler(Core& core, LimitWarner& warner, LiveRows& rows)
    : core_(core), warner_(warner), rows_(rows), store_(inRoot(core.context.root, kProfilesDirectory)) {}

bool Sampler::isOn() const { return core_.context.config.profile.interval > 0s; }

void Sampler::resume(Job& job) const {
    // A job that is younger than kFirstLook has no stored profile, so resume() does not try to open the profile's file.
    if (job.recorder.looks() > 0 || ageOf(job, core_.context.loop.bootTime()) < kFirstLook)
        return;
    if (auto stored = store_.load(job.key(), job.record.id)) {
        const auto need = job.recorder.need();
        job.recorder = *std::move(stored);
        if (need)
            job.recorder.needs(*need);
    }
}

void Sampler::watch(const JobPtr& job) {
    if (!isOn())
        return;
    resume(*job);
    const auto next = nextEarlyLook(ageOf(*job, core_.context.loop.bootTime()));
    if (next <= kLastEarlyLook)
        early_.emplace(job->record.createdBoot + next, job);
    arm();
}

void Sampler::arm() {
    if (!isOn() || core_.registry.all().empty()) {
        timer_.reset();
        nextRound_ = {};
        early_.clear();
        return;
    }
    const auto now = core_.context.loop.bootTime();
    if (nextRound_ == BootTime{})
        nextRound_ = nextMultiple(now, core_.context.config.profile.interval);
    auto at = nextRound_;
    if (!early_.empty())
        at = std::min(at, nextMultiple(std::max(early_.begin()->first - 1us, now), kEarlyGrid));
    if (timer_ && timerAt_ <= at)
        return;
    timerAt_ = at;
    timer_ = core_.context.loop.after(timeBetween(now, at), [this] { wake(); });
}

void Sampler::wake() {
    timer_.reset();
    const auto now = core_.context.loop.bootTime();
    while (!early_.empty() && early_.begin()->first <= now) {
        const auto job = early_.begin()->second.lock();
        early_.erase(early_.begin());
        if (!job)
            continue;
        due_.emplace_back(job);
        const auto next = nextEarlyLook(ageOf(*job, now));
        if (next <= kLastEarlyLook)
            early_.emplace(job->record.createdBoot + next, job);
    }
    if (nextRound_ <= now) {
        nextRound_ = nextMultiple(now, core_.context.config.profile.interval);
        if (!idle_) // if `idle_` is set, the previous round through all jobs is not finished
            for (const auto& [key, job] : core_.registry.all())
                due_.emplace_back(job);
    }
    arm();
    lookAtSome();
}

void Sampler::lookAtSome() {
    idle_.reset();
    for (std::size_t i = 0; i < kLooksInARow && !due_.empty(); ++i) {
        const auto job = due_.back().lock();
        due_.pop_back();
        if (job)
            look(job);
    }
    if (due_.empty())
        rows_.refresh();
    else
        idle_ = core_.context.loop.whenIdle([this] { lookAtSome(); });
}

void Sampler::look(const JobPtr& job) {
    const bool mayHaveProcesses = job->record.state == JobState::Running || job->record.state == JobState::Ending;
    const auto age = ageOf(*job, core_.context.loop.bootTime());
    // An early reading of a young job's figures can nearly coincide with the regular reading of the figures of all jobs. look()
    // does not read the figures of a job twice within the time kEarlyGrid.
    if (!job->slice || !mayHaveProcesses || job->record.figures || age < job->recorder.lastLook() + kEarlyGrid)
        return;
    const auto usage = job->slice->profileUsage();
    job->recorder.look(age, usage);
    if (usage.cpuUser) // if `usage` has no CPU time, the slice has just vanished, and lastLook keeps the earlier figures
        job->lastLook = LastLook{.at = core_.context.loop.realTime(), .usage = usage};
    lookAtTasks(core_.context, *job);
    if (usage.memoryAnon && usage.memoryShmem)
        warner_.lookAtMemory(*job, *usage.memoryAnon + *usage.memoryShmem);
    // look() ignores errors of save(), because only a restarted pinfoldd reads the stored profile.
    if (job->recorder.looks() % kLooksPerSave == 0)
        (void)store_.save(job->key(), job->record.id, job->recorder);
}

std::string Sampler::finish(Job& job) const {
    resume(job);
    if (job.recorder.profile().empty())
        return {};
    auto whole = job.recorder;
    whole.end(job.record.figures->wall, job.record.figures->usage);
    return encode(whole.profile());
}

void Sampler::forget(const Job& job) {
    if (job.record.figures && job.record.figures->wall >= kFirstLook)
        store_.remove(job.key());
    if (core_.registry.all().empty())
        arm();
}

std::optional<IdleJobs> Sampler::idleJobs() const {
    if (!isOn())
        return std::nullopt;
    const auto& [since, share, memoryShare] = core_.context.config.idle;
    const auto now = core_.context.loop.bootTime();
    IdleJobs count;
    for (const auto& [key, job] : core_.registry.all()) {
        const auto age = ageOf(*job, now);
        if (job->record.state != JobState::Running || age < since)
            continue;
        const auto& limits = job->record.limits;
        const auto& profile = job->recorder.profile();
        count.cpus += isBelow(idlenessOf(profile, cpusHeld(limits, job->record.slots), age, since), share) ? 1 : 0;
        count.memory += isBelow(memoryIdlenessOf(profile, memoryHeld(limits), age, since), memoryShare) ? 1 : 0;
    }
    return count;
}

void Sampler::configChanged() {
    timer_.reset();
    nextRound_ = {};
    arm();
}

} // namespace pinfold
