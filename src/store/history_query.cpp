// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_query.hpp"

#include "model/receipt_json.hpp"

#include <tuple>

namespace pinfold {
namespace {

using sqlite::Statement;

bool asksForKinds(const ReceiptFilter& filter) {
    return filter.result || filter.scheduler || filter.leftoversOnly || !filter.outcomes.empty();
}

std::string numbersOf(const std::vector<JobOutcome>& outcomes) {
    std::string numbers;
    for (const auto outcome : outcomes)
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(static_cast<int>(outcome));
    return numbers;
}

/// Describes the place of a receipt in a list that begins with the newest receipt.
struct Place {
    RealTime ended{};
    std::uint64_t number = 0;
};

/// Writes a filter as SQL conditions on the columns of `receipts`, and binds the values.
struct Conditions {
    Conditions(const ReceiptFilter& asked, std::optional<Place> from) : filter(asked), place(from) {
        if (filter.scheduler) {
            first = *filter.scheduler + ".";
            after = *filter.scheduler + "/"; // '/' is the character after the dot
        }
    }

    std::string sql() const {
        std::string sql;
        if (filter.key)
            sql += " AND key = :key";
        if (filter.uid)
            sql += " AND uid = :uid";
        if (filter.since)
            sql += " AND ended >= :since";
        if (filter.until)
            sql += " AND ended < :until";
        if (place) // sqlite can use an index for the first half
            sql += " AND ended <= :ended AND (ended < :ended OR number < :number)";
        if (filter.scheduler) // several schedulers may share a kind
            sql += " AND receipts.key >= :first AND receipts.key < :after";
        return sql;
    }

    void bind(const Statement& statement) const {
        if (filter.key)
            statement.bind(":key", *filter.key);
        if (filter.uid)
            statement.bind(":uid", *filter.uid);
        if (filter.since)
            statement.bind(":since", *filter.since);
        if (filter.until)
            statement.bind(":until", *filter.until);
        if (place) {
            statement.bind(":ended", place->ended);
            statement.bind(":number", place->number);
        }
        if (filter.scheduler) {
            statement.bind(":scheduler", *filter.scheduler);
            statement.bind(":first", first);
            statement.bind(":after", after);
        }
        if (filter.result)
            statement.bind(":result", *filter.result);
        statement.bind(":limit", filter.limit);
    }

    const ReceiptFilter& filter;
    const std::optional<Place> place; ///< if set, only receipts after this place match
    std::string first;
    std::string after;
};

/// Returns the place of the receipt with this id, or nullopt if the receipt does not exist.
Result<std::optional<Place>> placeOf(sqlite3* db, const std::string& id) {
    const auto statement = Statement::prepare(db, "SELECT ended, number FROM receipts WHERE id = :id");
    if (!statement)
        return statement.error();
    statement->bind(":id", id);
    const auto row = statement->step();
    if (!row)
        return row.error();
    return *row ? std::optional(Place{statement->time<RealTime>(0), statement->number(1)}) : std::nullopt;
}

Result<std::vector<std::uint64_t>> matchingKinds(sqlite3* db, const Conditions& conditions) {
    const auto& filter = conditions.filter;
    std::string sql = "SELECT kind FROM kinds WHERE 1";
    if (filter.result)
        sql += " AND result = :result";
    if (filter.scheduler)
        sql += " AND scheduler IN (:scheduler, '')";
    if (filter.leftoversOnly)
        sql += " AND leftovers = 1";
    if (!filter.outcomes.empty())
        sql += " AND outcome IN (" + numbersOf(filter.outcomes) + ")";
    const auto statement = Statement::prepare(db, sql);
    if (!statement)
        return statement.error();
    conditions.bind(*statement);
    std::vector<std::uint64_t> kinds;
    while (true) {
        const auto row = statement->step();
        if (!row)
            return row.error();
        if (!*row)
            return kinds;
        kinds.push_back(statement->number(0));
    }
}

/// Reads the matching receipts from an index. The index has the newest receipt first.
struct Stream {
    Statement statement;
    RealTime ended{};
    std::uint64_t number = 0;

