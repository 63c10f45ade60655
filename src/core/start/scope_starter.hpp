// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings processes into a scope of a job. Believes that they are in it only when /proc says so while their pidfds live.
//
// systemd takes the numbers of processes, and acts on them later. By then an ordinary user's process may have ended, and its
// number may be another process's. (From 257 on systemd takes pidfds, looks at them once more, and then still writes the number:
// its src/core/cgroup.c.) So the scope is started with a placeholder, and ProcessMover moves the processes. Only processes that
// nobody but root can end are named to systemd.
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

/// Microseconds from one question to systemd to the next, about a start whose outcome is not known.
inline constexpr std::uint64_t kAskSystemdAgain = 1'000'000;

class ScopeStarter {
public:
    explicit ScopeStarter(CoreContext& context) : context_(context) {}

    struct Request {
        std::uint32_t task = 0;
        TaskProperties properties;
        std::vector<Newcomer> processes; ///< empty: only the slice is started
        bool withSlice = true;           ///< the job's slice is made in the same transaction
        bool mayBeThere = false;         ///< an earlier pinfoldd has begun with this start, and systemd has loaded units of it
    };
    /// Success: the scope has every process that has not ended, and at least one. Without processes: the slice exists. Errors:
    /// PidGone, AlreadyExists, Busy, JobEnding, SystemdFailed.
    struct Outcome {
        Result<void> result;
        bool begun = false; ///< systemd has begun to make units for it. False: existing units of that name are somebody else's
    };
    struct Callbacks {
        std::function<void(const Outcome&)> done; ///< called exactly once, when PID 1 has done it or never will
        /// Called at most once, before done: PID 1 has not answered for 45 s. PID 1 may still do it, and done is called when PID
        /// 1 answers again.
        std::function<void(const Error&)> overdue;
        std::function<bool()> wanted; ///< false: the start is not tried again
    };
    void start(const JobPtr& job, Request request, Callbacks callbacks);

    /// Microseconds from one try to the next, and for all tries together.
    struct Patience {
        std::uint64_t interval;
        std::uint64_t total;
        bool mayComeYet; ///< PID 1 may still do what was asked for after that time
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
    /// True: the start has succeeded or failed, and the caller has been told.
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
    std::map<AttemptPtr, EventHandle> waiting_; ///< their timers
    std::vector<pid_t> inDoubt_;                ///< placeholders that have done their work, and whose numbers are kept
    bool asksForDoubt_ = false;
    EventHandle doubtTimer_;
    std::size_t inFlight_ = 0;
    std::size_t highest_ = 0; ///< the most starts in flight at once since there was none
};

} // namespace pinfold
