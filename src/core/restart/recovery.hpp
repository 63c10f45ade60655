// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes over every live job of an earlier pinfoldd, for example after kill -9, a restart or an upgrade. pinfoldd runs Recovery
// before it answers requests.
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

    /// First collects all records, units, cgroups and processes of jobs, and then takes over the jobs. run() changes nothing
    /// before it has collected all records, units, cgroups and processes. Errors: Internal, SystemdFailed.
    void run(std::function<void(Result<void>)> ready);

    /// Takes over the jobs of `records` that are not in the registry. Each job continues from the state in its record. If the
    /// time to end a job came while pinfoldd did not run, takeUp() ends the job. The argument `loaded` lists the units that
    /// systemd has loaded. The error is Internal if pinfoldd cannot find out which parts of a job are alive. If takeUp() fails,
    /// takeUp() has changed no job.
    Result<void> takeUp(std::vector<JobRecord> records, const std::set<std::string>& loaded);
    /// Returns true if the record says that the job is running or ending, but the job's cgroup does not exist.
    bool lacksUnit(const JobRecord& record) const;

private:
    Result<JobPtr> reopen(JobRecord record) const;
    void forgetUnsteadyDisks(Job& job);
    void takeUp(const JobPtr& job, const std::set<std::string>& loaded);
    /// Returns true if the task's process lives, but the task's scope does not exist or is empty. An earlier pinfoldd possibly
    /// asked PID 1 to start the scope, and PID 1 has not handled this request yet.
    bool isBeingStarted(const Job& job, std::uint32_t number) const;
    void resumeStarts(const JobPtr& job, const std::set<std::string>& loaded);
    void awaitStarts(const JobPtr& job, const std::set<std::string>& loaded);

    Core& core_;
    Parts parts_;
};

std::set<std::string> namesOf(const std::vector<UnitStatus>& units);

} // namespace pinfold
