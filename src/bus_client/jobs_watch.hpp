// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pinfold {

/// Waits for the ends of many jobs at once, on a connection of its own.
class JobsWatch {
public:
    /// Connects to the system bus. Error: Unreachable.
    static Result<JobsWatch> connect();
    JobsWatch(JobsWatch&&) noexcept;
    JobsWatch& operator=(JobsWatch&&) noexcept;
    ~JobsWatch();

    /// Returns when one of these jobs, or a job of an earlier call, is over and its receipt durable. It watches 64 jobs at once,
    /// and the others when these are over. `timeout`: microseconds. Errors: TimedOut; Unreachable, also when pinfoldd restarts,
    /// and then this object cannot be used any more; others as for WaitJob.
    Result<void> untilOneEnds(const std::vector<std::string>& keys, std::uint64_t timeout);

private:
    struct Impl;
    explicit JobsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
