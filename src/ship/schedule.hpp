// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <functional>

namespace pinfold {

/// Decides when pinfold-ship sends the next lot of receipts. Thousands of nodes send receipts to one archive. Many nodes can
/// start, or can lose their connection to the archive, in the same second. Schedule chooses random times, so that the nodes do
/// not all send receipts at the same moment.
class Schedule {
public:
    static constexpr Microseconds kFirst = 2s; ///< the longest time from the start of pinfold-ship to the first lot of receipts
    /// If the archive answers, a new receipt waits at most the time kLongest before pinfold-ship sends the receipt.
    static constexpr Microseconds kLongest = 60s;
    /// If no receipt has come for the time kHeartbeat, pinfold-ship sends a Lot without receipts.
    static constexpr Microseconds kHeartbeat = 5min;
    static constexpr Microseconds kLeastRetry = 1s;
    static constexpr Microseconds kMostRetry = 10min;
    /// The longest time between a failed call of pinfoldd and the next attempt. Only one pinfold-ship calls a pinfoldd, but many
    /// nodes call the archive. Attempts to call pinfoldd can therefore be more frequent than attempts to call the archive.
    static constexpr Microseconds kMostLocalRetry = 30s;

    /// `random` returns numbers from 0 to 1.
    Schedule(BootTime now, std::function<double()> random);

    /// Call waiting() when receipts wait to be sent. pinfold-ship sends the next lot of receipts within the time kLongest after
    /// the call of waiting().
    void waiting(BootTime now);
    /// Call urgent() when pinfold-ship should immediately send some of the waiting receipts.
    void urgent(BootTime now);
    /// Call succeeded() when the archive has stored a Lot. If `more` is true, pinfold-ship immediately sends the next lot of
    /// receipts.
    void succeeded(BootTime now, bool more);
    /// Call failed() when an attempt to send receipts has failed. The time until the next try doubles with each failure, up to
    /// `most`.
    void failed(BootTime now, Microseconds most = kMostRetry);
    /// Call retry() when the problem that caused the last failure is possibly solved. After retry(), pinfold-ship immediately
    /// tries to send receipts again.
    void retry(BootTime now);

    /// Returns the time at which pinfold-ship must send the next lot of receipts.
    BootTime next() const { return due_; }
    bool due(BootTime now) const { return now >= due_; }

private:
    static Microseconds part(Microseconds whole, double share);

    std::function<double()> random_;
    BootTime due_;
    Microseconds pause_{}; ///< the time between the last failure and the next attempt to send; 0 after a success
};

} // namespace pinfold
