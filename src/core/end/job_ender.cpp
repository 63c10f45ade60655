// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/job_ender.hpp"

#include "base/parse.hpp"
#include "core/end/leftovers.hpp"
#include "core/end/shepherds.hpp"
#include "core/end/task_log.hpp"
#include "core/report/events.hpp"

#include <csignal>

#include <algorithm>
#include <utility>

namespace pinfold {
namespace {

// The kernel freezes a cgroup within milliseconds, but a process that hangs in the kernel never freezes.
constexpr Microseconds kFreezeWait = 1s;

// When a process ends, the process first leaves its cgroup (cgroup_exit() in the kernel's do_exit()). After a process has left
// its cgroup, the process sometimes waits for a CPU before the pidfd reports the process's end (exit_notify()). If a leader has
// left the job's cgroups and still lives after kDyingWait, somebody has moved the leader to another cgroup.
constexpr Microseconds kDyingWait = 1s;

/// Returns true if the job has ended by itself. In a job that has ended by itself, all running processes are leftovers. After a
/// request to stop the job, leftBehind() returns false, because the processes have not had time to end.
bool leftBehind(const Job& job) {
    return job.record.linger && !job.record.tasks.contains(0) ? job.record.cause == JobResult::Exited : leaderEnded(job);
}

bool populated(const Job& job) { return job.slice && job.slice->populated(); }

/// Returns true if JobEnder is stopping the job's processes and has set a timer for the next step.
bool isBeingStopped(const Job& job) { return job.describeTimer || job.graceTimer || job.freezeTimer || job.unkillableTimer; }

} // namespace

std::function<void()> JobEnder::onJob(const JobPtr& job, void (JobEnder::*handler)(const JobPtr&)) {
    return [this, weak = WeakJob(job), handler] {
        if (const auto live = weak.lock())
            (this->*handler)(live);
    };
}

void JobEnder::watchBatchScript(const JobPtr& job) {
    auto& leader = job->tasks[0];
    if (leader.leader)
        leader.leaderWatch = core_.context.loop.onReadable(leader.leader.get(), onJob(job, &JobEnder::leaderGone));
    if (job->supervisor)
        job->supervisorWatch = core_.context.loop.onReadable(job->supervisor.get(), onJob(job, &JobEnder::supervisorGone));
    check(job);
}

void JobEnder::watch(const JobPtr& job) {
    if (auto watched = core_.context.cgroupWatch.watch(core_.context.cgroups.eventsFile(slicePath(job->key())),
                                                       onJob(job, &JobEnder::check)))
        job->sliceWatch = std::move(*watched);
    else
        logWarning(core_.context, job->key(),
                   "cannot watch cgroup.events, so pinfoldd sees only the end of the job's leader: " + watched.error().message);

    limitRunTime(job);
    judge_.watch(job);
    if (!job->record.neverRan)
        closer_.running(job);
    job->lacksBatchScript() || job->isStarting(0) ? check(job) : watchBatchScript(job);
    if (core_.shutdownSince) // PID 1 possibly started the job just before PID 1 began to stop all units for the shutdown
        begin(job, {.cause = JobResult::NodeShutdown, .by = {}, .grace = {}});
}

void JobEnder::limitRunTime(const JobPtr& job) {
    warner_.watchRunTime(job);
    job->runTimer.reset();
    const auto left = runTimeLeft(*job, job->record.limits.runTimeMax, core_.context.loop.bootTime());
    if (job->record.state != JobState::Running || job->record.suspendedSince || left == kForever)
        return;
    job->runTimer = core_.context.loop.after(left, [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            begin(live, {.cause = JobResult::Timeout, .by = {}, .grace = {}});
    });
}

void JobEnder::check(const JobPtr& job) {
    if (job->freezeTimer && job->slice->frozen().value_or(false))
        return killAround(job);
    if (job->record.state == JobState::Running && job->lacksBatchScript())
        return linger(job);
    if (populated(*job)) {
        job->leaderTimer.reset();
        if (job->record.state == JobState::Ending)
            JobCloser::forgetNote(*job);
        // The job had no processes for a moment, but now has new processes, so JobEnder has to end the new processes.
        if (job->record.state == JobState::Ending && !isBeingStopped(*job) && !reports_.letsBe(job))
            stop(job);
        return;
    }
    if (job->record.state == JobState::Creating || job->isStartingTasks())
        return; // a task of the job is starting, so the job is not over
    job->record.state == JobState::Running ? ranEmpty(job) : emptied(job);
}

void JobEnder::ranEmpty(const JobPtr& job) {
    if (leaderEnded(*job))
        return begin(job, {.cause = JobResult::Exited, .by = {}, .grace = {}});
    if (job->leaderTimer)
        return;
    job->leaderTimer = core_.context.loop.after(kDyingWait, [this, weak = WeakJob(job)] {
        const auto live = weak.lock();
        if (!live)
            return;
        live->leaderTimer.reset();
        // When the start of a task has succeeded or failed, pinfoldd calls check() again.
        if (!populated(*live) && !live->isStartingTasks())
            begin(live, {.cause = leaderEnded(*live) ? JobResult::Exited : JobResult::Lost, .by = {}, .grace = {}});
    });
}

void JobEnder::linger(const JobPtr& job) {
    if (!job->slice || job->slice->gone())
        return begin(job, {.cause = JobResult::Lost, .by = {}, .grace = {}});
    if (job->isStartingTasks() || populated(*job))
        return job->lingerTimer.reset();
    if (job->lingerTimer || *job->record.linger == kForever)
        return;
    job->lingerTimer = core_.context.loop.after(*job->record.linger, [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock())
            begin(live, {.cause = JobResult::Exited, .by = {}, .grace = {}});
    });
}

