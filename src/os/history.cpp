// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/history.hpp"

#include "base/unique_fd.hpp"
#include "model/job_record.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr int kSchema = 1;
constexpr int kBusyTimeoutMs = 2000;

// By row number, so that new receipts go to the end and not all over the file.
constexpr const char* kCreate = "CREATE TABLE IF NOT EXISTS receipts ("
                                " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, uid INTEGER NOT NULL,"
                                " ended INTEGER NOT NULL, receipt TEXT NOT NULL);"
                                "CREATE INDEX IF NOT EXISTS by_ended ON receipts (ended);"
                                "CREATE INDEX IF NOT EXISTS by_key ON receipts (key, ended);"
                                "CREATE INDEX IF NOT EXISTS by_uid ON receipts (uid, ended);"
                                "PRAGMA user_version = 1;";

using Database = std::unique_ptr<sqlite3, decltype([](sqlite3* db) { sqlite3_close_v2(db); })>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype([](sqlite3_stmt* statement) { sqlite3_finalize(statement); })>;

Error failed(sqlite3* db, const std::string& what) {
    return {ErrorCode::Internal, what + ": " + (db ? sqlite3_errmsg(db) : "out of memory")};
}

Result<void> run(sqlite3* db, const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return failed(db, "history");
    return {};
}

Result<Statement> prepare(sqlite3* db, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        return failed(db, "history");
    return Statement(statement);
}

// SQLITE_STATIC would do, but it is an old-style cast inside sqlite3.h; texts live until the step anyway.
void bindText(sqlite3_stmt* statement, int index, const std::string& text) {
    sqlite3_bind_text64(statement, index, text.data(), text.size(), nullptr, SQLITE_UTF8);
}

void bindNumber(sqlite3_stmt* statement, int index, std::uint64_t number) {
    sqlite3_bind_int64(statement, index, static_cast<sqlite3_int64>(std::min<std::uint64_t>(number, INT64_MAX)));
}

Result<std::uint64_t> queryNumber(sqlite3* db, const char* sql) {
    auto statement = prepare(db, sql);
    if (!statement)
        return statement.error();
    if (sqlite3_step(statement->get()) != SQLITE_ROW)
        return failed(db, "history");
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement->get(), 0));
}

/// `name` is the file's path or an URI of it.
Result<Database> connect(const std::filesystem::path& file, const std::string& name, int flags) {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
    Database db(raw);
    if (opened != SQLITE_OK)
        return failed(raw, file.string());
    sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    const auto version = queryNumber(raw, "PRAGMA user_version");
    if (!version)
        return Error{ErrorCode::Internal, file.string() + ": " + version.error().message};
    if (*version > kSchema)
        return Error{ErrorCode::Internal, file.string() + " was written by a newer pinfold (schema " + std::to_string(*version) +
                                              "): install that version, or move the file away"};
    return db;
}

std::string immutableUri(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const char c : file.string())
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    return uri + "?immutable=1";
}

