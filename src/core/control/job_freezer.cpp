// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/job_freezer.hpp"

#include "core/control/owner_reach.hpp"
#include "core/report/events.hpp"

#include <fmt/core.h>

#include <utility>

namespace pinfold {

namespace {

constexpr int kMostFreezes = 10;

void tellSuspenders(Job& job, const Result<void>& result) {
    for (const auto& reply : std::exchange(job.suspenders, {}))
        reply(result);
}

Error resumedMeanwhile(const Job& job) {
    return {ErrorCode::Busy, fmt::format("another request is resuming job '{}': try again", job.key().text())};
}

Error notFrozen(const SystemdError& error) {
    return {ErrorCode::SystemdFailed, "systemd did not freeze the job: " + error.message};
}

/// Returns true if takesOver() has handled a request to suspend the job. takesOver() handles the request if the job is suspended
/// already, is being suspended, or is being resumed. If takesOver() returns false, the caller must freeze the job.
bool takesOver(Job& job, const Reply<void>& reply) {
    if (job.resuming)
        reply(resumedMeanwhile(job));
    else if (!job.suspenders.empty())
        job.suspenders.push_back(reply);
    else if (job.record.suspendedSince)
        reply({});
    else
        return false;
    return true;
}

} // namespace

void JobFreezer::suspend(const JobPtr& job, const Caller& caller, Reply<void> reply) {
    if (caller.admin)
        job->ownerSuspends = false;
    if (takesOver(*job, reply))
        return;
    if (caller.admin)
        return begin(job, caller.uid, std::move(reply));
    if (auto turn = takeOwnersTurn(*job); !turn)
        return reply(turn.error());
    reply = [weak = WeakJob(job), reply = std::move(reply)](Result<void> result) {
        if (const auto live = weak.lock())
            live->ownersTurn = false;
        reply(std::move(result));
    };
    ask(job, [this, job, by = caller.uid, reply](Result<void> allowed) {
        if (allowed)
            allowed = possible(Action::SuspendJob, phaseOf(*job), job->key().text());
        if (!allowed)
            return reply(std::move(allowed));
        if (takesOver(*job, reply))
            return;
        // The processes of a starting task can join the job after the freeze, so pinfoldd refuses the suspension.
        if (job->isStartingTasks())
            return reply(
                Error{ErrorCode::Busy, fmt::format("a task of job '{}' is being started: try again", job->key().text())});
        job->ownerSuspends = true;
        begin(job, by, reply);
    });
}

void JobFreezer::ask(const JobPtr& job, const Reply<void>& reply) {
    const auto user = core_.context.countsAs(job->record.uid);
    const auto over = [this, user, reply](Result<void> result) {
        core_.owners.over(user);
        reply(std::move(result));
    };
    const auto begin = [this, job, over] {
        const auto look = [reach = OwnerReach(core_.context, *job)] { return reach.coversAll(); };
        if (!core_.context.background.ask(Lane::Owners, look, over))
            over(Error{ErrorCode::Busy, "too many owners suspend their jobs: try again"});
    };
    if (auto turn = core_.owners.take(user, begin); !turn)
        reply(turn.error());
}

void JobFreezer::begin(const JobPtr& job, uid_t by, Reply<void> reply) {
    job->record.suspendedSince = core_.context.loop.bootTime();
    core_.save(*job);
    job->suspenders.push_back(std::move(reply));
    freeze(job, [this, job, by](const SystemdOutcome& outcome) {
        if (outcome) {
            job->record.suspendedSince.reset(); // the freeze failed, so the job has continued to run
            failed(job);
            return tellSuspenders(*job, notFrozen(*outcome));
        }
        if (!job->ownerSuspends)
            return suspended(job, by);
        // A frozen job cannot create processes, so a check of the processes' owners after the freeze sees all processes of the
        // job.
        ask(job, [this, job, by](const Result<void>& allowed) {
            if (allowed || !job->ownerSuspends)
                return suspended(job, by);
            // If pinfoldd refuses the suspension, pinfoldd thaws the job, and the time of the freeze counts as run time.
            job->record.suspendedSince.reset();
            failed(job);
            tellSuspenders(*job, allowed);
        });
    });
}

void JobFreezer::suspended(const JobPtr& job, uid_t by) {
    if (job->record.state != JobState::Running)
        return tellSuspenders(*job, {});
    if (!job->record.suspendedSince || job->resuming) {
        // Perhaps systemd thawed the job first and froze the job afterwards, so pinfoldd thaws the job once more.
        if (!job->resuming)
            thawAtOnce(*job);
        return tellSuspenders(*job, resumedMeanwhile(*job));
    }
    job->record.suspendedSince = core_.context.loop.bootTime(); // the suspension begins now, and the job has run until now
    core_.save(*job);
    ender_.limitRunTime(job);
    logSuspension(core_.context, *job, true, by);
    core_.observer->jobStateChanged(job->key());
    tellSuspenders(*job, {});
}

void JobFreezer::freeze(const JobPtr& job, SystemdDone done) {
    job->turns.take(Turns::Kind::Hit, [this, job, done = std::move(done)] {
        const auto user = core_.context.countsAs(job->record.uid);
        (void)core_.freezes.take(user, [this, job, user, done] {
            freezeUnit(job, kMostFreezes, [this, job, user, done](const SystemdOutcome& outcome) {
                core_.freezes.over(user);
                job->turns.over();
                done(outcome);
            });
        });
    });
}

void JobFreezer::freezeUnit(const JobPtr& job, int tries, SystemdDone done) {
    // If a job ends or is resumed, pinfoldd thaws the job, and must not freeze the job afterwards. Another request has possibly
    // resumed the job while the freeze waited for its turn.
    if (job->record.state != JobState::Running || job->resuming || !job->record.suspendedSince)
        return done({});
    if (tries == 0)
        return done(
            SystemdError{SystemdFault::Other, "systemd said that the job is frozen, but a process of the job still runs"});
    core_.context.systemd.freeze(job->key().sliceName(),
                                 [this, job, tries, done = std::move(done)](const SystemdOutcome& outcome) {
                                     const bool frozen = !job->slice || job->slice->frozen().value_or(true);
                                     outcome || frozen ? done(outcome) : freezeUnit(job, tries - 1, done);
                                 });
}

/// If a freeze of the job waits for its turn, a later thaw has to wait until the freeze has had its turn.
void JobFreezer::thaw(const JobPtr& job, SystemdDone done) {
    job->turns.take(Turns::Kind::Hit, [this, job, done = std::move(done)] {
        job->turns.over();
        core_.context.systemd.thaw(job->key().sliceName(), done);
    });
}

void JobFreezer::thawAtOnce(const Job& job) {
    core_.context.systemd.thaw(job.key().sliceName(), [](const SystemdOutcome&) {});
}

void JobFreezer::failed(const JobPtr& job) {
    if (!core_.registry.has(*job))
        return; // the job is over, and a newer job possibly uses the job's unit name
    endSuspension(job->record, core_.context.loop.bootTime());
    core_.save(*job);
    ender_.limitRunTime(job); // somebody has possibly set a time limit during the freeze
    // After a failed freeze, some processes of the job are possibly still frozen, so pinfoldd thaws the job.
    thawAtOnce(*job);
}

void JobFreezer::restore(const JobPtr& job) {
    if (job->record.state != JobState::Running || !job->record.suspendedSince)
        return;
    job->suspenders.emplace_back([](const Result<void>&) {});
    freeze(job, [this, job](const SystemdOutcome& outcome) {
        const bool running = job->record.state == JobState::Running && job->record.suspendedSince;
        if (!running || !outcome)
            return tellSuspenders(*job, job->resuming ? Result<void>(resumedMeanwhile(*job)) : Result<void>());
        logWarning(core_.context, job->key(), "the job was suspended before pinfoldd started, but runs now: " + outcome->message);
        failed(job);
        core_.observer->jobStateChanged(job->key());
        tellSuspenders(*job, notFrozen(*outcome));
    });
}

void JobFreezer::resume(const JobPtr& job, uid_t by, Reply<void> reply) {
    // The slice can be frozen although the job's record does not say that the job is suspended. PID 1 has possibly frozen the job
    // at the request of an earlier pinfoldd. If an earlier pinfoldd lost the bus after its request to freeze a job, the earlier
    // pinfoldd could not thaw the job.
    const bool frozen = job->slice && job->slice->frozen().value_or(false);
    if (!job->record.suspendedSince && !frozen)
        return reply({});
    job->resuming = true;
    thaw(job, [this, job, by, reply](const SystemdOutcome& outcome) {
        job->resuming = false;
        if (outcome)
            return reply(Error{ErrorCode::SystemdFailed, "systemd did not thaw the job: " + outcome->message});
        if (endSuspension(job->record, core_.context.loop.bootTime()))
            core_.save(*job);
        if (job->record.state == JobState::Running) {
            ender_.limitRunTime(job);
            logSuspension(core_.context, *job, false, by);
            core_.observer->jobStateChanged(job->key());
        }
        reply({});
    });
}

} // namespace pinfold
