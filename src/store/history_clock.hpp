// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Says whether receipts may be removed for their age at the time `now` (CLOCK_REALTIME, microseconds). One jump of the clock
/// must not remove all receipts. clockIsBelieved() doubts the clock if, since the last call, the clock has gone further ahead
/// than the node has been up, by more than a tenth of `maxAge` and an hour. clockIsBelieved() doubts the clock until the clock
/// has gone like CLOCK_BOOTTIME for a day. If the node was switched off for long, clockIsBelieved() also doubts the clock, but
/// the node loses nothing by that. The file keeps the reading. Call this function in a transaction. Errors: those of History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, std::uint64_t now, std::uint64_t maxAge);

} // namespace pinfold
