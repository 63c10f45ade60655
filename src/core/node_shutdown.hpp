// SPDX-License-Identifier: LGPL-2.1-or-later
// What becomes of the jobs when the node is shut down in an orderly way. PID 1 stops their scopes first, then pinfoldd, then
// their slices and the bus (unit_properties.cpp, pinfoldd.service).
#pragma once

#include "core/core.hpp"
#include "core/job_ender.hpp"

#include <functional>

namespace pinfold {

class NodeShutdown {
public:
    NodeShutdown(Core& core, JobEnder& ender) : core_(core), ender_(ender) {}

    /// PID 1 has begun. From now on no job is taken, and the end of each live one begins with JobResult::NodeShutdown.
    void begin();
    /// PID 1 has stopped the jobs' scopes, and pinfoldd is to exit: `done` is called once all jobs have their receipts, or after
    /// 30 s, since what hangs in the kernel must not hold the shutdown up.
    void finish(std::function<void()> done);
    /// Called whenever a job is over.
    void jobIsOver();

private:
    Core& core_;
    JobEnder& ender_;
    std::function<void()> done_;
    EventHandle timer_;
};

/// PID 1 may have ended the job because it shuts the node down, and its word is on its way still.
bool mayBeOfShutdown(const Core& core, const Job& job);
/// The result of a job whose end pinfoldd took for another than the shutdown's.
JobResult resultAtShutdown(const Core& core, const Job& job, JobResult result);

} // namespace pinfold
