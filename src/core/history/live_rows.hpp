// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the rows of live jobs that the history is to get. From these rows the jobs get receipts even after a power cut.
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

    /// Call expect() when the job runs. The job's row is due half a second later. If the job is over by then, the history gets no
    /// row, so most short jobs cost no row.
    void expect(const JobPtr& job);

    /// Takes the rows for a transaction that is about to be made. When the transaction is over, call written() or failed().
    std::vector<LiveRow> take();
    void written() { taken_.clear(); }
    void failed();

    /// Returns true if rows wait for a transaction.
    bool due() const;
    /// LiveRows calls onDue when rows have waited for a quarter of a second, and no transaction has taken them.
    std::function<void()> onDue;

private:
    struct Fresh {
        WeakJob job;
        std::uint64_t since; ///< since when the job runs (CLOCK_BOOTTIME, microseconds)
    };
    void awake();

    EventLoop& loop_;
    std::deque<Fresh> fresh_; ///< the oldest comes first
    std::vector<Fresh> taken_;
    EventHandle timer_;
};

} // namespace pinfold
