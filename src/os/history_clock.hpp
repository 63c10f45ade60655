// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/history.hpp"
#include "os/sqlite.hpp"

namespace pinfold {

/// Whether receipts may be removed for their age by this `now` (CLOCK_REALTIME, microseconds). One jump of the clock must not
/// remove them all: when it went further ahead since the last call than the node has been up meanwhile, by more than a tenth of
/// `maxAge` and an hour, it is doubted until it has gone as CLOCK_BOOTTIME does for a day. A node that was switched off for long
/// is doubted so, too, and loses nothing by it. The reading is kept in the file. Call it in a transaction. Errors as of History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, std::uint64_t now, std::uint64_t maxAge);

} // namespace pinfold
