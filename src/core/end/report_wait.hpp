// SPDX-License-Identifier: LGPL-2.1-or-later
// pinfoldd is not the parent of a job's leader, so somebody has to report how the leader ended. The report comes after pinfoldd
// has seen the end. ReportWait waits for the report.
#pragma once

#include "core/core.hpp"

#include <cstdint>
#include <functional>

namespace pinfold {

class ReportWait {
public:
    /// ReportWait calls `overdue` when a report has not come in time.
    ReportWait(Core& core, std::function<void(const JobPtr&)> overdue) : core_(core), overdue_(std::move(overdue)) {}

    /// Call this for a job that is ending. Returns true if pinfoldd still expects a report on how the leader ended. The job's end
    /// goes on when the report comes, or when the time for the report is over.
    bool isAwaited(const JobPtr& job);
    /// Returns true if isAwaited() does and, besides, leftovers of the leader get no signal before the report. A batch system
    /// that reports the end may have told the job to end, and then gives the job time for that. Returns false for a job with a
    /// supervisor, because a supervisor reports at once.
    bool letsBe(const JobPtr& job) { return !job->record.supervisor && isAwaited(job); }
    /// Returns the last answer of letsBe() for the job.
    static bool hasLetBe(const Job& job);
    /// Call this when the report has come, or when nobody waits for the report any more.
    static void over(Job& job);

private:
    std::uint64_t patience(const Job& job) const;

    Core& core_;
    std::function<void(const JobPtr&)> overdue_;
};

} // namespace pinfold
