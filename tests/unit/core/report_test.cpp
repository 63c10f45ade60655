// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests who is allowed to report the end of a job's leader. Tests how long pinfoldd waits for the report of the leader's end, and
// what a late report changes.
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>
#include <csignal>

namespace pinfold::test {
namespace {

const std::string kPbsScope = "/batch.slice/batch-pbs.1.slice/job-pbs.1.scope";
const ExitState kStatus3{.status = 3, .signal = {}};

class ReportTest : public CoreTest {
protected:
    /// Opens a job, and starts its batch script.
    ChildProcess jobWithScript(std::optional<Microseconds> reportWithin = {}, ResourceLimits limits = {}) {
        CreateRequest request;
        request.limits = std::move(limits);
        request.key = "pbs.1";
        request.owner = 1000;
        request.reportWithin = reportWithin;
        manager->openJob(root, std::move(request), [](const Result<JobSummary>& opened) { EXPECT_TRUE(opened); });
        loop.settle();
        auto script = child();
        auto task = taskOf("pbs.1", script);
        task.batch = true;
        manager->addTask(root, std::move(task), [](const Result<TaskAdded>& added) { EXPECT_TRUE(added); });
        loop.settle();
        return script;
    }
    ChildProcess leftBehind() {
        auto process = child();
        node.spawnInside(process.pid(), kPbsScope);
        return process;
    }
    void report(const ExitState& exit, const Caller& caller = {0, true}) {
        answer.reset();
        manager->endJob(caller, "pbs.1", {.exit = exit, .leader = {}},
                        [this](Result<Receipt> told) { answer = std::move(told); });
        loop.settle();
    }
    bool isOver() const { return manager->jobCount() == 0; }

    std::optional<Result<Receipt>> answer;
};

TEST_F(ReportTest, isWaitedForWhereTheJobWasOpened) {
    auto script = jobWithScript();
    end(script);
    loop.advance(kReportWait - 1s);
    EXPECT_FALSE(isOver());
    report(kStatus3);
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->exit, kStatus3);
    EXPECT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).exit, kStatus3);
}

TEST_F(ReportTest, thatDoesNotComeHoldsUpNothingForEver) {
    auto script = jobWithScript();
    end(script);
    loop.advance(kReportWait);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(outcomeOf(receipts().at(0)), JobOutcome::Unknown);
}

TEST_F(ReportTest, withoutAStatusEndsTheWaitToo) {
    auto script = jobWithScript();
    end(script);
    report({});
    EXPECT_TRUE(isOver());
}

TEST_F(ReportTest, ofAnEndThatPinfolddHasNotSeenYet) {
    auto script = jobWithScript();
    report(kStatus3);
    EXPECT_EQ(node.signals.size(), 2U) << "EndJob is the end, whatever the leader does";
    end(script);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).exit, kStatus3);
}

TEST_F(ReportTest, isWaitedForBeforeWhatIsLeftIsSignalled) {
    auto script = jobWithScript();
    auto cleaner = leftBehind();
    end(script);
    EXPECT_EQ(manager->job("pbs.1")->state, JobState::Ending);
    loop.advance(kReportWait - 1s);
    EXPECT_TRUE(node.signals.empty()) << "the batch system has told it to end, perhaps, and gives it time";
    end(cleaner);
    EXPECT_FALSE(isOver());
    report(kStatus3);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).leftovers.count, 0U) << "the job's own script, which cleaned up, is not left behind";
    EXPECT_EQ(receipts().at(0).exit, kStatus3);
    EXPECT_TRUE(node.signals.empty());
}

TEST_F(ReportTest, isTheMomentAtWhichWhatIsLeftIsSignalled) {
    auto script = jobWithScript();
    auto daemon = leftBehind();
    end(script);
    report(kStatus3);
    EXPECT_EQ(node.signals.front(), (std::pair<std::string, int>{"batch-pbs.1.slice", SIGTERM}));
    EXPECT_FALSE(answer) << "nothing is left when it is answered";
    end(daemon);
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->leftovers.count, 1U);
    EXPECT_EQ((*answer)->exit, kStatus3);
}

