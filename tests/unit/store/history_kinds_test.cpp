// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history_fixture.hpp"

#include "store/history_schema.hpp"

#include <algorithm>

namespace pinfold::test {

TEST_F(HistoryFile, theKindsOfJobsNarrow) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    expectMixed(history);
    expectMixed(open(History::Mode::ReadOnly));
}

TEST_F(HistoryFile, theOrderIsByTimeWhateverTheKind) {
    auto history = open();
    auto receipts = mixed();
    std::reverse(receipts.begin(), receipts.end());
    ASSERT_TRUE(history.write({receipts}));
    EXPECT_EQ(idsOf(history.list(of(1, {}))), (Ids{"slow2", "stopped", "bad", "ok"}));
    ASSERT_TRUE(history.write({{receipt("first", "sge.1", 5, 9), ended(receipt("second", "sge.1", 5, 9), JobResult::Lost, {})}}));
    EXPECT_EQ(idsOf(history.list(of(9, {}))), (Ids{"second", "first"}));
    EXPECT_EQ(idsOf(history.list(filter("sge.1", {}, {}, 6))), (Ids{"second", "first"}));
    EXPECT_EQ(idsOf(history.list(filter({}, {}, {}, 6))), (Ids{"second", "first"}));
}

TEST_F(HistoryFile, noUserMakesKindsWithoutEnd) {
    auto history = open();
    std::vector<Receipt> receipts;
    for (std::uint64_t n = 0; n < 100; ++n)
        receipts.push_back(receipt(std::to_string(n), "s" + std::to_string(n) + ".1", n + 10));
    receipts.push_back(ended(receipt("late", "s0.2", 200), JobResult::Timeout, {}));
    ASSERT_TRUE(history.write({receipts}));
    EXPECT_EQ(number("SELECT count(*) FROM kinds"), 34U);
    EXPECT_EQ(idsOf(history.list(kinds({}, "s0"))), (Ids{"late", "0"}));
    EXPECT_EQ(idsOf(history.list(kinds({}, "s99"))), Ids{"99"});
    EXPECT_EQ(idsOf(history.list(kinds({}, "s9"))), Ids{"9"});
    EXPECT_EQ(history.list({.limit = 1000})->size(), 101U);
    EXPECT_EQ(idsOf(history.list(kinds("timeout"))), Ids{"late"});
}

TEST_F(HistoryFile, anOlderFileIsBroughtUpToDate) {
    writeSchema1(mixed());
    auto history = open();
    EXPECT_EQ(number("PRAGMA user_version"), kHistorySchema);
    expectMixed(history);
    EXPECT_EQ(unnumbered(history.list(kinds("timeout", "sge"))->at(0)), mixed()[2]);
    EXPECT_EQ(number("SELECT count(*) FROM kinds"), 7U);
    ASSERT_TRUE(history.write({{receipt("ok", "sge.1", 999), ended(receipt("new", "sge.7", 800), JobResult::Lost, {})}}));
    EXPECT_EQ(idsOf(history.list(kinds("lost", "sge"))), Ids{"new"});
    EXPECT_EQ(idsOf(open().list(kinds("lost"))), Ids{"new"});
}

TEST_F(HistoryFile, aFileThatKnowsOfNothingUnknownIsBroughtUpToDate) {
    ASSERT_TRUE(open().write({mixed()}));
    downgradeToSchema3();
    expectMixed(open(History::Mode::ReadOnly));
    int announced = 0;
    auto history = History::open(file(), History::Mode::ReadWrite, [&announced] { ++announced; });
    ASSERT_TRUE(history) << history.error().message;
    EXPECT_EQ(announced, 1);
    EXPECT_EQ(number("PRAGMA user_version"), kHistorySchema);
    expectMixed(*history);
    EXPECT_EQ(number("SELECT count(*) FROM kinds"), 7U);
    ASSERT_TRUE(history->write({{ended(receipt("new", "sge2.7", 800), JobResult::Exited, {})}}));
    EXPECT_EQ(idsOf(history->list({.outcomes = {JobOutcome::Unknown}})), (Ids{"new", "unknown"}));
}

TEST_F(HistoryFile, anExitThatIsToldLaterChangesTheKind) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    const auto tell = [&](const std::string& id, const ExitState& exit) {
        EXPECT_TRUE(history.write({.receipts = {}, .started = {}, .reports = {{.id = id, .exit = exit}}}));
    };
    tell("unknown", {.status = {}, .signal = 9});
    tell("unknown", {.status = 0, .signal = {}});
    tell("ok", {.status = 7, .signal = {}});
    tell("slow", {.status = 4, .signal = {}});
    tell("nobody", {.status = 4, .signal = {}});
    EXPECT_EQ(idsOf(history.list({.outcomes = {JobOutcome::Unknown}})), Ids{});
    EXPECT_EQ(idsOf(history.list(kinds("signaled"))), Ids{"unknown"});
    EXPECT_EQ(history.list(filter("sge2.1"))->at(0).exit, (ExitState{.status = {}, .signal = 9})) << "told once";
    EXPECT_EQ(history.list(filter("sge.1"))->at(0).exit.status, 0) << "it was known";
    EXPECT_EQ(history.list(filter("sge.3"))->at(0).exit.status, 4);
    EXPECT_EQ(idsOf(history.list(kinds("timeout"))), (Ids{"slow2", "slow"}));
}

