// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes receipts for lost jobs. A lost job is still live in the history, but does not exist on the node. Most lost jobs ran on a
// node that lost its power, was reset, or crashed.
#pragma once

#include "base/clock.hpp"
#include "core/core.hpp"
#include "core/history/history_writer.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// Holds facts that are known at the start of pinfoldd.
struct AtStart {
    std::string bootId;
    RealTime now{};
    RealTime booted{};
    /// The argument of mayLive is the row in the history about a job of the present boot. mayLive returns true if the job is
    /// possibly still alive.
    std::function<bool(const Receipt&)> mayLive;
};

/// Returns a receipt for each lost job in `live`. If a lost job is from an earlier boot, its result is NodeLost. If a job's
/// result is NodeLost, the job's end is the latest time at which the node was certainly running. If a lost job is from the
/// present boot, its result is Lost, and its end is the present time. lostReceipts() copies the usage figures of a job from the
/// job's row in the history. The function lostReceipts() is pure.
std::vector<Receipt> lostReceipts(const LiveTable& live, const AtStart& start);

class MissingJobs {
public:
    MissingJobs(Core& core, HistoryWriter& history) : core_(core), history_(history) {}

    /// Writes the receipts of the lost jobs. Call settle() when pinfoldd has taken over all jobs that have a record. The argument
    /// `complete` is true if pinfoldd could read all records. If the history cannot be read, MissingJobs tries to read the
    /// history again each minute.
    void settle(bool complete);

private:
    void settle(const LiveTable& live, bool complete);

    Core& core_;
    HistoryWriter& history_;
    EventHandle retry_;
};

} // namespace pinfold
