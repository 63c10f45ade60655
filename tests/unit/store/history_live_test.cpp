// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that the history's rows of running jobs become receipts if the node goes down while the jobs run.
#include "history_fixture.hpp"

#include "store/history_schema.hpp"

namespace pinfold::test {
namespace {

LiveRow live(const std::string& id, const std::string& boot = "boot-1") {
    LiveRow job{boot, receipt(id, "sge." + id, 100)};
    job.receipt.result = JobResult::NodeLost;
    job.receipt.limits.memoryMax = 4096;
    return job;
}

using Live = std::vector<LiveRow>;

TEST_F(HistoryFile, aLiveJobComesBackAsItWas) {
    ASSERT_TRUE(open().write({{}, {live("b", "boot-2"), live("a")}}));
    EXPECT_EQ(open().live()->rows, (Live{live("a"), live("b", "boot-2")}));
    EXPECT_EQ(idsOf(open().list({})), Ids{});
}

TEST_F(HistoryFile, aJobIsLiveUntilItsReceipt) {
    auto history = open();
    ASSERT_TRUE(history.write({{}, {live("a"), live("b")}}));
    ASSERT_TRUE(history.write({{receipt("a", "sge.a", 200)}, {live("c")}}));
    EXPECT_EQ(history.live()->rows, (Live{live("b"), live("c")}));
    EXPECT_EQ(idsOf(history.list({})), Ids{"a"});
}

TEST_F(HistoryFile, aJobWithAReceiptIsNeverLiveAgain) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("a", "sge.a", 200)}}));
    ASSERT_TRUE(history.write({{receipt("b", "sge.b", 200)}, {live("a"), live("b")}}));
    EXPECT_EQ(history.live()->rows, Live{});
}

TEST_F(HistoryFile, aRowThatComesTwiceIsOne) {
    auto history = open();
    ASSERT_TRUE(history.write({{}, {live("a"), live("a")}}));
    ASSERT_TRUE(history.write({{}, {live("a", "boot-2")}}));
    EXPECT_EQ(history.live()->rows, Live{live("a")});
}

TEST_F(HistoryFile, aRowThatComesAgainHasTheNewerReceipt) {
    auto history = open();
    auto changed = live("a");
    changed.receipt.unkillableProcesses = 2;
    ASSERT_TRUE(history.write({{}, {live("a"), live("b")}}));
    ASSERT_TRUE(history.write({{}, {changed}}));
    EXPECT_EQ(history.live()->rows, (Live{changed, live("b")}));
}

TEST_F(HistoryFile, anAddThatFailsLeavesTheLiveJobsAsTheyWere) {
    ASSERT_TRUE(open().write({{}, {live("a")}}));
    sql("CREATE TRIGGER full BEFORE INSERT ON receipts WHEN new.id = 'b' BEGIN SELECT raise(ABORT, 'full'); END");
    EXPECT_FALSE(open().write({{receipt("a", "sge.a", 200), receipt("b", "sge.b", 200)}, {live("c")}}));
    EXPECT_EQ(open().live()->rows, Live{live("a")});
    EXPECT_EQ(idsOf(open().list({})), Ids{});
}

TEST_F(HistoryFile, aFileOfSchema2IsBroughtUpToDate) {
    ASSERT_TRUE(open().write({mixed()}));
    downgradeToSchema2();
    bool announced = false;
    auto history = History::open(file(), History::Mode::ReadWrite, [&] { announced = true; });
    ASSERT_TRUE(history);
    EXPECT_TRUE(announced) << "each receipt whose status may be unknown is read";
    EXPECT_EQ(number("PRAGMA user_version"), kHistorySchema);
    ASSERT_TRUE(history->write({{}, {live("a")}}));
    EXPECT_EQ(history->live()->rows, Live{live("a")});
    expectMixed(*history);
}

TEST_F(HistoryFile, aFileOfSchema2MayBeRead) {
    ASSERT_TRUE(open().write({mixed()}));
    downgradeToSchema2();
    expectMixed(open(History::Mode::ReadOnly));
    EXPECT_EQ(number("PRAGMA user_version"), 2U);
}

TEST_F(HistoryFile, aFileOfSchema1HasLiveJobsToo) {
    writeSchema1(mixed());
    auto history = open();
    ASSERT_TRUE(history.write({{}, {live("a")}}));
    EXPECT_EQ(history.live()->rows, Live{live("a")});
}

TEST_F(HistoryFile, aLiveJobWhoseTextCannotBeReadKeepsItsColumns) {
    ASSERT_TRUE(open().write({{}, {live("a")}}));
    sql("UPDATE live SET receipt = '{'");
    const auto jobs = open().live()->rows;
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs.front().bootId, "boot-1");
    const auto& receipt = jobs.front().receipt;
    EXPECT_EQ(std::tuple(receipt.id, receipt.key, receipt.uid, receipt.started),
              std::tuple(live("a").receipt.id, std::string("sge.a"), live("a").receipt.uid, live("a").receipt.started));
}

TEST_F(HistoryFile, itIsKnownWhenTheNodeRan) {
    auto history = open();
    EXPECT_FALSE(history.live()->newestEnd);
    EXPECT_FALSE(history.live()->lastVacuum);
    ASSERT_TRUE(history.write({{receipt("a", "sge.1", 100), receipt("b", "sge.2", 300), receipt("c", "sge.3", 200)}}));
    ASSERT_TRUE(
        history.vacuum({.maxAge = 1ms, .clock = ClockReading{"boot-1", fromUsec<BootTime>(50)}}, fromUsec<RealTime>(400), 10));
    EXPECT_EQ(history.live()->newestEnd, fromUsec<RealTime>(300));
    ASSERT_TRUE(history.live()->lastVacuum);
    EXPECT_EQ(history.live()->lastVacuum->bootId, "boot-1");
    EXPECT_EQ(history.live()->lastVacuum->time, fromUsec<RealTime>(400));
}

} // namespace
} // namespace pinfold::test
