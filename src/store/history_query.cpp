// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_query.hpp"

#include "model/receipt_json.hpp"
#include "store/history_profiles.hpp"

#include <tuple>

namespace pinfold {
namespace {

using sqlite::Statement;

bool asksForKinds(const ReceiptFilter& filter) {
    return filter.result || filter.scheduler || filter.leftoversOnly || !filter.outcomes.empty();
}

// The call of instr() is cheap. Because of instr(), sqlite does not parse the JSON texts of receipts without labels.
constexpr const char* kLabelOfReceipt = " AND instr(receipt, '\"labels\":{') > 0"
                                        " AND CASE WHEN json_valid(receipt) THEN json_extract(receipt, :label) END ";

/// Returns the numbers of outcomes or kinds as a text for the SQL operator IN, such as "0, 2".
template <class T> std::string numbersOf(const std::vector<T>& values) {
    std::string numbers;
    for (const auto value : values)
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(static_cast<std::uint64_t>(value));
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
            after = *filter.scheduler + "/"; // '/' comes directly after '.' in ASCII
        }
        if (filter.label)
            labelPath = "$.labels.\"" + filter.label->name + "\""; // the name of a label contains no quotation marks
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
        if (place) // sqlite can use an index for the condition `ended <= :ended`
            sql += " AND ended <= :ended AND (ended < :ended OR number < :number)";
        if (filter.scheduler) // several schedulers can share a kind, so the kind does not determine the scheduler
            sql += " AND receipts.key >= :first AND receipts.key < :after";
        if (filter.label)
            sql += kLabelOfReceipt + std::string(filter.label->value ? "= :label_value" : "IS NOT NULL");
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
        if (filter.label) {
            statement.bind(":label", labelPath);
            if (filter.label->value)
                statement.bind(":label_value", *filter.label->value);
        }
        if (filter.result)
            statement.bind(":result", *filter.result);
        statement.bind(":limit", filter.limit);
    }

    const ReceiptFilter& filter;
    const std::optional<Place> place; ///< the place in the list; if set, only receipts after this place match
    std::string first;
    std::string after;
    std::string labelPath;
};

/// Finds the receipt with the given id, and returns the receipt's Place. Returns nullopt if the receipt does not exist.
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
    auto read = statement->forEachRow([&]() -> Result<void> {
        kinds.push_back(statement->number(0));
        return {};
    });
    return read ? Result(std::move(kinds)) : read.error();
}

/// Reads the matching receipts from an index, the newest receipt first.
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

/// Returns the SQL query that selects the receipts of a stream. The SQL text says which index sqlite must use (INDEXED BY).
/// Without INDEXED BY, sqlite would guess which index is best, because sqlite has no statistics of this database.
std::string streamSql(const Conditions& conditions, const char* index, const std::string& kinds) {
    return std::string("SELECT ended, number FROM receipts INDEXED BY ") + index + " WHERE 1" + conditions.sql() + kinds +
           " ORDER BY ended DESC, number DESC LIMIT :limit";
}

/// Starts the stream with the query `sql`. If the query finds a receipt, start() adds the stream to `streams`.
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

/// If the query uses the index by_key or by_ended, startAll() starts one stream. If the query uses the index by_uid or by_kind,
/// startAll() starts a separate stream for each kind that matches the filter. A query that uses the index by_key needs only one
/// stream, because only a few receipts have the same key. Each entry of by_key contains the kind of its receipt.
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
        auto started =
            start(db, streamSql(conditions, "by_key", " AND kind IN (" + numbersOf(*kinds) + ")"), conditions, 0, streams);
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

Result<void> takeNumbered(const Statement& statement, std::uint64_t number, const std::string& epoch,
                          std::vector<Receipt>& receipts) {
    if (auto taken = take(statement, receipts, 0); !taken)
        return taken;
    receipts.back().sequence = number;
    receipts.back().epoch = epoch;
    return {};
}

Result<void> fetch(const Statement& byNumber, std::uint64_t number, const std::string& epoch, std::vector<Receipt>& receipts) {
    byNumber.bind(":number", number);
    const auto row = byNumber.step();
    if (!row)
        return row.error();
    auto taken = *row ? takeNumbered(byNumber, number, epoch, receipts) : Result<void>();
    byNumber.reset();
    return taken;
}

