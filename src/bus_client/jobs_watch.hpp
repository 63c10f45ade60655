// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pinfold {

/// Watches many jobs at the same time, and waits until the jobs end. Each JobsWatch has a connection of its own to the bus.
class JobsWatch {
public:
    /// Connects to the system bus. Error: Unreachable.
    static Result<JobsWatch> connect();
    JobsWatch(JobsWatch&&) noexcept;
    JobsWatch& operator=(JobsWatch&&) noexcept;
    ~JobsWatch();

    /// Waits until a job is over and the receipt of the job is durable. untilOneEnds() waits for the jobs in `keys`, and for the
    /// jobs in the `keys` of all earlier calls. JobsWatch watches at most 64 jobs at the same time. When a watched job is over,
    /// JobsWatch begins to watch the next job in `keys`. Fails with TimedOut, Unreachable or an error of WaitJob. If pinfoldd
    /// restarts, the error is Unreachable, and the caller must not use the JobsWatch any more.
    Result<void> untilOneEnds(const std::vector<std::string>& keys, Microseconds timeout);

private:
    struct Impl;
    explicit JobsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
