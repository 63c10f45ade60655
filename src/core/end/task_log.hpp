// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps what the receipt says about each task of a job: the task's program, times and use of resources. When a scope is empty,
// systemd usually removes the scope's cgroup within a millisecond. The counters of a removed cgroup are lost. When pinfoldd
// learns that the scope of a task is empty, it reads the task's figures before it does anything else. systemd can remove the
// cgroup before pinfoldd has read the task's figures. When Sampler reads the figures of a job, it reads the figures of the job's
// running tasks at the same time. pinfoldd reads the figures of a task once more when the task's leader has ended.
#pragma once

#include "core/context.hpp"
#include "core/job.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Reads the name of the program that the batch script runs, if the leader of the batch script still exists.
void readBatchCommand(const CoreContext& context, Job& job);
/// Call beginTask() when pinfoldd has given a number to a task that joins an existing job. If OpenJob has created the job, call
/// beginTask() also for the batch script.
void beginTask(Job& job, std::uint32_t number, TaskKind kind, std::string command, RealTime now);
/// Call dropTask() if the task did not start.
void dropTask(Job& job, std::uint32_t number);
/// Reads the figures of each live task, and the name of the program that the task's leader runs. If the batch script is the
/// only task, lookAtTasks() reads no figures, but reads the name of the script's program once.
void lookAtTasks(const CoreContext& context, Job& job);
/// Reads the figures of a task whose leader has ended. If the task has no process any more, the task is over. If Sampler has
/// never read figures of the job, lookAtEnd() reads the name of the batch script's program. Until the parent process reaps an
/// ended leader, pinfoldd can read which program the leader ran. If the job has a supervisor, lookAtEnd() does not read the name
/// of the batch script's program. Before the job starts, a supervisor gives the leader process the name of the batch script's
/// program. Without a supervisor, the leader executes the batch script's program only after the start of the job.
void lookAtEnd(const CoreContext& context, Job& job, std::uint32_t number);
/// Call endTask() when the task has no process any more. If the cgroup of the task still exists, the figures are exact.
void endTask(const CoreContext& context, Job& job, std::uint32_t number);
/// Call endTasks() when the job has no process any more.
void endTasks(const CoreContext& context, Job& job);
/// Call continueTasks() when a process has joined the job after the call of endTasks().
void continueTasks(Job& job);
/// Stores how the leader of task `number` ended. Returns false if the exit state is known already, or if the log has no task
/// `number` with the leader `leader`.
bool reportExit(Job& job, std::uint32_t number, pid_t leader, const ExitState& exit);
/// When a job is over, taskListOf() returns the list of tasks for the job's receipt. Set all members of `receipt` except taskList
/// before you call taskListOf().
std::vector<TaskReceipt> taskListOf(const Job& job, const Receipt& receipt);

} // namespace pinfold
