// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that a key belongs to one job until the job is over. After the end of a job, a later job can have the same key. If two
// jobs have the same key, late events of the first job must not change the second job.
#include "tests/unit/core/core_fixture.hpp"

#include <filesystem>
#include <fstream>

namespace pinfold::test {
namespace {

constexpr Microseconds kNameTakenPatience = 3s;

class IdentityTest : public CoreTest {
protected:
    std::string whereIs(const ChildProcess& process) const { return node.cgroupOf(process.pid()); }
    std::filesystem::path recordOf(const std::string& key) const { return node.root() / "run/pinfold/jobs" / (key + ".json"); }
};

TEST_F(IdentityTest, aNumberOfALiveJobIsNotGivenAgainAfterARestart) {
    const auto first = child();
    create("", first);
    ASSERT_TRUE(created && *created);
    ASSERT_EQ((*created)->key.text(), "manual.1");
    crash();
    restart();
    const auto second = child();
    create("", second);
    ASSERT_TRUE(created && *created) << created->error().message;
    EXPECT_EQ((*created)->key.text(), "manual.2");
    EXPECT_EQ(whereIs(first), "/batch.slice/batch-manual.1.slice/job-manual.1.scope");
    EXPECT_EQ(manager->job("manual.1")->leader, first.pid());
}

TEST_F(IdentityTest, aNumberThatSomebodyHasNamedIsNotGiven) {
    const auto first = child();
    create("manual.1", first);
    ASSERT_TRUE(created && *created);
    const auto second = child();
    create("", second);
    ASSERT_TRUE(created && *created) << created->error().message;
    EXPECT_EQ((*created)->key.text(), "manual.2");
    EXPECT_EQ(manager->job("manual.1")->leader, first.pid());
}

TEST_F(IdentityTest, numbersCountOnAboveThoseThatWerePassedOver) {
    auto named = child();
    create("manual.1", named);
    auto second = child();
    create("", second);
    end(named);
    ASSERT_EQ(manager->jobCount(), 1U);
    const auto third = child();
    create("", third);
    ASSERT_TRUE(created && *created);
    EXPECT_EQ((*created)->key.text(), "manual.3");
}

TEST_F(IdentityTest, usersNameJobsOfTheirOwnBelowTheirOwnPrefixesOnly) {
    config.jobs.allowUserJobs = true;
    const Caller user{1000, false};
    const auto leader = child();
    for (const char* key : {"slurm.4712", "manual.2"}) {
        create(key, leader, {}, nullptr, user);
        ASSERT_TRUE(created && !*created) << key;
        EXPECT_EQ(created->error().code, ErrorCode::Denied);
        EXPECT_EQ(created->error().message,
                  "user 1000 may not name a job '" + std::string(key) +
                      "': only the batch system and pinfoldd use such keys; use user.<id>, or give no key");
    }
    create("user.4712", leader, {}, nullptr, user);
    EXPECT_TRUE(created && *created);
}

TEST_F(IdentityTest, whoAsksForHisJobsEndIsNotGivenALaterJobsOfAnotherUser) {
    config.jobs.allowUserJobs = true;
    for (const uid_t uid : {1000U, 1001U}) {
        auto leader = child(uid);
        create("user.1", leader, {}, nullptr, {uid, false});
        ASSERT_TRUE(created && *created);
        end(leader);
    }
    for (const bool fromDisk : {false, true}) {
        if (fromDisk) {
            crash();
            restart();
        }
        std::vector<Receipt> receipts;
        const auto keep = [&](const Result<Receipt>& receipt) { receipts.push_back(receipt ? *receipt : Receipt{}); };
        for (const uid_t uid : {1000U, 1001U}) {
            manager->endJob({uid, false}, "user.1", {.exit = {}, .leader = 4711}, keep);
            manager->waitJob({uid, false}, "user.1", keep);
            manager->receipt({uid, false}, "user.1", keep);
        }
        loop.settle();
        ASSERT_EQ(receipts.size(), 6U);
        for (std::size_t i = 0; i < receipts.size(); ++i)
            EXPECT_EQ(receipts[i].uid, i < 3 ? 1000U : 1001U) << i << fromDisk;
    }
}

TEST_F(IdentityTest, aKeyWhoseRecordCannotBeReadIsNotGiven) {
    auto bobs = child();
    create("sge.2", bobs);
    ASSERT_TRUE(created && *created);
    crash();
    std::ofstream(recordOf("sge.2")) << "{\"version\":2}\n";
    restart();
    ASSERT_EQ(manager->jobCount(), 0U);
    const auto alices = child(1001);
    create("sge.2", alices);
    ASSERT_TRUE(created);
    ASSERT_FALSE(*created);
    EXPECT_EQ(created->error().code, ErrorCode::AlreadyExists);
    loop.advance(kNameTakenPatience + config.jobs.killGrace);
    EXPECT_FALSE(node.applyCgroupKills());
    EXPECT_EQ(whereIs(bobs), "/batch.slice/batch-sge.2.slice/job-sge.2.scope");
    EXPECT_TRUE(std::filesystem::exists(recordOf("sge.2")));
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(IdentityTest, aKeyWhoseSliceHasProcessesIsNotGiven) {
    const auto stranger = child(1000, "/batch.slice/batch-sge.2.slice/other.scope");
    const auto leader = child(1001);
    create("sge.2", leader);
    ASSERT_TRUE(created);
    ASSERT_FALSE(*created);
    EXPECT_EQ(created->error().code, ErrorCode::AlreadyExists);
    loop.advance(kNameTakenPatience + config.jobs.killGrace);
    EXPECT_FALSE(node.applyCgroupKills());
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(IdentityTest, aUnitThatIsSomebodyElsesStaysAsItIs) {
    node.units.insert("job-sge.2.scope"); // the scope's processes appear after pinfoldd has read the cgroups
    const auto leader = child();
    create("sge.2", leader);
    const auto stranger = child(1000, "/batch.slice/batch-sge.2.slice/job-sge.2.scope");
    loop.advance(kNameTakenPatience);
    ASSERT_TRUE(created);
    ASSERT_FALSE(*created);
    EXPECT_EQ(created->error().code, ErrorCode::AlreadyExists);
    loop.advance(config.jobs.killGrace);
    EXPECT_FALSE(node.applyCgroupKills()) << "the stranger was killed";
    EXPECT_TRUE(node.stops.empty());
    EXPECT_TRUE(node.signals.empty());
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(IdentityTest, aScopeOfOursThatNobodyHasEverBeenInKeepsNoName) {
    node.startWithoutMoving = true; // the placeholder was a zombie when systemd tried to move the placeholder
    node.loseNextStartAnswer = true;
    const auto leader = child();
    create("sge.2", leader);
    EXPECT_FALSE(created);
    node.startWithoutMoving = false;
    loop.advance(2s);
    ASSERT_TRUE(created);
    EXPECT_TRUE(*created) << created->error().message;
    EXPECT_EQ(node.stops, std::vector<std::string>{"job-sge.2.scope"});
}

TEST_F(IdentityTest, aScopeWhoseStartIsUnderWayIsNotStopped) {
    const auto leader = child(0); // if root owns the leader, pinfoldd gives systemd the leader's process id
    node.loseNextStartAnswer = true;
    node.startWithoutMoving = true;
    node.activeStates["job-sge.2.scope"] = "inactive"; // PID 1 has not started the scope yet
    create("sge.2", leader);
    loop.advance(400ms);
    EXPECT_FALSE(created);
    EXPECT_GE(node.starts.size(), 2U) << "asked for again";
    node.show(leader.pid(), 0, "/batch.slice/batch-sge.2.slice/job-sge.2.scope");
    loop.advance(1s);
    ASSERT_TRUE(created);
    EXPECT_TRUE(*created) << created->error().message;
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(IdentityTest, aScopeThatGetsItsProcessWhilePid1AnswersIsNotStopped) {
    const auto leader = child(0);
    node.loseNextStartAnswer = true;
    node.startWithoutMoving = true;
    node.holdLists = true;
    create("sge.2", leader);
    loop.advance(400ms);
    const auto asked = node.starts.size();
    EXPECT_EQ(asked, 2U);
    loop.advance(2s);
    EXPECT_EQ(node.starts.size(), asked) << "it would come before the stop that may follow";
    node.show(leader.pid(), 0, "/batch.slice/batch-sge.2.slice/job-sge.2.scope");
    node.releaseLists();
    loop.advance(1s);
    ASSERT_TRUE(created);
    EXPECT_TRUE(*created) << created->error().message;
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(IdentityTest, whatSystemdHasBegunOfAFailedCreationIsEnded) {
    node.startWithoutMoving = true; // the answer is "done", but the scope has already ended
    const auto leader = child();
    create("sge.2", leader);
    loop.advance(kNameTakenPatience);
    ASSERT_TRUE(created);
    EXPECT_FALSE(*created);
    loop.advance(config.jobs.killGrace);
    EXPECT_EQ(node.stops, std::vector<std::string>{"batch-sge.2.slice"});
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(IdentityTest, aJobThatNeverRanLeavesNoTraceAfterARestartEither) {
    ResourceLimits limits;
    limits.memoryMax = 1 << 30;
    node.ignoreProperties = true; // when pinfoldd reads the limits of the new unit, it finds that the limits are not set
    const auto leader = child();
    create("sge.2", leader, limits);
    ASSERT_TRUE(created);
    ASSERT_FALSE(*created);
    ASSERT_EQ(recordFiles(), 1U) << "its waiting leader is still there";
    EXPECT_EQ(records.load()->records.front().state, JobState::Ending);
    crash();
    restart();
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(receipts().empty());
    EXPECT_TRUE(observer.log.empty()) << "its creator was told that there is no such job, but others heard: "
                                      << observer.log.front();
}

TEST_F(IdentityTest, aLateFailureOfASuspensionWritesNoRecordOfAJobThatIsOver) {
    auto leader = child();
    create("sge.1", leader);
    node.holdStarts = true;
    node.freezeFault = SystemdError{SystemdFault::NoReply, "Method call timed out"};
    manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    node.holdStarts = false; // the fake systemd answers new starts, but has not answered the call that suspends the job
    end(leader);
    loop.settle();
    ASSERT_EQ(manager->jobCount(), 0U);
    const auto second = child();
    create("sge.1", second);
    ASSERT_TRUE(created && *created);
    node.release();
    loop.settle();
    ASSERT_EQ(recordFiles(), 1U);
    EXPECT_EQ(records.load()->records.front().tasks.at(0).leader->pid, second.pid());
    crash();
    restart();
    loop.advance(1s);
    EXPECT_TRUE(manager->job("sge.1"));
    EXPECT_EQ(whereIs(second), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
}

TEST_F(IdentityTest, aSuspensionThatSystemdNeverHeardOfIsMadeAtTheRestart) {
    const auto leader = child();
    create("sge.1", leader);
    node.holdStarts = true; // the suspension never gets an answer
    manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    crash();
    node.frozen.clear(); // PID 1 never got the call
    node.holdStarts = false;
    restart();
    EXPECT_TRUE(node.frozen.contains("batch-sge.1.slice"));
    EXPECT_TRUE(manager->job("sge.1")->suspended);
}

TEST_F(IdentityTest, aSuspensionThatCannotBeMadeAtTheRestartIsOver) {
    const auto leader = child();
    create("sge.1", leader);
    manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    loop.settle();
    ASSERT_TRUE(manager->job("sge.1")->suspended);
    crash();
    node.freezeFault = SystemdError{SystemdFault::Other, "no"};
    restart();
    EXPECT_FALSE(manager->job("sge.1")->suspended);
    EXPECT_FALSE(records.load()->records.front().suspendedSince);
}

} // namespace
} // namespace pinfold::test
