// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/read_file.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>

namespace pinfold::test {
namespace {

bool contains(const std::vector<std::string>& lines, const std::string& part) {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return line.find(part) != std::string::npos; });
}

/// Returns the text that was written to pinfold.slice's cgroup.procs.
std::string movedHome(const FakeNode& node) {
    return readFile(AT_FDCWD, (node.root() / "sys/fs/cgroup/pinfold.slice/cgroup.procs").c_str()).value_or("");
}

TEST_F(CoreTest, aJobIsCreatedWithOneCallAndItsLeaderInside) {
    auto leader = child();
    create("sge.1", leader);
    ASSERT_TRUE(created && *created) << (created ? created->error().message : "no answer");
    EXPECT_EQ(node.starts.size(), 1U);
    EXPECT_EQ(node.starts[0].slice, "batch-sge.1.slice");
    EXPECT_EQ(node.cgroupOf(leader.pid()), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    EXPECT_EQ((*created)->state, JobState::Running);
    EXPECT_EQ(recordFiles(), 1U);
}

TEST_F(CoreTest, aCleanEndLeavesAReceiptAndNothingElse) {
    auto leader = child();
    create("sge.1", leader);
    end(leader);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(recordFiles(), 0U);
    EXPECT_TRUE(node.units.empty());
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].usage.cpuUser, 200us);
    EXPECT_EQ(receipts()[0].leftovers.count, 0U);
    EXPECT_TRUE(node.signals.empty()) << "nothing was left, so nothing is signalled";
}

TEST_F(CoreTest, leftoversAreNamedTerminatedAndKilledAfterTheGrace) {
    auto leader = child();
    create("sge.1", leader);
    auto daemon = child();
    node.spawnInside(daemon.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope", 1000, "sneaky\n)daemon");
    end(leader);
    EXPECT_EQ(manager->jobCount(), 1U);
    ASSERT_EQ(node.signals.size(), 2U);
    EXPECT_EQ(node.signals[0], (std::pair<std::string, int>("batch-sge.1.slice", SIGTERM)));
    EXPECT_EQ(node.signals[1].second, SIGCONT);
    EXPECT_TRUE(contains(journal.messages(), "rogue process(es) found for task sge.1"));
    EXPECT_TRUE(contains(journal.messages(), "leftover: sneaky\\x0a)daemon"));

    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].leftovers.count, 1U);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(loop.timers(), 0U) << "a forgotten job leaves no timer";
}

TEST_F(CoreTest, aSupervisorsWordOnTheStatusIsAwaited) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    end(leader);
    EXPECT_TRUE(receipts().empty());
    std::optional<Result<Receipt>> receipt;
    manager->endJob(root, "sge.1", {{.status = 7, .signal = {}}, leader.pid()},
                    [&](Result<Receipt> r) { receipt = std::move(r); });
    EXPECT_TRUE(receipts().empty()) << "the wrong leader's word is not taken";
    receipt.reset();
    manager->endJob(root, "sge.1", {{.status = 7, .signal = {}}, {}}, [&](Result<Receipt> r) { receipt = std::move(r); });
    loop.settle();
    ASSERT_TRUE(receipt && *receipt);
    EXPECT_EQ((*receipt)->exit.status, 7);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(CoreTest, aSilentSupervisorIsNotAwaitedForEver) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    end(leader);
    loop.advance(10s);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_FALSE(receipts()[0].exit.known());
}

TEST_F(CoreTest, supervisorsOfJobsThatLastMoveHome) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    EXPECT_EQ(movedHome(node), "") << "not yet: the job may be over in a moment";
    loop.advance(200ms);
    EXPECT_EQ(movedHome(node), std::to_string(supervisor.pid()) + "\n");
    loop.advance(800ms); // during the 800 ms, pinfoldd writes the job to the history
    EXPECT_EQ(loop.timers(), 1U) << "only the looks at the job go on";
}

TEST_F(CoreTest, supervisorsInASessionStayWithinTheLimitsOfUsers) {
    auto leader = child();
    auto supervisor = child(0);
    const std::string session = "/user.slice/user-1000.slice/session-3.scope";
    node.show(supervisor.pid(), 1000, session);
    create("sge.1", leader, {}, &supervisor);
    loop.advance(200ms);
    EXPECT_EQ(movedHome(node), "");
}

TEST_F(CoreTest, supervisorsOfJobsThatAreOverDoNot) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    end(supervisor);
    loop.advance(200ms);
    EXPECT_EQ(movedHome(node), "");
}

TEST_F(CoreTest, onlyItsOwnerGetsTheAnswerOfAJobAgain) {
    auto leader = child();
    create("sge.1", leader);
    create("sge.1", leader, {}, nullptr, {1000, false});
    ASSERT_TRUE(created && *created);
    create("sge.1", leader, {}, nullptr, {1001, false});
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::Denied);
}

