// SPDX-License-Identifier: LGPL-2.1-or-later
// Ends the jobs when somebody shuts the node down in an orderly way. PID 1 stops their scopes first, then pinfoldd, then their
// slices and the bus (unit_properties.cpp, pinfoldd.service).
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"

#include <functional>

namespace pinfold {

class NodeShutdown {
public:
    NodeShutdown(Core& core, JobEnder& ender) : core_(core), ender_(ender) {}

    /// Call this when PID 1 has begun the shutdown. After begin(), pinfoldd takes no new job. begin() also begins the end of each
    /// live job with JobResult::NodeShutdown.
    void begin();
    /// Call this when PID 1 has stopped the jobs' scopes and pinfoldd is to exit. finish() calls `done` once all jobs have their
    /// receipts, or after 30 s, because a process that hangs in the kernel must not delay the shutdown.
    void finish(std::function<void()> done);
    /// Call this whenever a job is over.
    void jobIsOver();

private:
    Core& core_;
    JobEnder& ender_;
    std::function<void()> done_;
    EventHandle timer_;
};

/// Returns true if PID 1 may have ended the job because PID 1 shuts the node down. PID 1's announcement of the shutdown may still
/// be on its way.
bool mayBeOfShutdown(const Core& core, const Job& job);
/// Returns the final result of a job that ended with `result`. The final result is NodeShutdown if the shutdown explains that
/// end, and otherwise `result`.
JobResult resultAtShutdown(const Core& core, const Job& job, JobResult result);

} // namespace pinfold
