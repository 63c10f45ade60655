// SPDX-License-Identifier: LGPL-2.1-or-later
// Adds tasks to a job. A new task is a slave task, a group of adopted processes, or the batch script of an opened job.
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

    /// Adds a task. A caller that did not get the answer to AddTask can repeat the request, and pinfoldd then repeats the answer.
    void add(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply);
    void adopt(const Caller& caller, const JobPtr& job, AdoptRequest request, Reply<TaskAdded> reply);
    /// If a task was starting when pinfoldd was restarted, resume() continues the start of the task. The argument `isLoaded` is
    /// true if systemd has loaded the task's unit and possibly starts the unit later.
    void resume(const JobPtr& job, std::uint32_t number, bool isLoaded);
    /// Waits until systemd has started the unit of the task. Use await() if an earlier pinfoldd has asked systemd to start the
    /// unit, and the unit has no process yet. Before systemd has started the unit, the task has no process. Without a call of
    /// await(), pinfoldd would take a task that has no process yet for an ended task.
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
