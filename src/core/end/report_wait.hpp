// SPDX-License-Identifier: LGPL-2.1-or-later
// pinfoldd is not the parent of a job's leader, so somebody has to report how the leader ended. The report comes after pinfoldd
// has seen the end.
#pragma once

#include "core/core.hpp"

#include <cstdint>
#include <functional>

namespace pinfold {

class ReportWait {
public:
    /// `overdue` is called when a report has not come in time.
    ReportWait(Core& core, std::function<void(const JobPtr&)> overdue) : core_(core), overdue_(std::move(overdue)) {}

    /// Call this for a job that is ending. True: somebody is still expected to report. When the report comes, or the time for it
    /// is over, the end goes on.
    bool isAwaited(const JobPtr& job);
    /// As isAwaited(), and nothing that the leader has left behind is to be signalled before the report. A batch system that
    /// reports the end may have told the job to end, and gives the job time for that. False for a job with a supervisor, which
    /// reports at once.
    bool letsBe(const JobPtr& job) { return !job->record.supervisor && isAwaited(job); }
    /// The last answer of letsBe().
    static bool hasLetBe(const Job& job);
    /// Call this when the report has come, or when nobody waits for it any more.
    static void over(Job& job);

private:
    std::uint64_t patience(const Job& job) const;

    Core& core_;
    std::function<void(const JobPtr&)> overdue_;
};

} // namespace pinfold
