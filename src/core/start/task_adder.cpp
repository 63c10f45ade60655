// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/start/task_adder.hpp"

#include "core/end/task_log.hpp"
#include "core/report/events.hpp"
#include "core/start/start_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace pinfold {
namespace {

/// Returns the number of the task whose leader is the process `leader`.
std::optional<std::uint32_t> taskOf(const Job& job, const ProcessIdentity& leader) {
    for (const auto& [number, task] : job.record.tasks)
        if (task.leader == leader)
            return number;
    return std::nullopt;
}

Result<void> takesBatchScript(const Job& job) {
    if (!job.record.linger || job.record.tasks.contains(0))
        return Error{
            ErrorCode::AlreadyExists,
            fmt::format("job '{}' already has its batch script: an opened job can have only one batch script", job.key().text())};
    return {};
}

/// Checks that the job has fewer tasks than jobs.max_tasks allows. The number of tasks is limited, because each task needs two
/// file descriptors of pinfoldd. Each task makes the job's record larger, and pinfoldd writes the whole record at the start and
/// end of every task.
Result<void> hasRoom(const Core& core, const Job& job) {
    const auto& jobs = core.context.config.jobs;
    if (job.furtherTasks() >= jobs.maxTasks)
        return Error{ErrorCode::Busy, fmt::format("job '{}' has {} live tasks already, the maximum (jobs.max_tasks)",
                                                  job.key().text(), job.furtherTasks())};
    const auto user = core.context.countsAs(job.record.uid);
    const auto tasks = core.registry.furtherTasksOf(user, core.context.countsAs);
    if (tasks >= jobs.maxTasksPerUser)
        return Error{
            ErrorCode::Busy,
            fmt::format("the jobs of user {} have {} live tasks already, the maximum (jobs.max_tasks_per_user)", user, tasks)};
    return {};
}

TaskAdded answerFor(const Job& job, std::uint32_t number) { return {job.key(), number, job.record.allocation.environment}; }

} // namespace

void TaskAdder::add(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply) {
    const auto job = core_.registry.find(request.key);
    if (request.open && (!job || job->record.state != JobState::Running))
        return openFirst(caller, std::move(request), std::move(reply));
    if (!job)
        return reply(core_.find(request.key).error());
    std::vector<CheckedProcess> processes;
    if (auto leader = checkProcess(core_.context, std::move(request.leader)))
        processes.push_back(std::move(*leader));
    else
        return reply(leader.error());
    auto& leader = processes.front();
    const auto known = taskOf(*job, leader.identity);
    const auto action = known ? Action::AddTaskAgain : Action::AddTask;
    if (auto allowed = permitted(caller, action, *job, processes, request.shepherd); !allowed)
        return reply(allowed.error());
    if (known) {
        auto& task = job->tasks[*known];
        return task.starting ? task.adders.push_back(std::move(reply)) : reply(answerFor(*job, *known));
    }
    if (auto enough = checkDescriptorsFor(caller); !enough)
        return reply(enough.error());
    if (auto takes = request.batch ? takesBatchScript(*job) : hasRoom(core_, *job); !takes)
        return reply(takes.error());
    auto supervisor = supervisorOf(caller, std::move(request.supervisor), leader.identity);
    if (!supervisor)
        return reply(supervisor.error());
    auto newcomer = newcomerOf(leader.identity.pid, leader.pidfd, leader.soleUid);
    if (!newcomer)
        return reply(newcomer.error());

    const auto number = request.batch ? 0 : job->record.nextTask++;
    auto& record = job->record.tasks[number];
    record = {.leader = leader.identity, .supervisor = {}, .shepherd = request.shepherd};
    job->tasks[number].leader = std::move(leader.pidfd);
    if (*supervisor) {
        (request.batch ? job->record.supervisor : record.supervisor) = (*supervisor)->identity;
        (request.batch ? job->supervisor : job->tasks[number].supervisor) = std::move((*supervisor)->pidfd);
    }
    if (request.batch) {
        job->record.ownersBatch = !caller.admin;
        job->output = JobOutput(core_.outputs, core_.context.countsAs(job->record.uid), std::move(request.output));
    }
    job->tasks[number].newcomers.push_back(std::move(*newcomer));
    beginTask(*job, number, request.batch ? TaskKind::Batch : TaskKind::Task, std::move(leader.name),
              core_.context.loop.realTime());
    begin(job, number, std::move(reply));
}

void TaskAdder::openFirst(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply) {
    auto job = std::move(*request.open);
    request.open.reset();
    // A request contains file descriptors and cannot be copied, so the callback holds the request in a shared_ptr.
    auto kept = std::make_shared<TaskRequest>(std::move(request));
    parts_.creator.open(
        caller, std::move(job),
        [this, caller, kept, reply = std::move(reply)](const Result<JobSummary>& opened) {
            opened ? add(caller, std::move(*kept), reply) : reply(opened.error());
        },
        JobCreator::IfLive::JoinAny);
}

void TaskAdder::adopt(const Caller& caller, const JobPtr& job, AdoptRequest request, Reply<TaskAdded> reply) {
    std::vector<CheckedProcess> processes;
    for (auto& pidfd : request.processes) {
        auto process = checkProcess(core_.context, std::move(pidfd));
        if (!process)
            return reply(process.error());
        processes.push_back(std::move(*process));
    }
    if (auto allowed = permitted(caller, Action::Adopt, *job, processes, false); !allowed)
        return reply(allowed.error());
    if (auto enough = checkDescriptorsFor(caller); !enough)
        return reply(enough.error());
    if (auto room = hasRoom(core_, *job); !room)
        return reply(room.error());
    const auto number = job->record.nextTask++;
    job->record.tasks[number] = {};
    for (auto& process : processes)
        job->tasks[number].newcomers.push_back({process.identity.pid, std::move(process.pidfd), process.soleUid == 0U});
    beginTask(*job, number, request.kind, std::move(processes.front().name), core_.context.loop.realTime());
    begin(job, number, std::move(reply));
}

