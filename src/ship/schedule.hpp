// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <functional>

namespace pinfold {

/// Decides when pinfold-ship sends the next lot of receipts. Thousands of nodes send receipts to one archive. Many nodes may
/// start, or may lose the archive, within one second. Schedule chooses random times, so that the nodes do not all send receipts
/// at the same moment.
class Schedule {
public:
    static constexpr Microseconds kFirst = 2s;       ///< the longest time from the start to the first lot of receipts
    static constexpr Microseconds kLongest = 60s;    ///< the longest time for which a receipt waits if the archive answers
    static constexpr Microseconds kHeartbeat = 5min; ///< if no new receipts come, pinfold-ship sends an empty lot after this time
    static constexpr Microseconds kLeastRetry = 1s;
    static constexpr Microseconds kMostRetry = 10min;
    /// The longest pause after failures of pinfoldd. kMostLocalRetry is shorter than kMostRetry, because the archive serves many
    /// nodes, and pinfoldd serves only one node.
    static constexpr Microseconds kMostLocalRetry = 30s;

    /// `random` returns numbers from 0 to 1.
    Schedule(BootTime now, std::function<double()> random);

    /// Call waiting() when receipts wait to be sent. After the call, pinfold-ship sends the next lot within the time kLongest.
    void waiting(BootTime now);
    /// Call urgent() when some of the waiting receipts should be sent at once.
    void urgent(BootTime now);
    /// Call succeeded() when the archive has stored the receipts of a lot. If `more` is true, the next lot is due at once.
    void succeeded(BootTime now, bool more);
    /// Call failed() when an attempt to send receipts has failed. The time until the next try doubles with each failure, up to
    /// `most`.
    void failed(BootTime now, Microseconds most = kMostRetry);
    /// Call retry() when an attempt that failed may now succeed. retry() makes the next attempt due at once.
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
