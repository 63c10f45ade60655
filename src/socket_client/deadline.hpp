// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <algorithm>
#include <cstdint>

namespace pinfold {

class Deadline {
public:
    /// `fromNowUsec` is in microseconds; UINT64_MAX means never.
    explicit Deadline(std::uint64_t fromNowUsec) {
        const auto now = monotonicNow();
        at_ = now + std::min(fromNowUsec, UINT64_MAX - now);
    }

    bool passed() const { return monotonicNow() >= at_; }
    /// Returns the number of microseconds until the deadline.
    std::uint64_t remaining() const {
        const auto now = monotonicNow();
        return now >= at_ ? 0 : at_ - now;
    }
    /// Returns the number of milliseconds until the deadline, for poll(2). The result is rounded up, so that the deadline has
    /// passed when poll(2) returns.
    int remainingMs() const {
        const auto now = monotonicNow();
        return now >= at_ ? 0 : static_cast<int>(std::min<std::uint64_t>((at_ - now + 999) / 1000, INT32_MAX));
    }

private:
    std::uint64_t at_;
};

} // namespace pinfold
