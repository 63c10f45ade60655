// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Says whether old receipts may be removed at the time `now`. A jump of the clock must not cause the removal of all receipts.
/// The function clockIsBelieved() compares how far the clock has advanced since the last call with how long the node has been up.
/// The clock is doubtful if it is ahead by more than an hour, and by more than a tenth of `maxAge`. The clock stays doubtful
/// until the clock and CLOCK_BOOTTIME have agreed for a day. The clock becomes doubtful if the node was switched off for long. A
/// doubtful clock does no harm: it only delays the removal of old receipts. The database stores the clock reading. Call
/// clockIsBelieved() in a transaction. The function fails with the errors of History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, RealTime now, Microseconds maxAge);

} // namespace pinfold
