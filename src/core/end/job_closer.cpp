// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/job_closer.hpp"

#include "core/end/task_log.hpp"
#include "core/report/events.hpp"
#include "core/restart/node_shutdown.hpp"
#include "os/process.hpp"
#include "wording/receipt_text.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kSliceRetry = 500ms;
constexpr int kSliceTries = 20;
// PID 1 usually needs less than a millisecond to remove an empty scope.
constexpr Microseconds kScopeWait = 20ms;
// The kernel reports changes of a cgroup.events file at most every 10 ms (CGROUP_FILE_NOTIFY_MIN_INTV in kernel/cgroup/cgroup.c).
// The kernel rounds the interval between two reports, 10 ms, up to the next tick of its clock. If a job runs for less than 20 ms,
// PID 1 can learn of the job's end up to 20 ms after the end.
constexpr Microseconds kReportedAtOnce = 20ms;

/// Returns true if an out-of-memory kill ended the job's leader, possibly together with other processes of the job.
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

/// Call note() for the job before makeReceipt().
Receipt makeReceipt(const Core& core, const Origins& origins, const Job& job) {
    const auto& record = job.record;
    auto receipt = factsOf(job, origins);
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
    receipt.leftovers = record.leftovers;
    receipt.usage = record.figures->usage;
    receipt.oom = record.oom;
    receipt.oomSaid = record.oomSaid;
    // When the kernel kills a job at the job's own memory limit, the job's memory use is at its peak. If the kernel's report on
    // the kill has memory figures, these figures are the memory peak in the receipt.
    if (record.oom && record.oom->cause == OomCause::OwnLimit && record.oom->anon) {
        receipt.usage.memoryPeakAnon = record.oom->anon;
        receipt.usage.memoryPeakFile = record.oom->file;
        receipt.usage.memoryPeakShmem = record.oom->shmem;
        receipt.usage.memoryNeed =
            std::max(receipt.usage.memoryNeed.value_or(0), *record.oom->anon + record.oom->shmem.value_or(0));
    }
    receipt.taskList = taskListOf(job, receipt);
    return receipt;
}

/// Writes the reason for the job's stop to the job's own output. Returns true if sayStop() writes the reason. A living supervisor
/// writes the reason for the stop itself, so sayStop() writes nothing. A supervisor that has been killed cannot write the reason
/// for the stop. If the job's program has replaced pinfold-run, the job has no supervisor. The answer to EndJob contains the
/// reason for the stop, so a batch system that calls EndJob writes the reason itself.
bool sayStop(const Core& core, const Job& job, const Receipt& receipt) {
    const bool supervised = job.supervisor && !hasEnded(job.supervisor.get());
    if (job.record.neverRan || supervised || job.record.reportWithin)
        return false;
    const auto line = stopLine(receipt, core.nodeName(), userNumber);
    return !line.empty() && job.output.say(line);
}

} // namespace

struct JobCloser::Closing {
    JobPtr job;
    bool recorded;                 ///< the record has all facts for the receipt, so a restarted pinfoldd does not need the slice
    std::optional<Receipt> stored; ///< the receipt of the job; unset until the receipt is durable or set aside
    bool sliceGone = false;        ///< the slice is gone, or pinfoldd does not try to remove it any more
};

void JobCloser::running(const JobPtr& job) {
    job->runsSince = core_.context.loop.bootTime();
    parts_.origins.expect(job->record);
    parts_.rows.expect(job);
    parts_.sampler.watch(job);
}

void JobCloser::note(Job& job) const {
    if (job.record.figures) // note() or an earlier pinfoldd has already set `figures`
        return;
    endTasks(core_.context, job);
    auto usage = lookAtUsage(job);
    addLastLook(usage, job); // if somebody has stopped the slice without pinfoldd, the counters are possibly gone
    dropCurrent(usage);
    // The record keeps the name of the job's group, because pinfoldd possibly restarts before the receipt is written.
    job.record.identity = parts_.origins.identityOf(job.record);
    const auto& loop = core_.context.loop;
    job.record.figures = FinalFigures{.ended = loop.realTime(),
                                      .wall = loop.bootTime() - job.record.createdBoot,
                                      .usage = std::move(usage),
                                      .user = parts_.origins.of(job.record).user};
}

void JobCloser::forgetNote(Job& job) {
    job.record.figures.reset();
    continueTasks(job);
}

void JobCloser::account(const JobPtr& job) {
    if (std::exchange(job->accountDue, true))
        return;
    note(*job);
    auto closing =
        std::make_shared<Closing>(Closing{.job = job, .recorded = job->record.state == JobState::Accounting, .stored = {}});
    if (!closing->recorded) // if `recorded` is set, an earlier pinfoldd has stored the state Accounting
        closing->recorded = core_.advance(*job, JobState::Accounting) && core_.save(*job);
    job->describeTimer.reset();
    job->graceTimer.reset();
    job->unkillableTimer.reset();
    job->reportTimer.reset();
    job->idleSave.reset();
    job->sliceWatch.reset();
    job->memoryWatch.reset();
    if (!mayBeOfShutdown(core_, *job))
        return enqueue(std::move(closing));
    core_.context.systemd.askShutdown([this, closing] {
        if (core_.registry.has(*closing->job))
            enqueue(closing);
    });
}

