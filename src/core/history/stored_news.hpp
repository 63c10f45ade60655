// SPDX-License-Identifier: LGPL-2.1-or-later
// Says which receipts are new in the history.
#pragma once

#include "core/requests.hpp"
#include "os/event_loop.hpp"

#include <functional>
#include <optional>

namespace pinfold {

/// On a busy node, a transaction stores receipts every few milliseconds. A signal for each transaction would be one more message
/// on the bus for almost every short job. Readers of the receipts do not need each signal, so StoredNews reports the receipts of
/// several transactions together. StoredNews reports at once if the last report was at least kBetween ago, so a job on a quiet
/// node needs no timer.
class StoredNews {
public:
    static constexpr Microseconds kBetween = 100ms;

    explicit StoredNews(EventLoop& loop) : loop_(loop) {}

    /// Call add() when a transaction has stored receipts.
    void add(const StoredReceipts& stored);

    /// StoredNews calls onReport at most once in the time kBetween, except when the epoch of the history changes.
    std::function<void(const StoredReceipts&)> onReport = [](const StoredReceipts&) {};

private:
    void report();

    EventLoop& loop_;
    std::optional<StoredReceipts> unreported_;
    std::optional<BootTime> reported_; ///< the time of the last report
    EventHandle timer_;
};

} // namespace pinfold
