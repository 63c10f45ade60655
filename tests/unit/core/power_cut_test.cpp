// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what pinfoldd does after the node has lost its power while jobs ran. The power cut removes the contents of /run, but
// history.db still exists.
#include "tests/unit/core/core_fixture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace pinfold::test {
namespace {

class PowerCutTest : public CoreTest {
protected:
    /// Cuts the power, and boots the node again when the time `downFor` is over. After the power cut, only the files on the disk
    /// are left.
    void powerCut(Microseconds downFor = 60s) {
        crash();
        std::filesystem::remove_all(node.root() / "run/pinfold/jobs");
        std::filesystem::remove_all(node.root() / "sys/fs/cgroup/batch.slice");
        node.units.clear();
        EXPECT_TRUE(records.prepare());
        loop.advance(downFor);
        loop.reboot();
        bootId += "'";
        restart();
    }
    std::size_t liveRows() const { return history->live()->rows.size(); }
    /// Removes the history and its write-ahead log, and writes a file with the given content at the path of the history.
    void replaceHistory(const std::string& content) {
        history.reset();
        for (const char* part : {"", "-wal", "-shm"})
            std::filesystem::remove(historyFile().string() + part);
        if (!content.empty())
            std::ofstream(historyFile()) << content;
    }
    void openHistory() { history.emplace(*History::open(historyFile(), History::Mode::ReadWrite)); }
    void runJob(const std::string& key) {
        auto leader = child();
        create(key, leader);
        end(leader);
    }
    std::map<std::string, std::vector<JobResult>> results() const {
        std::map<std::string, std::vector<JobResult>> found;
        for (const auto& receipt : receipts())
            found[receipt.key].push_back(receipt.result);
        return found;
    }
};

using Results = std::map<std::string, std::vector<JobResult>>;

TEST_F(PowerCutTest, aJobThatRanHasItsReceipt) {
    auto leader = child();
    ResourceLimits limits;
    limits.tasksMax = 7;
    create("sge.1", leader, limits);
    const auto started = loop.realTime();
    loop.advance(1s);
    EXPECT_EQ(liveRows(), 1U);
    powerCut();
    ASSERT_EQ(receipts().size(), 1U);
    const auto receipt = receipts()[0];
    EXPECT_EQ(receipt.result, JobResult::NodeLost);
    EXPECT_EQ(receipt.key, "sge.1");
    EXPECT_EQ(receipt.uid, 1000U);
    EXPECT_EQ(receipt.started, started);
    EXPECT_EQ(receipt.ended, started) << "nothing later is known";
    EXPECT_EQ(receipt.limits.tasksMax, 7U);
    EXPECT_FALSE(receipt.usage.cpuUser);
    EXPECT_EQ(liveRows(), 0U);
    powerCut();
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(PowerCutTest, aReceiptIsASignOfLife) {
    auto lost = child();
    create("sge.1", lost);
    loop.advance(1s);
    auto other = child();
    create("sge.2", other);
    loop.advance(100s);
    end(other);
    const auto ended = receipts()[0].ended;
    powerCut();
    ASSERT_EQ(receipts().size(), 2U);
    for (const auto& receipt : receipts())
        EXPECT_EQ(receipt.ended, ended) << receipt.key;
}

TEST_F(PowerCutTest, aShortJobCostsNoRow) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(400ms);
    end(leader);
    EXPECT_EQ(liveRows(), 0U);
    loop.advance(10s);
    EXPECT_EQ(liveRows(), 0U);
    EXPECT_EQ(loop.timers(), 0U) << "a quiet node wakes up for nothing";
    powerCut();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
}

TEST_F(PowerCutTest, aJobThatEndedBeforeIsNotCountedAgain) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    EXPECT_EQ(liveRows(), 1U);
    end(leader);
    EXPECT_EQ(liveRows(), 0U);
    powerCut();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
}

