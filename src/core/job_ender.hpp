// SPDX-License-Identifier: LGPL-2.1-or-later
// A running job's watches, and its end: leftovers named, SIGTERM, grace, cgroup.kill, and then over to the accountant.
#pragma once

#include "core/accountant.hpp"
#include "core/core.hpp"
#include "core/report_wait.hpp"
#include "core/unkillable.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace pinfold {

class JobEnder {
public:
    struct Parts {
        OomJudge& judge;
        Accountant& accountant;
        UnkillablePolicy& unkillable;
    };
    JobEnder(Core& core, Parts parts)
        : core_(core), judge_(parts.judge), accountant_(parts.accountant), unkillable_(parts.unkillable),
          reports_(core, [this](const JobPtr& job) { check(job); }) {}

    /// Watches leader, supervisor, slice and run time of a running job, and acts at once on what has happened already.
    void watch(const JobPtr& job);

    /// Watches the batch script of a job that was opened, and acts at once on what has happened already.
    void watchBatchScript(const JobPtr& job);

    /// Sets the timer of the run time limit anew: it has been changed, or the job suspended or resumed.
    void limitRunTime(const JobPtr& job);

    struct Request {
        JobResult cause = JobResult::Exited;
        std::optional<uid_t> by;
        std::optional<std::uint64_t> grace; ///< microseconds; unset: the site's
    };
    /// Begins the end. For a job that is ending already only a shorter grace has an effect.
    void begin(const JobPtr& job, Request request);

    /// What the owner asked for, microseconds, but no more than the job's own kill_grace, else the site's: it would be time that
    /// the job's limits do not give it.
    std::optional<std::uint64_t> graceOfOwner(const Job& job, std::optional<std::uint64_t> asked) const;

    /// EndJob's word on how the leader ended. The owner's ends the job and is not believed, unless the owner made the leader part
    /// of it.
    void reportExit(const JobPtr& job, const ExitState& exit, bool byAdmin);

    /// Goes on with an end that an earlier pinfoldd began.
    void resume(const JobPtr& job);

    /// Looks at the slice: it may have run empty, or vanished.
    void check(const JobPtr& job);

private:
    void stop(const JobPtr& job);
    void leaderGone(const JobPtr& job);
    void supervisorGone(const JobPtr& job);
    void listLeftovers(const JobPtr& job);
    bool isSooner(const Job& job, std::uint64_t asked) const;
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
    std::uint64_t grace(const Job& job) const;
    std::uint64_t usualGrace(const Job& job) const;

    Core& core_;
    OomJudge& judge_;
    Accountant& accountant_;
    UnkillablePolicy& unkillable_;
    ReportWait reports_;
};

} // namespace pinfold