TEST_F(HistoryFile, anOlderFilesReceiptsKeepTheirResults) {
    std::vector<Receipt> receipts;
    for (const auto& name : jobResultNames())
        receipts.push_back(ended(receipt(name, "sge." + name, 10), *jobResultFromString(name), {}));
    writeSchema1(receipts);
    const auto history = open();
    for (const auto& name : jobResultNames())
        EXPECT_EQ(idsOf(history.list(kinds(name))), Ids{name});
}

TEST_F(HistoryFile, anOlderFileMayBeRead) {
    writeSchema1(mixed());
    expectMixed(open(History::Mode::ReadOnly));
    EXPECT_EQ(number("PRAGMA user_version"), 1U);
    EXPECT_EQ(open(History::Mode::ReadOnly).info()->rows, 7U);
}

TEST_F(HistoryFile, aReaderOutlivesTheMigration) {
    writeSchema1(mixed());
    const auto reader = open(History::Mode::ReadOnly);
    EXPECT_EQ(idsOf(reader.list(kinds("timeout"))), (Ids{"slow2", "slow"}));
    ASSERT_TRUE(open().write({{ended(receipt("new", "sge.7", 800), JobResult::Timeout, {})}}));
    EXPECT_EQ(idsOf(reader.list(kinds("timeout"))), (Ids{"new", "slow2", "slow"}));
}

TEST_F(HistoryFile, anOlderFileWithManySchedulers) {
    std::vector<Receipt> receipts;
    for (std::uint64_t n = 0; n < 40; ++n)
        receipts.push_back(ended(receipt(std::to_string(n), "s" + std::to_string(n) + ".1", n + 10), JobResult::Exited, 0));
    writeSchema1(receipts);
    auto history = open();
    EXPECT_EQ(number("SELECT count(*) FROM kinds"), 33U);
    for (std::uint64_t n = 0; n < 40; ++n)
        EXPECT_EQ(idsOf(history.list(kinds("exited", "s" + std::to_string(n)))), Ids{std::to_string(n)});
}

TEST_F(HistoryFile, anOlderFileMayHaveDamagedReceipts) {
    writeSchema1(mixed());
    for (const char* text : {"{", "5", "{}"}) {
        sql("UPDATE receipts SET receipt = '" + std::string(text) + "' WHERE id = 'ok'; PRAGMA user_version = 1;");
        auto history = tryOpen();
        ASSERT_TRUE(history) << history.error().message;
        EXPECT_EQ(idsOf(history->list(kinds("timeout"))), (Ids{"slow2", "slow"}));
        EXPECT_EQ(history->vacuum({.maxAge = 50us}, fromUsec<RealTime>(200), 10)->removed, 1U);
        history = Error{};
        std::filesystem::remove(file());
        writeSchema1(mixed());
    }
}

TEST_F(HistoryFile, anOlderFileWhoseVersionWasNotWritten) {
    writeSchema1({});
    sql("PRAGMA user_version = 0; DROP INDEX by_uid; DROP INDEX by_ended");
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    expectMixed(history);
}

TEST_F(HistoryFile, aMigrationThatFailsChangesNothing) {
    writeSchema1(mixed());
    sql("CREATE TABLE kinds (mine)");
    const auto opened = tryOpen();
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find(file().string() + ": history: table kinds already exists"), std::string::npos)
        << opened.error().message;
    EXPECT_EQ(number("PRAGMA user_version"), 1U);
    EXPECT_EQ(idsOf(open(History::Mode::ReadOnly).list(of(2, {}))), (Ids{"messy", "slow"}));
}

TEST_F(HistoryFile, onlyAMigrationIsAnnounced) {
    int announced = 0;
    const auto announce = [&announced] { ++announced; };
    ASSERT_TRUE(History::open(file(), History::Mode::ReadWrite, announce));
    EXPECT_EQ(announced, 0) << "a new file";
    std::filesystem::remove(file());
    writeSchema1(mixed());
    ASSERT_TRUE(History::open(file(), History::Mode::ReadOnly, announce));
    EXPECT_EQ(announced, 0) << "a file to be read";
    ASSERT_TRUE(History::open(file(), History::Mode::ReadWrite, announce));
    EXPECT_EQ(announced, 1);
    ASSERT_TRUE(History::open(file(), History::Mode::ReadWrite, announce));
    EXPECT_EQ(announced, 1) << "once";
}

} // namespace pinfold::test