TEST_F(PowerCutTest, oneRowComesWithTheReceiptOfAnother) {
    auto first = child();
    create("sge.1", first);
    loop.advance(500ms);
    auto second = child();
    create("sge.2", second);
    EXPECT_EQ(liveRows(), 0U);
    end(second);
    EXPECT_EQ(liveRows(), 1U) << "in the same transaction";
}

TEST_F(PowerCutTest, aJobThatIsEndingHasItsReceipt) {
    auto leader = child();
    create("sge.1", leader);
    manager->stopJob(root, "sge.1", 600s, [](const Result<void>& stopped) { EXPECT_TRUE(stopped); });
    loop.advance(1s);
    powerCut();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeLost);
}

TEST_F(PowerCutTest, aRestartOfPinfolddInTheFirstSecondForgetsNoJob) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    restart();
    EXPECT_EQ(liveRows(), 0U);
    loop.advance(1s);
    EXPECT_EQ(liveRows(), 1U);
}

TEST_F(PowerCutTest, aRowThatCannotBeWrittenIsTriedAgain) {
    background->hold(Lane::HistoryWrite);
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s); // the first transaction is under way
    const auto saved = node.root() / "var/lib/pinfold/saved.db";
    history.reset();
    std::filesystem::rename(historyFile(), saved);
    std::filesystem::create_directory(historyFile());
    background->release(Lane::HistoryWrite);
    loop.settle();
    EXPECT_TRUE(manager->draining()) << "this node cannot promise receipts";
    std::filesystem::remove(historyFile());
    std::filesystem::rename(saved, historyFile());
    loop.advance(60s);
    EXPECT_FALSE(manager->draining());
    history.emplace(*History::open(historyFile(), History::Mode::ReadWrite));
    EXPECT_EQ(liveRows(), 1U);
}

TEST_F(PowerCutTest, rowsThatComeWhileTheDiskIsSlowFollow) {
    auto first = child();
    create("sge.1", first);
    background->hold(Lane::HistoryWrite);
    loop.advance(1s);
    auto second = child();
    create("sge.2", second);
    loop.advance(1s);
    background->release(Lane::HistoryWrite);
    loop.settle();
    EXPECT_EQ(liveRows(), 2U);
}

