// SPDX-License-Identifier: LGPL-2.1-or-later
// Wraps sqlite3's handles in classes. An error contains sqlite's own message. The code of an error is Damaged if the file is
// not a database or is incomplete, and Internal otherwise.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pinfold::sqlite {

struct Release {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Release>;

inline Error failed(sqlite3* db, const std::string& what = "history") {
    const int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
    const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    return {damaged ? ErrorCode::Damaged : ErrorCode::Internal, what + ": " + (db ? sqlite3_errmsg(db) : "out of memory")};
}

/// Runs one or several SQL statements.
inline Result<void> run(sqlite3* db, const std::string& sql) {
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return failed(db);
    return {};
}

class Statement {
public:
    Statement() = default;
    static Result<Statement> prepare(sqlite3* db, const std::string& sql) {
        sqlite3_stmt* raw = nullptr;
        if (sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK)
            return failed(db);
        Statement made;
        made.handle_.reset(raw);
        return made;
    }

    /// Binds a text. Does nothing if the statement has no parameter with the given name. `text` must remain valid until the last
    /// call of step().
    void bind(const char* name, std::string_view text) const {
        // SQLITE_STATIC would be enough, but the macro SQLITE_STATIC contains an old-style cast.
        sqlite3_bind_text64(handle_.get(), parameter(name), text.data(), text.size(), nullptr, SQLITE_UTF8);
    }
    void bindBytes(const char* name, std::string_view bytes) const {
        sqlite3_bind_blob64(handle_.get(), parameter(name), bytes.data(), bytes.size(), nullptr);
    }
    void bind(const char* name, std::uint64_t number) const {
        sqlite3_bind_int64(handle_.get(), parameter(name),
                           static_cast<sqlite3_int64>(std::min<std::uint64_t>(number, INT64_MAX)));
    }

    /// Binds a duration or a time to a parameter of the statement, as a number of microseconds.
    template <class T>
    requires kIsTime<T>
    void bind(const char* name, T time) const { bind(name, toUsec(time)); }

    /// Runs the statement to its next row. Returns false if the result has no further row.
    Result<bool> step() const {
        const int code = sqlite3_step(handle_.get());
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            return failed(sqlite3_db_handle(handle_.get()));
        return code == SQLITE_ROW;
    }
    /// Runs the statement to its end, and calls use() at each row. forEachRow() ends early if the statement or use() fails.
    template <class F> Result<void> forEachRow(F&& use) const {
        while (true) {
            const auto row = step();
            if (!row)
                return row.error();
            if (!*row)
                return {};
            if (auto used = use(); !used)
                return used;
        }
    }
    /// Runs a statement that returns no rows, and resets the statement for the next run.
    Result<void> finish() const {
        auto stepped = step();
        reset(); // step() has already copied the text of its error, so reset() cannot change the text
        if (!stepped)
            return stepped.error();
        return {};
    }
    void reset() const { sqlite3_reset(handle_.get()); }

    std::uint64_t number(int column) const { return static_cast<std::uint64_t>(sqlite3_column_int64(handle_.get(), column)); }
    /// Returns the value of a column as a duration or time of the type `T`.
    template <class T> T time(int column) const { return fromUsec<T>(number(column)); }
    bool isNull(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
    /// Returns a column's text, which is valid until the next call of step().
    std::string_view text(int column) const {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
        return text ? text : "";
    }

    /// Returns a column's bytes, which are valid until the next call of step().
    std::string_view bytes(int column) const {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
        return {bytes, bytes ? static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)) : 0};
    }

private:
    int parameter(const char* name) const { return sqlite3_bind_parameter_index(handle_.get(), name); }

    std::unique_ptr<sqlite3_stmt, Release> handle_;
};

/// Runs a query and returns the number in its only row.
inline Result<std::uint64_t> queryNumber(sqlite3* db, const std::string& sql) {
    const auto statement = Statement::prepare(db, sql);
    if (!statement)
        return statement.error();
    const auto row = statement->step();
    if (!row)
        return row.error();
    if (!*row)
        return failed(db);
    return statement->number(0);
}

/// Represents a write transaction. The destructor rolls the transaction back if nobody has committed it.
class Transaction {
public:
    static Result<Transaction> begin(sqlite3* db) {
        if (auto begun = run(db, "BEGIN IMMEDIATE"); !begun)
            return begun.error();
        return Transaction(db);
    }
    Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction() {
        if (db_)
            // An error of the rollback does not matter, because an earlier error has caused the rollback.
            (void)run(db_, "ROLLBACK");
    }
    Result<void> commit() {
        auto done = run(db_, "COMMIT");
        if (done)
            db_ = nullptr;
        return done;
    }

private:
    explicit Transaction(sqlite3* db) : db_(db) {}
    sqlite3* db_;
};

} // namespace pinfold::sqlite