TEST_F(ReportTest, thatComesBeforeAKilledProcessIsGoneFindsNoLeftover) {
    auto script = jobWithScript();
    auto killed = leftBehind();
    end(script);
    node.sendSigkill(killed.pid());
    report(kStatus3);
    EXPECT_FALSE(answer) << "nothing is left when it is answered";
    end(killed);
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->leftovers.count, 0U);
    EXPECT_TRUE((*answer)->leftovers.commands.empty());
    EXPECT_TRUE(std::ranges::none_of(journal.messages(), [](const auto& line) { return line.starts_with("rogue"); }));
}

TEST_F(ReportTest, thatDoesNotComeSavesNoLeftover) {
    auto script = jobWithScript();
    auto daemon = leftBehind();
    end(script);
    loop.advance(kReportWait);
    EXPECT_EQ(node.signals.front().second, SIGTERM);
    end(daemon);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).leftovers.count, 1U);
}

TEST_F(ReportTest, isNotWaitedForWhenSomebodyStopsTheJobMeanwhile) {
    auto script = jobWithScript(1h);
    auto daemon = leftBehind();
    end(script);
    manager->stopJob(root, "pbs.1", {}, [](const Result<void>& stopped) { EXPECT_TRUE(stopped); });
    loop.settle();
    EXPECT_EQ(node.signals.front().second, SIGTERM);
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).result, JobResult::Exited) << "it had ended by itself";
}

TEST_F(ReportTest, isNotWaitedForBeyondTheJobsRunTime) {
    ResourceLimits limits;
    limits.runTimeMax = toUsec(30s);
    auto script = jobWithScript(1h, limits);
    auto daemon = leftBehind();
    loop.advance(20s);
    end(script);
    loop.advance(9s);
    EXPECT_TRUE(node.signals.empty());
    loop.advance(1s);
    EXPECT_EQ(node.signals.front().second, SIGTERM);
    end(daemon);
    EXPECT_TRUE(isOver());
}

TEST_F(ReportTest, isNotWaitedForAtAShutdown) {
    auto script = jobWithScript();
    auto daemon = leftBehind();
    end(script);
    node.onShutdown(loop.bootTime());
    loop.settle();
    EXPECT_TRUE(node.signals.empty()) << "PID 1 does that";
    end(daemon);
    EXPECT_TRUE(isOver());
}

TEST_F(ReportTest, mayTakeAsLongAsWasAskedFor) {
    auto script = jobWithScript(10min);
    end(script);
    loop.advance(599s);
    EXPECT_FALSE(isOver());
    loop.advance(1s);
    EXPECT_TRUE(isOver());
}

TEST_F(ReportTest, isWaitedForAfterARestart) {
    auto script = jobWithScript(10min);
    auto daemon = leftBehind();
    end(script);
    crash();
    restart();
    loop.advance(kReportWait - 1s);
    EXPECT_TRUE(node.signals.empty());
    report(kStatus3);
    end(daemon);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).exit, kStatus3);
}

TEST_F(ReportTest, mayHaveBeenTriedWhilePinfolddWasAway) {
    auto script = jobWithScript(10min);
    crash();
    node.vanish(script.pid());
    script.end();
    restart();
    EXPECT_FALSE(isOver());
    loop.advance(kReportWait);
    EXPECT_TRUE(isOver());
}

TEST_F(ReportTest, isWaitedForInAJobThatWasCreatedWhereThatIsAsked) {
    const auto createAndEnd = [this](std::optional<Microseconds> within) {
        auto leader = child();
        CreateRequest request;
        request.key = "pbs.1";
        request.leader = leader.pidfd();
        request.reportWithin = within;
        manager->createJob(root, std::move(request), [](const Result<JobSummary>& job) { EXPECT_TRUE(job); });
        loop.settle();
        end(leader);
    };
    createAndEnd(5s);
    EXPECT_FALSE(isOver());
    report(kStatus3);
    ASSERT_TRUE(isOver());
    createAndEnd({});
    EXPECT_TRUE(isOver()) << "nobody has said that he will report";
}

