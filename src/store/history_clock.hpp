// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Says whether old receipts may be removed at the time `now`. A jump of the clock must not cause the removal of all receipts.
/// The function clockIsBelieved() compares two times since the last call: the time by which the clock has advanced, and the time
/// for which the node has been up. The clock is doubtful if it is ahead by more than the longer of two times: an hour, and a
/// tenth of `maxAge`. The clock stays doubtful until the clock and CLOCK_BOOTTIME have agreed for a day. The clock is doubtful
/// even after the node was switched off for long. This doubt does no harm: it only delays the removal of old receipts. The
/// database stores the clock reading. Call clockIsBelieved() in a transaction. The errors are those of History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, RealTime now, Microseconds maxAge);

} // namespace pinfold
