// SPDX-License-Identifier: LGPL-2.1-or-later
// What the history is to know of live jobs, so that they have receipts after a power cut too.
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

    /// The job runs. Its row is due half a second later, and not at all if the job is over by then: most short jobs never cost a
    /// row.
    void expect(const JobPtr& job);

    /// The rows that belong into a transaction that is about to be made. Followed by written() or failed().
    std::vector<LiveRow> take();
    void written() { taken_.clear(); }
    void failed();

    /// Rows wait for a transaction.
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
