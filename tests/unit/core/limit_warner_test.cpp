// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which warnings a job gets before a limit ends the job. Tests the line that pinfoldd writes into a stopped job's output:
// the reason for the stop.
#include "tests/unit/core/output_fixture.hpp"

#include "base/message_ids.hpp"
#include "base/parse.hpp"

#include <fmt/core.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace pinfold::test {
namespace {

class LimitWarnerTest : public OutputTest {
protected:
    void start(ResourceLimits limits, const ChildProcess* supervisor = nullptr) {
        createWith(leader, std::move(limits), supervisor);
    }
    static ResourceLimits runTime(Microseconds limit, Microseconds warning) {
        return {.runTimeMax = toUsec(limit), .runTimeWarning = toUsec(warning)};
    }
    void change(ResourceLimits limits) {
        std::optional<Result<ResourceLimits>> done;
        manager->setLimits(root, "sge.1", std::move(limits), false,
                           [&](Result<ResourceLimits> answer) { done = std::move(answer); });
        loop.settle();
        ASSERT_TRUE(done && *done);
    }
    void needs(std::uint64_t anon, std::uint64_t shmem) {
        node.setFile(kSlice, "memory.stat", fmt::format("anon {}\nfile 900000000\nshmem {}\n", anon, shmem));
        loop.advance(31s); // longer than profile.interval
    }
    /// Stops the job, and then reports the end of the leader, as a supervisor or a batch system does.
    void stopAndReport() {
        manager->stopJob(root, "sge.1", {}, [](const Result<void>&) {});
        loop.settle();
        end(leader);
        manager->endJob(root, "sge.1", {{.status = {}, .signal = SIGTERM}, {}}, [](const Result<Receipt>&) {});
    }
    /// Returns the text in the job's output, or "" if the output is empty.
    std::string said() {
        loop.settle();
        std::array<char, 1000> text{};
        const auto length = ::read(output.get(), text.data(), text.size());
        return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))};
    }
    std::ptrdiff_t warnings() const {
        return std::ranges::count_if(journal.events, [](const auto& event) { return event.messageId == kMessageLimitNear; });
    }
};

TEST_F(LimitWarnerTest, warnsOnceBeforeTheEndOfTheRunTime) {
    start(runTime(60s, 10s));
    loop.advance(49s);
    EXPECT_EQ(said(), "");
    loop.advance(1s);
    const auto line = said();
    EXPECT_TRUE(line.starts_with("pinfold: job sge.1 on this node reaches its run time limit of 1min in 10s (")) << line;
    EXPECT_TRUE(line.ends_with("Z). pinfold stops the job at the limit.\n")) << line;
    EXPECT_EQ(observer.log.back(), "near sge.1 run_time_max");
    EXPECT_EQ(journal.messages().back(), "job sge.1 reaches its run time limit of 1min in 10s");
    loop.advance(9s);
    EXPECT_EQ(said(), "");
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_TRUE(node.signals.empty());
}

TEST_F(LimitWarnerTest, isSilentWithoutAWarningOrIfTheWarningWouldComeAtTheStart) {
    start(runTime(60s, 0s));
    loop.advance(59s);
    change(runTime(100s, 100s));
    loop.advance(30s);
    change({.runTimeMax = kInfinity, .runTimeWarning = toUsec(10s)});
    loop.advance(1000s);
    EXPECT_EQ(said(), "");
    EXPECT_EQ(warnings(), 0);
}

TEST_F(LimitWarnerTest, theBatchSystemsLimitIsWarnedOfAndNotEnforced) {
    start({.runTimeMax = toUsec(660s), .batchRunTimeMax = toUsec(60s), .runTimeWarning = toUsec(10s)});
    loop.advance(49s);
    EXPECT_EQ(said(), "");
    loop.advance(1s);
    const auto line = said();
    EXPECT_TRUE(line.starts_with("pinfold: job sge.1 on this node reaches its run time limit of 1min in 10s (")) << line;
    EXPECT_TRUE(line.ends_with("Z). The batch system ends the job at the limit.\n")) << line;
    EXPECT_EQ(observer.log.back(), "near sge.1 batch_run_time_max");
    loop.advance(609s);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_TRUE(node.signals.empty());
    EXPECT_EQ(said(), "");
    loop.advance(1s);
    EXPECT_NE(manager->job("sge.1")->state, JobState::Running);
}

