// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the rows of live jobs until a transaction writes the rows into the history. After a power cut, pinfoldd writes the
// receipts of lost jobs from the rows in the history.
#pragma once

#include "base/clock.hpp"
#include "core/core.hpp"
#include "core/history/origins.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace pinfold {

/// Returns the facts that the receipt of a live job would contain if the node went down now.
Receipt factsOf(const Job& job, const Origins& origins);

class LiveRows {
public:
    LiveRows(EventLoop& loop, const Registry& registry, const Origins& origins)
        : loop_(loop), registry_(registry), origins_(origins) {}

    /// Call expect() when the job runs. Half a second after the call of expect(), the history gets a row for the job if the job
    /// still lives. If a job ends within half a second, the history needs no row for the job. Call expect() again when one of the
    /// facts that factsOf() returns has changed.
    void expect(const JobPtr& job);
    /// Call expectAll() when pinfoldd has opened the history's file, because the file possibly lacks the rows of live jobs. After
    /// the call of expectAll(), the next transaction writes the rows of all running jobs.
    void expectAll();
    /// Call refresh() when Sampler has read new figures of jobs. If the rows in the history are older than five minutes, the next
    /// transaction writes new rows for all running jobs. The new rows contain the figures from Sampler's newest reading.
    void refresh();

    /// Returns the rows that the next transaction has to write. When the transaction is over, call written() or failed().
    std::vector<LiveRow> take();
    void written() { taken_.clear(); }
    void failed();

    /// Returns true if rows wait for a transaction.
    bool due() const;
    /// LiveRows calls onDue when a due row has waited a quarter of a second for a transaction.
    std::function<void()> onDue;

private:
    struct Fresh {
        WeakJob job;
        BootTime since; ///< the time at which expect() was called; expectAll() uses the time at which the job began to run
    };
    void awake();

    EventLoop& loop_;
    const Registry& registry_;
    const Origins& origins_;
    std::deque<Fresh> fresh_; ///< the jobs whose rows have to be written; the entry with the earliest time comes first
    std::vector<Fresh> taken_;
    BootTime refreshed_{}; ///< the time of the last call of expectAll()
    EventHandle timer_;
};

} // namespace pinfold
