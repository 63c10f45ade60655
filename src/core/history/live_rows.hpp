// SPDX-License-Identifier: LGPL-2.1-or-later
// The rows of live jobs in the history. From these rows the jobs get receipts even after a power cut.
#pragma once

#include "core/core.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace pinfold {

class LiveRows {
public:
    explicit LiveRows(EventLoop& loop) : loop_(loop) {}

    /// Call this when the job runs. Its row is due half a second later, and not at all if the job is over by then: most short
    /// jobs never cost a row.
    void expect(const JobPtr& job);

    /// The rows for a transaction that is about to be made. Call written() or failed() afterwards.
    std::vector<LiveRow> take();
    void written() { taken_.clear(); }
    void failed();

    /// True: rows wait for a transaction.
    bool due() const;
    /// Called when rows have waited for a quarter of a second, and no transaction has taken them.
    std::function<void()> onDue;

private:
    struct Fresh {
        WeakJob job;
        std::uint64_t since; ///< CLOCK_BOOTTIME, microseconds
    };
    void awake();

    EventLoop& loop_;
    std::deque<Fresh> fresh_; ///< the oldest first
    std::vector<Fresh> taken_;
    EventHandle timer_;
};

} // namespace pinfold