TEST_F(CoreTest, anAdministratorsEndDoesNotWaitForALongGrace) {
    const Caller owner{1000, false};
    for (const auto& stopper : {root, owner}) {
        auto leader = child();
        create("sge.1", leader);
        config.jobs.killGrace = 1h; // an owner can ask for a grace time up to the site's grace time
        manager->stopJob(stopper, "sge.1", 1h, [](const Result<void>& done) { EXPECT_TRUE(done); });
        loop.settle();
        config.jobs.killGrace = 1s;
        manager->endJob(owner, "sge.1", {}, [](const Result<Receipt>&) {});
        loop.advance(2s);
        EXPECT_FALSE(node.applyCgroupKills()) << "the owner's end shortens nothing";
        manager->endJob(root, "sge.1", {}, [](const Result<Receipt>&) {});
        loop.advance(500ms);
        manager->endJob(root, "sge.1", {}, [](const Result<Receipt>&) {});
        EXPECT_FALSE(node.applyCgroupKills()) << "the usual grace is not over";
        loop.advance(500ms);
        EXPECT_TRUE(node.applyCgroupKills()) << "asking again gives no more time";
        end(leader);
        EXPECT_EQ(manager->jobCount(), 0U);
        EXPECT_EQ(receipts().front().result, JobResult::Stopped);
    }
}

TEST_F(CoreTest, anOwnersGraceIsNotLongerThanTheUsualOne) {
    constexpr Microseconds kHour = 1h;
    for (const auto& [key, caller, killed] : {std::tuple{"sge.1", Caller{1000, false}, true}, std::tuple{"sge.2", root, false}}) {
        auto leader = child();
        create(key, leader);
        manager->stopJob(caller, key, kHour, [](const Result<void>&) {});
        loop.settle();
        loop.advance(config.jobs.killGrace);
        EXPECT_EQ(node.applyCgroupKills(), killed) << key;
    }
}

TEST_F(CoreTest, aStopThatIsAskedForAgainPutsNothingOff) {
    const Caller owner{1000, false};
    auto leader = child();
    create("sge.1", leader);
    const auto stop = [&](Microseconds grace) {
        manager->stopJob(owner, "sge.1", grace, [](const Result<void>&) {});
        loop.settle();
    };
    stop(config.jobs.killGrace);
    for (std::uint64_t n = 1; n < 10; ++n) {
        loop.advance(config.jobs.killGrace / 10);
        stop(config.jobs.killGrace - n * 1us);
    }
    EXPECT_FALSE(node.applyCgroupKills());
    loop.advance(config.jobs.killGrace / 10);
    EXPECT_TRUE(node.applyCgroupKills());
    stop(0s);
    EXPECT_FALSE(node.applyCgroupKills()) << "killed once";
}

TEST_F(CoreTest, noSupervisorIsTheLeaderOrInAJob) {
    auto leader = child();
    auto inside = child(1000, "/batch.slice/batch-sge.9.slice/job-sge.9.scope/nested");
    for (const auto* supervisor : {&leader, &inside}) {
        create("sge.1", leader, {}, supervisor, {1000, false});
        ASSERT_TRUE(created && !*created);
        EXPECT_EQ(created->error().code, ErrorCode::Denied);
    }
    EXPECT_EQ(manager->jobCount(), 0U);
    create("sge.1", leader);
    auto other = child();
    for (const auto* supervisor : {&other, &inside}) {
        auto request = taskOf("sge.1", other);
        request.supervisor = supervisor->pidfd();
        std::optional<Result<TaskAdded>> added;
        manager->addTask(root, std::move(request), [&](Result<TaskAdded> answer) { added = std::move(answer); });
        loop.settle();
        ASSERT_TRUE(added && !*added);
        EXPECT_EQ(added->error().code, ErrorCode::Denied);
    }
    loop.advance(200ms);
    EXPECT_EQ(movedHome(node), "");
}

TEST_F(CoreTest, aSupervisorThatIsInAJobByNowStaysThere) {
    auto leader = child();
    auto supervisor = child(1000);
    create("sge.1", leader, {}, &supervisor);
    node.show(supervisor.pid(), 1000, "/batch.slice/batch-sge.1.slice/job-sge.1-1.scope");
    loop.advance(200ms);
    EXPECT_EQ(movedHome(node), "");
}

