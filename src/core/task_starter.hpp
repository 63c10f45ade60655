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
    };
    using Done = std::function<void(Result<void>)>;

    /// Success: every process is in the scope, or the slice alone is there. Errors: PidGone, AlreadyExists, Busy, SystemdFailed.
    void start(Request request, Done done);

    /// Microseconds from one try to the next, and for all of them.
    struct Patience {
        std::uint64_t interval;
        std::uint64_t total;
    };

private:
    struct Attempt;
    void tryOnce(std::shared_ptr<Attempt> attempt);
    void decide(std::shared_ptr<Attempt> attempt, const SystemdOutcome& outcome);
    void retry(std::shared_ptr<Attempt> attempt, const Patience& patience, Error otherwise);
    Result<bool> isDone(const Request& request) const;
    void finished();

    CoreContext& context_;
    std::size_t inFlight_ = 0;
    std::size_t highest_ = 0; ///< in flight at once since there was none
};

} // namespace pinfold
