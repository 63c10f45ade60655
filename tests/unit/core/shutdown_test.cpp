// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what pinfoldd does at an orderly shutdown of the node. PID 1 stops the jobs' scopes, and pinfoldd writes all receipts
// before pinfoldd exits.
#include "tests/unit/core/core_fixture.hpp"

#include <csignal>

namespace pinfold::test {
namespace {

class ShutdownTest : public CoreTest {
protected:
    void report(const std::string& key, ExitState exit) {
        manager->endJob(root, key, {.exit = exit, .leader = {}}, [this](const Result<Receipt>& receipt) { ended = receipt; });
        loop.settle();
    }
    /// Ends the leader, as PID 1 does when PID 1 stops the job's scope.
    void stopScope(ChildProcess& leader) { end(leader); }
    /// Returns the only receipt of a job whose leader has ended. PID 1 announces the shutdown when the time `delay` is
    /// over, and then the supervisor reports how the leader ended.
    Receipt receiptOfEndBeforeTheWord(ExitState exit, Microseconds delay = 0s) {
        auto leader = child();
        auto supervisor = child(0);
        create("sge.1", leader, {}, &supervisor);
        end(leader);
        loop.advance(delay);
        node.onShutdown(loop.bootTime());
        report("sge.1", exit);
        EXPECT_EQ(receipts().size(), 1U);
        return receipts().empty() ? Receipt() : receipts()[0];
    }
    bool finished() const { return finishedFlag; }
    void finish() {
        manager->finishShutdown([this] { finishedFlag = true; });
        loop.settle();
    }

    std::optional<Result<Receipt>> ended;
    bool finishedFlag = false;
};

TEST_F(ShutdownTest, aLiveJobEndsWithTheNode) {
    auto leader = child();
    create("sge.1", leader);
    node.onShutdown(loop.bootTime());
    EXPECT_TRUE(manager->shuttingDown());
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Ending);
    loop.advance(20s);
    EXPECT_TRUE(node.signals.empty()) << "PID 1 has sent them, and kills after the scope's stop time-out";
    EXPECT_FALSE(node.applyCgroupKills());
    stopScope(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeShutdown);
    EXPECT_EQ(recordFiles(), 0U);
    EXPECT_TRUE(node.stops.empty()) << "PID 1 stops the slice when pinfoldd has gone";
}

TEST_F(ShutdownTest, theWordMayComeTwice) {
    auto leader = child();
    create("sge.1", leader);
    node.onShutdown(loop.bootTime());
    node.onShutdown(loop.bootTime());
    stopScope(leader);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ShutdownTest, noJobIsTaken) {
    node.onShutdown(loop.bootTime());
    auto leader = child();
    create("sge.1", leader);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::Draining);
    EXPECT_EQ(created->error().message, "this node takes no jobs, because it is being shut down");
    EXPECT_FALSE(manager->draining()) << "nobody has to resume it";
}

TEST_F(ShutdownTest, aJobThatWasBeingStartedEndsToo) {
    auto leader = child();
    node.holdStarts = true;
    create("sge.1", leader);
    node.onShutdown(loop.bootTime());
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Creating);
    node.release();
    loop.settle();
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Ending);
    stopScope(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeShutdown);
}

TEST_F(ShutdownTest, aJobWithoutProcessesIsOverAtOnce) {
    CreateRequest request;
    request.key = "sge.1";
    request.owner = 1000;
    manager->openJob(root, std::move(request), [](const Result<JobSummary>& opened) { EXPECT_TRUE(opened); });
    loop.settle();
    node.onShutdown(loop.bootTime());
    loop.settle();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeShutdown);
}

TEST_F(ShutdownTest, anEndThatHadBegunKeepsItsReason) {
    auto leader = child();
    create("sge.1", leader);
    manager->stopJob(root, "sge.1", 60s, [](const Result<void>& stopped) { EXPECT_TRUE(stopped); });
    node.onShutdown(loop.bootTime());
    stopScope(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Stopped);
}

// PID 1 can kill the job's processes before pinfoldd gets PID 1's announcement of the shutdown.
TEST_F(ShutdownTest, aJobThatWasKilledBeforeTheWordHasPid1Asked) {
    auto leader = child();
    create("sge.1", leader);
    node.shutDown = true;
    end(leader);
    EXPECT_TRUE(manager->shuttingDown());
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeShutdown);
}

TEST_F(ShutdownTest, aJobThatWasKilledJustBeforeTheWordEndedWithTheNode) {
    const auto receipt = receiptOfEndBeforeTheWord({.status = {}, .signal = SIGTERM});
    EXPECT_EQ(receipt.result, JobResult::NodeShutdown);
    EXPECT_EQ(receipt.exit.signal, SIGTERM);
}

TEST_F(ShutdownTest, aJobThatEndedWellJustBeforeTheWordEndedByItself) {
    EXPECT_EQ(receiptOfEndBeforeTheWord({.status = 0, .signal = {}}).result, JobResult::Exited);
}

TEST_F(ShutdownTest, theWordMayComeSecondsAfterTheSignals) {
    const ExitState asAShellSaysIt{.status = 143, .signal = {}};
    EXPECT_EQ(receiptOfEndBeforeTheWord(asAShellSaysIt, 5s).result, JobResult::NodeShutdown);
}

TEST_F(ShutdownTest, aJobThatCrashedBeforeWasNotEndedByTheNode) {
    EXPECT_EQ(receiptOfEndBeforeTheWord({.status = {}, .signal = SIGSEGV}, 5s).result, JobResult::Signaled);
}

// systemd 257 does not stop a frozen unit.
TEST_F(ShutdownTest, aSuspendedJobIsThawedAndEnded) {
    auto leader = child();
    create("sge.1", leader);
    manager->suspendJob(root, "sge.1", [](const Result<void>& suspended) { EXPECT_TRUE(suspended); });
    loop.settle();
    ASSERT_EQ(node.frozen.size(), 1U);
    node.onShutdown(loop.bootTime());
    loop.settle();
    EXPECT_TRUE(node.frozen.empty());
    EXPECT_EQ(node.signals.size(), 2U) << "SIGTERM and SIGCONT";
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeShutdown);
}

TEST_F(ShutdownTest, pinfolddStaysUntilTheLastReceipt) {
    auto first = child();
    auto second = child();
    create("sge.1", first);
    create("sge.2", second);
    node.onShutdown(loop.bootTime());
    stopScope(first);
    finish();
    EXPECT_FALSE(finished());
    stopScope(second);
    EXPECT_EQ(receipts().size(), 2U);
    EXPECT_TRUE(finished());
}

TEST_F(ShutdownTest, withoutJobsPinfolddExitsAtOnce) {
    node.onShutdown(loop.bootTime());
    finish();
    EXPECT_TRUE(finished());
}

TEST_F(ShutdownTest, whatPid1LeftAliveIsKilledBeforePinfolddExits) {
    auto leader = child();
    create("sge.1", leader);
    node.onShutdown(loop.bootTime());
    finish();
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    EXPECT_TRUE(finished());
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ShutdownTest, whatHangsHoldsNoShutdownUp) {
    auto leader = child();
    create("sge.1", leader);
    node.onShutdown(loop.bootTime());
    finish();
    loop.advance(29'999'999us);
    EXPECT_FALSE(finished());
    loop.advance(1us);
    EXPECT_TRUE(finished());
    EXPECT_EQ(recordFiles(), 1U);
}

} // namespace
} // namespace pinfold::test
