// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt_json.hpp"
#include "store/history.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <sqlite3.h>

#include <string>
#include <vector>

namespace pinfold::test {

/// `ended` is in microseconds since 1970.
inline Receipt receipt(const std::string& id, const std::string& key, std::uint64_t ended, uid_t uid = 1000) {
    Receipt made;
    made.id = id;
    made.key = key;
    made.uid = uid;
    made.started = fromUsec<RealTime>(ended - 5);
    made.ended = fromUsec<RealTime>(ended);
    made.wall = 5us;
    made.exit.status = 0;
    made.usage.cpuUser = 17us;
    made.leftovers = {1, 2us, {"sleep 9", "it's; DROP TABLE receipts"}};
    return made;
}

/// `since` and `until` are in microseconds since 1970.
inline ReceiptFilter filter(std::optional<std::string> key, std::optional<uid_t> uid = {},
                            std::optional<std::uint64_t> since = {}, std::optional<std::uint64_t> until = {},
                            std::uint32_t limit = 100) {
    const auto time = [](std::optional<std::uint64_t> usec) {
        return usec ? std::optional(fromUsec<RealTime>(*usec)) : std::nullopt;
    };
    return {.key = std::move(key), .uid = uid, .since = time(since), .until = time(until), .limit = limit};
}

inline ReceiptFilter kinds(std::optional<std::string> result, std::optional<std::string> scheduler = {}, bool leftovers = false,
                           bool failed = false) {
    ReceiptFilter made;
    made.result = std::move(result);
    made.scheduler = std::move(scheduler);
    made.leftoversOnly = leftovers;
    if (failed)
        made.outcomes = {JobOutcome::Failed};
    return made;
}

inline ReceiptFilter of(uid_t uid, ReceiptFilter made) {
    made.uid = uid;
    return made;
}

inline Receipt ended(Receipt made, JobResult result, std::optional<int> status, std::uint32_t leftovers = 0) {
    made.result = result;
    made.exit.status = status;
    made.leftovers = {leftovers, {}, {}};
    return made;
}

/// Returns receipts of all kinds, so that each filter selects at least one receipt. The newest receipt is last.
inline std::vector<Receipt> mixed() {
    return {ended(receipt("ok", "sge.1", 100, 1), JobResult::Exited, 0),
            ended(receipt("bad", "sge.2", 200, 1), JobResult::Exited, 1),
            ended(receipt("slow", "sge.3", 300, 2), JobResult::Timeout, {}),
            ended(receipt("messy", "pbs.1", 400, 2), JobResult::Exited, 0, 3),
            ended(receipt("stopped", "pbs.1", 500, 1), JobResult::Stopped, 0, 1),
            ended(receipt("unknown", "sge2.1", 600, 3), JobResult::Exited, {}),
            ended(receipt("slow2", "pbs.9", 700, 1), JobResult::Timeout, 0)};
}

inline std::vector<std::string> idsOf(const Result<std::vector<Receipt>>& receipts) {
    std::vector<std::string> ids;
    EXPECT_TRUE(receipts) << receipts.error().message;
    if (receipts)
        for (const auto& one : *receipts)
            ids.push_back(one.id);
    return ids;
}

using Ids = std::vector<std::string>;

/// Returns the receipt without the sequence and the epoch that the history has added.
inline Receipt unnumbered(Receipt receipt) {
    receipt.sequence.reset();
    receipt.epoch.reset();
    return receipt;
}

/// Checks that each filter of the history selects the right receipts of mixed(), no matter which version of pinfold wrote the
/// history.
inline void expectMixed(const History& history) {
    EXPECT_EQ(idsOf(history.list({})), (Ids{"slow2", "unknown", "stopped", "messy", "slow", "bad", "ok"}));
    EXPECT_EQ(idsOf(history.list(kinds("timeout"))), (Ids{"slow2", "slow"}));
    EXPECT_EQ(idsOf(history.list(kinds("exited"))), (Ids{"unknown", "messy", "bad", "ok"}));
    EXPECT_EQ(idsOf(history.list(kinds("lost"))), Ids{});
    EXPECT_EQ(idsOf(history.list(kinds("nonsense' OR 1"))), Ids{});
    EXPECT_EQ(idsOf(history.list(kinds({}, "sge"))), (Ids{"slow", "bad", "ok"}));
    EXPECT_EQ(idsOf(history.list(kinds({}, "sg"))), Ids{});
    EXPECT_EQ(idsOf(history.list(kinds({}, "sge.1"))), Ids{});
    EXPECT_EQ(idsOf(history.list(kinds({}, ""))), Ids{});
    EXPECT_EQ(idsOf(history.list(kinds({}, {}, true))), (Ids{"stopped", "messy"}));
    EXPECT_EQ(idsOf(history.list(kinds({}, {}, false, true))), (Ids{"slow2", "stopped", "slow", "bad"}));
    EXPECT_EQ(idsOf(history.list({.outcomes = {JobOutcome::Unknown}})), Ids{"unknown"});
    EXPECT_EQ(idsOf(history.list({.outcomes = {JobOutcome::Succeeded}})), (Ids{"messy", "ok"}));
    EXPECT_EQ(idsOf(history.list({.outcomes = {JobOutcome::Failed, JobOutcome::Unknown}})),
              (Ids{"slow2", "unknown", "stopped", "slow", "bad"}));

    EXPECT_EQ(idsOf(history.list(kinds("timeout", "pbs"))), Ids{"slow2"});
    EXPECT_EQ(idsOf(history.list(kinds("exited", {}, false, true))), Ids{"bad"});
    EXPECT_EQ(idsOf(history.list(kinds({}, "pbs", true, true))), Ids{"stopped"});
    EXPECT_EQ(idsOf(history.list(of(1, {}))), (Ids{"slow2", "stopped", "bad", "ok"}));
    EXPECT_EQ(idsOf(history.list(of(1, kinds("timeout")))), Ids{"slow2"});
    EXPECT_EQ(idsOf(history.list(of(1, kinds({}, "sge", false, true)))), Ids{"bad"});
    EXPECT_EQ(idsOf(history.list(of(3, kinds({}, {}, true)))), Ids{});

    auto key = filter("pbs.1");
    key.outcomes = {JobOutcome::Failed};
    EXPECT_EQ(idsOf(history.list(key)), Ids{"stopped"});
    key.uid = 2;
    EXPECT_EQ(idsOf(history.list(key)), Ids{});
    auto window = kinds({}, {}, false, true);
    window.since = fromUsec<RealTime>(300);
    window.until = fromUsec<RealTime>(700);
    EXPECT_EQ(idsOf(history.list(window)), (Ids{"stopped", "slow"}));
    window.limit = 2;
    EXPECT_EQ(idsOf(history.list(window)), (Ids{"stopped", "slow"}));
    window.uid = 2;
    EXPECT_EQ(idsOf(history.list(window)), Ids{"slow"});
}

inline std::vector<Receipt> large(std::uint64_t number) {
    std::vector<Receipt> receipts;
    for (std::uint64_t n = 0; n < number; ++n) {
        receipts.push_back(receipt("id" + std::to_string(n), "sge." + std::to_string(n), 1000 + n));
        receipts.back().leftovers = {1, 0us, {std::string(1000, 'x')}};
    }
    return receipts;
}

class HistoryFile : public TemporaryDirectory {
protected:
    Result<History> tryOpen(History::Mode mode = History::Mode::ReadWrite) const { return History::open(file(), mode); }
    History open(History::Mode mode = History::Mode::ReadWrite) const {
        auto opened = tryOpen(mode);
        EXPECT_TRUE(opened) << opened.error().message;
        return *std::move(opened);
    }
    void sql(const std::string& statement) const {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }
    std::filesystem::path file() const { return top() / "lib dir/history#1?%41.db"; }
    /// Writes the history in the format that pinfold used before schema 2.
    void writeSchema1(const std::vector<Receipt>& receipts) const {
        std::filesystem::create_directories(file().parent_path());
        sql("PRAGMA journal_mode = WAL;"
            "CREATE TABLE receipts (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, uid INTEGER NOT NULL,"
            " ended INTEGER NOT NULL, receipt TEXT NOT NULL);"
            "CREATE INDEX by_ended ON receipts (ended);"
            "CREATE INDEX by_key ON receipts (key, ended);"
            "CREATE INDEX by_uid ON receipts (uid, ended);"
            "PRAGMA user_version = 1;");
        for (const auto& one : receipts)
            sql("INSERT INTO receipts (id, key, uid, ended, receipt) VALUES ('" + one.id + "', '" + one.key + "', " +
                std::to_string(one.uid) + ", " + std::to_string(toUsec(one.ended)) + ", '" + encode(one) + "')");
    }
    void downgradeToSchema4() const {
        sql("DROP TABLE numbering; DROP INDEX by_owner; DROP TRIGGER profile_goes; DROP TABLE profiles; PRAGMA user_version = 4");
    }
    /// Converts the file to schema 3, which has the outcome "failed" in place of "unknown". Before the call, the SQL
    /// table `kinds` must not contain a row with "failed" and an otherwise equal row with "unknown".
    void downgradeToSchema3() const {
        downgradeToSchema4();
        sql("ALTER TABLE kinds RENAME COLUMN outcome TO exit_ok; UPDATE kinds SET exit_ok = 0 WHERE exit_ok = 2;"
            "PRAGMA user_version = 3");
    }
    void downgradeToSchema2() const {
        downgradeToSchema3();
        sql("DROP TABLE live; PRAGMA user_version = 2");
    }
    std::uint64_t number(const std::string& query) const {
        sqlite3* db = nullptr;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_prepare_v2(db, query.c_str(), -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
        const auto found = static_cast<std::uint64_t>(sqlite3_column_int64(statement, 0));
        sqlite3_finalize(statement);
        sqlite3_close(db);
        return found;
    }
};

} // namespace pinfold::test
