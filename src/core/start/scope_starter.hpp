// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings processes into a scope of a job. ScopeStarter believes that a process is in the scope only if /proc says so while the
// process still lives.
//
// systemd takes the numbers of processes, and acts on the numbers later. By then an ordinary user's process may have ended, and
// its number may belong to another process. (From 257 on systemd takes pidfds and checks them once more, but then still writes
// the number: see src/core/cgroup.c of systemd.) So pinfoldd has systemd start the scope with a placeholder, and ProcessMover
// moves the processes. pinfoldd names to systemd only processes that nobody but root can end.
#pragma once

#include "base/result.hpp"
#include "core/context.hpp"
#include "core/job.hpp"
#include "systemd/unit_properties.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace pinfold {

/// While pinfoldd does not know the outcome of a start, it asks systemd again after this many microseconds.
inline constexpr std::uint64_t kAskSystemdAgain = 1'000'000;

class ScopeStarter {
public:
    explicit ScopeStarter(CoreContext& context) : context_(context) {}

    struct Request {
        std::uint32_t task = 0;
        TaskProperties properties;
        std::vector<Newcomer> processes; ///< if empty, ScopeStarter starts only the slice
        bool withSlice = true;           ///< ScopeStarter makes the job's slice in the same transaction
        bool mayBeThere = false;         ///< an earlier pinfoldd has begun this start, and systemd has loaded units of it
    };
    /// Says how a start ended. After a success, every process that has not ended is in the scope, and at least one is. If the
    /// request has no processes, a success means that the slice exists. Errors: PidGone, AlreadyExists, Busy, JobEnding,
    /// SystemdFailed.
    struct Outcome {
        Result<void> result;
        bool begun = false; ///< systemd has begun to make units for the start; if false, existing units of that name belong to
                            ///< somebody else
    };
    struct Callbacks {
        std::function<void(const Outcome&)> done; ///< ScopeStarter calls it exactly once, when PID 1 has done the start or never
                                                  ///< will
        /// ScopeStarter calls it at most once, and before `done`, when PID 1 has not answered for 45 s. PID 1 may still do the
        /// start, and ScopeStarter calls `done` when PID 1 answers again.
        std::function<void(const Error&)> overdue;
        std::function<bool()> wanted; ///< if it returns false, ScopeStarter does not try the start again
    };
    void start(const JobPtr& job, Request request, Callbacks callbacks);

    /// Says how many microseconds pass from one try to the next, and how many all tries together may take.
    struct Patience {
        std::uint64_t interval;
        std::uint64_t total;
        bool mayComeYet; ///< when that time is over, PID 1 may still do the start
    };

private:
    struct Attempt;
    using AttemptPtr = std::shared_ptr<Attempt>;
    void tryOnce(AttemptPtr attempt);
    void decide(AttemptPtr attempt, const SystemdOutcome& outcome);
    void freeName(const AttemptPtr& attempt, const Error& taken);
    void after(const AttemptPtr& attempt, std::uint64_t delay, std::function<void(const AttemptPtr&)> act);
    void retry(AttemptPtr attempt, const Patience& patience, Error otherwise);
    void waitForSystemd(AttemptPtr attempt, Error otherwise);
    void askSystemd(const AttemptPtr& attempt, const Error& otherwise);
    /// Looks at the scope. If the start has succeeded or failed, or only the moves of processes are left, tells the caller (after
    /// the moves) and returns true.
    bool lookAndTell(const AttemptPtr& attempt);
    Result<bool> isDone(const Attempt& attempt) const;
    Result<pid_t> placeholderFor(Attempt& attempt) const;
    bool holdsPlace(const Attempt& attempt) const;
    void letIn(const AttemptPtr& attempt);
    struct Moves;
    void moved(const AttemptPtr& attempt, const Moves& moves);
    void warn(const JobKey& key, const std::vector<std::string>& troubles) const;
    void finish(const AttemptPtr& attempt, const Result<void>& result);
    void tell(const AttemptPtr& attempt, Result<void> result);
    void releaseInDoubt();
    void finished();

    CoreContext& context_;
    std::map<AttemptPtr, EventHandle> waiting_; ///< attempts that wait, with their timers
    std::vector<pid_t> inDoubt_;                ///< placeholders that are not needed any more, but must keep their numbers
    bool asksForDoubt_ = false;
    EventHandle doubtTimer_;
    std::size_t inFlight_ = 0;
    std::size_t highest_ = 0; ///< the most starts in flight at once, since the last time when no start was in flight
};

} // namespace pinfold
