// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings processes into a scope of a job, and believes it only when /proc says so.
#pragma once

#include "base/result.hpp"
#include "core/context.hpp"
#include "model/job_key.hpp"
#include "systemd/unit_properties.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

namespace pinfold {

class TaskStarter {
public:
    explicit TaskStarter(CoreContext& context) : context_(context) {}

    struct Request {
        JobKey key;
        std::uint32_t task = 0;
        TaskProperties properties;
        std::vector<pid_t> pids; ///< none: the slice alone
        bool withSlice = true;   ///< the job's slice is made in the same transaction
        bool mayBeThere = false; ///< an earlier pinfoldd has begun with it, and systemd has units of it loaded
    };
    /// Success: every process is in the scope, or the slice alone is there. Errors: PidGone, AlreadyExists, Busy, JobEnding,
    /// SystemdFailed.
    struct Outcome {
        Result<void> result;
        bool begun = false; ///< systemd has begun to make units of it. False: whatever units there are, they are somebody else's
    };
    struct Callbacks {
        std::function<void(const Outcome&)> done; ///< exactly once, when PID 1 has done it or never will
        /// At most once, before done: PID 1 has not answered for 45 s. It may do it yet, and done comes when it answers again.
        std::function<void(const Error&)> overdue;
        std::function<bool()> wanted; ///< false: it is not tried again
    };
    void start(Request request, Callbacks callbacks);

    /// Microseconds from one try to the next, and for all of them.
    struct Patience {
        std::uint64_t interval;
        std::uint64_t total;
        bool mayComeYet; ///< what was asked for may be done after that
    };

private:
    struct Attempt;
    void tryOnce(std::shared_ptr<Attempt> attempt);
    void decide(std::shared_ptr<Attempt> attempt, const SystemdOutcome& outcome);
    void retry(std::shared_ptr<Attempt> attempt, const Patience& patience, Error otherwise);
    void waitForSystemd(std::shared_ptr<Attempt> attempt, Error otherwise);
    void askSystemd(const std::shared_ptr<Attempt>& attempt, const Error& otherwise);
    /// True: it is done, in one way or the other, and has been told.
    bool lookAndTell(Attempt& attempt) const;
    Result<bool> isDone(const Request& request) const;
    void finished();

    CoreContext& context_;
    std::size_t inFlight_ = 0;
    std::size_t highest_ = 0; ///< in flight at once since there was none
};

} // namespace pinfold