void JobCloser::enqueue(ClosingPtr closing) {
    due_.push_back(std::move(closing));
    if (!flushSource_)
        flushSource_ = core_.context.loop.whenIdle([this] { flush(); });
}

void JobCloser::flush() {
    flushSource_.reset();
    for (const auto& closing : std::exchange(due_, {})) {
        parts_.judge.conclude(closing->job);
        auto receipt = makeReceipt(core_, parts_.origins, *closing->job);
        receipt.profile = parts_.sampler.finish(*closing->job);
        receipt.stopSaid = sayStop(core_, *closing->job, receipt);
        if (closing->job->record.neverRan)
            closing->stored = std::move(receipt);
        else
            parts_.history.write(std::move(receipt), [this, closing](const Receipt& stored) {
                closing->stored = stored;
                closing->recorded ? forgetIfClosed(*closing) : removeSliceAfterScope(closing);
            });
        // pinfoldd writes the receipt and removes the slice at the same time, because neither step depends on the other. pinfoldd
        // needs about a millisecond to write the receipt, and about a millisecond to remove the slice.
        if (closing->recorded || closing->stored)
            removeSliceAfterScope(closing);
    }
    parts_.history.commit();
}

/// PID 1 notices an empty scope without a call of pinfoldd, and removes the scope. JobCloser waits a moment for the removal of
/// the scope before JobCloser asks PID 1 to stop the slice. If the scope still exists, PID 1 has to stop it, and sends about
/// twelve signals on the bus for this stop. JobCloser does not wait for the scope of a very short job, because the wait would be
/// longer than the job.
void JobCloser::removeSliceAfterScope(const ClosingPtr& closing) {
    const auto& job = closing->job;
    const bool isReportedAtOnce = core_.context.loop.bootTime() - job->runsSince >= kReportedAtOnce;
    if (core_.shutdownSince || !isReportedAtOnce || !core_.context.cgroups.exists(scopePath(job->key(), 0)))
        return removeSlice(closing, 1);
    awaitingScope_[job.get()] = closing;
    job->removalTimer = core_.context.loop.after(kScopeWait, [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            scopeRemoved(*live);
    });
}

void JobCloser::scopeRemoved(const Job& job) {
    const auto awaiting = awaitingScope_.extract(&job);
    if (awaiting.empty())
        return;
    awaiting.mapped()->job->removalTimer.reset();
    removeSlice(awaiting.mapped(), 1);
}

void JobCloser::removeSlice(const ClosingPtr& closing, int tries) {
    const auto gone = [this, closing] {
        closing->sliceGone = true;
        forgetIfClosed(*closing);
    };
    if (core_.shutdownSince) // at a shutdown, PID 1 stops the slice, but only after pinfoldd has exited
        return gone();
    core_.context.systemd.stop(closing->job->key().sliceName(), [this, closing, gone, tries](const SystemdOutcome& outcome) {
        const auto& job = closing->job;
        const auto path = slicePath(job->key());
        // If systemd 252 cannot kill a process of the slice in time, systemd reports success, but does not remove the slice's
        // cgroup.
        if (!outcome && core_.context.cgroups.exists(path))
            (void)core_.context.cgroups.remove(path);
        if (!outcome && !core_.context.cgroups.exists(path))
            return gone();
        if (tries >= kSliceTries) {
            logWarning(core_.context, job->key(),
                       "its slice cannot be removed: " + (outcome ? outcome->message : "cgroup in use"), Trouble::Stop);
            return gone();
        }
        // systemd 257 does not stop a frozen unit. An administrator can freeze the unit without pinfoldd, so pinfoldd thaws the
        // unit before it tries again to stop the unit.
        core_.context.systemd.thaw(job->key().sliceName(), [](const SystemdOutcome&) {});
        job->removalTimer = core_.context.loop.after(kSliceRetry, [this, closing, tries] { removeSlice(closing, tries + 1); });
    });
}

void JobCloser::forgetIfClosed(const Closing& closing) {
    if (closing.stored && closing.sliceGone)
        forget(closing.job, *closing.stored);
}

void JobCloser::forget(const JobPtr& job, const Receipt& receipt) {
    job->removalTimer.reset();
    if (auto removed = core_.context.records.remove(job->key()); !removed)
        logWarning(core_.context, job->key(), "its record cannot be removed: " + removed.error().message, Trouble::Record);
    core_.registry.remove(*job);
    parts_.sampler.forget(*job);
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
