// SPDX-License-Identifier: LGPL-2.1-or-later
// In these tests, a process ends after pinfoldd has looked at the process, and before pinfoldd moves the process. A new process
// gets the process id of the ended process.
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>

namespace pinfold::test {
namespace {

class RecycledPidTest : public CoreTest {
protected:
    static std::vector<std::uint32_t> pidsOf(const StartRequest& start) {
        for (const auto& property : start.scopeProperties)
            if (property.name == "PIDs")
                return std::get<std::vector<std::uint32_t>>(property.value);
        return {};
    }
    void adopt(const ChildProcess& process) {
        std::vector<UniqueFd> pidfds;
        pidfds.push_back(process.pidfd());
        adopted.reset();
        manager->adopt(root, "sge.1", {std::move(pidfds)}, [this](Result<TaskAdded> answer) { adopted = std::move(answer); });
        loop.settle();
    }

    std::optional<Result<TaskAdded>> adopted;
};

TEST_F(RecycledPidTest, systemdIsNotToldTheNumberOfAUsersProcess) {
    const auto leader = child();
    create("sge.1", leader);
    ASSERT_TRUE(created && *created);
    EXPECT_NE(pidsOf(node.starts.at(0)), std::vector{static_cast<std::uint32_t>(leader.pid())});
    EXPECT_EQ(node.cgroupOf(leader.pid()), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    EXPECT_TRUE(node.placeholders.empty());
}

TEST_F(RecycledPidTest, whatOnlyRootCanEndTakesTheShortWay) {
    const auto leader = child(0);
    create("sge.1", leader);
    ASSERT_TRUE(created && *created);
    EXPECT_EQ(pidsOf(node.starts.at(0)), std::vector{static_cast<std::uint32_t>(leader.pid())});
}

TEST_F(RecycledPidTest, whoHasEndedIsNoTask) {
    const auto leader = child();
    create("sge.1", leader);
    auto process = child();
    const auto pid = process.pid();
    node.beforeMove = [&](pid_t) { process.end(); }; // the process id in the fake /proc now belongs to another process
    adopt(process);
    ASSERT_TRUE(adopted);
    EXPECT_EQ(adopted->error().code, ErrorCode::PidGone);
    EXPECT_EQ(node.cgroupOf(pid), "/system.slice/batchd.service");
    EXPECT_EQ(manager->job("sge.1")->tasks, std::vector<std::uint32_t>{0});
    EXPECT_TRUE(node.placeholders.empty());
}

TEST_F(RecycledPidTest, thePlaceholderOfAFailedCreationIsNoLeftover) {
    auto leader = child();
    node.beforeMove = [&](pid_t) { leader.end(); };
    bool lived = true;
    CreateRequest request;
    request.key = "sge.1";
    request.leader = leader.pidfd();
    manager->createJob(root, std::move(request), [&](const Result<JobSummary>& answer) {
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::PidGone);
        lived = std::any_of(node.placeholders.begin(), node.placeholders.end(), [&](pid_t pid) { return node.lives(pid); });
    });
    loop.settle();
    EXPECT_FALSE(lived);
    const auto said = journal.messages();
    EXPECT_TRUE(std::none_of(said.begin(), said.end(), [](const auto& line) { return line.starts_with("leftover"); }));
}

TEST_F(RecycledPidTest, signalsWaitUntilAMoveIsOver) {
    const auto leader = child();
    create("sge.1", leader);
    const auto process = child();
    background->hold(Lane::Moves);
    adopt(process);
    std::optional<Result<void>> killed;
    manager->killJob(root, "sge.1", 9, [&](Result<void> answer) { killed = std::move(answer); });
    loop.settle();
    EXPECT_TRUE(node.signals.empty());
    background->release(Lane::Moves);
    loop.settle();
    EXPECT_TRUE(adopted && *adopted);
    EXPECT_TRUE(killed && *killed);
    EXPECT_EQ(node.signals.size(), 1U);
}

TEST_F(RecycledPidTest, numbersThatPid1MayYetUseAreKept) {
    auto leader = child();
    node.hangs = true;
    create("sge.1", leader);
    loop.advance(30s); // the answer never comes
    ASSERT_EQ(node.placeholders.size(), 1U);
    end(leader);
    loop.advance(26s); // pinfoldd repeats the call to systemd, and again gets no answer
    EXPECT_TRUE(created && !*created);
    EXPECT_EQ(node.placeholders.size(), 1U) << "its call is in PID 1's queue";
    node.goOn();
    loop.advance(60s);
    EXPECT_TRUE(node.placeholders.empty());
}

} // namespace
} // namespace pinfold::test
