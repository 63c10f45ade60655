// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <ctime>

namespace pinfold {

/// Microseconds.
inline std::uint64_t clockNow(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

/// CLOCK_REALTIME, microseconds: the time for people.
inline std::uint64_t realTimeNow() { return clockNow(CLOCK_REALTIME); }

/// CLOCK_BOOTTIME, microseconds: goes on while the node sleeps.
inline std::uint64_t bootTimeNow() { return clockNow(CLOCK_BOOTTIME); }

/// CLOCK_MONOTONIC, microseconds: the clock of deadlines.
inline std::uint64_t monotonicNow() { return clockNow(CLOCK_MONOTONIC); }

} // namespace pinfold