Result<Database> connectReadOnly(const std::filesystem::path& file) {
    auto db = connect(file, file.string(), SQLITE_OPEN_READONLY);
    std::error_code ignored; // of a directory that we may not search: sqlite said so above
    // sqlite wants to create its log's index even to read, which a read-only file system refuses. Without a log, the file is all.
    if (db || std::filesystem::exists(file.string() + "-wal", ignored))
        return db;
    return connect(file, immutableUri(file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

/// Nobody else reads what users ran, from the file's first moment on. sqlite gives its log the same mode.
void createPrivate(const std::filesystem::path& file) {
    std::error_code ignored; // sqlite says what is wrong with the path
    if (std::filesystem::create_directories(file.parent_path(), ignored))
        std::filesystem::permissions(file.parent_path(), std::filesystem::perms::owner_all, ignored);
    const UniqueFd created(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

} // namespace

struct History::Impl {
    Database db;
    Statement insert;
};

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

Result<History> History::open(const std::filesystem::path& file, Mode mode) {
    if (mode == Mode::ReadWrite)
        createPrivate(file);
    auto connected = mode == Mode::ReadWrite ? connect(file, file.string(), SQLITE_OPEN_READWRITE) : connectReadOnly(file);
    if (!connected)
        return connected.error();
    auto impl = std::make_unique<Impl>();
    impl->db = *std::move(connected);
    if (mode == Mode::ReadOnly)
        return History(std::move(impl));

    auto* db = impl->db.get();
    // FULL: a transaction is on the disk when it returns. The cache is small: pinfoldd only adds.
    for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -512", kCreate})
        if (auto done = run(db, sql); !done)
            return Error{ErrorCode::Internal, file.string() + ": " + done.error().message};
    auto insert = prepare(db, "INSERT OR IGNORE INTO receipts (id, key, uid, ended, receipt) VALUES (?, ?, ?, ?, ?)");
    if (!insert)
        return insert.error();
    impl->insert = std::move(*insert);
    return History(std::move(impl));
}

Result<void> History::add(const std::vector<Receipt>& receipts) {
    if (receipts.empty())
        return {};
    auto* db = impl_->db.get();
    if (auto begun = run(db, "BEGIN IMMEDIATE"); !begun)
        return begun;
    for (const auto& receipt : receipts) {
        auto* statement = impl_->insert.get();
        const auto text = encode(receipt);
        bindText(statement, 1, receipt.id);
        bindText(statement, 2, receipt.key);
        bindNumber(statement, 3, receipt.uid);
        bindNumber(statement, 4, receipt.ended);
        bindText(statement, 5, text);
        const bool done = sqlite3_step(statement) == SQLITE_DONE;
        sqlite3_reset(statement);
        if (!done) {
            auto error = failed(db, "history");
            (void)run(db, "ROLLBACK"); // the error that matters is the one above
            return error;
        }
    }
    if (auto committed = run(db, "COMMIT"); !committed) {
        (void)run(db, "ROLLBACK");
        return committed;
    }
    return {};
}

Result<std::vector<Receipt>> History::list(const ReceiptFilter& filter) const {
    std::string sql = "SELECT receipt FROM receipts WHERE 1";
    if (filter.key)
        sql += " AND key = :key";
    if (filter.uid)
        sql += " AND uid = :uid";
    if (filter.since)
        sql += " AND ended >= :since";
    if (filter.until)
        sql += " AND ended < :until";
    sql += " ORDER BY ended DESC LIMIT :limit";
    auto statement = prepare(impl_->db.get(), sql);
    if (!statement)
        return statement.error();
    const auto index = [&](const char* name) { return sqlite3_bind_parameter_index(statement->get(), name); };
    if (filter.key)
        bindText(statement->get(), index(":key"), *filter.key);
    if (filter.uid)
        bindNumber(statement->get(), index(":uid"), *filter.uid);
    if (filter.since)
        bindNumber(statement->get(), index(":since"), *filter.since);
    if (filter.until)
        bindNumber(statement->get(), index(":until"), *filter.until);
    bindNumber(statement->get(), index(":limit"), filter.limit);

    std::vector<Receipt> receipts;
    int step = 0;
    while ((step = sqlite3_step(statement->get())) == SQLITE_ROW) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), 0));
        auto receipt = decodeReceipt(text ? text : "");
        if (!receipt)
            return receipt.error();
        receipts.push_back(std::move(*receipt));
    }
    if (step != SQLITE_DONE)
        return failed(impl_->db.get(), "history");
    return receipts;
}

Result<std::uint64_t> History::lastManualNumber() const {
    return queryNumber(
        impl_->db.get(),
        "SELECT coalesce(max(cast(substr(key, 8) AS INTEGER)), 0) FROM receipts WHERE key >= 'manual.' AND key < 'manual/'");
}

} // namespace pinfold