void JobEnder::leaderGone(const JobPtr& job) {
    job->tasks[0].leaderWatch.reset();
    lookAtEnd(core_.context, *job, 0);
    // When the last shepherd has ended by itself, pinfoldd kills all processes that are still in the job.
    if (job->record.state == JobState::Ending && job->culled && !shepherdLives(*job))
        return kill(job);
    if (job->record.state == JobState::Ending) // the end of the job has begun already, for example because the slice was empty
        return;
    // If a shepherd kills its process group, the leader and the supervisor end together. Sometimes pinfoldd notices the leader's
    // end first, and sometimes pinfoldd notices the supervisor's end first.
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
    if (ReportWait::hasLetBe(*job)) {
        ReportWait::over(*job);
        job->runTimer.reset();
        record.grace = request.grace;
        job->leftToPid1 = request.cause == JobResult::NodeShutdown;
        core_.save(*job);
        return stop(job);
    }
    if (record.state == JobState::Ending && request.grace && isSooner(*job, *request.grace) && populated(*job)) {
        record.grace = request.grace;
        job->leftToPid1 = false;
        core_.save(*job);
        return terminate(job);
    }
    // PID 1 sends SIGTERM after an out-of-memory kill, and pinfoldd can see the leader's end before it sees the kill.
    if (request.cause == JobResult::Exited && record.state == JobState::Running && judge_.endsJob(job))
        request = {.cause = JobResult::OutOfMemory, .by = {}, .grace = 0s};
    if (record.state != JobState::Running && !(record.state == JobState::Creating && record.neverRan))
        return;
    job->endBegan = core_.context.loop.bootTime();
    record.cause = request.cause;
    record.stoppedBy = request.by;
    record.grace = request.grace;
    job->lingerTimer.reset();
    job->leaderTimer.reset();
    // pinfoldd thaws the job, because systemd 257 does not stop a frozen unit. SIGKILL is the only signal that a frozen process
    // obeys.
    const bool frozen = endSuspension(record, core_.context.loop.bootTime());
    job->leftToPid1 = request.cause == JobResult::NodeShutdown && !frozen;
    if (frozen)
        core_.context.systemd.thaw(job->key().sliceName(), [](const SystemdOutcome&) {});
    if (!populated(*job) && !job->isStartingTasks()) {
        job->runTimer.reset();
        // pinfoldd need not store the new state at once, because a restarted pinfoldd would see that the slice is empty.
        core_.advance(*job, JobState::Ending);
        return emptied(job);
    }
    core_.enter(*job, JobState::Ending);
    // While pinfoldd waits for a report on the leader's end, the run time limit applies to the processes that the leader left
    // behind.
    if (reports_.letsBe(job))
        return core_.observer->jobStateChanged(job->key());
    job->runTimer.reset();
    stop(job);
}

/// Returns true if the new request would end the job earlier than all earlier requests. If a new request would end the job later
/// than an earlier request, JobEnder ignores the new request. If a stop request could delay the end of the job, a user could keep
/// the job alive with many stop requests.
bool JobEnder::isSooner(const Job& job, Microseconds asked) const {
    return job.killAt ? core_.context.loop.bootTime() + asked < *job.killAt : asked < grace(job);
}