TEST_F(CoreTest, aJobIsToldByItsPathFromTheRootOn) {
    auto leader = child();
    create("sge.1", leader);
    auto process = child();
    for (const auto* path : {"/user.slice/user-1001.slice/user@1001.service/batch.slice/batch-sge.1.slice/job-sge.1.scope",
                             "/batch.slice/job-sge.1.scope", "/batch-sge.1.slice/job-sge.1.scope", "/batch.slice", "/"}) {
        node.show(process.pid(), 1001, path);
        const auto found = manager->jobOfProcess(process.pid());
        ASSERT_FALSE(found) << path;
        EXPECT_EQ(found.error().message, "process " + std::to_string(process.pid()) + " does not belong to a job");
    }
    for (const auto* below : {"", "/job-sge.1.scope", "/job-sge.1.scope/nested/batch.slice", "/job-sge.2.scope"}) {
        node.show(process.pid(), 1000, std::string("/batch.slice/batch-sge.1.slice") + below);
        const auto found = manager->jobOfProcess(process.pid());
        ASSERT_TRUE(found) << below;
        EXPECT_EQ(found->first.key.text(), "sge.1");
    }
}

TEST_F(CoreTest, aRestartMovesThoseWhoWaitedForIt) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    crash();
    restart();
    loop.advance(200ms);
    EXPECT_EQ(movedHome(node), std::to_string(supervisor.pid()) + "\n");
}

TEST_F(CoreTest, aKilledSupervisorEndsTheJob) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    end(supervisor);
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::SupervisorLost);
}

TEST_F(CoreTest, theRunTimeLimitStopsTheJob) {
    auto leader = child();
    ResourceLimits limits;
    limits.runTimeMax = 60'000'000;
    create("sge.1", leader, limits);
    loop.advance(59'999'999us);
    EXPECT_TRUE(node.signals.empty());
    loop.advance(1us);
    EXPECT_EQ(node.signals.size(), 2U);
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Timeout);
    EXPECT_EQ(receipts()[0].leftovers.count, 0U) << "the job's own processes are no leftovers";
}

TEST_F(CoreTest, aStopRequestIsInTheReceiptWithWhoAsked) {
    auto leader = child();
    create("sge.1", leader);
    std::optional<Result<void>> stopped;
    manager->stopJob({1000, false}, "sge.1", 0s, [&](Result<void> r) { stopped = std::move(r); });
    ASSERT_TRUE(stopped && *stopped);
    EXPECT_TRUE(node.applyCgroupKills()) << "no grace: the kernel kills at once";
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Stopped);
    EXPECT_EQ(receipts()[0].stoppedBy, 1000U);
}

TEST_F(CoreTest, aUsersJobsAreListedThoseThatRunFirst) {
    auto first = child(), second = child(), third = child(), strangers = child(1001);
    loop.setClockAhead(60s);
    for (const auto& [key, leader] : {std::pair("sge.1", &first), {"sge.2", &second}, {"sge.3", &third}, {"sge.4", &strangers}}) {
        loop.advance(1s);
        create(key, *leader);
        loop.setClockAhead(0s); // after somebody has set the clock back, a job must not look older than it is
    }
    manager->stopJob(root, "sge.3", {}, [](const Result<void>&) {});
    std::string keys;
    for (const auto& job : manager->jobsOfUser(1000))
        keys += job.key.text() + " ";
    EXPECT_EQ(keys, "sge.2 sge.1 sge.3 ");
    EXPECT_TRUE(manager->jobsOfUser(1002).empty());
}

TEST_F(CoreTest, anotherUserMayNotStopIt) {
    auto leader = child();
    create("sge.1", leader);
    std::optional<Result<void>> stopped;
    manager->stopJob({1001, false}, "sge.1", {}, [&](Result<void> r) { stopped = std::move(r); });
    ASSERT_TRUE(stopped && !*stopped);
    EXPECT_EQ(stopped->error().code, ErrorCode::Denied);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
}

TEST_F(CoreTest, theSameRequestAgainGetsTheSameJob) {
    auto leader = child();
    create("sge.1", leader);
    create("sge.1", leader);
    ASSERT_TRUE(created && *created);
    create("", leader);
    ASSERT_TRUE(created && *created);
    EXPECT_EQ((*created)->key.text(), "sge.1");
    EXPECT_EQ(node.starts.size(), 1U);
}

TEST_F(CoreTest, aKeyIsLiveOnce) {
    auto leader = child();
    auto other = child();
    create("sge.1", leader);
    create("sge.1", other);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::AlreadyExists);
}

