// SPDX-License-Identifier: LGPL-2.1-or-later
// A read of /proc/PID/cmdline can hang. Tests that pinfoldd kills a process without waiting for the process's description.
#include "core/job.hpp"
#include "core/report/describer.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <csignal>

#include <algorithm>

namespace pinfold::test {
namespace {

class DescriberTest : public CoreTest {
protected:
    /// Makes a job whose leader has ended. The leader has left a process behind, and nobody can read the command line of the
    /// process.
    ChildProcess leaveBehind(ResourceLimits limits = {}) {
        auto leader = child();
        create("sge.1", leader, std::move(limits));
        auto leftover = child();
        node.spawnInside(leftover.pid(), kScope, 1000, "left behind");
        background->hold(Lane::Processes);
        end(leader);
        return leftover;
    }
    std::string leftoverLine() const {
        for (const auto& line : journal.messages())
            if (line.starts_with("leftover: "))
                return line;
        return "";
    }
};

TEST_F(DescriberTest, theSignalsGoOutWhileTheCommandLineHangs) {
    auto leftover = leaveBehind();
    loop.advance(kDescriptionWait);
    EXPECT_EQ(node.signals,
              (std::vector<std::pair<std::string, int>>{{"batch-sge.1.slice", SIGTERM}, {"batch-sge.1.slice", SIGCONT}}));
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills()) << "the grace is over";
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].leftovers.count, 1U);
    EXPECT_EQ(receipts()[0].leftovers.commands, std::vector<std::string>{"[odd) name]"});
    EXPECT_EQ(leftoverLine(), "leftover: [odd) name]");
}

TEST_F(DescriberTest, theSignalsGoOutAsSoonAsTheCommandLineIsThere) {
    auto leftover = leaveBehind();
    EXPECT_TRUE(node.signals.empty());
    background->release(Lane::Processes);
    loop.settle();
    EXPECT_EQ(node.signals.size(), 2U);
    loop.advance(kDescriptionWait);
    EXPECT_EQ(node.signals.size(), 2U) << "they were sent twice";
}

TEST_F(DescriberTest, withoutAGraceTheKillIsAtOnce) {
    ResourceLimits limits;
    limits.killGrace = toUsec(0s);
    auto leftover = leaveBehind(limits);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    EXPECT_TRUE(receipts().empty()) << "the receipt waits for the description";
    loop.advance(Describer::kPatience);
    ASSERT_EQ(receipts().size(), 1U) << "but not for ever";
    EXPECT_EQ(receipts()[0].leftovers.commands, std::vector<std::string>{"[odd) name]"});
}

TEST_F(DescriberTest, aDescriptionThatComesLaterIsInTheReceipt) {
    auto leftover = leaveBehind();
    background->release(Lane::Processes);
    node.vanish(leftover.pid());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].leftovers.commands, std::vector<std::string>{"left behind"});
    EXPECT_EQ(leftoverLine(), "leftover: left behind");
}

TEST_F(DescriberTest, aRestartBeforeItTellsOfThemByTheirNames) {
    auto leftover = leaveBehind();
    crash();
    restart();
    node.vanish(leftover.pid());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].leftovers.count, 1U) << "once";
    EXPECT_EQ(receipts()[0].leftovers.commands, std::vector<std::string>{"[odd) name]"});
}

TEST_F(DescriberTest, aRecoveryWaitsForNoCommandLine) {
    auto leader = child();
    create("sge.1", leader);
    auto leftover = child();
    node.spawnInside(leftover.pid(), kScope);
    crash();
    node.vanish(leader.pid());
    leader.end();
    holdAtRestart = Lane::Processes;
    restart(); // restart() checks that pinfoldd becomes ready
    loop.advance(kDescriptionWait);
    EXPECT_EQ(node.signals.size(), 2U);
}

