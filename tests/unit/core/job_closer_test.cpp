// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that pinfoldd writes the receipt and removes the slice at the same time.
#include "base/message_ids.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>
#include <filesystem>

namespace pinfold::test {
namespace {

class JobCloserTest : public CoreTest {
protected:
    void endWhileTheDiskHangs(ChildProcess& leader) {
        background->hold(Lane::HistoryWrite);
        end(leader);
    }
    void releaseDisk() {
        background->release(Lane::HistoryWrite);
        loop.settle();
    }
    /// Removes the slice's counters, as if an administrator had stopped the slice.
    void removeCounters() {
        for (const char* file : {"cpu.stat", "io.stat", "memory.stat", "memory.peak", "pids.peak"})
            std::filesystem::remove(node.root() / "sys/fs/cgroup/batch.slice/batch-sge.1.slice" / file);
    }
    bool sliceExists() const { return std::filesystem::exists(node.root() / "sys/fs/cgroup/batch.slice/batch-sge.1.slice"); }
};

TEST_F(JobCloserTest, aSliceGoesWhileTheDiskIsSlowAndItsJobStays) {
    auto leader = child();
    create("sge.1", leader);
    endWhileTheDiskHangs(leader);
    EXPECT_FALSE(sliceExists());
    ASSERT_TRUE(manager->job("sge.1")) << "it has no receipt";
    EXPECT_EQ(manager->usage(root, "sge.1")->cpuUser, 200us);
    EXPECT_EQ(listProcesses("sge.1")->size(), 0U);
    releaseDisk();
    EXPECT_EQ(manager->jobCount(), 0U);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].usage.cpuUser, 200us);
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(JobCloserTest, countersThatVanishedAreThoseOfTheLastLook) {
    auto leader = child();
    create("sge.1", leader);
    node.setFile("/batch.slice/batch-sge.1.slice", "cpu.stat", "usage_usec 900\nuser_usec 700\nsystem_usec 200\n");
    node.setFile("/batch.slice/batch-sge.1.slice", "io.stat", "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2\n");
    node.setFile("/batch.slice/batch-sge.1.slice", "memory.stat", "anon 5000\nfile 3000\nshmem 1000\n");
    loop.advance(1s);
    removeCounters();
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    const auto usage = receipts()[0].usage;
    EXPECT_EQ(usage.cpuUser, 700us);
    EXPECT_EQ(usage.cpuSystem, 200us);
    EXPECT_EQ(usage.ioRead, 4096U);
    EXPECT_EQ(usage.ioWrites, 2U);
    ASSERT_EQ(usage.ioDevices.size(), 1U);
    EXPECT_EQ(usage.memoryNeed, 6000U);
    EXPECT_FALSE(usage.memoryFile) << "nobody knows how much page cache was left at the end";
    EXPECT_FALSE(usage.memoryPeak);
    EXPECT_FALSE(usage.tasksPeak);
}

TEST_F(JobCloserTest, countersOfTheEndAreBetterThanThoseOfTheLastLook) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    node.setFile("/batch.slice/batch-sge.1.slice", "cpu.stat", "usage_usec 900\nuser_usec 700\nsystem_usec 200\n");
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].usage.cpuUser, 700us);
}

TEST_F(JobCloserTest, aLookThatFoundNoCountersDoesNotReplaceAnEarlierOne) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(1s);
    removeCounters();
    loop.advance(10s);
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].usage.cpuUser, 200us);
}

TEST_F(JobCloserTest, nothingIsInventedIfNobodyHasLooked) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(900ms);
    removeCounters();
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].usage, Usage{});
}

TEST_F(JobCloserTest, aRestartInBetweenLosesNothing) {
    auto leader = child();
    create("sge.1", leader);
    const auto ended = loop.realTime();
    endWhileTheDiskHangs(leader);
    ASSERT_FALSE(sliceExists());
    loop.advance(1s);
    crash();
    restart();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].ended, ended);
    EXPECT_EQ(receipts()[0].usage.cpuUser, 200us);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(std::ranges::none_of(journal.events, [](const auto& event) { return event.messageId == kMessageOrphan; }))
        << "the slice is gone as it should be";
}

TEST_F(JobCloserTest, aJobWhoseRecordCannotBeStoredKeepsItsSliceUntilItHasItsReceipt) {
    auto leader = child();
    create("sge.1", leader);
    const auto directory = node.root() / "run/pinfold/jobs";
    std::filesystem::rename(directory, node.root() / "run/pinfold/away");
    endWhileTheDiskHangs(leader);
    EXPECT_TRUE(sliceExists()) << "after a restart only its counters would tell what the job used";
    releaseDisk();
    EXPECT_FALSE(sliceExists());
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(JobCloserTest, aJobStaysUntilItsSliceIsGone) {
    auto leader = child();
    create("sge.1", leader);
    node.nextStopFaults.push_back({SystemdFault::JobFailed, "failed"});
    end(leader);
    EXPECT_EQ(receipts().size(), 1U);
    EXPECT_EQ(manager->jobCount(), 1U);
    loop.advance(500ms);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_FALSE(sliceExists());
}

TEST_F(JobCloserTest, aSliceIsStoppedWhenPid1HasRemovedTheScope) {
    auto leader = child();
    create("sge.1", leader);
    node.keepEmptyScopes = true;
    loop.advance(20ms);
    end(leader);
    EXPECT_TRUE(node.stops.empty()) << "PID 1 would stop the scope, too, with a systemd job and a dozen signals more";
    EXPECT_EQ(receipts().size(), 1U) << "the receipt does not wait for PID 1";
    node.onUnitRemoved("job-sge.1.scope");
    EXPECT_EQ(node.stops, std::vector<std::string>{"batch-sge.1.slice"});
    loop.settle();
    EXPECT_EQ(manager->jobCount(), 0U);
}

TEST_F(JobCloserTest, aSliceIsStoppedAfterAMomentIfPid1KeepsTheScope) {
    auto leader = child();
    create("sge.1", leader);
    node.keepEmptyScopes = true;
    loop.advance(20ms);
    end(leader);
    EXPECT_TRUE(node.stops.empty());
    loop.advance(20ms);
    EXPECT_EQ(node.stops, std::vector<std::string>{"batch-sge.1.slice"});
    EXPECT_EQ(manager->jobCount(), 0U);
    node.onUnitRemoved("job-sge.1.scope");
    EXPECT_EQ(node.stops.size(), 1U);
}

TEST_F(JobCloserTest, aVeryShortJobDoesNotWaitForPid1) {
    auto leader = child();
    create("sge.1", leader);
    node.keepEmptyScopes = true;
    loop.advance(19ms);
    end(leader);
    EXPECT_EQ(node.stops, std::vector<std::string>{"batch-sge.1.slice"}) << "the kernel tells PID 1 up to 20 ms late";
    EXPECT_EQ(manager->jobCount(), 0U);
}

} // namespace
} // namespace pinfold::test
