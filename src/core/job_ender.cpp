// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_ender.hpp"

#include "base/parse.hpp"
#include "core/events.hpp"
#include "core/leftovers.hpp"

#include <csignal>

#include <algorithm>

namespace pinfold {
namespace {

// A supervisor that lives reports within milliseconds; one that a terminal stopped may never.
constexpr std::uint64_t kStatusWait = 10'000'000;

bool leaderEnded(const Job& job) {
    const auto task = job.tasks.find(0);
    return task == job.tasks.end() || !task->second.leader || hasEnded(task->second.leader.get());
}

bool populated(const Job& job) { return job.slice && job.slice->populated(); }

} // namespace

void JobEnder::watch(const JobPtr& job) {
    const WeakJob weak = job;
    const auto onJob = [this, weak](void (JobEnder::*handler)(const JobPtr&)) {
        return [this, weak, handler] {
            if (const auto live = weak.lock())
                (this->*handler)(live);
        };
    };
    if (auto& leader = job->tasks[0]; leader.leader)
        leader.leaderWatch = core_.context.loop.onReadable(leader.leader.get(), onJob(&JobEnder::leaderGone));
    if (job->supervisor)
        job->supervisorWatch = core_.context.loop.onReadable(job->supervisor.get(), onJob(&JobEnder::supervisorGone));
    if (auto watched =
            core_.context.cgroupWatch.watch(core_.context.cgroups.eventsFile(slicePath(job->key())), onJob(&JobEnder::check)))
        job->sliceWatch = std::move(*watched);
    else
        logWarning(core_.context, job->key(),
                   "cgroup.events not watched, only the leader's end is seen: " + watched.error().message);

    limitRunTime(job);
    judge_.watch(job);
    check(job);
}

void JobEnder::limitRunTime(const JobPtr& job) {
    job->runTimer.reset();
    const auto limit = job->record.limits.runTimeMax.value_or(kInfinity);
    if (job->record.state != JobState::Running || job->record.suspendedSince || limit == kInfinity)
        return;
    const auto run = core_.context.loop.bootTime() - job->record.createdBoot - job->record.suspended;
    job->runTimer = core_.context.loop.after(limit > run ? limit - run : 0, [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            begin(live, {.cause = JobResult::Timeout, .by = {}, .grace = {}});
    });
}

void JobEnder::check(const JobPtr& job) {
    if (populated(*job) || job->record.state == JobState::Creating)
        return;
    if (job->record.state == JobState::Running)
        return begin(job, {.cause = leaderEnded(*job) ? JobResult::Exited : JobResult::Lost, .by = {}, .grace = {}});
    emptied(job);
}

void JobEnder::leaderGone(const JobPtr& job) {
    job->tasks[0].leaderWatch.reset();
    // A shepherd that kills its process group takes leader and supervisor together, and either may be seen first.
    const bool supervisorGoneToo = job->record.supervisor && (!job->supervisor || hasEnded(job->supervisor.get()));
    begin(job, {.cause = supervisorGoneToo ? JobResult::SupervisorLost : JobResult::Exited, .by = {}, .grace = {}});
}

void JobEnder::supervisorGone(const JobPtr& job) {
    job->supervisorWatch.reset();
    job->supervisor.reset();
    if (job->record.state == JobState::Ending && !populated(*job))
        return emptied(job);
    begin(job, {.cause = JobResult::SupervisorLost, .by = {}, .grace = {}});
}

void JobEnder::begin(const JobPtr& job, Request request) {
    auto& record = job->record;
    if (record.state == JobState::Ending && request.grace && *request.grace < grace(*job) && populated(*job)) {
        record.grace = request.grace;
        core_.save(*job);
        return terminate(job);
    }
    if (record.state != JobState::Running)
        return;
    record.cause = request.cause;
    record.stoppedBy = request.by;
    record.grace = request.grace;
    job->runTimer.reset();
    // 257 stops nothing that is frozen, and what is frozen acts on no signal but SIGKILL.
    if (endSuspension(record, core_.context.loop.bootTime()))
        core_.context.systemd.thaw(job->key().sliceName(), [](const SystemdOutcome&) {});
    if (!populated(*job)) {
        core_.advance(*job, JobState::Ending); // a restart would see the same: the record can wait for what comes next
        return emptied(job);
    }
    core_.enter(*job, JobState::Ending);
    stop(job);
}

void JobEnder::resume(const JobPtr& job) {
    if (job->record.state == JobState::Accounting)
        return accountant_.account(job);
    watch(job);
    if (populated(*job))
        stop(job);
}

void JobEnder::stop(const JobPtr& job) {
    if (!populated(*job))
        return emptied(job);
    // At a stop request the job's own processes are about to end together: only what outlives the grace is a leftover then.
    if (leaderEnded(*job) && !job->leftoversListed) {
        job->leftoversListed = true;
        if (job->record.leftovers.count == 0) // else an earlier pinfoldd has listed them
            reportLeftovers(core_, *job, 0);
    }
    terminate(job);
}

void JobEnder::terminate(const JobPtr& job) {
    core_.observer->jobStateChanged(job->key()); // a clean end is over in a moment, and JobRemoved tells of it
    const auto delay = grace(*job);
    (void)lookAtUsage(*job); // the last moment at which the memory's peak may show what it is made of
    if (delay == 0)
        return kill(job);
    // A job that never ran has only its waiting leader in it, which has been told and ends by itself.
    if (!job->neverRan) {
        const auto ignore = [](const SystemdOutcome&) {}; // cgroup.kill follows whatever PID 1 made of it
        const auto signal = static_cast<int>(job->record.limits.killSignal.value_or(SIGTERM));
        core_.context.systemd.kill(job->key().sliceName(), signal, ignore);
        core_.context.systemd.kill(job->key().sliceName(), SIGCONT, ignore); // a stopped process acts on it only when it runs
    }
    job->graceTimer = core_.context.loop.after(delay, [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            kill(live);
    });
}

void JobEnder::kill(const JobPtr& job) {
    if (!populated(*job))
        return emptied(job);
    if (leaderEnded(*job) && !job->leftoversListed) {
        job->leftoversListed = true;
        reportLeftovers(core_, *job, 0);
    }
    // Not by PID 1: under a storm of short-lived daemons it may take as long as the storm lasts.
    if (auto killed = job->slice->kill(); !killed) {
        logWarning(core_.context, job->key(), killed.error().message + "; asking systemd to kill instead", Trouble::Stop);
        core_.context.systemd.kill(job->key().sliceName(), SIGKILL, [](const SystemdOutcome&) {});
    }
    unkillable_.watch(job);
}

void JobEnder::reportExit(const JobPtr& job, const ExitState& exit) {
    if (!job->record.exit.known())
        job->record.exit = exit;
    if (job->record.state == JobState::Running)
        return begin(job, {.cause = JobResult::Exited, .by = {}, .grace = {}});
    if (job->record.state == JobState::Ending && !populated(*job))
        emptied(job);
}

void JobEnder::emptied(const JobPtr& job) {
    if (job->record.state != JobState::Ending)
        return;
    job->graceTimer.reset();
    unkillable_.over(*job);
    const bool statusMayCome = job->supervisor && !hasEnded(job->supervisor.get()) && !job->neverRan;
    if (statusMayCome && !job->record.exit.known()) {
        if (!job->statusTimer)
            job->statusTimer = core_.context.loop.after(kStatusWait, [this, weak = WeakJob(job)] {
                if (const auto live = weak.lock())
                    accountant_.account(live);
            });
        return;
    }
    accountant_.account(job);
}

std::uint64_t JobEnder::grace(const Job& job) const {
    const auto& record = job.record;
    if (record.grace)
        return *record.grace;
    if (record.cause == JobResult::Timeout && record.limits.runTimeGrace)
        return *record.limits.runTimeGrace;
    return record.limits.killGrace.value_or(core_.context.config.jobs.killGrace);
}

} // namespace pinfold
