// SPDX-License-Identifier: LGPL-2.1-or-later
// What becomes of the jobs when the node is shut down in an orderly way. PID 1 stops their scopes first, then pinfoldd, then
// their slices and the bus (unit_properties.cpp, pinfoldd.service).
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"

#include <functional>

namespace pinfold {

class NodeShutdown {
public:
    NodeShutdown(Core& core, JobEnder& ender) : core_(core), ender_(ender) {}

    /// Call this when PID 1 has begun the shutdown. From now on pinfoldd takes no job, and the end of each live job begins with
    /// JobResult::NodeShutdown.
    void begin();
    /// Call this when PID 1 has stopped the jobs' scopes and pinfoldd is to exit. `done` is called once all jobs have their
    /// receipts, or after 30 s, since a process that hangs in the kernel must not delay the shutdown.
    void finish(std::function<void()> done);
    /// Call this whenever a job is over.
    void jobIsOver();

private:
    Core& core_;
    JobEnder& ender_;
    std::function<void()> done_;
    EventHandle timer_;
};

/// True: PID 1 may have ended the job because it shuts the node down, and its announcement may still be on its way.
bool mayBeOfShutdown(const Core& core, const Job& job);
/// The result of a job for whose end pinfoldd saw another cause, `result`: NodeShutdown if the shutdown explains that end, else
/// `result`.
JobResult resultAtShutdown(const Core& core, const Job& job, JobResult result);

} // namespace pinfold