    /// Returns false when there is no further receipt.
    Result<bool> next() {
        auto row = statement.step();
        if (row && *row) {
            ended = statement.time<RealTime>(0);
            number = statement.number(1);
        }
        return row;
    }
    bool operator<(const Stream& other) const { return std::tie(ended, number) < std::tie(other.ended, other.number); }
};

/// Returns the SQL query of a stream. The query names its index (INDEXED BY). Without INDEXED BY, sqlite would guess, because
/// it has no statistics of this database.
std::string streamSql(const Conditions& conditions, const char* index, const std::string& kinds) {
    return std::string("SELECT ended, number FROM receipts INDEXED BY ") + index + " WHERE 1" + conditions.sql() + kinds +
           " ORDER BY ended DESC, number DESC LIMIT :limit";
}

/// Starts a stream, and adds it to `streams` if the stream has a receipt.
Result<void> start(sqlite3* db, const std::string& sql, const Conditions& conditions, std::uint64_t kind,
                   std::vector<Stream>& streams) {
    auto statement = Statement::prepare(db, sql);
    if (!statement)
        return statement.error();
    conditions.bind(*statement);
    statement->bind(":kind", kind);
    Stream stream{.statement = std::move(*statement)};
    const auto row = stream.next();
    if (!row)
        return row.error();
    if (*row)
        streams.push_back(std::move(stream));
    return {};
}

/// If the index is ordered by time (by_key, by_ended), starts one stream for all kinds. With other indexes, starts one stream
/// for each kind. One stream is enough for by_key, because a key has few receipts and each entry of by_key contains the kind.
Result<std::vector<Stream>> startAll(sqlite3* db, const Conditions& conditions) {
    const auto& filter = conditions.filter;
    const bool kindsAsked = asksForKinds(filter);
    std::vector<Stream> streams;
    if (!kindsAsked && (filter.key || !filter.uid)) {
        auto started = start(db, streamSql(conditions, filter.key ? "by_key" : "by_ended", ""), conditions, 0, streams);
        return started ? Result(std::move(streams)) : started.error();
    }
    const auto kinds = matchingKinds(db, conditions);
    if (!kinds)
        return kinds.error();
    if (filter.key) {
        std::string in;
        for (const auto kind : *kinds)
            in += (in.empty() ? "" : ",") + std::to_string(kind);
        auto started = start(db, streamSql(conditions, "by_key", " AND kind IN (" + in + ")"), conditions, 0, streams);
        return started ? Result(std::move(streams)) : started.error();
    }
    const auto sql = streamSql(conditions, filter.uid ? "by_uid" : "by_kind", " AND kind = :kind");
    for (const auto kind : *kinds)
        if (auto started = start(db, sql, conditions, kind, streams); !started)
            return started.error();
    return streams;
}

Result<void> take(const Statement& statement, std::vector<Receipt>& receipts, int column) {
    auto receipt = decodeReceipt(statement.text(column));
    if (!receipt)
        return receipt.error();
    receipts.push_back(std::move(*receipt));
    return {};
}

Result<void> fetch(const Statement& byNumber, std::uint64_t number, std::vector<Receipt>& receipts) {
    byNumber.bind(":number", number);
    const auto row = byNumber.step();
    if (!row)
        return row.error();
    auto taken = *row ? take(byNumber, receipts, 0) : Result<void>();
    byNumber.reset();
    return taken;
}

/// Merges the streams into one order. The function merge() fetches a receipt before the stream advances to the next receipt. As
/// long as the stream is at a receipt, merge() can read the receipt, even if another process removes it.
Result<std::vector<Receipt>> merge(sqlite3* db, std::vector<Stream> streams, std::uint32_t limit) {
    const auto byNumber = Statement::prepare(db, "SELECT receipt FROM receipts WHERE number = :number");
    if (!byNumber)
        return byNumber.error();
    std::vector<Receipt> receipts;
    std::make_heap(streams.begin(), streams.end());
    while (!streams.empty() && receipts.size() < limit) {
        std::pop_heap(streams.begin(), streams.end());
        if (auto fetched = fetch(*byNumber, streams.back().number, receipts); !fetched)
            return fetched.error();
        const auto row = streams.back().next();
        if (!row)
            return row.error();
        if (*row)
            std::push_heap(streams.begin(), streams.end());
        else
            streams.pop_back();
    }
    return receipts;
}

/// Lists the receipts of a file that no pinfoldd of this version has opened yet. Reads receipts until it has found enough
/// receipts for the filter.
Result<std::vector<Receipt>> listWithoutKinds(sqlite3* db, const Conditions& conditions) {
    const auto& filter = conditions.filter;
    auto sql = "SELECT receipt FROM receipts WHERE 1" + conditions.sql();
    if (filter.result)
        sql += " AND json_extract(receipt, '$.result') = :result";
    if (filter.leftoversOnly)
        sql += " AND json_extract(receipt, '$.leftovers') > 0";
    if (!filter.outcomes.empty())
        sql += " AND " + std::string(kOutcomeOfReceipt) + " IN (" + numbersOf(filter.outcomes) + ")";
    const auto statement = Statement::prepare(db, sql + " ORDER BY ended DESC, number DESC LIMIT :limit");
    if (!statement)
        return statement.error();
    conditions.bind(*statement);
    std::vector<Receipt> receipts;
    while (true) {
        const auto row = statement->step();
        if (!row)
            return row.error();
        if (!*row)
            return receipts;
        if (auto taken = take(*statement, receipts, 0); !taken)
            return taken.error();
    }
}

} // namespace

Result<std::vector<Receipt>> listReceipts(const HistoryDatabase& history, const ReceiptFilter& filter) {
    // The scheduler is the first part of a key, and has no dot. If the scheduler in the filter contained a dot, the query would
    // also compare a part of the job's number.
    if (filter.scheduler && filter.scheduler->find('.') != std::string::npos)
        return std::vector<Receipt>();
    std::optional<Place> place;
    if (filter.before) {
        auto found = placeOf(history.db.get(), *filter.before);
        if (!found)
            return found.error();
        if (!*found) // the receipt was removed meanwhile, and the older receipts before it
            return std::vector<Receipt>();
        place = *found;
    }
    const Conditions conditions(filter, place);
    if (history.schema < kHistorySchema)
        return listWithoutKinds(history.db.get(), conditions);
    auto streams = startAll(history.db.get(), conditions);
    if (!streams)
        return streams.error();
    return merge(history.db.get(), std::move(*streams), filter.limit);
}

} // namespace pinfold
