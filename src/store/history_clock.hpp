// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Says whether vacuum() is allowed to remove old receipts at the time `now`. A jump of the clock must not cause the removal of
/// all receipts. clockIsBelieved() compares how far CLOCK_REALTIME has advanced since the last call with how long the node was up
/// since that call. CLOCK_REALTIME is doubtful if its advance is longer than the time for which the node was up. A difference of
/// at most one hour, or of at most a tenth of `maxAge`, does not matter. CLOCK_REALTIME stays doubtful until it has agreed with
/// CLOCK_BOOTTIME for a day. After the node was switched off for a long time, CLOCK_REALTIME is doubtful. A doubtful clock does
/// no harm: it only delays the removal of old receipts. The database stores the clock reading. Call clockIsBelieved() in a
/// transaction. clockIsBelieved() fails with the errors of the class History.
Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, RealTime now, Microseconds maxAge);

} // namespace pinfold
