// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/core/core_fixture.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace {
bool directoriesFail = false;
}

/// Takes the place of the C library's fsync(). If `directoriesFail` is true, fsync() of a directory fails.
extern "C" int fsync(int fd) {
    struct stat status {};
    if (directoriesFail && ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace pinfold::test {
namespace {

class NodeStateTest : public CoreTest {
protected:
    ~NodeStateTest() override { directoriesFail = false; }
    void drain(const std::string& reason = "new disk") { ASSERT_TRUE(drainBy(root, reason)); }
    std::optional<ErrorCode> refusal(const std::string& key) {
        auto leader = child();
        create(key, leader);
        return *created ? std::nullopt : std::optional(created->error().code);
    }
    Result<JobSummary> open(const char* key) {
        CreateRequest request;
        request.key = key;
        request.owner = 1000;
        std::optional<Result<JobSummary>> answer;
        manager->openJob(root, std::move(request), [&answer](Result<JobSummary> opened) { answer = std::move(opened); });
        loop.settle();
        return *answer;
    }
    Result<TaskAdded> addTask(TaskRequest request) {
        std::optional<Result<TaskAdded>> answer;
        manager->addTask(root, std::move(request), [&answer](Result<TaskAdded> added) { answer = std::move(added); });
        loop.settle();
        return *answer;
    }
    std::size_t told() const {
        return static_cast<std::size_t>(std::count(observer.log.begin(), observer.log.end(), "drain changed"));
    }
    bool said(const std::string& part) const {
        const auto messages = journal.messages();
        return std::any_of(messages.begin(), messages.end(), [&](const auto& m) { return m.find(part) != std::string::npos; });
    }
    const std::filesystem::path file = node.root() / "var/lib/pinfold/drain.json";
};

TEST_F(NodeStateTest, noNewJobUntilResume) {
    EXPECT_FALSE(manager->draining());
    drain();
    EXPECT_EQ(refusal("sge.1"), ErrorCode::Draining);
    EXPECT_NE(created->error().message.find("this node takes no jobs for now: drained by user 0 at "), std::string::npos)
        << created->error().message;
    EXPECT_NE(created->error().message.find("Z: new disk"), std::string::npos) << created->error().message;
    EXPECT_EQ(open("sge.2").error().code, ErrorCode::Draining);
    auto leader = child();
    auto task = taskOf("sge.3", leader);
    task.open.emplace();
    task.open->key = "sge.3";
    task.open->owner = 1000;
    EXPECT_EQ(addTask(std::move(task)).error().code, ErrorCode::Draining);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(node.starts.empty());

    ASSERT_TRUE(undrainBy(root));
    EXPECT_EQ(refusal("sge.1"), std::nullopt);
}

TEST_F(NodeStateTest, whatWasLiveBeforeGoesOn) {
    auto leader = child();
    create("sge.1", leader);
    ASSERT_TRUE(open("sge.2"));
    drain();
    auto slave = child();
    auto batch = child();
    EXPECT_TRUE(addTask(taskOf("sge.1", slave)));
    auto script = taskOf("sge.2", batch);
    script.batch = true;
    EXPECT_TRUE(addTask(std::move(script))) << "its slot was given before";
    EXPECT_TRUE(open("sge.2")) << "the same request again";
    create("sge.1", leader);
    EXPECT_TRUE(*created) << "the answer may have been lost";
    end(leader);
    node.vanish(slave.pid());
    slave.end();
    end(batch);
    loop.advance(10s);
    EXPECT_EQ(receipts().size(), 2U);
    EXPECT_EQ(refusal("sge.1"), ErrorCode::Draining) << "it is over";
}

TEST_F(NodeStateTest, aRestartForgetsNeitherTheDrainNorWhoAndWhy) {
    drain();
    const auto before = manager->draining();
    loop.advance(1s);
    crash();
    restart();
    EXPECT_EQ(manager->draining(), before);
    EXPECT_EQ(refusal("sge.1"), ErrorCode::Draining);
    ASSERT_TRUE(undrainBy(root));
    crash();
    restart();
    EXPECT_FALSE(manager->draining());
}

TEST_F(NodeStateTest, theNewestReasonStandsAndNoneLeavesIt) {
    drain("one");
    loop.advance(1s);
    ASSERT_TRUE(drainBy({1001, true}, "two"));
    const auto second = *manager->draining();
    EXPECT_EQ(second, (Drain{.reason = "two", .since = loop.realTime(), .by = 1001}));
    loop.advance(1s);
    drain("");
    EXPECT_EQ(*manager->draining(), second);
    EXPECT_EQ(told(), 2U);
}

TEST_F(NodeStateTest, onlyAdministratorsDrainAndResume) {
    const Caller user{1000, false};
    EXPECT_EQ(drainBy(user, "mine").error().code, ErrorCode::Denied);
    EXPECT_FALSE(manager->draining());
    drain();
    EXPECT_EQ(undrainBy(user).error().code, ErrorCode::Denied);
    EXPECT_TRUE(manager->draining());
}

TEST_F(NodeStateTest, aReasonIsEscapedAndBounded) {
    drain("disk\n\x1b[31m");
    EXPECT_EQ(manager->draining()->reason, "disk\\x0a\\x1b[31m");
    EXPECT_EQ(drainBy(root, std::string(Drain::kMostReason + 1, 'x')).error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(manager->draining()->reason, "disk\\x0a\\x1b[31m");
    drain(std::string(Drain::kMostReason, '\n'));
    const auto before = manager->draining();
    crash();
    restart();
    EXPECT_EQ(manager->draining(), before);
}

TEST_F(NodeStateTest, resumeOfANodeThatIsNotDrainedIsNothing) {
    journal.events.clear();
    EXPECT_TRUE(undrainBy(root));
    EXPECT_TRUE(journal.events.empty());
    EXPECT_EQ(told(), 0U);
}

TEST_F(NodeStateTest, aFileThatCantBeReadIsADrainAndSaysWhatToDo) {
    for (const bool bySaying : {true, false}) {
        crash();
        std::ofstream(file) << "{\"version\":1,";
        restart();
        EXPECT_EQ(refusal("sge.1"), ErrorCode::Draining);
        EXPECT_NE(created->error().message.find("drain.json cannot be read"), std::string::npos) << created->error().message;
        EXPECT_TRUE(said("`pinfold drain` or `pinfold undrain`"));
        if (bySaying) {
            drain(""); // pinfoldd cannot read the drain's old reason from the file, so the reason stays empty
            EXPECT_EQ(manager->draining()->by, 0U);
            crash();
            restart();
            EXPECT_EQ(manager->draining()->by, 0U);
        }
        ASSERT_TRUE(undrainBy(root));
        crash();
        restart();
        EXPECT_FALSE(manager->draining());
    }
}

TEST_F(NodeStateTest, whatCanNotBeStoredChangesNothing) {
    std::filesystem::create_directories(file / "in the way");
    const auto drained = drainBy(root, "new disk");
    ASSERT_FALSE(drained);
    EXPECT_EQ(drained.error().code, ErrorCode::Internal);
    EXPECT_NE(drained.error().message.find("takes jobs: " + file.string()), std::string::npos) << drained.error().message;
    EXPECT_FALSE(manager->draining());
    EXPECT_EQ(told(), 0U);
    crash();
    restart();
    EXPECT_TRUE(manager->draining()) << "what stands there is unreadable";
    EXPECT_FALSE(undrainBy(root));
    EXPECT_TRUE(manager->draining());
}

// Even if fsync() of the directory fails, a restarted pinfoldd finds the new state of the drain on the disk.
TEST_F(NodeStateTest, whatMayNotOutliveALossOfPowerIsInForceAndSaidToBeSo) {
    drain("old");
    directoriesFail = true;
    const auto drained = drainBy(root, "new disk");
    EXPECT_EQ(manager->draining()->reason, "new disk");
    EXPECT_TRUE(said("node drained by user 0: new disk"));
    ASSERT_FALSE(drained);
    EXPECT_NE(drained.error().message.find("the node is drained now, but a loss of power may undo that: "), std::string::npos)
        << drained.error().message;
    crash();
    restart();
    EXPECT_EQ(manager->draining()->reason, "new disk");

    const auto resumed = undrainBy(root);
    EXPECT_FALSE(manager->draining());
    ASSERT_FALSE(resumed);
    EXPECT_NE(resumed.error().message.find("the node takes jobs now, but"), std::string::npos) << resumed.error().message;
    crash();
    restart();
    EXPECT_FALSE(manager->draining());
}

TEST_F(NodeStateTest, aDiskThatHangsHoldsUpNobodyElse) {
    background->hold(Lane::Files);
    std::vector<std::string> answers;
    manager->drain(root, "one", [&](const Result<void>& done) { answers.push_back(done ? "one" : done.error().message); });
    manager->drain(root, "", [&](const Result<void>& done) { answers.push_back(done ? "none" : done.error().message); });
    manager->undrain(root, [&](const Result<void>& done) { answers.push_back(done ? "end" : done.error().message); });
    EXPECT_EQ(refusal("sge.1"), std::nullopt) << "nothing is answered yet";
    EXPECT_TRUE(answers.empty());
    background->release(Lane::Files);
    loop.settle();
    EXPECT_EQ(answers, (std::vector<std::string>{"one", "none", "end"}));
    EXPECT_FALSE(manager->draining());
    EXPECT_EQ(told(), 2U);
}

TEST_F(NodeStateTest, whatIsTooMuchForADiskThatHangsIsRefused) {
    background->hold(Lane::Files);
    while (background->run(
        Lane::Files, [] {}, nullptr)) {
    }
    EXPECT_EQ(drainBy(root, "new disk").error().code, ErrorCode::Busy);
    EXPECT_FALSE(manager->draining());
}

TEST_F(NodeStateTest, aJobThatCantBeKilledDrainsBesidesAnAdministrator) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1");
    const auto killedAt = loop.realTime();
    loop.advance(config.unkillable.after);
    ASSERT_TRUE(manager->draining());
    EXPECT_EQ(manager->draining()->since, killedAt);
    EXPECT_EQ(manager->draining()->by, std::nullopt);
    EXPECT_EQ(told(), 1U);
    drain();
    EXPECT_EQ(manager->draining()->by, 0U);
    EXPECT_TRUE(manager->draining()->reason.starts_with("new disk; job sge.1 cannot be killed since "));
    ASSERT_TRUE(undrainBy(root));
    EXPECT_TRUE(manager->draining()) << "that is not the administrator's to end";
    EXPECT_EQ(told(), 3U);
    end(leader);
    EXPECT_FALSE(manager->draining());
    EXPECT_EQ(told(), 4U);
}

TEST_F(NodeStateTest, aChangedConfigurationIsToldToo) {
    auto leader = stuckJob("sge.1");
    loop.advance(config.unkillable.after);
    EXPECT_EQ(told(), 0U);
    config.unkillable.action = UnkillableAction::Drain;
    manager->configChanged();
    EXPECT_TRUE(manager->draining());
    EXPECT_EQ(told(), 1U);
}

TEST_F(NodeStateTest, theJournalHasWhoAndWhy) {
    ASSERT_TRUE(drainBy({1001, true}, "new disk"));
    EXPECT_TRUE(said("node drained by user 1001: new disk"));
    ASSERT_TRUE(undrainBy(root));
    EXPECT_TRUE(said("node takes jobs again: drain ended by user 0"));
}

} // namespace
} // namespace pinfold::test
