// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Says whether old receipts may be removed at the time `now`. A jump of the clock must not cause the removal of all receipts.
/// clockIsBelieved() compares how far CLOCK_REALTIME has advanced since the last call, and how long the node was up since then.
/// CLOCK_REALTIME is doubtful if it has advanced by much more time than the node was up. "Much more" means more than an hour, and
/// more than a tenth of `maxAge`. CLOCK_REALTIME stays doubtful until it has agreed with CLOCK_BOOTTIME for a day. CLOCK_REALTIME
/// becomes doubtful if the node was switched off for a long time. A doubtful clock does no harm: it only delays the removal of
/// old receipts. The database stores the clock reading. Call clockIsBelieved() in a transaction. clockIsBelieved() fails with the
/// errors of the class History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, RealTime now, Microseconds maxAge);

} // namespace pinfold
