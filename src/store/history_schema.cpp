// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_schema.hpp"

#include "base/unique_fd.hpp"
#include "model/receipt.hpp"

#include <fcntl.h>

namespace pinfold {
namespace {

using sqlite::Database;
using sqlite::run;

constexpr std::uint64_t kSchemaWithKinds = 2;
constexpr std::uint64_t kSchemaWithLive = 3;
constexpr std::uint64_t kSchemaWithUnknown = 4;
constexpr int kBusyTimeoutMs = 2000;
// The writer must sometimes wait long for the file, for example while somebody copies the file. pinfoldd writes to the file in a
// separate thread, so the event loop does not wait for the file.
constexpr int kWriterBusyTimeoutMs = 10'000;

// auto_vacuum has an effect only before the first table exists. A file of schema 1 never gets auto_vacuum, because VACUUM would
// rewrite the whole file while pinfoldd waits. In a file without auto_vacuum, sqlite reuses free pages. Without auto_vacuum, the
// reuse of the file's free pages keeps the file below its maximum size. With synchronous = FULL, a transaction is on the disk
// when the commit returns. pinfoldd mostly adds rows, so a small page cache of sqlite is sufficient. During a migration, or while
// another connection reads for a long time, the write-ahead log can become long. With journal_size_limit, sqlite shortens a long
// write-ahead log when sqlite next writes to the log's beginning.
constexpr const char* kSettings = "PRAGMA auto_vacuum = INCREMENTAL;"
                                  "PRAGMA journal_mode = WAL;"
                                  "PRAGMA synchronous = FULL;"
                                  "PRAGMA cache_size = -512;"
                                  "PRAGMA journal_size_limit = 8388608;";

// The table is ordered by row number, so sqlite adds new receipts at the end of the table.
constexpr const char* kReceipts = "CREATE TABLE receipts ("
                                  " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, uid INTEGER NOT NULL,"
                                  " ended INTEGER NOT NULL, receipt TEXT NOT NULL, kind INTEGER NOT NULL DEFAULT 0);";

// The column kinds.outcome is the number of a JobOutcome.
constexpr const char* kKinds = "CREATE TABLE kinds ("
                               " kind INTEGER PRIMARY KEY, scheduler TEXT NOT NULL, result TEXT NOT NULL,"
                               " outcome INTEGER NOT NULL, leftovers INTEGER NOT NULL,"
                               " UNIQUE (scheduler, result, outcome, leftovers));";

constexpr const char* kIndexes = "CREATE INDEX IF NOT EXISTS by_ended ON receipts (ended);"
                                 "CREATE INDEX by_kind ON receipts (kind, ended);"
                                 "CREATE INDEX by_key ON receipts (key, ended, kind, uid);"
                                 "CREATE INDEX by_uid ON receipts (uid, kind, ended);";

// IF NOT EXISTS is needed because a file of schema 2 can already have the table `clock`.
constexpr const char* kLive = "CREATE TABLE IF NOT EXISTS clock ("
                              " row INTEGER PRIMARY KEY CHECK (row = 1), boot_id TEXT NOT NULL, boot INTEGER NOT NULL,"
                              " real INTEGER NOT NULL, agreed INTEGER NOT NULL);"
                              "CREATE TABLE live ("
                              " id TEXT PRIMARY KEY, key TEXT NOT NULL, uid INTEGER NOT NULL, started INTEGER NOT NULL,"
                              " boot TEXT NOT NULL, receipt TEXT NOT NULL) WITHOUT ROWID;";

// The receipts of an older pinfold keep their numbers. In the index by_owner, the receipts of each user are ordered by number. A
// query with ReceiptFilter::after needs the receipts in the order of their numbers.
constexpr const char* kNumbering = "CREATE TABLE numbering ("
                                   " row INTEGER PRIMARY KEY CHECK (row = 1), epoch TEXT NOT NULL, last INTEGER NOT NULL);"
                                   "INSERT INTO numbering (row, epoch, last)"
                                   " SELECT 1, lower(hex(randomblob(8))), coalesce(max(number), 0) FROM receipts;"
                                   "CREATE INDEX by_owner ON receipts (uid);";
constexpr const char* kProfiles = "CREATE TABLE profiles (number INTEGER PRIMARY KEY, profile BLOB NOT NULL);"
                                  "CREATE TRIGGER profile_goes AFTER DELETE ON receipts"
                                  " BEGIN DELETE FROM profiles WHERE number = old.number; END;";

constexpr const char* kVersion = "PRAGMA user_version = 5;";

// Reading a million JSON texts takes long, even if each text is read only once. fillKinds() does not read the JSON texts, and
// inserts a row for every possible combination of scheduler, result, outcome and leftovers. kDropUnusedKinds deletes the kinds
// that no receipt has. At most 32 schedulers get kinds of their own, and all other schedulers share kinds. fillKinds() chooses
// the 32 schedulers with the most receipts. If the JSON text of a receipt cannot be read, the receipt gets the kind with the
// result '?'.
std::string fillKinds() {
    std::string results = "('?')";
    for (const auto& name : jobResultNames())
        results += ", ('" + name + "')";
    return "INSERT INTO kinds (scheduler, result, outcome, leftovers)"
           " SELECT scheduler, result, outcome, leftovers FROM"
           " (SELECT '' AS scheduler UNION ALL SELECT scheduler FROM"
           "   (SELECT substr(key, 1, instr(key || '.', '.') - 1) AS scheduler FROM receipts"
           "    GROUP BY 1 ORDER BY count(*) DESC LIMIT 32)),"
           " (SELECT 'exited' AS result, 1 AS outcome UNION ALL SELECT 'exited', 2 UNION ALL SELECT column1, 0 FROM (VALUES " +
           results +
           ")),"
           " (SELECT 0 AS leftovers UNION ALL SELECT 1);";
}

std::string fillReceipts() {
    return std::string("UPDATE receipts SET kind = coalesce("
                       " CASE WHEN json_valid(receipt) THEN"
                       "  (SELECT kind FROM kinds WHERE scheduler IN (substr(key, 1, instr(key || '.', '.') - 1), '')"
                       "   AND result = json_extract(receipt, '$.result')"
                       "   AND outcome = ") +
           kOutcomeOfReceipt +
           "   AND leftovers = coalesce(json_extract(receipt, '$.leftovers') > 0, 0)"
           "   ORDER BY scheduler DESC LIMIT 1) END,"
           " (SELECT kind FROM kinds WHERE scheduler = '' AND result = '?' AND leftovers = 0));";
}

constexpr const char* kDropUnusedKinds =
    "DELETE FROM kinds WHERE NOT EXISTS (SELECT 1 FROM receipts INDEXED BY by_kind WHERE receipts.kind = kinds.kind);";

// In schemas 1, 2 and 3, a job with an unknown outcome counted as failed.
constexpr const char* kTellUnknown =
    "ALTER TABLE kinds RENAME COLUMN exit_ok TO outcome;"
    "INSERT INTO kinds (scheduler, result, outcome, leftovers)"
    " SELECT scheduler, result, 2, leftovers FROM kinds WHERE result = 'exited' AND outcome = 0;"
    "UPDATE receipts SET kind ="
    "  (SELECT unknown.kind FROM kinds JOIN kinds AS unknown USING (scheduler, result, leftovers)"
    "   WHERE kinds.kind = receipts.kind AND unknown.outcome = 2)"
    " WHERE kind IN (SELECT kind FROM kinds WHERE result = 'exited' AND outcome = 0)"
    "  AND json_valid(receipt) AND json_extract(receipt, '$.exit_status') IS NULL;";

std::string ddl(std::uint64_t from) {
    if (from == 0)
        return std::string(kReceipts) + kKinds + kIndexes + kLive + kNumbering + kProfiles + kVersion;
    if (from >= kSchemaWithKinds)
        return (from < kSchemaWithLive ? kLive : "") +
               (from < kSchemaWithUnknown ? std::string(kTellUnknown) + kDropUnusedKinds : "") + kNumbering + kProfiles +
               kVersion;
    return std::string("DROP INDEX IF EXISTS by_key; DROP INDEX IF EXISTS by_uid;"
                       "ALTER TABLE receipts ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;") +
           kKinds + fillKinds() + fillReceipts() + kIndexes + kDropUnusedKinds + kLive + kNumbering + kProfiles + kVersion;
}

/// Returns the number of the file's schema, or 0 if the file has no tables.
Result<std::uint64_t> schemaOf(sqlite3* db) {
    // A file of schema 1 can have tables but no schema number. An earlier pinfold created the tables in one transaction, and
    // wrote the schema number in a later transaction.
    return sqlite::queryNumber(db, "SELECT max(user_version, EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'receipts'))"
                                   " FROM pragma_user_version");
}

/// Opens the database. `name` is the file's path, or a URI of the file.
Result<HistoryDatabase> connect(const std::filesystem::path& file, const std::string& name, int flags) {
    sqlite3* raw = nullptr;
    const int opened = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
    Database db(raw);
    if (opened != SQLITE_OK)
        return sqlite::failed(raw, file.string());
    sqlite3_busy_timeout(raw, kBusyTimeoutMs);
    const auto schema = schemaOf(raw);
    if (!schema)
        return Error{schema.error().code, file.string() + ": " + schema.error().message};
    if (*schema > kHistorySchema)
        return Error{ErrorCode::ConfigInvalid, file.string() + " was written by a newer pinfold (schema " +
                                                   std::to_string(*schema) + "): install that pinfold, or move the file away"};
    return HistoryDatabase{.db = std::move(db), .schema = *schema};
}

std::string immutableUri(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const char c : file.string())
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    return uri + "?immutable=1";
}

/// Creates the file with mode 0600 from the beginning, so that other users can never read the history. sqlite creates the
/// write-ahead log with the same mode as the database file.
void createPrivate(const std::filesystem::path& file) {
    std::error_code ignored; // the code ignores an error of create_directories(), because sqlite reports a wrong path later
    if (std::filesystem::create_directories(file.parent_path(), ignored))
        std::filesystem::permissions(file.parent_path(), std::filesystem::perms::owner_all, ignored);
    const UniqueFd created(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

/// The migration is one transaction, so the next program that opens the file finds either the old schema or the new one.
Result<void> migrate(HistoryDatabase& history) {
    auto transaction = sqlite::Transaction::begin(history.db.get());
    if (!transaction)
        return transaction.error();
    if (auto done = run(history.db.get(), ddl(history.schema)); !done)
        return done;
    if (auto committed = transaction->commit(); !committed)
        return committed;
    history.schema = kHistorySchema;
    // After a migration from schema 1, the write-ahead log is as long as the whole database. A checkpoint empties the write-ahead
    // log. It is harmless if a checkpoint fails, for example because another connection reads the database.
    (void)run(history.db.get(), "PRAGMA wal_checkpoint(TRUNCATE)");
    return {};
}

} // namespace

Result<HistoryDatabase> openHistoryFile(const std::filesystem::path& file, const std::function<void()>& beforeMigration) {
    createPrivate(file);
    auto history = connect(file, file.string(), SQLITE_OPEN_READWRITE);
    if (!history)
        return history;
    sqlite3_busy_timeout(history->db.get(), kWriterBusyTimeoutMs);
    if (history->schema > 0 && history->schema < kHistorySchema && beforeMigration)
        beforeMigration();
    auto ready = run(history->db.get(), kSettings);
    if (ready && history->schema < kHistorySchema)
        ready = migrate(*history);
    if (!ready)
        return Error{ready.error().code, file.string() + ": " + ready.error().message};
    return history;
}

Result<HistoryDatabase> openHistoryFileReadOnly(const std::filesystem::path& file) {
    auto history = connect(file, file.string(), SQLITE_OPEN_READONLY);
    // If pinfold lacks the right to search the directory, exists() fails. The code ignores the error of exists(), because sqlite
    // reports the missing right, too.
    std::error_code ignored;
    // sqlite has to create the index of the write-ahead log ("-shm") even for a program that only reads the file. On a read-only
    // file system, sqlite cannot create the index of the write-ahead log. If the write-ahead log does not exist, all data is in
    // the file itself, and sqlite can open the file as immutable.
    if (history || std::filesystem::exists(file.string() + "-wal", ignored))
        return history;
    history = connect(file, immutableUri(file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    if (history)
        history->immutable = true;
    return history;
}

} // namespace pinfold
