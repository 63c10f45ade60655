// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/accountant.hpp"

#include "core/events.hpp"
#include "core/node_shutdown.hpp"

#include <csignal>
#include <utility>

namespace pinfold {
namespace {

constexpr std::uint64_t kSliceRetry = 500'000;
constexpr int kSliceTries = 20;

/// The leader was killed with the rest, or was the one.
bool endedForMemory(const JobRecord& record, JobResult result) {
    if (!record.oom || (result != JobResult::Exited && result != JobResult::Signaled && result != JobResult::Lost))
        return false;
    const auto leader = record.tasks.find(0);
    const bool victimWasLeader = leader != record.tasks.end() && leader->second.leader && record.oom->victim &&
                                 leader->second.leader->pid == static_cast<pid_t>(*record.oom->victim);
    if (record.exit.known())
        return record.exit.signal == SIGKILL;
    return victimWasLeader || record.limits.oomPolicy.value_or(OomPolicy::Job) == OomPolicy::Job;
}

/// Of a job that note() has seen.
Receipt makeReceipt(const Core& core, const Job& job) {
    const auto& record = job.record;
    Receipt receipt;
    receipt.id = record.id;
    receipt.key = record.key.text();
    receipt.uid = record.uid;
    receipt.started = record.created;
    receipt.ended = record.figures->ended;
    receipt.wall = record.figures->wall;
    receipt.suspended = record.suspended;
    receipt.result = record.cause.value_or(JobResult::Lost);
    if (receipt.result == JobResult::Exited && record.exit.signal)
        receipt.result = JobResult::Signaled;
    if (endedForMemory(record, receipt.result))
        receipt.result = JobResult::OutOfMemory;
    receipt.result = resultAtShutdown(core, job, receipt.result);
    receipt.exit = record.exit;
    receipt.stoppedBy = record.stoppedBy;
    receipt.tasks = record.nextTask - (job.lacksBatchScript() ? 1 : 0);
    receipt.leftovers = record.leftovers;
    receipt.usage = record.figures->usage;
    receipt.oom = record.oom;
    receipt.oomSaid = record.oomSaid;
    if (record.oom && record.oom->cause == OomCause::OwnLimit && record.oom->anon) { // at its limit it was at its peak
        receipt.usage.memoryPeakAnon = record.oom->anon;
        receipt.usage.memoryPeakFile = record.oom->file;
    }
    receipt.limits = record.limits;
    receipt.limitsNotEnforced = record.limitsNotEnforced;
    receipt.allocation = record.allocation;
    return receipt;
}

} // namespace

void Accountant::note(Job& job) const {
    if (job.record.figures) // before a restart of pinfoldd, perhaps
        return;
    auto usage = lookAtUsage(job);
    dropCurrent(usage);
    const auto& loop = core_.context.loop;
    job.record.figures =
        FinalFigures{.ended = loop.realTime(), .wall = loop.bootTime() - job.record.createdBoot, .usage = std::move(usage)};
}

void Accountant::account(const JobPtr& job) {
    if (std::exchange(job->accountDue, true))
        return;
    note(*job);
    if (job->record.state != JobState::Accounting) // else an earlier pinfoldd had come so far
        core_.enter(*job, JobState::Accounting);
    job->graceTimer.reset();
    job->reportTimer.reset();
    job->sliceWatch.reset();
    job->memoryWatch.reset();
    if (!mayBeOfShutdown(core_, *job))
        return enqueue(job);
    core_.context.systemd.askShutdown([this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            enqueue(live);
    });
}

void Accountant::enqueue(const JobPtr& job) {
    due_.push_back(job);
    if (!flushSource_)
        flushSource_ = core_.context.loop.whenIdle([this] { flush(); });
}

void Accountant::flush() {
    flushSource_.reset();
    for (const auto& job : std::exchange(due_, {})) {
        parts_.judge.conclude(job);
        auto receipt = makeReceipt(core_, *job);
        if (job->record.neverRan)
            removeSlice(job, receipt, 1);
        else
            parts_.history.write(std::move(receipt), [this, job](const Receipt& stored) { removeSlice(job, stored, 1); });
    }
}

void Accountant::removeSlice(const JobPtr& job, const Receipt& receipt, int tries) {
    if (core_.shutdownSince) // PID 1 stops it as soon as pinfoldd has gone, and not before
        return forget(job, receipt);
    core_.context.systemd.stop(job->key().sliceName(), [this, job, receipt, tries](const SystemdOutcome& outcome) {
        const auto path = slicePath(job->key());
        // systemd 252 says done and leaves the cgroup behind when a process in it could not be killed in time.
        if (!outcome && core_.context.cgroups.exists(path))
            (void)core_.context.cgroups.remove(path);
        if (!outcome && !core_.context.cgroups.exists(path))
            return forget(job, receipt);
        if (tries >= kSliceTries) {
            logWarning(core_.context, job->key(),
                       "its slice cannot be removed: " + (outcome ? outcome->message : "cgroup in use"), Trouble::Stop);
            return forget(job, receipt);
        }
        // 257 doesn't stop what somebody has frozen behind our back.
        core_.context.systemd.thaw(job->key().sliceName(), [](const SystemdOutcome&) {});
        job->graceTimer =
            core_.context.loop.after(kSliceRetry, [this, job, receipt, tries] { removeSlice(job, receipt, tries + 1); });
    });
}

void Accountant::forget(const JobPtr& job, const Receipt& receipt) {
    job->graceTimer.reset();
    if (auto removed = core_.context.records.remove(job->key()); !removed)
        logWarning(core_.context, job->key(), "its record cannot be removed: " + removed.error().message, Trouble::Record);
    core_.registry.remove(*job);
    parts_.share.protect();
    for (auto& [number, task] : job->tasks)
        for (const auto& reply : std::exchange(task.waiters, {}))
            reply({});
    for (const auto& reply : std::exchange(job->waiters, {}))
        reply(receipt);
    if (!job->record.neverRan) {
        logJobEnded(core_.context, *job, receipt);
        core_.observer->jobRemoved(job->key(), receipt);
    }
    if (onForgotten)
        onForgotten();
}

} // namespace pinfold
