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
    /// The system bus. Error: Unreachable.
    static Result<JobsWatch> connect();
    JobsWatch(JobsWatch&&) noexcept;
    JobsWatch& operator=(JobsWatch&&) noexcept;
    ~JobsWatch();

    /// Returns when one of these jobs is over and its receipt durable, or one that an earlier call was told of. Of more than 64
    /// jobs the others are looked at when these are over. `timeout` in microseconds. Errors: TimedOut; Unreachable also when
    /// pinfoldd restarts, and this object is of no use then; others as WaitJob's.
    Result<void> untilOneEnds(const std::vector<std::string>& keys, std::uint64_t timeout);

private:
    struct Impl;
    explicit JobsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