TEST_F(PowerCutTest, liveJobsHaveTheirRowsInTheHistoryThatReplacesADamagedOne) {
    const auto first = child();
    create("sge.1", first);
    const auto second = child();
    create("sge.2", second);
    loop.advance(1s);
    replaceHistory(std::string(20'000, '\x5a'));
    runJob("sge.3");
    EXPECT_EQ(manager->historyFigures().damaged, 1U);
    openHistory();
    EXPECT_EQ(liveRows(), 2U) << "at once, because both jobs run for more than half a second";
    powerCut();
    EXPECT_EQ(results(),
              (Results{{"sge.1", {JobResult::NodeLost}}, {"sge.2", {JobResult::NodeLost}}, {"sge.3", {JobResult::Exited}}}));
}

TEST_F(PowerCutTest, liveJobsHaveTheirRowsInAHistoryThatIsNewBecauseSomebodyRemovedTheFile) {
    const auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    replaceHistory("");
    runJob("sge.2");
    openHistory();
    EXPECT_EQ(liveRows(), 1U);
    powerCut();
    EXPECT_EQ(results(), (Results{{"sge.1", {JobResult::NodeLost}}, {"sge.2", {JobResult::Exited}}}));
}

TEST_F(PowerCutTest, aQueryThatFindsDamageCostsNoLiveJobItsRow) {
    const auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    replaceHistory(std::string(20'000, '\x5a'));
    manager->receipts(root, {}, [](const Result<std::vector<Receipt>>& listed) { EXPECT_FALSE(listed); });
    loop.advance(1ms);
    openHistory();
    EXPECT_EQ(liveRows(), 1U);
}

TEST_F(PowerCutTest, aNewHistoryHasNoRowOfAJobThatMayNeverRun) {
    auto running = child();
    create("sge.1", running);
    loop.advance(1s);
    node.holdStarts = true;
    const auto starting = child();
    create("sge.2", starting);
    replaceHistory("");
    end(running);
    openHistory();
    loop.advance(1s);
    EXPECT_EQ(liveRows(), 0U);
}

TEST_F(PowerCutTest, theRowOfALongJobHasTheFiguresOfALookInTheLastMinutes) {
    const auto leader = child();
    create("sge.1", leader);
    const auto uses = [this](int seconds) {
        node.setFile("/batch.slice/batch-sge.1.slice", "cpu.stat",
                     fmt::format("usage_usec {0}\nuser_usec {0}\nsystem_usec 0\n", seconds * 1'000'000));
    };
    uses(7);
    node.setFile("/batch.slice/batch-sge.1.slice", "memory.stat", "anon 5000\nfile 3000\nshmem 1000\n");
    const auto seen = [this] { return history->live()->rows.at(0).receipt; };
    loop.advance(4min);
    EXPECT_FALSE(seen().usage.cpuUser) << "the row is of the job's start";
    loop.advance(2min);
    EXPECT_EQ(seen().usage.cpuUser, 7s);
    const auto lastLook = seen().ended;
    uses(9);
    loop.advance(2min);
    EXPECT_EQ(seen().usage.cpuUser, 7s) << "the disk has a write in five minutes and not at each look";
    powerCut();
    ASSERT_EQ(receipts().size(), 1U);
    const auto receipt = receipts()[0];
    EXPECT_EQ(receipt.result, JobResult::NodeLost);
    EXPECT_EQ(receipt.usage.cpuUser, 7s);
    EXPECT_EQ(receipt.usage.memoryNeed, 6000U);
    EXPECT_FALSE(receipt.usage.memoryAnon) << "that is a figure of live jobs";
    EXPECT_FALSE(receipt.usage.tasksCurrent);
    EXPECT_EQ(receipt.ended, lastLook) << "the last sign of life";
    EXPECT_GE(receipt.wall, 5min);
}

TEST_F(PowerCutTest, allRowsAreRefreshedTogether) {
    std::vector<ChildProcess> leaders;
    for (int n = 1; n <= 40; ++n) {
        leaders.push_back(child());
        create("sge." + std::to_string(n), leaders.back());
        loop.advance(1s);
    }
    loop.advance(6min);
    const auto live = history->live();
    std::set<RealTime> times;
    for (const auto& row : live->rows) {
        EXPECT_TRUE(row.receipt.usage.cpuUser) << row.receipt.key;
        times.insert(row.receipt.ended);
    }
    EXPECT_EQ(times.size(), 1U);
}

TEST_F(PowerCutTest, aJobThatWasNeverCreatedHasNoRow) {
    auto leader = child();
    node.startWithoutMoving = true;
    create("sge.1", leader);
    loop.advance(120s);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(liveRows(), 0U);
}

TEST_F(PowerCutTest, itIsInTheJournal) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    journal.events.clear();
    powerCut();
    const auto messages = journal.messages();
    EXPECT_NE(std::find(messages.begin(), messages.end(), "job sge.1 did not survive: node-lost"), messages.end());
}

TEST_F(PowerCutTest, aJobOfThisBootOfWhichNothingIsLeftIsLost) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    crash();
    ASSERT_TRUE(records.remove(*JobKey::parse("sge.1")));
    restart();
    EXPECT_EQ(receipts().size(), 0U) << "its slice is there";
    crash();
    std::filesystem::remove_all(node.root() / "sys/fs/cgroup/batch.slice/batch-sge.1.slice");
    restart();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Lost);
}

TEST_F(PowerCutTest, aRecordThatCannotBeReadMayBeThatJobs) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    crash();
    std::ofstream(node.root() / "run/pinfold/jobs/sge.1.json") << "{";
    std::filesystem::remove_all(node.root() / "sys/fs/cgroup/batch.slice/batch-sge.1.slice");
    restart();
    EXPECT_EQ(receipts().size(), 0U);
    EXPECT_EQ(liveRows(), 1U);
}

} // namespace
} // namespace pinfold::test
