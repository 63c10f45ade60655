// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pinfold {

/// Waits for the ends of many jobs at once, on its own connection to the bus.
class JobsWatch {
public:
    /// Connects to the system bus. Error: Unreachable.
    static Result<JobsWatch> connect();
    JobsWatch(JobsWatch&&) noexcept;
    JobsWatch& operator=(JobsWatch&&) noexcept;
    ~JobsWatch();

    /// Returns when one of these jobs, or a job of an earlier call, is over and its receipt is durable. JobsWatch watches 64 jobs
    /// at once. JobsWatch watches the other jobs when some of the 64 are over. `timeout` is in microseconds. Errors: TimedOut;
    /// Unreachable, also if pinfoldd restarts (do not use the JobsWatch any more after that); and those of WaitJob.
    Result<void> untilOneEnds(const std::vector<std::string>& keys, std::uint64_t timeout);

private:
    struct Impl;
    explicit JobsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
