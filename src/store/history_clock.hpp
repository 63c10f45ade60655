// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Says whether old receipts may be removed at the time `now`. A jump of the clock must not cause the removal of all receipts.
/// clockIsBelieved() compares two times since its last call: the advance of the clock, and the time for which the node was up.
/// The clock is doubtful if it has advanced by much more than the time for which the node was up. "Much more" means more than
/// an hour, and more than a tenth of `maxAge`. The clock stays doubtful until the clock and CLOCK_BOOTTIME have agreed for a
/// day. The clock becomes doubtful if the node was switched off for long. A doubtful clock does no harm: it only delays the
/// removal of old receipts. The database stores the clock reading. Call clockIsBelieved() in a transaction. The function fails
/// with the errors of History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, RealTime now, Microseconds maxAge);

} // namespace pinfold
