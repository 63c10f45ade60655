// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the types of times and durations. The compiler refuses code that mixes up times of different clocks, or a time and
// a duration. Durations are written with the literals of std::chrono, such as 20ms.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace pinfold {

using namespace std::chrono_literals;

/// Is a duration in microseconds. The representation is unsigned, because org.pinfold1, the records and systemd have unsigned
/// microseconds, and so each of their values keeps its meaning: UINT64_MAX means "infinity" and is greater than all others.
using Microseconds = std::chrono::duration<std::uint64_t, std::micro>;

/// Is the duration "infinity": for ever, or no limit.
constexpr Microseconds kForever = Microseconds::max();

/// Reads a clock of the kernel (clock_gettime(2)). Each clock has a type of times of its own.
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

/// CLOCK_BOOTTIME counts from the boot, with the time in which the node was suspended. All time limits use CLOCK_BOOTTIME.
using BootClock = KernelClock<CLOCK_BOOTTIME>;
using BootTime = BootClock::time_point;

/// CLOCK_MONOTONIC counts from the boot, without the time in which the node was suspended. CLOCK_MONOTONIC is for deadlines.
using MonotonicClock = KernelClock<CLOCK_MONOTONIC>;
using MonotonicTime = MonotonicClock::time_point;

/// CLOCK_THREAD_CPUTIME_ID counts the CPU time that the calling thread has used.
using ThreadCpuClock = KernelClock<CLOCK_THREAD_CPUTIME_ID>;

/// Returns the number of microseconds. Only code that writes a format or calls a library needs the number: D-Bus, JSON, sqlite,
/// sd-event, /proc.
constexpr std::uint64_t toUsec(Microseconds duration) { return duration.count(); }
template <clockid_t Id> constexpr std::uint64_t toUsec(std::chrono::time_point<KernelClock<Id>> time) {
    return time.time_since_epoch().count();
}

/// Returns the duration or time (T) with this number of microseconds. Only code that reads a format needs fromUsec().
template <class T> constexpr T fromUsec(std::uint64_t usec) { return T(Microseconds(usec)); }

/// Returns a duration in the form that system calls such as nanosleep(2) take.
constexpr timespec toTimespec(Microseconds duration) {
    return {.tv_sec = static_cast<time_t>(duration / 1s), .tv_nsec = static_cast<long>(duration % 1s / 1us) * 1000};
}

/// Is true for the duration and for the times of this file.
template <class T> constexpr bool kIsTime = false;
template <> inline constexpr bool kIsTime<Microseconds> = true;
template <clockid_t Id> inline constexpr bool kIsTime<std::chrono::time_point<KernelClock<Id>>> = true;

/// Returns the time from `begin` to `end`, and 0 if `end` is before `begin`.
template <class Clock>
constexpr Microseconds timeBetween(std::chrono::time_point<Clock> begin, std::chrono::time_point<Clock> end) {
    return end > begin ? end - begin : Microseconds(0);
}

/// Returns when the node booted. The arguments are the present times of both clocks.
constexpr RealTime bootedAt(RealTime now, BootTime sinceBoot) { return now - sinceBoot.time_since_epoch(); }

/// Returns the time `delay` after `time`, or the last time of the clock if the sum is beyond it, as for kForever.
template <class Clock> constexpr std::chrono::time_point<Clock> after(std::chrono::time_point<Clock> time, Microseconds delay) {
    return time + std::min(delay, std::chrono::time_point<Clock>::max() - time);
}

} // namespace pinfold
