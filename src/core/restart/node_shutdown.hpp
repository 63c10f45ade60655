// SPDX-License-Identifier: LGPL-2.1-or-later
// Ends the jobs when somebody shuts the node down in an orderly way. At a shutdown, PID 1 first stops the scopes of the jobs, and
// then stops pinfoldd. PID 1 stops the bus and the jobs' slices only after pinfoldd has stopped (unit_properties.cpp,
// pinfoldd.service).
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"

#include <functional>

namespace pinfold {

class NodeShutdown {
public:
    NodeShutdown(Core& core, JobEnder& ender) : core_(core), ender_(ender) {}

    /// Call begin() when PID 1 has begun to shut the node down. After the call of begin(), pinfoldd takes no new jobs. The
    /// function begin() begins to end all live jobs with the result JobResult::NodeShutdown. `since` is the time at which the
    /// shutdown was announced.
    void begin(BootTime since);
    /// Call finish() when PID 1 has stopped the scopes of the jobs and pinfoldd has to exit. When all jobs have their receipts,
    /// finish() calls `done`. A process that hangs in the kernel must not delay the shutdown, so finish() calls `done` after 30
    /// s at the latest.
    void finish(std::function<void()> done);
    /// Call jobIsOver() each time a job is over.
    void jobIsOver();

private:
    Core& core_;
    JobEnder& ender_;
    std::function<void()> done_;
    EventHandle timer_;
};

/// Returns true if a shutdown of the node has possibly ended the job. The announcement of a shutdown possibly reaches pinfoldd
/// only after the end of the job.
bool mayBeOfShutdown(const Core& core, const Job& job);
/// Returns the final result of a job. The argument `result` is the job's result without regard to a shutdown of the node. If a
/// shutdown of the node has caused the end of the job, the final result is NodeShutdown. If no shutdown has caused the end of the
/// job, resultAtShutdown() returns `result`.
JobResult resultAtShutdown(const Core& core, const Job& job, JobResult result);

} // namespace pinfold