void JobEnder::resume(const JobPtr& job) {
    if (job->record.state == JobState::Accounting)
        return closer_.account(job);
    watch(job); // if the end of the job has begun, watch() continues to end the job
}

void JobEnder::stop(const JobPtr& job) {
    if (!populated(*job))
        return emptied(job);
    if (leftBehind(*job))
        listLeftovers(job);
    if (job->describing == 0 || grace(*job) == 0s)
        return terminate(job);
    job->terminationDue = true;
    const auto due = [this, weak = WeakJob(job)] {
        if (const auto live = weak.lock(); live && std::exchange(live->terminationDue, false))
            terminate(live);
    };
    job->onDescribed.push_back(due);
    job->describeTimer = core_.context.loop.after(kDescriptionWait, due);
}

void JobEnder::listLeftovers(const JobPtr& job) {
    // If leftoversListed is set, this pinfoldd or an earlier pinfoldd has already listed the leftovers.
    if (!std::exchange(job->record.leftoversListed, true))
        reportLeftovers(core_, job, 0);
}

void JobEnder::terminate(const JobPtr& job) {
    job->terminationDue = false;
    // terminate() does not wait for PID 1's answer, because a job that is ending takes no more processes.
    job->turns.take(Turns::Kind::Hit, [this, job] {
        if (job->record.state == JobState::Ending)
            terminateInTurn(job);
        job->turns.over();
    });
}

void JobEnder::terminateInTurn(const JobPtr& job) {
    // pinfoldd sends the D-Bus signal about the state `ending` only for a job with processes. A job without processes ends at
    // once, so the D-Bus signal `JobRemoved` is enough for such a job.
    core_.observer->jobStateChanged(job->key());
    const auto delay = grace(*job);
    (void)lookAtUsage(*job); // after the job's end, nobody can read which kinds of memory made up the peak
    // At a shutdown, PID 1 sends SIGTERM to the job's processes. Some programs treat a second SIGTERM as an order to end at once.
    if (job->leftToPid1)
        return;
    if (delay == 0s)
        return kill(job);
    // In a job that never ran, the only process is the leader. The leader waits for the answer to CreateJob. When the leader gets
    // the answer that the job was not created, the leader ends by itself.
    if (!job->record.neverRan) {
        // pinfoldd ignores errors of PID 1, because pinfoldd can later end the processes with cgroup.kill, without PID 1's help.
        const auto ignore = [](const SystemdOutcome&) {};
        const auto first = static_cast<int>(job->record.limits.killSignal.value_or(SIGTERM));
        for (const int signal : {first, SIGCONT}) { // a stopped process acts on a signal such as SIGTERM only after SIGCONT
            if (!shepherdLives(*job))
                core_.context.systemd.kill(job->key().sliceName(), signal, ignore);
            else if (auto sent = signalAllButShepherds(core_.context, *job, signal); !sent)
                logWarning(core_.context, job->key(), sent.error().message, Trouble::Stop);
        }
    }
    const auto now = core_.context.loop.bootTime();
    job->killAt = std::min(job->killAt.value_or(now + delay), now + delay);
    job->graceTimer = core_.context.loop.after(timeBetween(now, *job->killAt), onJob(job, &JobEnder::kill));
}

void JobEnder::kill(const JobPtr& job) {
    if (!populated(*job))
        return emptied(job);
    job->graceTimer.reset();
    job->killAt = core_.context.loop.bootTime();
    if (leaderEnded(*job))
        listLeftovers(job);
    if (!job->culled && shepherdLives(*job))
        return cull(job);
    // To kill the job's processes, pinfoldd does not need the help of PID 1. If a job starts one short-lived daemon after
    // another, PID 1 is too busy to kill the processes in time.
    if (auto killed = core_.killer.kill(slicePath(job->key()), job->killTimer); !killed) {
        logWarning(core_.context, job->key(), killed.error().message + "; pinfoldd asks systemd to kill instead", Trouble::Stop);
        core_.context.systemd.kill(job->key().sliceName(), SIGKILL, [](const SystemdOutcome&) {});
    }
    unkillable_.watch(job);
}

