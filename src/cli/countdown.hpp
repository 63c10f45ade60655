// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <optional>

namespace pinfold {

/// Computes how much time is left until a time limit is over.
class Countdown {
public:
    explicit Countdown(std::optional<Microseconds> timeout) {
        if (timeout)
            end_ = MonotonicClock::now() + std::min(*timeout, kMost);
    }
    /// Returns the time until the countdown ends. Without a time limit, the result is kForever.
    Microseconds left() const { return end_ ? timeBetween(MonotonicClock::now(), *end_) : kForever; }

private:
    // The longest time limit is a century, so that the sum of the present time and the limit cannot overflow.
    static constexpr Microseconds kMost = 100 * 365 * 24h;
    std::optional<MonotonicTime> end_;
};

} // namespace pinfold
