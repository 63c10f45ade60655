// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/limit_warner.hpp"

#include "base/parse.hpp"
#include "core/report/events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace pinfold {
namespace {

constexpr std::uint64_t kMemoryPercent = 90;
// LimitWarner cannot send a warning signal while pinfoldd still sends another signal for the job's owner. LimitWarner tries to
// send the signal again after kSignalRetry.
constexpr Microseconds kSignalRetry = 1s;

} // namespace

void LimitWarner::watchRunTime(const JobPtr& job) {
    job->warningTimer.reset();
    const auto& record = job->record;
    const auto end = runTimeEnd(record.limits);
    const auto ahead = timeLimit(record.limits.runTimeWarning).value_or(0s);
    // If the warning is due at the job's start, LimitWarner sends no warning, because the job's program cannot handle the signal
    // yet.
    const bool wanted = ahead > 0s && end && ahead < *timeLimit(end);
    if (!wanted || record.state != JobState::Running || record.suspendedSince || record.runTimeWarned == end)
        return;
    const auto left = runTimeLeft(*job, end, core_.context.loop.bootTime());
    job->warningTimer = core_.context.loop.after(left - std::min(left, ahead), [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            warnOfRunTime(live);
    });
}

void LimitWarner::warnOfRunTime(const JobPtr& job) {
    auto& record = job->record;
    const auto end = runTimeEnd(record.limits);
    const auto left = runTimeLeft(*job, end, core_.context.loop.bootTime());
    if (record.state != JobState::Running || !end || left == 0s)
        return;
    record.runTimeWarned = end;
    core_.save(*job);
    const bool byBatchSystem = batchSystemEndsFirst(record.limits);
    tell(*job, byBatchSystem ? "batch_run_time_max" : "run_time_max",
         fmt::format("reaches its run time limit of {} in {}", formatDuration(*timeLimit(end)),
                     formatDuration(std::chrono::ceil<std::chrono::seconds>(left))),
         byBatchSystem ? "The batch system ends the job at the limit." : "pinfold stops the job at the limit.");
    if (record.limits.runTimeWarningSignal)
        signal(job, static_cast<int>(*record.limits.runTimeWarningSignal));
}

void LimitWarner::signal(const JobPtr& job, int number) {
    // Because the owner chose the signal, the signal reaches only processes that the owner is allowed to signal.
    signaller_.sendAsOwner(job, number, [this, weak = WeakJob(job), number](const Result<void>& sent) {
        const auto live = weak.lock();
        if (sent || !live || live->record.state != JobState::Running)
            return;
        if (sent.error().code != ErrorCode::Busy)
            return logWarning(core_.context, live->key(), "the signal of run_time_warning was not sent: " + sent.error().message);
        live->warningTimer = core_.context.loop.after(kSignalRetry, [this, weak, number] {
            if (const auto later = weak.lock())
                signal(later, number);
        });
    });
}

void LimitWarner::lookAtMemory(Job& job, std::uint64_t need) {
    auto& record = job.record;
    const auto limit = record.limits.memoryMax;
    if (!limit || *limit == kInfinity || need < *limit / 100 * kMemoryPercent || record.state != JobState::Running ||
        record.memoryWarned == limit)
        return;
    record.memoryWarned = limit;
    core_.save(job);
    tell(job, "memory_max",
         fmt::format("needs {} of memory, {}% of its limit of {}", formatSize(need), need / (*limit / 100), formatSize(*limit)),
         "If the job needs more memory than the limit, the kernel kills the job.");
}

void LimitWarner::tell(const Job& job, const std::string& limit, const std::string& words, const std::string& then) {
    job.output.say(fmt::format("pinfold: job {} on {} {} ({}). {}", job.key().text(), core_.nodeName(), words,
                               formatUtc(core_.context.loop.realTime()), then));
    logLimitNear(core_.context, job, limit, words);
    core_.observer->limitNear(job.key(), limit);
}

} // namespace pinfold
