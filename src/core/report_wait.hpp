// SPDX-License-Identifier: LGPL-2.1-or-later
// pinfoldd is no parent of a job's leader: how it ended, somebody has to report. That comes after pinfoldd has seen the end.
#pragma once

#include "core/core.hpp"

#include <cstdint>
#include <functional>

namespace pinfold {

class ReportWait {
public:
    /// `overdue` is called when a report has not come in time.
    ReportWait(Core& core, std::function<void(const JobPtr&)> overdue) : core_(core), overdue_(std::move(overdue)) {}

    /// Of a job that is ending. True: its report is still to come, or its time will be over; either goes on with the end.
    bool isAwaited(const JobPtr& job);
    /// The same, and nothing that the leader has left behind is to be signalled before: a batch system that reports the end may
    /// have told the job to end, and gives it time for that. A supervisor reports at once.
    bool letsBe(const JobPtr& job) { return !job->record.supervisor && isAwaited(job); }
    /// What letsBe() has answered last.
    static bool hasLetBe(const Job& job);
    /// The report has come, or nobody waits for it any more.
    static void over(Job& job);

private:
    std::uint64_t patience(const Job& job) const;

    Core& core_;
    std::function<void(const JobPtr&)> overdue_;
};

} // namespace pinfold
