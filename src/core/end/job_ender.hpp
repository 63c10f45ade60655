// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches a running job, and ends the job. JobEnder reports the leftovers, sends SIGTERM, waits for the grace time, and kills
// with cgroup.kill. When the job has no process any more, JobCloser finishes the job.
#pragma once

#include "base/clock.hpp"
#include "core/core.hpp"
#include "core/end/job_closer.hpp"
#include "core/end/report_wait.hpp"
#include "core/end/unkillable.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

namespace pinfold {

// clang-format off
// The table says what JobEnder does at each event in each state of the job. In the state Creating, JobEnder does nothing, because
// JobCreator decides whether the job runs, is dropped or is given up. If JobCreator gives up a job, the job goes from the state
// Creating to the state Ending (JobRecord::neverRan). In the state Accounting, only JobCloser acts.
//
//                                      | Running                                | Ending
// -------------------------------------|----------------------------------------|-----------------------------------------------------
// the leader ends                      | begin: exited, or supervisor-lost      | kill, if a shepherd was spared and is gone now
// the supervisor ends                  | begin: supervisor-lost                 | emptied, if the slice is empty
// the slice has run empty, or is gone  | begin: exited; if the leader lives,    | emptied: note the figures, wait for a report that is
//                                      | wait 1 s, then begin: exited or lost   | due (reportTimer), then hand over to JobCloser
//   of a job without a batch script    | lingerTimer begins; gone: begin: lost  | the same
// the slice has processes again        | stop waiting                           | stop, unless isBeingStopped() or a report is awaited
// the slice is frozen                  | -                                      | killAround, if cull() has frozen it
// the run time is over (runTimer)      | begin: timeout                         | stop, if a report was awaited; otherwise nothing
// lingerTimer                          | begin: exited                          | -
// somebody asks for the end            | begin: the cause that was given        | stop, if a report was awaited; terminate, if the new
//                                      |                                        | grace ends sooner
// EndJob's report                      | begin: exited                          | emptied, stop, or begin with the usual grace
// the leftovers are described, or      | -                                      | terminate: SIGTERM, and graceTimer begins
//   describeTimer                      |                                        |
// graceTimer                           | -                                      | kill: SIGKILL; around a shepherd cull, which freezes
// freezeTimer                          | -                                      | thaw and kill
// unkillableTimer                      | -                                      | UnkillablePolicy: SIGKILL again, then report
//
// begin() stores the cause and calls stop(). The next steps after stop() are terminate() and kill(). If pinfoldd has nothing to
// wait for, begin(), stop(), terminate() and kill() follow each other at once.
// clang-format on
class JobEnder {
public:
    struct Parts {
        OomJudge& judge;
        LimitWarner& warner;
        JobCloser& closer;
        UnkillablePolicy& unkillable;
    };
    JobEnder(Core& core, Parts parts)
        : core_(core), judge_(parts.judge), warner_(parts.warner), closer_(parts.closer), unkillable_(parts.unkillable),
          reports_(core, [this](const JobPtr& job) { check(job); }) {}

    /// Watches the leader, the supervisor, the slice and the run time of a running job. If the leader, the supervisor or the
    /// slice is gone already, watch() handles the end at once.
    void watch(const JobPtr& job);

    /// Watches the batch script of a job that OpenJob has created. If the batch script has ended already, watchBatchScript()
    /// handles the end at once.
    void watchBatchScript(const JobPtr& job);

    /// Restarts the timers of the run time limit and of the warning about this limit. Call limitRunTime() when the limit has
    /// changed, or when the job was suspended or resumed.
    void limitRunTime(const JobPtr& job);

    struct Request {
        JobResult cause = JobResult::Exited;
        std::optional<uid_t> by;
        /// The requested grace time. If no grace time was requested, the job's own grace time applies. If the job has no grace
        /// time of its own, the site's grace time applies.
        std::optional<Microseconds> grace;
    };
    /// Begins to end the job. If the job is ending already, a new request has an effect only if it shortens the grace time of
    /// the job.
    void begin(const JobPtr& job, Request request);

    /// Returns the grace time that applies if the job's owner asks for the end of the job. The result is the grace time that the
    /// owner asked for, but at most the job's kill_grace. If a job has run_time_grace, the job cannot run for longer than
    /// run_time_max plus run_time_grace. If the job has no kill_grace, the maximum grace time is jobs.kill_grace of the
    /// configuration. With an unlimited grace time, the owner could use the node for longer than the job's limits allow.
    std::optional<Microseconds> graceOfOwner(const Job& job, std::optional<Microseconds> asked) const {
        return asked ? std::optional(std::min(*asked, usualGrace(job))) : std::nullopt;
    }

    /// Handles a call of EndJob that reports how the leader ended. If the job still runs, reportExit() begins to end the job.
    /// pinfoldd accepts an exit state from the owner only if the owner made the leader part of the job.
    void reportExit(const JobPtr& job, const EndReport& report, bool byAdmin);

    /// If an earlier pinfoldd has begun to end the job, resume() continues to end the job.
    void resume(const JobPtr& job);

    /// Checks whether the job's slice still exists and still has processes.
    void check(const JobPtr& job);

private:
    void stop(const JobPtr& job);
    void leaderGone(const JobPtr& job);
    void supervisorGone(const JobPtr& job);
    void listLeftovers(const JobPtr& job);
    bool isSooner(const Job& job, Microseconds asked) const;
    void terminate(const JobPtr& job);
    void terminateInTurn(const JobPtr& job);
    void kill(const JobPtr& job);
    void cull(const JobPtr& job);
    void killAround(const JobPtr& job);
    void linger(const JobPtr& job);
    void ranEmpty(const JobPtr& job);
    std::function<void()> onJob(const JobPtr& job, void (JobEnder::*handler)(const JobPtr&));
    void emptied(const JobPtr& job);
    void account(const JobPtr& job);
    Microseconds grace(const Job& job) const;
    Microseconds usualGrace(const Job& job) const;

    Core& core_;
    OomJudge& judge_;
    LimitWarner& warner_;
    JobCloser& closer_;
    UnkillablePolicy& unkillable_;
    ReportWait reports_;
};

} // namespace pinfold
