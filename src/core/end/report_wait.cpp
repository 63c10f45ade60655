// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/report_wait.hpp"

#include <algorithm>

namespace pinfold {
namespace {

// The supervisor or the batch system usually reports the leader's end within milliseconds. A supervisor that somebody has stopped
// at a terminal (Ctrl-Z) never reports the leader's end. A batch system that does not run never reports the leader's end.
constexpr Microseconds kUsual = 10s;

} // namespace

/// Returns how long pinfoldd waits for a report on how the leader ended.
Microseconds ReportWait::patience(const Job& job) const {
    const auto& record = job.record;
    if (record.neverRan || job.lacksBatchScript())
        return 0s;
    if (record.supervisor)
        return job.supervisor && !hasEnded(job.supervisor.get()) ? kUsual : Microseconds(0);
    // If somebody ended the job or shut the node down, pinfoldd does not wait for a report on the leader's end. If the report on
    // the leader's end comes after the end of the job, pinfoldd adds the exit state to the receipt.
    if (record.cause != JobResult::Exited || core_.shutdownSince)
        return 0s;
    const auto asked = record.reportWithin.value_or(record.linger ? kUsual : Microseconds(0));
    return job.endMissed ? std::min(asked, kUsual) : asked;
}

bool ReportWait::isAwaited(const JobPtr& job) {
    if (job->reportOver || job->record.exit.known())
        return false;
    const auto wait = patience(*job);
    if (wait == 0s || job->reportTimer)
        return wait > 0s;
    job->reportTimer = core_.context.loop.after(wait, [this, weak = WeakJob(job)] {
        const auto live = weak.lock();
        if (!live)
            return;
        over(*live);
        overdue_(live);
    });
    return true;
}

bool ReportWait::hasLetBe(const Job& job) {
    return job.record.state == JobState::Ending && job.reportTimer && !job.record.supervisor;
}

void ReportWait::over(Job& job) {
    job.reportTimer.reset();
    job.reportOver = true;
}

} // namespace pinfold