TEST_F(CoreTest, aProcessOfATightJobCannotMoveToALooseOne) {
    auto leader = child();
    create("sge.1", leader);
    auto inside = child(1000, "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    create("sge.2", inside);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::Denied);
}

TEST_F(CoreTest, manualKeysCountOnOverARestart) {
    auto first = child();
    create("", first);
    ASSERT_TRUE(created && *created);
    EXPECT_EQ((*created)->key.text(), "manual.1");
    end(first);
    crash();
    restart();
    auto second = child();
    create("", second);
    EXPECT_EQ((*created)->key.text(), "manual.2");
}

TEST_F(CoreTest, aManualKeyThatWasTakenUpIsNotGivenAgainWhenItsJobIsOver) {
    auto first = child();
    create("", first);
    crash();
    restart();
    end(first);
    ASSERT_EQ(receipts().size(), 1U);
    auto second = child();
    create("", second);
    ASSERT_TRUE(created && *created);
    EXPECT_EQ((*created)->key.text(), "manual.2");
}

TEST_F(CoreTest, aTaskEndsByItselfAndTheJobGoesOn) {
    auto leader = child();
    create("sge.1", leader);
    auto task = child();
    std::optional<Result<TaskAdded>> added;
    manager->addTask(root, taskOf("sge.1", task), [&](Result<TaskAdded> r) { added = std::move(r); });
    loop.settle();
    ASSERT_TRUE(added && *added);
    EXPECT_EQ((*added)->task, 1U);
    EXPECT_EQ(node.cgroupOf(task.pid()), "/batch.slice/batch-sge.1.slice/job-sge.1-1.scope");
    end(task);
    EXPECT_TRUE(contains(observer.log, "task gone sge.1 1"));
    EXPECT_EQ(manager->job("sge.1")->tasks, (std::vector<std::uint32_t>{0}));
}

TEST_F(CoreTest, aLimitThatTheNodeLacksIsRefusedBeforeAnythingStarts) {
    std::filesystem::resize_file(node.root() / "sys/fs/cgroup/cgroup.controllers", 0);
    auto leader = child();
    ResourceLimits limits;
    limits.memoryMax = 64 << 20;
    create("sge.1", leader, limits);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::LimitUnenforceable);
    EXPECT_NE(created->error().message.find("memory_max"), std::string::npos);
    EXPECT_TRUE(node.starts.empty());

    config.jobs.unenforcedLimits = UnenforcedLimits::Warn;
    create("sge.1", leader, limits);
    EXPECT_TRUE(created && *created);
    EXPECT_TRUE(contains(journal.messages(), "runs without a limit"));
}

TEST_F(CoreTest, aLostAnswerIsNotALostJob) {
    node.loseNextStartAnswer = true;
    auto leader = child();
    create("sge.1", leader);
    ASSERT_TRUE(created && *created) << "the kernel shows the leader in its scope";
    EXPECT_EQ(node.starts.size(), 1U);
}

TEST_F(CoreTest, aCallLostInAReexecIsRepeated) {
    node.nextStartFaults = {{SystemdFault::NoReply, "gone"}};
    auto leader = child();
    create("sge.1", leader);
    EXPECT_FALSE(created);
    loop.advance(1s);
    ASSERT_TRUE(created && *created);
    EXPECT_EQ(node.starts.size(), 2U);
}

TEST_F(CoreTest, doneWithoutTheProcessInsideIsNotBelieved) {
    node.startWithoutMoving = true;
    auto leader = child();
    create("sge.1", leader);
    loop.advance(5s);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(receipts().empty()) << "it never ran";
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(CoreTest, aRefusedPropertyIsAnErrorInPlainWords) {
    node.nextStartFaults = {{SystemdFault::PropertyRefused, "Cannot set property Foo, or unknown property."}};
    auto leader = child();
    create("sge.1", leader);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::SystemdFailed);
    EXPECT_NE(created->error().message.find("Foo"), std::string::npos);
    EXPECT_EQ(manager->jobCount(), 0U);
}

TEST_F(CoreTest, initAndPinfolddItselfAreNoJobs) {
    node.show(::getpid(), 0);
    CreateRequest request;
    request.key = "sge.1";
    request.leader = std::move(*openPidfd(::getpid()));
    std::optional<Result<JobSummary>> answer;
    manager->createJob(root, std::move(request), [&](Result<JobSummary> r) { answer = std::move(r); });
    ASSERT_TRUE(answer && !*answer);
    EXPECT_EQ(answer->error().code, ErrorCode::InvalidArgument);
}

TEST_F(CoreTest, leftoverReportsAreBounded) {
    config.leftovers.reportMax = 2;
    auto leader = child();
    create("sge.1", leader);
    std::vector<ChildProcess> daemons;
    for (int i = 0; i < 5; ++i) {
        daemons.push_back(child());
        node.spawnInside(daemons.back().pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    }
    end(leader);
    EXPECT_TRUE(contains(journal.messages(), "and 3 more"));
    loop.advance(config.jobs.killGrace);
    node.applyCgroupKills();
    loop.waitForEvent(1000);
    EXPECT_EQ(receipts().at(0).leftovers.count, 5U);
    EXPECT_EQ(receipts().at(0).leftovers.commands.size(), 2U);
}

TEST_F(CoreTest, aUsersLiveJobsAreBounded) {
    config.jobs.maxPerUser = 1;
    auto first = child();
    auto second = child();
    create("sge.1", first);
    create("sge.2", second);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::Busy);
}

} // namespace
} // namespace pinfold::test