/// Merges the receipts of all streams into one list. The function merge() fetches a receipt before the stream advances to the
/// next receipt. Until the stream advances, merge() can read the receipt, even if another process removes the receipt.
Result<std::vector<Receipt>> merge(sqlite3* db, std::vector<Stream> streams, std::uint32_t limit, const std::string& epoch) {
    const auto byNumber = Statement::prepare(db, "SELECT receipt FROM receipts WHERE number = :number");
    if (!byNumber)
        return byNumber.error();
    std::vector<Receipt> receipts;
    std::make_heap(streams.begin(), streams.end());
    while (!streams.empty() && receipts.size() < limit) {
        std::pop_heap(streams.begin(), streams.end());
        if (auto fetched = fetch(*byNumber, streams.back().number, epoch, receipts); !fetched)
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

/// Lists receipts in the order of their numbers. If the filter contains a user, the query uses the index by_owner. If the
/// filter contains no user, the query reads the table in the order of the rows.
Result<std::vector<Receipt>> listAfter(sqlite3* db, const Conditions& conditions, const std::string& epoch) {
    const auto& filter = conditions.filter;
    std::string kinds;
    if (asksForKinds(filter)) {
        const auto matching = matchingKinds(db, conditions);
        if (!matching)
            return matching.error();
        kinds = " AND kind IN (" + numbersOf(*matching) + ")";
    }
    const auto statement = Statement::prepare(
        db, std::string("SELECT receipt, number FROM receipts ") + (filter.uid ? "INDEXED BY by_owner" : "NOT INDEXED") +
                " WHERE number > :number" + conditions.sql() + kinds + " ORDER BY number LIMIT :limit");
    if (!statement)
        return statement.error();
    conditions.bind(*statement);
    statement->bind(":number", filter.epoch.value_or(epoch) == epoch ? *filter.after : 0);
    std::vector<Receipt> receipts;
    auto read = statement->forEachRow([&] { return takeNumbered(*statement, statement->number(1), epoch, receipts); });
    return read ? Result(std::move(receipts)) : read.error();
}

/// Lists the receipts of a file that has the newest schema.
Result<std::vector<Receipt>> listInOrder(sqlite3* db, const Conditions& conditions) {
    const auto epoch = epochOf(db);
    if (!epoch)
        return epoch.error();
    if (conditions.filter.after)
        return listAfter(db, conditions, *epoch);
    auto streams = startAll(db, conditions);
    if (!streams)
        return streams.error();
    return merge(db, std::move(*streams), conditions.filter.limit, *epoch);
}

/// Lists the receipts of a file that has an older schema. Reads receipts until enough receipts match the filter.
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
    auto read = statement->forEachRow([&] { return take(*statement, receipts, 0); });
    return read ? Result(std::move(receipts)) : read.error();
}

} // namespace

Result<std::string> epochOf(sqlite3* db) {
    const auto statement = Statement::prepare(db, "SELECT epoch FROM numbering");
    if (!statement)
        return statement.error();
    const auto row = statement->step();
    if (!row)
        return row.error();
    if (!*row)
        return Error{ErrorCode::Damaged, "the history has no epoch"};
    return std::string(statement->text(0));
}

Result<std::vector<Receipt>> listReceipts(const HistoryDatabase& history, const ReceiptFilter& filter) {
    // A key begins with the scheduler's name and a dot. The scheduler's name does not contain a dot. If the scheduler in the
    // filter contained a dot, the text after the dot would match a part of the job's number.
    if (filter.scheduler && filter.scheduler->find('.') != std::string::npos)
        return std::vector<Receipt>();
    std::optional<Place> place;
    if (filter.before) {
        auto found = placeOf(history.db.get(), *filter.before);
        if (!found)
            return found.error();
        if (!*found) // the receipt `before` no longer exists, so its place in the list is unknown
            return std::vector<Receipt>();
        place = *found;
    }
    const Conditions conditions(filter, place);
    if (history.schema < kHistorySchema && filter.after)
        return Error{ErrorCode::Internal,
                     "the history of an earlier pinfold has no sequence: start pinfoldd once to convert the history"};
    if (history.schema < kHistorySchema)
        return listWithoutKinds(history.db.get(), conditions);
    auto receipts = listInOrder(history.db.get(), conditions);
    if (receipts && filter.profiles)
        if (auto read = readProfiles(history.db.get(), *receipts); !read)
            return read.error();
    return receipts;
}

} // namespace pinfold
