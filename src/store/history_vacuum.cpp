// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_vacuum.hpp"

#include "base/parse.hpp"
#include "store/history_clock.hpp"
#include "store/sent_position.hpp"

#include <algorithm>
#include <map>

namespace pinfold {
namespace {

using sqlite::Statement;

constexpr std::uint64_t kAll = INT64_MAX; ///< the highest number that a receipt can have

constexpr const char* kRemoveOld = "DELETE FROM receipts WHERE number IN"
                                   " (SELECT number FROM receipts INDEXED BY by_ended"
                                   " WHERE ended <= :until AND number <= :last ORDER BY ended, number LIMIT :limit)";

constexpr const char* kRemoveOfUser = "DELETE FROM receipts WHERE number IN"
                                      " (SELECT number FROM receipts INDEXED BY by_uid"
                                      " WHERE uid = :uid AND number <= :last ORDER BY ended, number LIMIT :limit)";

// kCounts counts the receipts of each user, and not the bytes of the receipts. The size of a receipt is limited, so a user can
// fill the history only with a large number of receipts. To count receipts, sqlite reads only the index by_uid.
constexpr const char* kCounts =
    "SELECT uid, count(*) FROM receipts INDEXED BY by_uid WHERE number <= :last GROUP BY uid ORDER BY uid";

constexpr const char* kBytes = "SELECT (page_count - freelist_count) * page_size"
                               " FROM pragma_page_count, pragma_freelist_count, pragma_page_size";

/// Returns a time T: a receipt is too old to keep if its job ended at T or before T. Returns nullopt if no receipt is too old.
std::optional<RealTime> tooOldUntil(const Retention& retention, RealTime now) {
    if (!retention.maxAge || now.time_since_epoch() <= *retention.maxAge)
        return std::nullopt;
    return now - *retention.maxAge - 1us;
}

class Vacuum {
public:
    static Result<Vacuum> prepare(sqlite3* db, const std::string& epoch, const Retention& retention, RealTime now) {
        Vacuum made(db, retention, now);
        if (retention.unsent)
            made.sent_ = sentOf(retention.unsent->sentFile, epoch);
        for (const auto& [statement, sql] :
             {std::pair{&made.removeOld_, kRemoveOld}, {&made.removeOfUser_, kRemoveOfUser}, {&made.counts_, kCounts}}) {
            auto prepared = Statement::prepare(db, sql);
            if (!prepared)
                return prepared.error();
            *statement = *std::move(prepared);
        }
        return made;
    }

    Result<void> shrink(std::uint64_t maxRows, Vacuumed& done) const {
        while (true) {
            const auto bytes = bytesInUse(db_);
            if (!bytes)
                return bytes.error();
            const auto exceeds = excess(*bytes);
            if (!exceeds)
                return exceeds.error();
            if (!*exceeds)
                return {};
            if (done.removed >= maxRows) {
                done.more = true;
                return {};
            }
            const auto limit = maxRows - done.removed;
            auto removed = removeUpTo(sent_, *bytes, limit);
            // Unsent receipts are removed only when no sent receipt can be removed.
            if (removed && *removed == 0 && mayRemoveUnsent(*bytes)) {
                removed = removeUpTo(kAll, *bytes, limit);
                done.unsent += removed ? *removed : 0;
            }
            if (!removed)
                return removed.error();
            if (*removed == 0) // vacuum() could remove no receipt, for example because even an empty file exceeds the limit
                return {};
            done.removed += *removed;
        }
    }

private:
    Vacuum(sqlite3* db, const Retention& retention, RealTime now)
        : db_(db), retention_(retention), tooOldUntil_(tooOldUntil(retention, now)) {}

    bool tooLarge(std::uint64_t bytes) const { return retention_.maxBytes && bytes > *retention_.maxBytes; }
    bool mayRemoveUnsent(std::uint64_t bytes) const { return retention_.unsent && bytes > retention_.unsent->maxBytes; }

    Result<bool> excess(std::uint64_t bytes) const {
        if (tooLarge(bytes))
            return true;
        if (!tooOldUntil_)
            return false;
        const auto oldest = sqlite::queryNumber(db_, "SELECT coalesce(min(ended), 9223372036854775807) FROM receipts");
        if (!oldest)
            return oldest.error();
        return fromUsec<RealTime>(*oldest) <= *tooOldUntil_;
    }

