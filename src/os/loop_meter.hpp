// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>

namespace pinfold {

/// Measures how long a thread slept in system calls. From the wall time, LoopMeter subtracts the time in which the thread ran or
/// waited for a CPU. A measurement costs some microseconds, so pinfoldd uses a LoopMeter only if the environment has the variable
/// PINFOLD_LOOP_METER.
class LoopMeter {
public:
    /// If the thread sleeps in system calls for longer than kTooLong during one turn, the loop has made a blocking call.
    static constexpr Microseconds kTooLong = 100ms;

    /// Measures the thread that constructs the LoopMeter.
    LoopMeter();
    void begin();
    /// Returns how long the thread has slept since begin(). If the kernel had to read a page from a disk, slept() returns 0.
    /// While the kernel reads a page, the thread sleeps outside of any system call.
    Microseconds slept() const;

private:
    struct Times {
        MonotonicTime wall{};
        ThreadCpuClock::time_point ran{};
        Microseconds delayed{};
        long faults = 0;
    };
    Times now() const;

    UniqueFd schedstat_;
    Times begun_;
};

} // namespace pinfold