TEST_F(ReportTest, byTheOwnerEndsTheJobAndSaysNothing) {
    auto script = jobWithScript();
    auto daemon = leftBehind();
    end(script);
    report({.status = 0, .signal = {}}, {1000, false});
    EXPECT_EQ(node.signals.front().second, SIGTERM);
    report(kStatus3);
    end(daemon);
    ASSERT_TRUE(isOver());
    EXPECT_EQ(receipts().at(0).exit, kStatus3);
}

TEST_F(ReportTest, addsFactsButReplacesNone) {
    CreateRequest request;
    request.key = "slurm.1";
    request.owner = 1000;
    request.identity = {.account = "physics", .run = 1};
    manager->openJob(root, std::move(request), [](const Result<JobSummary>& opened) { EXPECT_TRUE(opened); });
    loop.settle();
    const EndReport facts{
        .exit = {}, .leader = {}, .identity = {.account = "other", .queue = "long\n", .nodes = {"a", "b"}, .nodeCount = 2}};
    std::optional<Result<Receipt>> told;
    const auto keep = [&](Result<Receipt> receipt) { told = std::move(receipt); };
    manager->endJob({1000, false}, "slurm.1", facts, keep);
    loop.settle();
    ASSERT_TRUE(told && !*told);
    EXPECT_EQ(told->error().code, ErrorCode::Denied);
    ASSERT_FALSE(isOver());
    manager->endJob(root, "slurm.1", facts, keep);
    loop.settle();
    ASSERT_TRUE(*told);
    const JobIdentity expected{.account = "physics", .queue = "long\\x0a", .run = 1, .nodes = {"a", "b"}, .nodeCount = 2};
    EXPECT_EQ((*told)->identity, expected);
    EXPECT_EQ(receipts().at(0).identity, expected);
}

class LateReportTest : public ReportTest {
protected:
    void SetUp() override {
        auto script = jobWithScript(0s);
        end(script);
        ASSERT_EQ(outcomeOf(receipts().at(0)), JobOutcome::Unknown);
    }
};

TEST_F(LateReportTest, amendsTheReceiptOnce) {
    report({.status = {}, .signal = SIGKILL});
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->result, JobResult::Signaled);
    EXPECT_EQ(observer.log.back(), "amended pbs.1 signaled");
    EXPECT_EQ(journal.events.back().message,
              "job pbs.1 had ended: signaled by SIGKILL after 0 (a report that came later has completed the receipt)");
    report(kStatus3);
    EXPECT_EQ((*answer)->exit.signal, SIGKILL);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts().at(0).exit.signal, SIGKILL);
    EXPECT_EQ(history->list({.outcomes = {JobOutcome::Unknown}})->size(), 0U);
    EXPECT_EQ(history->list({.outcomes = {JobOutcome::Failed}})->size(), 1U);
    EXPECT_EQ(std::ranges::count(observer.log, "amended pbs.1 signaled"), 1);
}

TEST_F(LateReportTest, alsoAddsTheFactsThatTheReceiptLacks) {
    manager->endJob(root, "pbs.1", {.exit = kStatus3, .leader = {}, .identity = {.account = "physics"}},
                    [](const Result<Receipt>&) {});
    loop.settle();
    EXPECT_EQ(receipts().at(0).identity, (JobIdentity{.account = "physics"}));
    manager->endJob(root, "pbs.1", {.exit = kStatus3, .leader = {}, .identity = {.queue = "late"}},
                    [](const Result<Receipt>&) {});
    loop.settle();
    EXPECT_EQ(receipts().at(0).identity, (JobIdentity{.account = "physics", .queue = "late"})) << "an exit state hides no facts";
}

TEST_F(LateReportTest, addsNoFactsOfAnotherRun) {
    manager->endJob(root, "pbs.1", {.exit = {}, .leader = {}, .identity = {.run = 1}}, [](const Result<Receipt>&) {});
    loop.settle();
    manager->endJob(root, "pbs.1", {.exit = kStatus3, .leader = {}, .identity = {.queue = "late", .run = 2}},
                    [](const Result<Receipt>&) {});
    loop.settle();
    EXPECT_EQ(receipts().at(0).identity, (JobIdentity{.run = 1}));
    EXPECT_FALSE(receipts().at(0).exit.known());
}

