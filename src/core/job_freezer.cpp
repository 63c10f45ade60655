// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_freezer.hpp"

#include "core/events.hpp"

#include <utility>

namespace pinfold {

void JobFreezer::suspend(const JobPtr& job, uid_t by, Reply<void> reply) {
    if (job->record.suspendedSince)
        return reply({});
    job->record.suspendedSince = core_.context.loop.bootTime();
    core_.save(*job);
    freeze(job, [this, job, by, reply](const SystemdOutcome& outcome) {
        if (outcome) {
            job->record.suspendedSince.reset(); // it ran
            failed(job);
            return reply(Error{ErrorCode::SystemdFailed, "systemd did not freeze the job: " + outcome->message});
        }
        if (job->record.state == JobState::Running && job->record.suspendedSince) {
            job->record.suspendedSince = core_.context.loop.bootTime(); // until now it ran
            core_.save(*job);
            ender_.limitRunTime(job);
            logSuspension(core_.context, *job, true, by);
            core_.observer->jobStateChanged(job->key());
        }
        reply({});
    });
}

void JobFreezer::freeze(const JobPtr& job, SystemdDone done) {
    job->turns.take(Turns::Kind::Hit, [this, job, done = std::move(done)] {
        if (job->record.state != JobState::Running) { // its end has thawed it
            job->turns.over();
            return done({});
        }
        core_.context.systemd.freeze(job->key().sliceName(), [job, done](const SystemdOutcome& outcome) {
            job->turns.over();
            done(outcome);
        });
    });
}

/// In its turn too, since a freeze may wait for its own.
void JobFreezer::thaw(const JobPtr& job, SystemdDone done) {
    job->turns.take(Turns::Kind::Hit, [this, job, done = std::move(done)] {
        job->turns.over();
        core_.context.systemd.thaw(job->key().sliceName(), done);
    });
}

void JobFreezer::failed(const JobPtr& job) {
    if (!core_.registry.has(*job))
        return; // the unit of that name may be another job's by now
    endSuspension(job->record, core_.context.loop.bootTime());
    core_.save(*job);
    core_.context.systemd.thaw(job->key().sliceName(), [](const SystemdOutcome&) {}); // it may be half frozen
}

void JobFreezer::restore(const JobPtr& job) {
    if (job->record.state != JobState::Running || !job->record.suspendedSince)
        return;
    freeze(job, [this, job](const SystemdOutcome& outcome) {
        if (!outcome || job->record.state != JobState::Running || !job->record.suspendedSince)
            return;
        logWarning(core_.context, job->key(), "it was suspended before pinfoldd started, and runs on: " + outcome->message);
        failed(job);
        ender_.limitRunTime(job);
        core_.observer->jobStateChanged(job->key());
    });
}

void JobFreezer::resume(const JobPtr& job, uid_t by, Reply<void> reply) {
    if (!job->record.suspendedSince)
        return reply({});
    thaw(job, [this, job, by, reply](const SystemdOutcome& outcome) {
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
