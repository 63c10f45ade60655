// SPDX-License-Identifier: LGPL-2.1-or-later
// What pinfoldd does first: take up every job that an earlier one left, after kill -9, restart and upgrade alike.
#pragma once

#include "core/accountant.hpp"
#include "core/core.hpp"
#include "core/job_creator.hpp"
#include "core/job_ender.hpp"
#include "core/job_freezer.hpp"
#include "core/lost_jobs.hpp"
#include "core/task_adder.hpp"
#include "core/task_ender.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace pinfold {

class Recovery {
public:
    struct Parts {
        JobCreator& creator;
        TaskAdder& adder;
        LimitKeeper& keeper;
        SupervisorHome& home;
        JobEnder& ender;
        TaskEnder& taskEnder;
        JobFreezer& freezer;
        LostJobs& lost;
    };
    Recovery(Core& core, Parts parts) : core_(core), parts_(parts) {}

    /// Inventory first (records, units, cgroups, processes), actions after: nothing is stopped before it is complete. Errors:
    /// Internal, SystemdFailed.
    void run(std::function<void(Result<void>)> ready);

    /// Jobs of which the registry knows nothing: each goes on from its record, or ends as it would have. `loaded`: the units that
    /// systemd has loaded. Error: Internal, it can't be told what of a job is alive, and none is touched.
    Result<void> takeUp(std::vector<JobRecord> records, const std::set<std::string>& loaded);
    /// Nothing is there any more of what the record says has run.
    bool lacksUnit(const JobRecord& record) const;

private:
    Result<JobPtr> reopen(JobRecord record) const;
    void takeUp(const JobPtr& job, const std::set<std::string>& loaded);
    /// Its process is there, and its scope is not: PID 1 had the call of the earlier pinfoldd and may not have done it yet.
    bool isBeingStarted(const Job& job, std::uint32_t number) const;
    void resumeStarts(const JobPtr& job, const std::set<std::string>& loaded);
    void awaitStarts(const JobPtr& job, const std::set<std::string>& loaded);

    Core& core_;
    Parts parts_;
};

std::set<std::string> namesOf(const std::vector<UnitStatus>& units);

} // namespace pinfold