TEST_F(LimitWarnerTest, aJobWithOnlyABatchSystemsLimitRunsOn) {
    start({.batchRunTimeMax = toUsec(60s), .runTimeWarning = toUsec(10s)});
    loop.advance(50s);
    EXPECT_EQ(warnings(), 1);
    loop.advance(3600s);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_TRUE(node.signals.empty());
    change({.batchRunTimeMax = toUsec(7200s)});
    loop.advance(7190s - 3650s);
    EXPECT_EQ(warnings(), 2) << "the batch system gave the job more time";
}

TEST_F(LimitWarnerTest, theEarlierLimitIsWarnedOf) {
    start({.runTimeMax = toUsec(60s), .batchRunTimeMax = toUsec(60s), .runTimeWarning = toUsec(10s)});
    loop.advance(50s);
    const auto line = said();
    EXPECT_TRUE(line.ends_with(" pinfold stops the job at the limit.\n")) << line;
    loop.advance(10s);
    EXPECT_NE(manager->job("sge.1")->state, JobState::Running);
}

TEST_F(LimitWarnerTest, aLimitThatIsRaisedIsWarnedOfAgain) {
    start(runTime(60s, 10s));
    loop.advance(50s);
    EXPECT_NE(said(), "");
    change({.runTimeMax = toUsec(120s)});
    loop.advance(59s);
    EXPECT_EQ(said(), "");
    loop.advance(1s);
    EXPECT_NE(said(), "");
    EXPECT_EQ(warnings(), 2);
}

TEST_F(LimitWarnerTest, aLimitThatIsLoweredBelowTheWarningIsWarnedOfAtOnce) {
    start(runTime(600s, 30s));
    loop.advance(50s);
    change({.runTimeMax = toUsec(70s)});
    loop.advance(1us);
    EXPECT_NE(said().find(" in 20s ("), std::string::npos);
}

TEST_F(LimitWarnerTest, timeInWhichTheJobIsSuspendedDoesNotCount) {
    start(runTime(60s, 10s));
    loop.advance(40s);
    const auto done = [](const Result<void>& result) { EXPECT_TRUE(result); };
    manager->suspendJob(root, "sge.1", done);
    loop.settle();
    loop.advance(100s);
    manager->resumeJob(root, "sge.1", done);
    loop.settle();
    loop.advance(9s);
    EXPECT_EQ(warnings(), 0);
    loop.advance(1s);
    EXPECT_EQ(warnings(), 1);
}

TEST_F(LimitWarnerTest, aRestartedPinfolddDoesNotWarnAgain) {
    start(runTime(60s, 10s));
    loop.advance(50s);
    EXPECT_EQ(warnings(), 1);
    crash();
    restart();
    loop.advance(5s);
    EXPECT_EQ(warnings(), 1);
}

TEST_F(LimitWarnerTest, aRestartedPinfolddWarnsIfTheTimeHasComeMeanwhile) {
    start(runTime(60s, 10s));
    crash();
    loop.advance(55s);
    restart();
    loop.advance(1us);
    EXPECT_EQ(warnings(), 1);
}

