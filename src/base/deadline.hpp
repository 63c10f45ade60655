// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace pinfold {

/// Returns a duration as a timeout of poll(2). pollTimeout() rounds the duration up, so that the whole duration has passed when
/// poll(2) returns.
inline int pollTimeout(Microseconds time) { return static_cast<int>(std::min<std::uint64_t>((time + 999us) / 1ms, INT32_MAX)); }

class Deadline {
public:
    /// A deadline that is kForever from now never passes.
    explicit Deadline(Microseconds fromNow) : at_(after(MonotonicClock::now(), fromNow)) {}

    bool passed() const { return MonotonicClock::now() >= at_; }
    /// Returns the time until the deadline.
    Microseconds remaining() const { return timeBetween(MonotonicClock::now(), at_); }
    /// Returns the number of milliseconds until the deadline, for poll(2). remainingMs() rounds up, so that the deadline has
    /// passed when poll(2) returns.
    int remainingMs() const { return pollTimeout(remaining()); }

private:
    MonotonicTime at_;
};

} // namespace pinfold