Result<void> TaskAdder::permitted(const Caller& caller, Action action, const Job& job,
                                  const std::vector<CheckedProcess>& processes, bool shepherd) const {
    auto target = targetOf(job.key().text(), &job);
    target.ownProcesses = true;
    target.shepherd = shepherd;
    for (const auto& process : processes) {
        target.ownProcesses = target.ownProcesses && process.soleUid == caller.uid;
        target.processesInJob = target.processesInJob || process.inJob;
    }
    return decide(caller, action, target);
}

Result<std::optional<CheckedProcess>> TaskAdder::supervisorOf(const Caller& caller, UniqueFd pidfd,
                                                              const ProcessIdentity& leader) const {
    if (!pidfd)
        return std::optional<CheckedProcess>();
    auto supervisor = checkSupervisor(core_.context, caller, std::move(pidfd), leader);
    if (!supervisor)
        return supervisor.error();
    return std::optional(std::move(*supervisor));
}

void TaskAdder::begin(const JobPtr& job, std::uint32_t number, Reply<TaskAdded> reply) {
    job->tasks[number].adders.push_back(std::move(reply));
    job->lingerTimer.reset();
    if (auto saved = storeBeforeStart(core_, *job); !saved)
        return notStarted(job, number, saved.error());
    start(job, number, false);
}

void TaskAdder::resume(const JobPtr& job, std::uint32_t number, bool isLoaded) {
    auto& task = job->tasks.at(number);
    auto leader = newcomerOf(job->record.tasks.at(number).leader->pid, task.leader, {});
    if (!leader)
        return notStarted(job, number, leader.error());
    task.newcomers.push_back(std::move(*leader));
    start(job, number, isLoaded);
}

void TaskAdder::await(const JobPtr& job, std::uint32_t number) {
    job->tasks[number].starting = true;
    core_.context.systemd.listUnits({job->key().scopeName(number)}, [this, weak = WeakJob(job), number](const auto& answer) {
        const auto live = weak.lock();
        if (!live)
            return;
        const auto* units = std::get_if<std::vector<UnitStatus>>(&answer);
        if (units && std::ranges::none_of(*units, &UnitStatus::isToStart))
            return started(live, number, {});
        live->tasks[number].startTimer = core_.context.loop.after(kAskSystemdAgain, [this, weak, number] {
            if (const auto waiting = weak.lock())
                await(waiting, number);
        });
    });
}

void TaskAdder::start(const JobPtr& job, std::uint32_t number, bool mayBeThere) {
    job->tasks[number].starting = true;
    starter_.start(
        job,
        {.task = number,
         .properties = {job->record.limits, parts_.allocator.devicesOf(job->record), job->record.tasks[number].shepherd},
         .processes = std::exchange(job->tasks[number].newcomers, {}),
         .withSlice = false,
         .mayBeThere = mayBeThere},
        {.done = [this, job, number](const ScopeStarter::Outcome& outcome) { started(job, number, outcome.result); },
         .overdue = [this, job, number](const Error& why) { overdue(job, number, why); },
         .wanted = [job] { return job->record.state == JobState::Running; }});
}

/// PID 1 hangs now, and possibly starts the scope of the task later. JobCreator::overdue() handles the case that PID 1 hangs
/// during the start of a new job. As long as pinfoldd does not know the outcome of the start, the job is not over.
void TaskAdder::overdue(const JobPtr& job, std::uint32_t number, const Error& why) {
    logWarning(core_.context, job->key(), fmt::format("task {} not started yet: {}", number, why.message), Trouble::Start);
    for (const auto& reply : std::exchange(job->tasks[number].adders, {}))
        reply(why);
}

void TaskAdder::notStarted(const JobPtr& job, std::uint32_t number, const Error& why) {
    const auto adders = std::exchange(job->tasks[number].adders, {});
    const auto waiters = std::exchange(job->tasks[number].waiters, {});
    job->tasks.erase(number);
    job->record.tasks.erase(number);
    dropTask(*job, number);
    if (number == 0) {
        job->record.supervisor.reset();
        job->supervisor.reset();
    }
    core_.save(*job);
    for (const auto& reply : adders)
        reply(why);
    for (const auto& reply : waiters)
        reply({});
    parts_.ender.check(job);
}

void TaskAdder::started(const JobPtr& job, std::uint32_t number, const Result<void>& outcome) {
    job->tasks[number].starting = false;
    if (!outcome)
        return notStarted(job, number, outcome.error());
    const auto adders = std::exchange(job->tasks[number].adders, {});
    // The end of the job has possibly begun while the task was starting. If the job is ending, pinfoldd ends the process of the
    // new task, and the caller gets an error.
    const bool isOver = phaseOf(*job) == Phase::Ending;
    const auto takes = isOver ? possible(Action::AddTask, Phase::Ending, job->key().text()) : Result<void>();
    for (const auto& reply : adders)
        takes ? reply(answerFor(*job, number)) : reply(takes.error());
    if (!takes)
        return parts_.ender.check(job);
    parts_.home.expect(job, number);
    core_.observer->taskAdded(job->key(), number);
    number == 0 ? parts_.ender.watchBatchScript(job) : parts_.taskEnder.watch(job, number);
}

} // namespace pinfold
