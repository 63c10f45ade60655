// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs that the history knows as live, and that are not: those of a boot that ended in a power cut, a reset or a crash.
#pragma once

#include "core/core.hpp"
#include "core/history_writer.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pinfold {

/// What is known when pinfoldd starts. Times are CLOCK_REALTIME microseconds.
struct AtStart {
    std::string bootId;
    std::uint64_t now = 0;
    std::uint64_t booted = 0;
    std::function<bool(const Receipt&)> mayLive; ///< of a job of this boot
};

/// The receipts of those of `live` that are lost. Of an earlier boot: NodeLost, and the end is the last time at which the node
/// ran for sure. Of this boot: Lost, and the end is now. What they used is unset. Pure.
std::vector<Receipt> lostReceipts(const LiveTable& live, const AtStart& start);

class LostJobs {
public:
    LostJobs(Core& core, HistoryWriter& history) : core_(core), history_(history) {}

    /// Once all jobs of which there is a record have been taken up: gives those their receipts that are lost. `complete`: all
    /// records could be read. While the history cannot be read, it is tried again each minute.
    void settle(bool complete);

private:
    void settle(const LiveTable& live, bool complete);

    Core& core_;
    HistoryWriter& history_;
    EventHandle retry_;
};

} // namespace pinfold
