// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_clock.hpp"

#include <algorithm>
#include <string>

namespace pinfold {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000;
constexpr std::uint64_t kEnough = 24 * kHour;

constexpr const char* kStore = "INSERT OR REPLACE INTO clock (row, boot_id, boot, real, agreed)"
                               " VALUES (1, :boot_id, :boot, :real, :agreed)";

struct LastLook {
    std::uint64_t real = 0;
    std::uint64_t elapsed = 0; ///< for how many microseconds, at least, the node has been up since the last look
    std::uint64_t agreed = 0;  ///< for how many microseconds the clock had been right at the last look
};

/// Returns the clock reading that the last call of clockIsBelieved() stored. If no reading is stored yet, uses the time of the
/// newest receipt instead. If there is no receipt either, nothing contradicts the time `now`.
Result<LastLook> lastLook(sqlite3* db, const ClockReading& clock, std::uint64_t now) {
    const auto row = sqlite::Statement::prepare(db, "SELECT real, boot, boot_id, agreed FROM clock");
    if (!row)
        return row.error();
    const auto found = row->step();
    if (!found)
        return found.error();
    if (*found) {
        const bool sameBoot = row->text(2) == clock.bootId;
        const auto before = sameBoot ? std::min(row->number(1), clock.boot) : 0;
        return LastLook{.real = row->number(0), .elapsed = clock.boot - before, .agreed = row->number(3)};
    }
    const auto newest = sqlite::queryNumber(db, "SELECT coalesce(max(ended), 0) FROM receipts");
    if (!newest)
        return newest.error();
    return LastLook{.real = *newest > 0 ? *newest : now, .elapsed = 0, .agreed = kEnough};
}

} // namespace

Result<bool> clockIsBelieved(sqlite3* db, const ClockReading& clock, std::uint64_t now, std::uint64_t maxAge) {
    auto last = lastLook(db, clock, now);
    if (!last)
        return last.error();
    const bool jumped = now > last->real + last->elapsed + std::max(kHour, maxAge / 10);
    const auto agreed = jumped ? 0 : std::min(kEnough, last->agreed + last->elapsed);
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
