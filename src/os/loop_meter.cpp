// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/loop_meter.hpp"

#include "base/clock.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string_view>

namespace pinfold {
namespace {

/// Reads the second number of /proc/thread-self/schedstat (Documentation/scheduler/sched-stats.rst). The second number in
/// schedstat says for how many nanoseconds the thread was ready to run but had no CPU.
Microseconds runDelay(int schedstat) {
    std::array<char, 128> text{};
    const auto length = ::pread(schedstat, text.data(), text.size(), 0);
    const std::string_view words(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    const auto space = words.find(' ');
    std::uint64_t nsec = 0;
    if (space != std::string_view::npos)
        (void)std::from_chars(words.data() + space + 1, words.data() + words.size(), nsec);
    return fromUsec<Microseconds>(nsec / 1000);
}

} // namespace

LoopMeter::LoopMeter() : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

void LoopMeter::begin() {
    begun_ = now();
    // The machine can stop the thread between two of the readings of now(). A stop before the wall clock is read must not count
    // as time in which the thread slept, so begin() reads the wall clock last, and slept() reads it first.
    begun_.wall = MonotonicClock::now();
}

Microseconds LoopMeter::slept() const {
    const auto end = now();
    if (end.faults != begun_.faults)
        return 0s;
    const auto wall = end.wall - begun_.wall;
    const auto busy = end.ran - begun_.ran + end.delayed - begun_.delayed;
    return wall - std::min(wall, busy);
}

LoopMeter::Times LoopMeter::now() const {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {MonotonicClock::now(), ThreadCpuClock::now(), runDelay(schedstat_.get()), usage.ru_majflt};
}

} // namespace pinfold
