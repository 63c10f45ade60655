// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace pinfold {

/// Computes the time that is left of a time limit.
class Countdown {
public:
    explicit Countdown(std::optional<std::uint64_t> timeout) {
        if (timeout)
            end_ = Clock::now() + std::chrono::microseconds(std::min(*timeout, kMost));
    }
    /// Returns the time that is left, in microseconds. Without a time limit, returns UINT64_MAX.
    std::uint64_t left() const {
        if (!end_)
            return UINT64_MAX;
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(*end_ - Clock::now()).count();
        return left > 0 ? static_cast<std::uint64_t>(left) : 0;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kMost = 100ULL * 365 * 86'400 * 1'000'000; // the most that the clock can add
    std::optional<Clock::time_point> end_;
};

} // namespace pinfold
