// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>

namespace pinfold {

/// Measures how long a thread slept in system calls: the wall time without the time in which the thread ran or waited for a CPU.
/// A measurement costs some microseconds, so only debug builds use a LoopMeter.
class LoopMeter {
public:
    /// If one turn of the loop slept longer than this many microseconds, it has made a call that may block.
    static constexpr std::uint64_t kTooLong = 100'000;

    /// Measures the thread that constructs the LoopMeter.
    LoopMeter();
    void begin();
    /// Returns how many microseconds the thread has slept since begin(). Returns 0 if the kernel had to read a page from a disk,
    /// because such a wait is not a system call of pinfoldd.
    std::uint64_t slept() const;

private:
    struct Times {
        std::uint64_t wall = 0; ///< in microseconds
        std::uint64_t ran = 0;
        std::uint64_t delayed = 0;
        long faults = 0;
    };
    Times now() const;

    UniqueFd schedstat_;
    Times begun_;
};

} // namespace pinfold
