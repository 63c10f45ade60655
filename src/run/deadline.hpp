// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace pinfold {

/// CLOCK_MONOTONIC, microseconds.
inline std::uint64_t monotonicNow() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

class Deadline {
public:
    explicit Deadline(std::uint64_t fromNowUsec) : at_(monotonicNow() + fromNowUsec) {}

    bool passed() const { return monotonicNow() >= at_; }
    /// The microseconds that are left.
    std::uint64_t remaining() const {
        const auto now = monotonicNow();
        return now >= at_ ? 0 : at_ - now;
    }
    /// The milliseconds that are left, for poll(2). They are rounded up, so that the deadline has passed when poll returns.
    int remainingMs() const {
        const auto now = monotonicNow();
        return now >= at_ ? 0 : static_cast<int>(std::min<std::uint64_t>((at_ - now + 999) / 1000, INT32_MAX));
    }

private:
    std::uint64_t at_;
};

} // namespace pinfold