void JobEnder::cull(const JobPtr& job) {
    job->culled = true;
    // A frozen process cannot fork, so the list of a frozen job's processes stays complete while pinfoldd kills the processes.
    if (auto frozen = job->slice->freeze(true); !frozen) {
        logWarning(core_.context, job->key(),
                   frozen.error().message + "; pinfoldd kills the job's shepherd together with the job", Trouble::Stop);
        return kill(job);
    }
    job->freezeTimer = core_.context.loop.after(kFreezeWait, [this, weak = WeakJob(job)] {
        const auto live = weak.lock();
        if (!live)
            return;
        live->freezeTimer.reset();
        // If the freeze takes too long, pinfoldd kills the job with cgroup.kill. cgroup.kill ends even frozen processes.
        (void)live->slice->freeze(false);
        kill(live);
    });
    check(job);
}

void JobEnder::killAround(const JobPtr& job) {
    job->freezeTimer.reset();
    const auto killed = signalAllButShepherds(core_.context, *job, SIGKILL);
    (void)job->slice->freeze(false); // all processes except the shepherds have been killed, so pinfoldd thaws the shepherds
    if (!killed) {
        logWarning(core_.context, job->key(),
                   killed.error().message + "; pinfoldd kills the job's shepherd together with the job", Trouble::Stop);
        return kill(job);
    }
    job->graceTimer = core_.context.loop.after(core_.context.config.jobs.shepherdGrace, onJob(job, &JobEnder::kill));
}

void JobEnder::reportExit(const JobPtr& job, const EndReport& report, bool byAdmin) {
    const bool believed = byAdmin || job->record.ownersBatch;
    // If the batch system created the job, pinfoldd ignores an exit state that the owner reports. If pinfoldd ignores a report
    // of the owner, pinfoldd still waits for the supervisor's report.
    if (!job->record.exit.known() && believed)
        job->record.exit = report.exit;
    complete(job->record.identity, report.identity);
    const bool wasLetBe = ReportWait::hasLetBe(*job);
    if (believed)
        ReportWait::over(*job);
    if (job->record.state == JobState::Running)
        return begin(job, {.cause = JobResult::Exited, .by = {}, .grace = {}});
    if (job->record.state != JobState::Ending)
        return;
    if (!populated(*job))
        return emptied(job);
    if (wasLetBe)
        return stop(job);
    // The batch system waits for the end of the job. pinfoldd shortens the grace time if an earlier stop request gave the job
    // more than the usual grace time.
    if (byAdmin)
        begin(job, {.cause = JobResult::Exited, .by = {}, .grace = usualGrace(*job)});
}

void JobEnder::emptied(const JobPtr& job) {
    if (job->record.state != JobState::Ending)
        return;
    job->describeTimer.reset();
    job->graceTimer.reset();
    job->killTimer.reset();
    job->freezeTimer.reset();
    job->terminationDue = false;
    unkillable_.over(*job);
    if (job->isStartingTasks())
        return; // PID 1 can still put a process into the job; after the start of the task, pinfoldd calls emptied() again
    closer_.note(*job);
    if (reports_.isAwaited(job)) {
        // Somebody could restart pinfoldd before EndJob's report comes, so pinfoldd stores the record. On a busy node, EndJob's
        // report often comes before the loop is idle. If EndJob's report comes earlier than the write that saveSoon() has
        // planned, account() stores the record and cancels this write.
        return core_.saveSoon(job);
    }
    // If somebody kills the process group of the leader and the supervisor, both end, and the slice becomes empty. pinfoldd can
    // notice the end of the leader, the end of the supervisor, and the empty slice in any order. After isAwaited() has returned
    // false, pinfoldd does not wait for the report of a supervisor that still lives. emptied() calls isAwaited() before
    // hasEnded(), so that emptied() notices a supervisor that ends between the two calls.
    auto& record = job->record;
    const bool supervisorLives = job->supervisor && !hasEnded(job->supervisor.get());
    if (record.supervisor && !supervisorLives && record.cause == JobResult::Exited && !record.exit.known())
        record.cause = JobResult::SupervisorLost;
    account(job);
}

void JobEnder::account(const JobPtr& job) {
    if (job->describing == 0)
        return closer_.account(job);
    // The receipt names the leftovers, so pinfoldd writes the receipt only after it has described the leftovers.
    job->onDescribed.push_back(onJob(job, &JobEnder::account));
}

Microseconds JobEnder::grace(const Job& job) const {
    const auto& record = job.record;
    if (record.grace)
        return *record.grace;
    if (record.cause == JobResult::Timeout && record.limits.runTimeGrace)
        return *timeLimit(record.limits.runTimeGrace);
    return usualGrace(job);
}

Microseconds JobEnder::usualGrace(const Job& job) const {
    return usualGraceOf(job, core_.context.config.jobs.killGrace, core_.context.loop.bootTime());
}

} // namespace pinfold
