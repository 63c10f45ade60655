// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/task_log.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {
namespace {

using TaskLog = std::vector<LoggedTask>;

LoggedTask* find(Job& job, std::uint32_t number) {
    if (!job.record.taskLog)
        return nullptr;
    auto& log = *job.record.taskLog;
    const auto task = std::ranges::find(log, number, [](const LoggedTask& logged) { return logged.receipt.number; });
    return task == log.end() ? nullptr : &*task;
}

/// Returns the time at which the batch script started. If OpenJob has created the job, the batch script starts later than the
/// job.
RealTime startOfBatch(const Job& job, const ProcessIdentity& leader) {
    const auto& record = job.record;
    return record.linger ? record.created + timeBetween(record.createdBoot, std::max(record.createdBoot, leader.started))
                         : record.created;
}

/// Returns the job's log of tasks. The first call of logOf() adds the batch script to the log, if the job has a batch script.
TaskLog& logOf(Job& job) {
    auto& record = job.record;
    if (record.taskLog)
        return *record.taskLog;
    auto& log = record.taskLog.emplace();
    if (const auto batch = record.tasks.find(0); batch != record.tasks.end() && batch->second.leader)
        log.push_back({.receipt = {.kind = TaskKind::Batch,
                                   .command = job.tasks[0].command,
                                   .started = startOfBatch(job, *batch->second.leader)},
                       .leader = batch->second.leader->pid});
    return log;
}

/// Reads the figures of the task's scope. Returns false if the scope vanished before readFigures() had read all figures. If a
/// figure cannot be read, the task keeps the earlier value of the figure.
bool readFigures(const CgroupDir& scope, TaskReceipt& task) {
    const auto usage = scope.taskUsage();
    if (usage.cpuUser && usage.cpuSystem)
        task.cpu = *usage.cpuUser + *usage.cpuSystem;
    if (usage.memoryPeak)
        task.memoryPeak = usage.memoryPeak;
    return usage.cpuUser && !scope.gone();
}

/// Reads which program the leader runs. When a task starts, its leader often still runs a program of the batch system.
void readCommand(const CoreContext& context, const ProcessIdentity& leader, std::string& command) {
    // After the end of the leader, a new process can get the leader's process id.
    if (const auto info = context.processes.read(leader.pid); info && info->started == leader.started)
        command = info->name();
}

void finish(const CoreContext& context, const Job& job, LoggedTask& task) {
    const auto scope = context.cgroups.open(scopePath(job.key(), task.receipt.number));
    task.receipt.exact = scope && !scope->populated() && readFigures(*scope, task.receipt);
    task.receipt.ended = context.loop.realTime();
    task.over = true;
}

} // namespace

void beginTask(Job& job, std::uint32_t number, TaskKind kind, std::string command, RealTime now) {
    const auto leader = job.record.tasks[number].leader;
    if (number == 0) {
        job.tasks[0].command = std::move(command);
        if (!job.record.taskLog)
            return;
        command = job.tasks[0].command;
    }
    auto& log = logOf(job);
    if (log.size() >= TaskReceipt::kMost)
        return;
    log.insert(number == 0 ? log.begin() : log.end(),
               {.receipt = {.number = number, .kind = kind, .command = std::move(command), .started = now},
                .leader = leader ? leader->pid : 0});
}

void dropTask(Job& job, std::uint32_t number) {
    if (job.record.taskLog)
        std::erase_if(*job.record.taskLog, [number](const LoggedTask& task) { return task.receipt.number == number; });
}

void readBatchCommand(const CoreContext& context, Job& job) {
    const auto batch = job.record.tasks.find(0);
    if (batch != job.record.tasks.end() && batch->second.leader)
        readCommand(context, *batch->second.leader, job.tasks[0].command);
}

void lookAtTasks(const CoreContext& context, Job& job) {
    if (!job.record.taskLog) {
        if (job.recorder.looks() == 1)
            readBatchCommand(context, job);
        return;
    }
    for (auto& task : *job.record.taskLog) {
        const auto live = job.record.tasks.find(task.receipt.number);
        if (task.over || live == job.record.tasks.end() || job.isStarting(task.receipt.number))
            continue;
        if (live->second.leader)
            readCommand(context, *live->second.leader, task.receipt.command);
        if (const auto scope = context.cgroups.open(scopePath(job.key(), task.receipt.number)))
            (void)readFigures(*scope, task.receipt);
    }
}

void lookAtEnd(const CoreContext& context, Job& job, std::uint32_t number) {
    if (number == 0 && job.recorder.looks() == 0 && !job.record.supervisor)
        readBatchCommand(context, job);
    auto* task = find(job, number);
    if (!task || task->over)
        return;
    const auto scope = context.cgroups.open(scopePath(job.key(), number));
    if (!scope || !scope->populated())
        return finish(context, job, *task);
    (void)readFigures(*scope, task->receipt);
}

void endTask(const CoreContext& context, Job& job, std::uint32_t number) {
    if (auto* task = find(job, number); task && !task->over)
        finish(context, job, *task);
}

void endTasks(const CoreContext& context, Job& job) {
    if (job.record.taskLog)
        for (auto& task : *job.record.taskLog)
            if (!task.over)
                finish(context, job, task);
}

void continueTasks(Job& job) {
    if (job.record.taskLog)
        for (auto& task : *job.record.taskLog)
            task.over = !job.record.tasks.contains(task.receipt.number);
}

bool reportExit(Job& job, std::uint32_t number, pid_t leader, const ExitState& exit) {
    auto* task = find(job, number);
    if (!task || !exit.known() || task->receipt.exit.known() || task->leader == 0 || task->leader != leader)
        return false;
    task->receipt.exit = exit;
    return true;
}

std::vector<TaskReceipt> taskListOf(const Job& job, const Receipt& receipt) {
    std::vector<TaskReceipt> list;
    if (!job.record.taskLog) {
        const auto batch = job.record.tasks.find(0);
        const auto task = job.tasks.find(0);
        if (batch == job.record.tasks.end() || !batch->second.leader)
            return list;
        list.push_back(onlyTask(receipt, task == job.tasks.end() ? std::string() : task->second.command));
        list.back().started = startOfBatch(job, *batch->second.leader);
        return list;
    }
    for (const auto& task : *job.record.taskLog)
        list.push_back(task.receipt);
    if (!list.empty() && list.front().kind == TaskKind::Batch)
        list.front().exit = receipt.exit;
    return list;
}

} // namespace pinfold
