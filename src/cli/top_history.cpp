// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/top_history.hpp"

#include "wording/profile_text.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace pinfold {
namespace {

// pinfoldd looks at an old job only every 30 s (the default of profile.interval), and at a young job more often. After a call for
// the profile of a job, TopHistories waits before the next call for the same profile. The waiting time is equal to the age of the
// job, but is at least kLeastWait and at most kMostWait.
constexpr Microseconds kLeastWait = 5s;
constexpr Microseconds kMostWait = 30s;
constexpr Microseconds kPause = 10s; // the pause after a call that pinfoldd did not answer

std::string draw(const Profile& profile, Curve curve) {
    const auto values = valuesOf(profile, curve, kHistoryCells);
    return sparkline(values, *std::ranges::max_element(values));
}

/// Returns true if a call about every other job would fail with the error `code`, too.
bool concernsAllJobs(ErrorCode code) {
    return code == ErrorCode::Unreachable || code == ErrorCode::TimedOut || code == ErrorCode::Busy;
}

} // namespace

std::optional<TopHistory> TopHistories::of(const TopRow& row, MonotonicTime now) {
    auto& known = known_[row.job.key];
    if (known.created != row.job.created)
        known = {.created = row.job.created};
    if (now >= known.askAgain && mayAsk(now))
        ask(row, now, known);
    return known.history;
}

void TopHistories::keepOnly(const std::vector<TopRow>& rows) {
    std::unordered_set<std::string_view> keys;
    for (const auto& row : rows)
        keys.insert(row.job.key);
    std::erase_if(known_, [&keys](const auto& entry) { return !keys.contains(entry.first); });
}

bool TopHistories::mayAsk(MonotonicTime now) {
    if (timeBetween(second_, now) >= 1s) {
        second_ = now;
        calls_ = 0;
    }
    return now >= pausedUntil_ && calls_ < kMostCalls;
}

void TopHistories::ask(const TopRow& row, MonotonicTime now, Known& known) {
    ++calls_;
    const auto profile = ask_(row.job.key);
    if (!profile && concernsAllJobs(profile.error().code)) {
        pausedUntil_ = now + kPause;
        return;
    }
    known.askAgain = now + std::clamp(row.age, kLeastWait, kMostWait);
    known.history.reset();
    if (profile && !profile->empty())
        known.history = TopHistory{draw(*profile, Curve::Memory), draw(*profile, Curve::Cpu)};
}

} // namespace pinfold
