// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/task_ender.hpp"

#include "core/end/leftovers.hpp"
#include "core/end/task_log.hpp"
#include "core/report/events.hpp"

#include <csignal>
#include <utility>

namespace pinfold {

void TaskEnder::watch(const JobPtr& job, std::uint32_t number) {
    const WeakJob weak = job;
    const auto onTask = [this, weak, number](void (TaskEnder::*handler)(const JobPtr&, std::uint32_t)) {
        return [this, weak, number, handler] {
            if (const auto live = weak.lock(); live && live->tasks.contains(number))
                (this->*handler)(live, number);
        };
    };
    auto& task = job->tasks[number];
    if (task.leader)
        task.leaderWatch = core_.context.loop.onReadable(task.leader.get(), onTask(&TaskEnder::leaderGone));
    const auto& record = job->record.tasks[number];
    if (task.supervisor)
        task.supervisorWatch = core_.context.loop.onReadable(task.supervisor.get(), onTask(&TaskEnder::supervisorGone));
    if ((record.leader && !task.leader) || (record.supervisor && !task.supervisor))
        end(job, number); // the leader or the supervisor ended while pinfoldd did not run
    if (!job->tasks.contains(number))
        return;
    const auto events = core_.context.cgroups.eventsFile(scopePath(job->key(), number));
    if (auto watched = core_.context.cgroupWatch.watch(events, onTask(&TaskEnder::check)))
        task.scopeWatch = std::move(*watched);
    check(job, number); // the scope has possibly become empty before pinfoldd began to watch it
}

void TaskEnder::check(const JobPtr& job, std::uint32_t number) {
    if (!job->tasks.contains(number) || job->isStarting(number))
        return;
    if (!core_.context.cgroups.isEmpty(scopePath(job->key(), number)))
        return;
    endTask(core_.context, *job, number);
    const auto waiters = std::exchange(job->tasks[number].waiters, {});
    job->tasks.erase(number);
    job->record.tasks.erase(number);
    core_.save(*job);
    core_.observer->taskRemoved(job->key(), number);
    for (const auto& reply : waiters)
        reply({});
}

void TaskEnder::reportExit(const JobPtr& job, std::uint32_t number, const EndReport& report) {
    if (!report.leader || !pinfold::reportExit(*job, number, *report.leader, report.exit))
        return;
    core_.saveSoon(job);
}

void TaskEnder::leaderGone(const JobPtr& job, std::uint32_t number) {
    job->tasks[number].leaderWatch.reset();
    end(job, number);
}

void TaskEnder::supervisorGone(const JobPtr& job, std::uint32_t number) {
    job->tasks[number].supervisorWatch.reset();
    end(job, number);
}

void TaskEnder::end(const JobPtr& job, std::uint32_t number) {
    auto& task = job->tasks[number];
    if (std::exchange(task.ending, true))
        return;
    const auto scope = core_.context.cgroups.open(scopePath(job->key(), number));
    if (!scope || !scope->populated())
        return check(job, number);
    lookAtEnd(core_.context, *job, number);
    if (!job->isLive())
        return; // when a job ends, all its tasks end

    // If leftoversListed is set, an earlier pinfoldd has listed the leftovers.
    if (!std::exchange(job->record.tasks[number].leftoversListed, true))
        reportLeftovers(core_, job, number);
    if (job->describing == 0)
        return terminate(job, number);
    task.terminationDue = true;
    const auto due = [this, weak = WeakJob(job), number] {
        const auto live = weak.lock();
        if (live && live->tasks.contains(number) && std::exchange(live->tasks[number].terminationDue, false) && live->isLive())
            terminate(live, number);
    };
    job->onDescribed.push_back(due);
    task.describeTimer = core_.context.loop.after(kDescriptionWait, due);
}

void TaskEnder::terminate(const JobPtr& job, std::uint32_t number) {
    const auto unit = job->key().scopeName(number);
    // pinfoldd ignores errors of PID 1, because pinfoldd can later end the processes with cgroup.kill, without PID 1's help.
    const auto ignore = [](const SystemdOutcome&) {};
    core_.context.systemd.kill(unit, SIGTERM, ignore);
    core_.context.systemd.kill(unit, SIGCONT, ignore);
    job->tasks[number].graceTimer =
        core_.context.loop.after(core_.context.config.jobs.killGrace, [this, weak = WeakJob(job), number] {
            if (const auto live = weak.lock(); live && live->tasks.contains(number))
                kill(live, number);
        });
}

void TaskEnder::kill(const JobPtr& job, std::uint32_t number) {
    const auto scope = scopePath(job->key(), number);
    if (!core_.context.cgroups.open(scope))
        return check(job, number);
    if (auto killed = core_.killer.kill(scope, job->tasks[number].killTimer); !killed)
        logWarning(core_.context, job->key(), killed.error().message, Trouble::Stop);
}

} // namespace pinfold
