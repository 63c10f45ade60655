// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings further tasks into a job: slave tasks, adopted processes, and the batch script of a job that was opened.
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"
#include "core/end/task_ender.hpp"
#include "core/resources/allocator.hpp"
#include "core/start/job_creator.hpp"
#include "core/start/process_check.hpp"
#include "core/start/scope_starter.hpp"
#include "core/start/supervisor_home.hpp"

#include <vector>

namespace pinfold {

class TaskAdder {
public:
    struct Parts {
        Allocator& allocator;
        JobCreator& creator;
        SupervisorHome& home;
        JobEnder& ender;
        TaskEnder& taskEnder;
    };
    TaskAdder(Core& core, Parts parts) : core_(core), parts_(parts), starter_(core.context) {}

    /// A request that is repeated, because its answer was lost, gets the same answer.
    void add(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply);
    void adopt(const Caller& caller, const JobPtr& job, std::vector<UniqueFd> processes, Reply<TaskAdded> reply);
    /// Goes on with a task that was being started when pinfoldd was restarted. `isLoaded`: systemd has the task's unit, and may
    /// still start it.
    void resume(const JobPtr& job, std::uint32_t number, bool isLoaded);
    /// systemd has the unit of this task, whose start an earlier pinfoldd asked for, and no process is in it: waits until systemd
    /// has started it. Without this, the start would come when the task has been given up as empty.
    void await(const JobPtr& job, std::uint32_t number);

private:
    void openFirst(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply);
    Result<void> permitted(const Caller& caller, Action action, const Job& job, const std::vector<CheckedProcess>& processes,
                           bool shepherd) const;
    Result<std::optional<CheckedProcess>> supervisorOf(const Caller& caller, UniqueFd pidfd, const ProcessIdentity& leader) const;
    void begin(const JobPtr& job, std::uint32_t number, Reply<TaskAdded> reply);
    void start(const JobPtr& job, std::uint32_t number, bool mayBeThere);
    void overdue(const JobPtr& job, std::uint32_t number, const Error& why);
    void started(const JobPtr& job, std::uint32_t number, const Result<void>& outcome);
    void notStarted(const JobPtr& job, std::uint32_t number, const Error& why);

    Core& core_;
    Parts parts_;
    ScopeStarter starter_;
};

} // namespace pinfold
