// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/cpp/stat_line.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>
#include <fstream>

namespace pinfold::test {
namespace {

TEST_F(CoreTest, aRunningJobGoesOnAfterACrash) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    restart();
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_TRUE(node.signals.empty());
    EXPECT_TRUE(node.stops.empty());
    end(leader);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(CoreTest, aLeaderThatDiedMeanwhileIsEndedWithItsLeftovers) {
    auto leader = child();
    create("sge.1", leader);
    auto daemon = child();
    node.spawnInside(daemon.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    crash();
    node.vanish(leader.pid());
    leader.end();
    restart();
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].leftovers.count, 1U);
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(CoreTest, anotherProcessOfTheLeadersNumberIsNotTheLeader) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    // The process has the same pid as the leader, but a later start time (field 22 of stat).
    std::ofstream(node.root() / "proc" / std::to_string(leader.pid()) / "stat")
        << statLine({.pid = leader.pid(), .started = 999'999'999});
    restart();
    EXPECT_NE(manager->job("sge.1")->state, JobState::Running);
}

TEST_F(CoreTest, aJobWhoseCreationWasCutShortIsFinished) {
    auto leader = child();
    node.holdStarts = true;
    create("sge.1", leader);
    EXPECT_FALSE(created);
    crash();
    node.holdStarts = false;
    restart();
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    create("sge.1", leader); // the caller has lost the answer, and repeats the call
    ASSERT_TRUE(created && *created);
    end(leader);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(CoreTest, aJobThatWasCutShortAndIsGoneLeavesNothing) {
    auto leader = child();
    node.holdStarts = true;
    create("sge.1", leader);
    crash();
    node.holdStarts = false;
    node.vanish(leader.pid());
    leader.end();
    restart();
    loop.advance(1s);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(node.units.empty());
    EXPECT_EQ(recordFiles(), 0U);
    EXPECT_TRUE(receipts().empty());
}

TEST_F(CoreTest, anEndThatWasCutShortGoesOnAndCountsLeftoversOnce) {
    auto leader = child();
    create("sge.1", leader);
    auto daemon = child();
    node.spawnInside(daemon.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    end(leader);
    crash();
    restart();
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].leftovers.count, 1U);
}

TEST_F(CoreTest, aReceiptIsNeverCountedTwice) {
    auto leader = child();
    create("sge.1", leader);
    // pinfoldd is killed after it has stored the receipt and before it has removed the record.
    const auto file = node.root() / "run/pinfold/jobs/sge.1.json";
    std::filesystem::copy_file(file, node.root() / "kept");
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    crash();
    std::filesystem::copy_file(node.root() / "kept", file);
    restart();
    loop.advance(1s);
    EXPECT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited) << "the first word stands";
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(CoreTest, aLimitOnADiskWithAnUnsteadyNameIsForgottenAndTheJobGoesOn) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    auto record = records.load()->records.front();
    record.limits.ioReadIopsMax = *DeviceAmounts::parseStored("/dev/shm/alice/disk 7, /dev/vda 9");
    record.limits.ioWriteIopsMax = *DeviceAmounts::parseStored("/dev/fd/3 8");
    ASSERT_TRUE(records.save(record)); // an earlier pinfoldd accepted the device names that this record contains
    restart();
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_EQ(manager->job("sge.1")->limits.ioReadIopsMax, *DeviceAmounts::parse("/dev/vda 9"));
    EXPECT_EQ(manager->job("sge.1")->limits.ioWriteIopsMax, std::nullopt);
    EXPECT_EQ(records.load()->records.front().limits, manager->job("sge.1")->limits);
    const auto told = journal.messages();
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const auto& message) {
        return message.find("forgets io_read_iops_max of /dev/shm/alice/disk, io_write_iops_max of /dev/fd/3") !=
               std::string::npos;
    }));
}

TEST_F(CoreTest, theTimeLimitCountsOn) {
    auto leader = child();
    ResourceLimits limits;
    limits.runTimeMax = 60'000'000;
    create("sge.1", leader, limits);
    loop.advance(50s);
    crash();
    restart();
    loop.advance(9'999'999us);
    EXPECT_TRUE(node.signals.empty());
    loop.advance(2us);
    EXPECT_FALSE(node.signals.empty());
}

TEST_F(CoreTest, anUnreadableRecordCostsNobodyAProcess) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    std::ofstream(node.root() / "run/pinfold/jobs/sge.1.json") << "{\"version\":";
    restart();
    EXPECT_TRUE(node.stops.empty());
    EXPECT_TRUE(node.signals.empty());
    bool told = false;
    for (const auto& message : journal.messages())
        told = told || message.find("sge.1.json") != std::string::npos;
    EXPECT_TRUE(told);
}

TEST_F(CoreTest, anEmptySliceWithoutARecordIsRemovedAndAPopulatedOneIsNot) {
    node.units = {"batch-sge.8.slice", "batch-sge.9.slice", "job-sge.9.scope"};
    auto stranger = child();
    node.spawnInside(stranger.pid(), "/batch.slice/batch-sge.9.slice/job-sge.9.scope");
    crash();
    restart();
    EXPECT_EQ(node.stops, (std::vector<std::string>{"batch-sge.8.slice"}));
}

} // namespace
} // namespace pinfold::test
