// SPDX-License-Identifier: LGPL-2.1-or-later
// base/clock.hpp has the types of times and durations. The compiler refuses code that mixes up the times of two clocks, and code
// that uses a point in time as a duration. Durations are written with the literals of std::chrono, such as 20ms.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace pinfold {

using namespace std::chrono_literals;

/// Microseconds is the type of a duration, counted in microseconds. The number of microseconds is unsigned, as in org.pinfold1,
/// in the records and in systemd. UINT64_MAX means "infinity", and is greater than all other values.
using Microseconds = std::chrono::duration<std::uint64_t, std::micro>;

/// kForever is the duration "infinity". As a time limit, kForever means "no limit".
constexpr Microseconds kForever = Microseconds::max();

/// Reads a clock of the kernel (clock_gettime(2)). Each clock has its own type for points in time.
template <clockid_t Id> struct KernelClock {
    using duration = Microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<KernelClock>;
    static constexpr bool is_steady = Id != CLOCK_REALTIME;

    static time_point now() {
        timespec time{};
        ::clock_gettime(Id, &time);
        return time_point(
            std::chrono::duration_cast<Microseconds>(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
    }
};

/// CLOCK_REALTIME is for times that people read. A RealTime counts from 1970, in UTC.
using RealClock = KernelClock<CLOCK_REALTIME>;
using RealTime = RealClock::time_point;

/// CLOCK_BOOTTIME counts from the boot of the node, and includes the time in which the node was suspended. The time limits of
/// jobs use CLOCK_BOOTTIME.
using BootClock = KernelClock<CLOCK_BOOTTIME>;
using BootTime = BootClock::time_point;

/// CLOCK_MONOTONIC counts from the boot of the node, without the time in which the node was suspended. CLOCK_MONOTONIC is for
/// deadlines.
using MonotonicClock = KernelClock<CLOCK_MONOTONIC>;
using MonotonicTime = MonotonicClock::time_point;

/// CLOCK_THREAD_CPUTIME_ID counts the CPU time that the calling thread has used.
using ThreadCpuClock = KernelClock<CLOCK_THREAD_CPUTIME_ID>;

/// Returns a duration or a time as a number of microseconds. Call toUsec() only to write a format such as JSON, or to call a
/// library such as sd-event.
constexpr std::uint64_t toUsec(Microseconds duration) { return duration.count(); }
template <clockid_t Id> constexpr std::uint64_t toUsec(std::chrono::time_point<KernelClock<Id>> time) {
    return time.time_since_epoch().count();
}

/// Returns the duration or time (T) for a number of microseconds. Call fromUsec() only to read a format such as JSON.
template <class T> constexpr T fromUsec(std::uint64_t usec) { return T(Microseconds(usec)); }

/// Returns a duration in the form that system calls such as nanosleep(2) take.
constexpr timespec toTimespec(Microseconds duration) {
    return {.tv_sec = static_cast<time_t>(duration / 1s), .tv_nsec = static_cast<long>(duration % 1s / 1us) * 1000};
}

/// kIsTime is true for the type Microseconds and for the types of times in base/clock.hpp.
template <class T> constexpr bool kIsTime = false;
template <> inline constexpr bool kIsTime<Microseconds> = true;
template <clockid_t Id> inline constexpr bool kIsTime<std::chrono::time_point<KernelClock<Id>>> = true;

/// Returns the time from `begin` to `end`, and 0 if `end` is before `begin`.
template <class Clock>
constexpr Microseconds timeBetween(std::chrono::time_point<Clock> begin, std::chrono::time_point<Clock> end) {
    return end > begin ? end - begin : Microseconds(0);
}

/// Returns the time at which the node booted. `now` is the present time of CLOCK_REALTIME, and `sinceBoot` is the present time of
/// CLOCK_BOOTTIME.
constexpr RealTime bootedAt(RealTime now, BootTime sinceBoot) { return now - sinceBoot.time_since_epoch(); }

/// Returns the sum of `time` and `delay`. If the sum of `time` and `delay` is too large, the result is the latest time that the
/// type can hold. `delay` can be kForever.
template <class Clock> constexpr std::chrono::time_point<Clock> after(std::chrono::time_point<Clock> time, Microseconds delay) {
    return time + std::min(delay, std::chrono::time_point<Clock>::max() - time);
}

} // namespace pinfold
