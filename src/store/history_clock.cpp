// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_clock.hpp"

#include <algorithm>
#include <string>

namespace pinfold {
namespace {

constexpr Microseconds kHour = 1h;
constexpr Microseconds kEnough = 24 * kHour;

constexpr const char* kStore = "INSERT OR REPLACE INTO clock (row, boot_id, boot, real, agreed)"
                               " VALUES (1, :boot_id, :boot, :real, :agreed)";

struct LastLook {
    RealTime real{};
    Microseconds elapsed{}; ///< for how long the node was certainly up since the last call of clockIsBelieved()
    Microseconds agreed{};  ///< for how long CLOCK_REALTIME and CLOCK_BOOTTIME agreed before the last call of clockIsBelieved()
};

/// Returns the clock reading that the last call of clockIsBelieved() stored. If no clock reading is stored yet, the result
/// contains the time of the newest receipt. If there is neither a clock reading nor a receipt, the result contains the time
/// `now`.
Result<LastLook> lastLook(sqlite3* db, const ClockReading& clock, RealTime now) {
    const auto row = sqlite::Statement::prepare(db, "SELECT real, boot, boot_id, agreed FROM clock");
    if (!row)
        return row.error();
    const auto found = row->step();
    if (!found)
        return found.error();
    if (*found) {
        const bool sameBoot = row->text(2) == clock.bootId;
        const auto before = sameBoot ? std::min(row->time<BootTime>(1), clock.boot) : BootTime();
        return LastLook{.real = row->time<RealTime>(0), .elapsed = clock.boot - before, .agreed = row->time<Microseconds>(3)};
    }
    const auto newest = sqlite::queryNumber(db, "SELECT coalesce(max(ended), 0) FROM receipts");
    if (!newest)
        return newest.error();
    return LastLook{.real = *newest > 0 ? fromUsec<RealTime>(*newest) : now, .elapsed = {}, .agreed = kEnough};
}

} // namespace

Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, RealTime now, Microseconds maxAge) {
    auto last = lastLook(db, clock, now);
    if (!last)
        return last.error();
    const bool jumped = now > last->real + last->elapsed + std::max<Microseconds>(kHour, maxAge / 10);
    const auto agreed = jumped ? Microseconds(0) : std::min(kEnough, last->agreed + last->elapsed);
    const auto store = sqlite::Statement::prepare(db, kStore);
    if (!store)
        return store.error();
    store->bind(":boot_id", clock.bootId);
    store->bind(":boot", clock.boot);
    store->bind(":real", now);
    store->bind(":agreed", agreed);
    if (auto stored = store->finish(); !stored)
        return stored.error();
    return agreed >= kEnough;
}

} // namespace pinfold
