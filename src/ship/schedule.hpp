// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <functional>

namespace pinfold {

/// Decides when pinfold-ship sends the next lot. Thousands of nodes send to one archive, and many of them start or lose the
/// archive in the same second, so all times are spread at random.
class Schedule {
public:
    static constexpr Microseconds kFirst = 2s;       ///< the longest time from the start to the first lot
    static constexpr Microseconds kLongest = 60s;    ///< the longest time for which a receipt waits if the archive answers
    static constexpr Microseconds kHeartbeat = 5min; ///< the longest time from one lot to the next, with or without receipts
    static constexpr Microseconds kLeastRetry = 1s;
    static constexpr Microseconds kMostRetry = 10min;
    static constexpr Microseconds kMostLocalRetry = 30s; ///< for pinfoldd, which serves only this node

    /// `random` returns numbers from 0 to 1.
    Schedule(BootTime now, std::function<double()> random);

    /// Receipts wait. They are sent after at most kLongest.
    void waiting(BootTime now);
    /// Receipts wait and should be sent at once.
    void urgent(BootTime now);
    /// The archive has taken a lot. If `more` is set, the next lot follows at once.
    void succeeded(BootTime now, bool more);
    /// A lot could not be sent. The next try follows after a time that doubles with each failure, up to `most`.
    void failed(BootTime now, Microseconds most = kMostRetry);
    /// What has failed may work again, so the next try follows at once.
    void retry(BootTime now);

    /// The time at which the next lot is due.
    BootTime next() const { return due_; }
    bool due(BootTime now) const { return now >= due_; }

private:
    static Microseconds part(Microseconds whole, double share);

    std::function<double()> random_;
    BootTime due_;
    Microseconds pause_{}; ///< the time between the last failure and the next try; 0 after a success
};

} // namespace pinfold