TEST_F(DescriberTest, aTasksLeftoversAreSignalledToo) {
    auto leader = child();
    create("sge.1", leader);
    auto second = child();
    std::optional<Result<TaskAdded>> added;
    manager->addTask(root, taskOf("sge.1", second), [&](Result<TaskAdded> answer) { added = std::move(answer); });
    loop.settle();
    ASSERT_TRUE(added && *added);
    auto leftover = child();
    node.spawnInside(leftover.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1-1.scope");
    background->hold(Lane::Processes);
    end(second);
    loop.advance(kDescriptionWait);
    EXPECT_EQ(node.signals,
              (std::vector<std::pair<std::string, int>>{{"job-sge.1-1.scope", SIGTERM}, {"job-sge.1-1.scope", SIGCONT}}));
    loop.advance(Describer::kPatience);
    EXPECT_EQ(leftoverLine(), "leftover: [odd) name]");
}

TEST_F(DescriberTest, aListIsAnsweredWithWhatIsKnownInTime) {
    auto leader = child();
    create("sge.1", leader);
    background->hold(Lane::Processes);
    std::optional<Result<std::vector<JobProcess>>> listed;
    manager->processes(root, "sge.1", 0, [&](Result<std::vector<JobProcess>> answer) { listed = std::move(answer); });
    loop.settle();
    EXPECT_FALSE(listed);
    loop.advance(Describer::kPatience);
    ASSERT_TRUE(listed && *listed && (*listed)->size() == 1);
    EXPECT_EQ((*listed)->front().command, "[odd) name]");
    EXPECT_EQ((*listed)->front().pid, leader.pid());
}

TEST_F(DescriberTest, whatIsTooMuchForTheThreadsIsAnsweredAtOnce) {
    auto leader = child();
    create("sge.1", leader);
    background->hold(Lane::Processes);
    while (background->run(
        Lane::Processes, [] {}, nullptr)) {
    }
    const auto listed = listProcesses("sge.1");
    ASSERT_TRUE(listed && listed->size() == 1) << listed.error().message;
    EXPECT_EQ(listed->front().command, "[odd) name]");
}

TEST_F(DescriberTest, whoHasThreadsHangHasNoneOfTheOthers) {
    auto leader = child();
    create("sge.1", leader);
    background->hold(Lane::Processes);
    const std::vector<ProcessInfo> two(2);
    Describer describer(*context);
    std::size_t answers = 0;
    const auto count = [&answers](const std::vector<ProcessInfo>&) { ++answers; };
    for (int i = 0; i < 50; ++i)
        describer.describe(1000, two, count);
    EXPECT_EQ(background->hanging(Lane::Processes), Describer::kThreadsPerUser);
    for (uid_t user = 1001; user < 1050; ++user)
        describer.describe(user, two, count);
    EXPECT_EQ(background->hanging(Lane::Processes), Describer::kThreadsOfUsers);
    describer.describe(0, two, count);
    EXPECT_EQ(background->hanging(Lane::Processes), Describer::kThreadsOfUsers + 2) << "root's is read";
    EXPECT_EQ(answers, 0U);
    loop.advance(Describer::kPatience);
    EXPECT_EQ(answers, 100U) << "nobody waits for them longer";
    background->release(Lane::Processes);
    loop.settle();
    describer.describe(1000, two, count);
    loop.settle();
    EXPECT_EQ(answers, 101U);
    EXPECT_EQ(background->hanging(Lane::Processes), 0U);
}

TEST_F(DescriberTest, whatHangsIsReportedWithoutItsCommandLine) {
    auto leader = child();
    create("sge.1", leader);
    node.hang(leader.pid(), "rpc_wait_bit_killable");
    manager->stopJob(root, "sge.1", 0s, [](const Result<void>&) {});
    loop.advance(config.unkillable.after - 1us);
    background->hold(Lane::Processes);
    loop.advance(1us);
    loop.advance(Describer::kPatience);
    EXPECT_TRUE(manager->job("sge.1")->unkillableSince);
    EXPECT_EQ(observer.log.back(), "unkillable sge.1 1");
    const auto messages = journal.messages();
    EXPECT_TRUE(std::any_of(messages.begin(), messages.end(), [](const auto& line) { return line.ends_with(": [stuck]"); }));
}

} // namespace
} // namespace pinfold::test
