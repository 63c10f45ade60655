// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes receipts for the jobs that are live in the history but not on the node. The boot of such a job ended in a power cut, a
// reset or a crash.
#pragma once

#include "core/core.hpp"
#include "core/history/history_writer.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// Holds facts that are known when pinfoldd starts. Times are CLOCK_REALTIME microseconds.
struct AtStart {
    std::string bootId;
    std::uint64_t now = 0;
    std::uint64_t booted = 0;
    std::function<bool(const Receipt&)> mayLive; ///< says for the row of a job of this boot whether the job may live
};

/// Returns the receipts of those jobs in `live` that are lost. A job of an earlier boot gets NodeLost, and its end is the last
/// time at which the node ran for sure. A job of this boot gets Lost, and its end is now. The figures about what the jobs used
/// are unset. lostReceipts() is a pure function.
std::vector<Receipt> lostReceipts(const LiveTable& live, const AtStart& start);

class MissingJobs {
public:
    MissingJobs(Core& core, HistoryWriter& history) : core_(core), history_(history) {}

    /// Writes the receipts of the lost jobs. Call settle() when pinfoldd has taken up all jobs that have a record. `complete` is
    /// true if pinfoldd could read all records. While the history cannot be read, MissingJobs tries again each minute.
    void settle(bool complete);

private:
    void settle(const LiveTable& live, bool complete);

    Core& core_;
    HistoryWriter& history_;
    EventHandle retry_;
};

} // namespace pinfold
