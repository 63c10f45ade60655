// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts the scope of a task, and moves processes into the scope. Before ScopeStarter reports a success, ScopeStarter checks in
// /proc that every live process is in the scope.
//
// A call to systemd contains process ids, and systemd moves the processes some time after the call. Before systemd moves a user's
// process, the process can end, and a new process can get the process id of the ended process. systemd 257 and later accept
// pidfds, and check each pidfd before the move. systemd uses the pidfd only for the check, and uses the process id for the move
// (src/core/cgroup.c of systemd). For users' processes, pinfoldd lets systemd start the scope with only a placeholder process.
// After the start, ProcessMover moves the users' processes into the scope. Only root can end a placeholder, so the process id of
// a placeholder always means the placeholder. If all processes belong to root, pinfoldd passes the process ids of root's
// processes to systemd.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/context.hpp"
#include "core/job.hpp"
#include "systemd/unit_properties.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace pinfold {

/// If pinfoldd does not know the outcome of a start, pinfoldd asks systemd again after kAskSystemdAgain.
inline constexpr Microseconds kAskSystemdAgain = 1s;

class ScopeStarter {
public:
    explicit ScopeStarter(CoreContext& context) : context_(context) {}

    struct Request {
        std::uint32_t task = 0;
        TaskProperties properties;
        std::vector<Newcomer> processes; ///< the processes for the scope; if there are none, ScopeStarter starts only the slice
        bool withSlice = true;           ///< ScopeStarter creates the job's slice in the same transaction as the scope
        bool mayBeThere = false;         ///< an earlier pinfoldd has begun to start the units, and systemd has loaded them
    };
    /// Says how a start ended. After a success, the scope contains all live processes of the request, and at least one process.
    /// If a request without processes succeeds, the job's slice exists. A start fails with PidGone, AlreadyExists, Busy,
    /// JobEnding or SystemdFailed.
    struct Outcome {
        Result<void> result;
        /// If `begun` is true, systemd has begun to create the units. If `begun` is false, an existing unit with the name of the
        /// scope or the slice belongs to another program.
        bool begun = false;
    };
    struct Callbacks {
        /// ScopeStarter calls `done` exactly once, when the outcome of the start is known.
        std::function<void(const Outcome&)> done;
        /// If PID 1 has not answered for 45 s, ScopeStarter calls `overdue` once, before it calls `done`. PID 1 can start the
        /// scope even after the call of `overdue`. When PID 1 answers again, ScopeStarter calls `done`.
        std::function<void(const Error&)> overdue;
        std::function<bool()> wanted; ///< if `wanted` returns false, ScopeStarter does not try the start again
    };
    void start(const JobPtr& job, Request request, Callbacks callbacks);

    /// Says how long ScopeStarter waits between two tries, and how long all tries together can take.
    struct Patience {
        Microseconds interval;
        Microseconds total;
        bool mayComeYet; ///< true if PID 1 can start the scope even after the period Patience::total
    };

private:
    struct Attempt;
    using AttemptPtr = std::shared_ptr<Attempt>;
    void tryOnce(AttemptPtr attempt);
    void decide(AttemptPtr attempt, const SystemdOutcome& outcome);
    void freeName(const AttemptPtr& attempt, const Error& taken);
    void after(const AttemptPtr& attempt, Microseconds delay, std::function<void(const AttemptPtr&)> act);
    void retry(AttemptPtr attempt, const Patience& patience, Error otherwise);
    void waitForSystemd(AttemptPtr attempt, Error otherwise);
    void askSystemd(const AttemptPtr& attempt, const Error& otherwise);
    /// Checks whether the start of the scope has ended. If the start has succeeded or failed, lookAndTell() informs the caller
    /// and returns true. If the scope holds only its placeholder, lookAndTell() begins to move the processes into the scope, and
    /// returns true. When the processes are in the scope, ScopeStarter tells the caller the outcome.
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
    std::map<AttemptPtr, EventHandle> waiting_; ///< the key is a waiting Attempt; the value is the timer that ends the wait
    std::vector<pid_t> inDoubt_; ///< placeholders that ScopeStarter does not need any more, but must not release yet
    bool asksForDoubt_ = false;
    EventHandle doubtTimer_;
    std::size_t inFlight_ = 0;
    std::size_t highest_ = 0; ///< the greatest number of simultaneous starts since inFlight_ was last 0
};

} // namespace pinfold
