// SPDX-License-Identifier: LGPL-2.1-or-later
// What pinfoldd does first: it takes up every job that an earlier pinfoldd left, after kill -9, a restart or an upgrade.
#pragma once

#include "core/control/job_freezer.hpp"
#include "core/core.hpp"
#include "core/end/job_closer.hpp"
#include "core/end/job_ender.hpp"
#include "core/end/task_ender.hpp"
#include "core/restart/missing_jobs.hpp"
#include "core/start/job_creator.hpp"
#include "core/start/task_adder.hpp"

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
        MissingJobs& lost;
    };
    Recovery(Core& core, Parts parts) : core_(core), parts_(parts) {}

    /// Makes the inventory first (records, units, cgroups, processes), and acts afterwards: nothing is stopped before the
    /// inventory is complete. Errors: Internal, SystemdFailed.
    void run(std::function<void(Result<void>)> ready);

    /// Takes up jobs that the registry does not have. Each job goes on from its record, or ends as it would have ended. `loaded`:
    /// the units that systemd has loaded. Error: Internal, because it cannot be found out what of a job is alive; then no job is
    /// touched.
    Result<void> takeUp(std::vector<JobRecord> records, const std::set<std::string>& loaded);
    /// True: by its record the job runs or is ending, and nothing of it exists any more.
    bool lacksUnit(const JobRecord& record) const;

private:
    Result<JobPtr> reopen(JobRecord record) const;
    void takeUp(const JobPtr& job, const std::set<std::string>& loaded);
    /// True: the task's process lives, and its scope does not exist or is empty. PID 1 got the call of the earlier pinfoldd and
    /// may not have done it yet.
    bool isBeingStarted(const Job& job, std::uint32_t number) const;
    void resumeStarts(const JobPtr& job, const std::set<std::string>& loaded);
    void awaitStarts(const JobPtr& job, const std::set<std::string>& loaded);

    Core& core_;
    Parts parts_;
};

std::set<std::string> namesOf(const std::vector<UnitStatus>& units);

} // namespace pinfold