/// Under Slurm, a job without a batch script is open until the epilogue has reported the account, the partition and the nodes.
/// Before the epilogue reports, the job's owner can start a batch script in the job, and can then end the job.
TEST_F(ReportTest, anOwnerCannotKeepTheEpiloguesFactsFromTheReceipt) {
    for (const auto& exit : {ExitState{.status = 0, .signal = {}}, ExitState{}}) {
        const Caller owner{1000, false};
        CreateRequest request;
        request.key = "pbs.1";
        request.owner = 1000;
        request.identity = {.jobName = "salloc"};
        request.reportWithin = 0s;
        manager->openJob(root, std::move(request), [](const Result<JobSummary>& opened) { EXPECT_TRUE(opened); });
        loop.settle();
        auto script = child();
        auto task = taskOf("pbs.1", script);
        task.batch = true;
        manager->addTask(owner, std::move(task), [](const Result<TaskAdded>& added) { EXPECT_TRUE(added); });
        loop.settle();
        report(exit, owner);
        end(script);
        ASSERT_TRUE(isOver());
        manager->endJob(root, "pbs.1", {.exit = {}, .leader = {}, .identity = {.jobName = "other", .account = "physics"}},
                        [](const Result<Receipt>&) {});
        loop.settle();
        const auto receipt = receipts().at(0);
        EXPECT_EQ(receipt.exit, exit);
        EXPECT_EQ(receipt.identity, (JobIdentity{.jobName = "salloc", .account = "physics"})) << exit.known();
        EXPECT_EQ(observer.log.back(), "amended pbs.1 exited");
    }
}

TEST_F(LateReportTest, isFoundByTheOwnerWithoutReadingTheDisk) {
    report(kStatus3);
    background->hold(Lane::HistoryRead);
    std::optional<Result<Receipt>> receipt;
    manager->receipt({1000, false}, "pbs.1", [&](Result<Receipt> found) { receipt = std::move(found); });
    loop.settle();
    ASSERT_TRUE(receipt && *receipt);
    EXPECT_EQ((*receipt)->exit, kStatus3);
}

TEST_F(LateReportTest, ofTheOwnerIsNotBelieved) {
    report({.status = 0, .signal = {}}, {1000, false});
    ASSERT_TRUE(answer && *answer);
    EXPECT_FALSE((*answer)->exit.known());
    EXPECT_FALSE(receipts().at(0).exit.known());
}

TEST_F(LateReportTest, afterAnHourMayBeOfAnotherRun) {
    loop.advance(3601s);
    report(kStatus3);
    ASSERT_TRUE(answer && *answer);
    EXPECT_FALSE(receipts().at(0).exit.known());
}

TEST_F(LateReportTest, thatSaysNothingChangesNothing) {
    report({});
    ASSERT_TRUE(answer && *answer);
    EXPECT_NE(observer.log.back(), "amended pbs.1 exited");
}

TEST_F(LateReportTest, goesToTheReceiptThatIsBeingWritten) {
    auto script = jobWithScript(0s);
    background->hold(Lane::HistoryWrite);
    end(script);
    ASSERT_EQ(manager->job("pbs.1")->state, JobState::Accounting);
    report(kStatus3);
    EXPECT_FALSE(answer);
    background->release(Lane::HistoryWrite);
    loop.settle();
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->exit, kStatus3);
    const auto stored = receipts();
    ASSERT_EQ(stored.size(), 2U);
    EXPECT_EQ(stored.at(0).exit, kStatus3);
    EXPECT_FALSE(stored.at(1).exit.known()) << "the earlier run's";
}

TEST_F(LateReportTest, goesToTheReceiptThatCouldNotBeWritten) {
    auto script = jobWithScript(0s);
    background->hold(Lane::HistoryWrite);
    end(script);
    loop.advance(config.history.patience);
    ASSERT_TRUE(isOver());
    report(kStatus3);
    background->release(Lane::HistoryWrite);
    loop.settle();
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ(receipts().at(0).exit, kStatus3);
}

} // namespace
} // namespace pinfold::test