TEST_F(LimitWarnerTest, theSignalReachesOnlyTheOwnersProcesses) {
    auto epilogue = child(0);
    auto limits = runTime(60s, 10s);
    limits.runTimeWarningSignal = SIGUSR1; // SIGUSR1 ends a process that has no handler for it
    start(limits);
    node.spawnInside(epilogue.pid(), std::string(kSlice) + "/job-sge.1.scope", 0, "epilogue");
    loop.advance(50s);
    loop.settle();
    const auto pidfd = leader.pidfd();
    pollfd poller{pidfd.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&poller, 1, 10'000), 1);
    EXPECT_FALSE(hasEnded(epilogue.pidfd().get()));
}

TEST_F(LimitWarnerTest, warnsOnceAtNineTenthsOfTheMemoryWithoutPageCache) {
    start({.memoryMax = 100 * kMiB});
    needs(80 * kMiB, 9 * kMiB);
    EXPECT_EQ(said(), "") << "page cache is not needed";
    needs(80 * kMiB, 12 * kMiB);
    const auto line = said();
    EXPECT_TRUE(line.starts_with("pinfold: job sge.1 on this node needs 92M of memory, 92% of its limit of 100M (")) << line;
    EXPECT_TRUE(line.ends_with("Z). If the job needs more memory than the limit, the kernel kills the job.\n")) << line;
    EXPECT_EQ(observer.log.back(), "near sge.1 memory_max");
    needs(80 * kMiB, 19 * kMiB);
    EXPECT_EQ(said(), "");
    change({.memoryMax = 200 * kMiB});
    needs(180 * kMiB, 19 * kMiB);
    EXPECT_NE(said(), "") << "the limit is another one now";
    EXPECT_EQ(warnings(), 2);
}

TEST_F(LimitWarnerTest, withoutAMemoryLimitThereIsNothingToWarnOf) {
    start({.memoryMax = kInfinity});
    needs(1ULL << 40, 0);
    EXPECT_EQ(warnings(), 0);
}

// In the following tests, a request passes the job's standard error to pinfoldd after the job's start.

TEST_F(LimitWarnerTest, theLeaderHandsItsOutputOverLater) {
    create("sge.1", leader, runTime(60s, 10s));
    createWith(leader, {}, nullptr, {1000, false});
    loop.advance(50s);
    EXPECT_TRUE(said().starts_with("pinfold: job sge.1 on this node reaches its run time limit of 1min in 10s ("));
}

TEST_F(LimitWarnerTest, aJobKeepsTheOutputThatItHas) {
    start(runTime(60s, 10s));
    const auto first = std::move(output);
    createWith(leader, {}, nullptr, {1000, false});
    loop.advance(50s);
    EXPECT_EQ(said(), "");
    output.reset(::dup(first.get()));
    EXPECT_NE(said(), "");
}

TEST_F(LimitWarnerTest, afterARestartOfPinfolddTheRepeatedRequestBringsTheOutput) {
    start(runTime(60s, 10s));
    crash();
    restart();
    createWith(leader, {});
    loop.advance(50s);
    EXPECT_NE(said(), "");
}

// The following tests check the line that pinfoldd writes into the job's output at the end of a job: the reason for the end.

TEST_F(LimitWarnerTest, pinfolddSaysWhyItStoppedAJobWithoutASupervisor) {
    start({});
    manager->stopJob(root, "sge.1", {}, [](const Result<void>&) {});
    loop.settle();
    end(leader);
    const auto line = said();
    EXPECT_TRUE(line.starts_with("pinfold: job sge.1 on this node was stopped on request of user root. It ran for ")) << line;
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    EXPECT_TRUE(observer.receipts.at(0).stopSaid);
}

TEST_F(LimitWarnerTest, aLivingSupervisorSaysIt) {
    const auto supervisor = child();
    start({}, &supervisor);
    stopAndReport();
    EXPECT_EQ(said(), "");
    ASSERT_EQ(observer.receipts.size(), 1U);
    EXPECT_EQ(observer.receipts[0].result, JobResult::Stopped);
    EXPECT_FALSE(observer.receipts[0].stopSaid);
}

TEST_F(LimitWarnerTest, pinfolddSaysThatTheSupervisorWasKilled) {
    auto supervisor = child();
    start({}, &supervisor);
    supervisor.end();
    loop.waitForEvent(1000);
    end(leader);
    const auto line = said();
    EXPECT_TRUE(line.starts_with("pinfold: job sge.1 on this node was stopped: its supervisor was killed. It ran for ")) << line;
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
}

TEST_F(LimitWarnerTest, aBatchSystemThatReportsTheEndSaysIt) {
    CreateRequest request;
    request.key = "sge.1";
    request.leader = leader.pidfd();
    request.limits = runTime(60s, 10s);
    request.reportWithin = 1h;
    manager->createJob(root, std::move(request), [this](Result<JobSummary> answer) { created = std::move(answer); });
    loop.settle();
    createWith(leader, {});
    loop.advance(50s);
    EXPECT_NE(said(), "") << "the warning";
    stopAndReport();
    EXPECT_EQ(said(), "");
    ASSERT_EQ(observer.receipts.size(), 1U);
    EXPECT_FALSE(observer.receipts[0].stopSaid);
}

TEST_F(LimitWarnerTest, nobodySaysAnythingAboutAnEndOfTheJobsOwn) {
    start({});
    end(leader);
    EXPECT_EQ(said(), "");
}

} // namespace
} // namespace pinfold::test
