// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <functional>

namespace pinfold {

/// Decides when pinfold-ship sends the next lot of receipts. Thousands of nodes send receipts to one archive. Many nodes may
/// start, or lose the connection to the archive, in the same second. So Schedule spreads the times of sending at random.
class Schedule {
public:
    static constexpr Microseconds kFirst = 2s;       ///< the longest time from the start to the first lot of receipts
    static constexpr Microseconds kLongest = 60s;    ///< the longest time for which a receipt waits if the archive answers
    static constexpr Microseconds kHeartbeat = 5min; ///< the longest time from one lot to the next, even without new receipts
    static constexpr Microseconds kLeastRetry = 1s;
    static constexpr Microseconds kMostRetry = 10min;
    /// The longest pause after failures of pinfoldd. The pause is shorter than kMostRetry, because pinfoldd serves only this
    /// node.
    static constexpr Microseconds kMostLocalRetry = 30s;

    /// `random` returns numbers from 0 to 1.
    Schedule(BootTime now, std::function<double()> random);

    /// Call waiting() when receipts wait to be sent. After this call, the next lot is due within kLongest.
    void waiting(BootTime now);
    /// Call urgent() when some of the waiting receipts should be sent at once.
    void urgent(BootTime now);
    /// Call succeeded() when the archive has taken a lot. If `more` is true, the next lot is due at once.
    void succeeded(BootTime now, bool more);
    /// Call failed() when a lot could not be sent. The time until the next try doubles with each failure, up to `most`.
    void failed(BootTime now, Microseconds most = kMostRetry);
    /// Call retry() when an attempt that failed may now succeed. After a call of retry(), the next try is due at once.
    void retry(BootTime now);

    /// Returns the time at which the next lot is due.
    BootTime next() const { return due_; }
    bool due(BootTime now) const { return now >= due_; }

private:
    static Microseconds part(Microseconds whole, double share);

    std::function<double()> random_;
    BootTime due_;
    Microseconds pause_{}; ///< the time between the last failure and the next try; 0 after a success
};

} // namespace pinfold