    /// Removes receipts whose sequence is at most `last`, and returns the number of removed receipts. removeUpTo() first removes
    /// receipts that are too old. The next receipts to be removed are the oldest receipts of the user who has the most receipts.
    /// A user who fills the history does not cause the removal of other users' receipts.
    Result<std::uint64_t> removeUpTo(std::uint64_t last, std::uint64_t bytes, std::uint64_t limit) const {
        if (tooOldUntil_) {
            removeOld_.bind(":until", *tooOldUntil_);
            auto removed = remove(removeOld_, last, limit);
            if (!removed || *removed > 0 || !tooLarge(bytes))
                return removed;
        }
        if (!tooLarge(bytes))
            return std::uint64_t{0};
        const auto uid = idWithMost(last);
        if (!uid)
            return uid.error();
        removeOfUser_.bind(":uid", *uid);
        return remove(removeOfUser_, last, limit);
    }

    /// Finds the user who has the most receipts. For a user with several ids, idWithMost() adds the numbers of receipts of all
    /// the user's ids. Among the ids of this user, idWithMost() returns the id with the most receipts. If there are no receipts,
    /// the result is 0.
    Result<std::uint64_t> idWithMost(std::uint64_t last) const {
        struct User {
            std::uint64_t receipts = 0;
            /// A user can have several user ids, such as subordinate user ids. The pair `most` is about the user's id with the
            /// most receipts: the first element is the number of receipts, and the second element is the id.
            std::pair<std::uint64_t, std::uint64_t> most;
        };
        std::map<uid_t, User> users;
        User greatest;
        counts_.bind(":last", last);
        auto row = counts_.step();
        for (; row && *row; row = counts_.step()) {
            const auto id = counts_.number(0);
            const auto count = counts_.number(1);
            auto& user = users[userOf(static_cast<uid_t>(id))];
            user.receipts += count;
            if (count > user.most.first)
                user.most = {count, id};
            if (user.receipts > greatest.receipts)
                greatest = user;
        }
        counts_.reset();
        if (!row)
            return row.error();
        return greatest.most.second;
    }

    uid_t userOf(uid_t id) const { return retention_.owners ? retention_.owners->userOf(id) : id; }

    Result<std::uint64_t> remove(const Statement& statement, std::uint64_t last, std::uint64_t limit) const {
        statement.bind(":last", last);
        statement.bind(":limit", limit);
        if (auto done = statement.finish(); !done)
            return done.error();
        return static_cast<std::uint64_t>(sqlite3_changes(db_));
    }

    sqlite3* db_;
    const Retention& retention_;
    std::optional<RealTime> tooOldUntil_;
    std::uint64_t sent_ = kAll; ///< receipts with a sequence above `sent_` are not in the archive
    Statement removeOld_;
    Statement removeOfUser_;
    Statement counts_;
};

} // namespace

Result<std::uint64_t> bytesInUse(sqlite3* db) { return sqlite::queryNumber(db, kBytes); }

Result<Vacuumed> removeReceipts(sqlite3* db, const std::string& epoch, const Retention& asked, RealTime now,
                                std::size_t maxRows) {
    Vacuumed done;
    auto retention = asked;
    if (retention.clock && retention.maxAge && *retention.maxAge != kForever) {
        const auto believed = clockIsBelieved(db, *retention.clock, now, *retention.maxAge);
        if (!believed)
            return believed.error();
        done.clockDoubted = !*believed;
        if (done.clockDoubted)
            retention.maxAge.reset();
    }
    const auto vacuum = Vacuum::prepare(db, epoch, retention, now);
    if (!vacuum)
        return vacuum.error();
    if (auto shrunk = vacuum->shrink(maxRows, done); !shrunk)
        return shrunk.error();
    // A receipt or a profile is rarely larger than a page of the database. The removal of `maxRows` receipts and their profiles
    // usually frees at most 2 * `maxRows` pages.
    if (auto freed = sqlite::run(db, "PRAGMA incremental_vacuum(" + std::to_string(2 * maxRows) + ")"); !freed)
        return freed.error();
    const auto bytes = bytesInUse(db);
    if (!bytes)
        return bytes.error();
    done.bytes = *bytes;
    return done;
}

// Calculates the number of unsent receipts from the lowest and the highest sequence of the receipts. If countUnsent() counted the
// unsent receipts one by one, sqlite would have to read the whole index. countUnsent() must not read the whole index, because the
// caller asks for the number of unsent receipts every few minutes.
Result<std::uint64_t> countUnsent(sqlite3* db, const std::string& epoch, const std::filesystem::path& sentFile) {
    auto first = sqlite::queryNumber(db, "SELECT coalesce(min(number), 1) FROM receipts");
    if (!first)
        return first;
    auto last = sqlite::queryNumber(db, "SELECT coalesce(max(number), 0) FROM receipts");
    if (!last)
        return last;
    const auto done = std::max(sentOf(sentFile, epoch), *first - 1);
    return *last - std::min(*last, done);
}

} // namespace pinfold
