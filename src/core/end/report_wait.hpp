// SPDX-License-Identifier: LGPL-2.1-or-later
// pinfoldd is not the parent of a job's leader, so another program has to report how the leader ended. pinfoldd notices the end
// of the leader before pinfoldd gets the report on how the leader ended. ReportWait waits for the report on the leader's end.
#pragma once

#include "base/clock.hpp"
#include "core/core.hpp"

#include <cstdint>
#include <functional>

namespace pinfold {

class ReportWait {
public:
    /// If a report on the end of a leader does not come in time, ReportWait calls `overdue`.
    ReportWait(Core& core, std::function<void(const JobPtr&)> overdue) : core_(core), overdue_(std::move(overdue)) {}

    /// Call isAwaited() for a job that is ending. The result is true if pinfoldd still waits for a report on how the leader
    /// ended. pinfoldd continues to end the job when the report on the leader's end comes, or when the time for the report is
    /// over.
    bool isAwaited(const JobPtr& job);
    /// Returns true if pinfoldd has to wait for the report on the leader's end before pinfoldd signals the leader's leftovers.
    /// The batch system has possibly asked the job's processes to end. Some batch systems give the processes time to end, and
    /// report the leader's end only after this time. A supervisor reports the leader's end at once, so letsBe() returns false for
    /// a job with a supervisor.
    bool letsBe(const JobPtr& job) { return !job->record.supervisor && isAwaited(job); }
    /// Returns the result of the last call of letsBe() for the job.
    static bool hasLetBe(const Job& job);
    /// Call over() when pinfoldd has got the report on the leader's end, or does not need this report any more.
    static void over(Job& job);

private:
    Microseconds patience(const Job& job) const;

    Core& core_;
    std::function<void(const JobPtr&)> overdue_;
};

} // namespace pinfold
