// SPDX-License-Identifier: LGPL-2.1-or-later
// Does what pinfoldd does first: takes up every job that an earlier pinfoldd left, after kill -9, a restart or an upgrade.
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

    /// Makes an inventory (records, units, cgroups, processes), and acts only when the inventory is complete. Before the
    /// inventory is complete, Recovery stops nothing. Errors: Internal, SystemdFailed.
    void run(std::function<void(Result<void>)> ready);

    /// Takes up the jobs of `records` that are not in the registry. Each job goes on from its record, or ends as it would have
    /// ended. `loaded` names the units that systemd has loaded. Error: Internal if pinfoldd cannot find out what of a job is
    /// alive; takeUp() then touches no job.
    Result<void> takeUp(std::vector<JobRecord> records, const std::set<std::string>& loaded);
    /// Returns true if nothing of the job exists any more although, by its record, the job runs or is ending.
    bool lacksUnit(const JobRecord& record) const;

private:
    Result<JobPtr> reopen(JobRecord record) const;
    void takeUp(const JobPtr& job, const std::set<std::string>& loaded);
    /// Returns true if the task's process lives, and the task's scope does not exist or is empty. In this case PID 1 got the
    /// start from the earlier pinfoldd, but may not have done it yet.
    bool isBeingStarted(const Job& job, std::uint32_t number) const;
    void resumeStarts(const JobPtr& job, const std::set<std::string>& loaded);
    void awaitStarts(const JobPtr& job, const std::set<std::string>& loaded);

    Core& core_;
    Parts parts_;
};

std::set<std::string> namesOf(const std::vector<UnitStatus>& units);

} // namespace pinfold
