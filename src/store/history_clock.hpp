// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Whether receipts may be removed for their age at this `now` (CLOCK_REALTIME, microseconds). One jump of the clock must not
/// remove all receipts. The clock is doubted when, since the last call, it has gone further ahead than the node has been up
/// meanwhile, by more than a tenth of `maxAge` and an hour. It is doubted until it has gone like CLOCK_BOOTTIME for a day. This
/// also doubts the clock of a node that was switched off for long, which loses nothing by it. The reading is kept in the file.
/// Call this in a transaction. Errors: as in History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, std::uint64_t now, std::uint64_t maxAge);

} // namespace pinfold
