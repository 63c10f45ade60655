// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <ctime>

namespace pinfold {

/// Returns the time of a clock in microseconds.
inline std::uint64_t clockNow(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

/// Returns CLOCK_REALTIME in microseconds. CLOCK_REALTIME is for times that people read.
inline std::uint64_t realTimeNow() { return clockNow(CLOCK_REALTIME); }

/// Returns CLOCK_BOOTTIME in microseconds. CLOCK_BOOTTIME also counts the time while the node is suspended.
inline std::uint64_t bootTimeNow() { return clockNow(CLOCK_BOOTTIME); }

/// Returns CLOCK_MONOTONIC in microseconds. CLOCK_MONOTONIC is for deadlines.
inline std::uint64_t monotonicNow() { return clockNow(CLOCK_MONOTONIC); }

} // namespace pinfold
