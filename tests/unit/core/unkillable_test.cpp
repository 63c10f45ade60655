// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/describer.hpp"
#include "os/read_file.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace pinfold::test {
namespace {

class UnkillableTest : public CoreTest {
protected:
    UnkillableTest() { config.profile.interval = 0s; } // some tests count the timers, so Sampler must not add a timer
    /// Gives the process its own user namespace, as unshare(CLONE_NEWUSER) does.
    void makeNamespace(const ChildProcess& process) const {
        const auto directory = node.root() / "proc" / std::to_string(process.pid()) / "ns";
        std::filesystem::create_directories(directory);
        std::filesystem::create_symlink("user:[1]", directory / "user");
    }
    void writeFile(const std::string& name, const std::string& text) const {
        const auto file = node.root() / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::trunc) << text;
    }
    void passBound() { loop.advance(config.unkillable.after); }
    std::vector<JournalEvent> events(const std::string& name) const {
        std::vector<JournalEvent> found;
        for (const auto& event : journal.events)
            for (const auto& [field, value] : event.fields)
                if (field == "PINFOLD_EVENT" && value == name)
                    found.push_back(event);
        return found;
    }
    std::optional<std::string> comment() const { return readFile(AT_FDCWD, (node.root() / "run/pinfold/comment").c_str()); }
    bool said(const std::string& part) const {
        const auto messages = journal.messages();
        return std::any_of(messages.begin(), messages.end(), [&](const auto& m) { return m.find(part) != std::string::npos; });
    }
};

std::optional<std::string> fieldOf(const JournalEvent& event, const std::string& name) {
    for (const auto& [field, value] : event.fields)
        if (field == name)
            return value;
    return std::nullopt;
}

TEST_F(UnkillableTest, whatHangsIsNamedWithItsPlaceInTheKernel) {
    auto leader = stuckJob("sge.1");
    const auto killedAt = loop.realTime();
    loop.advance(config.unkillable.after - 1us);
    EXPECT_TRUE(events("unkillable").empty()) << "the bound is not over";
    EXPECT_FALSE(manager->job("sge.1")->unkillableSince);
    loop.advance(1us);

    ASSERT_EQ(events("unkillable").size(), 1U);
    EXPECT_EQ(fieldOf(events("unkillable")[0], "PINFOLD_UNKILLABLE_COUNT"), "1");
    ASSERT_EQ(events("unkillable-process").size(), 1U);
    const auto event = events("unkillable-process")[0];
    const auto pid = std::to_string(leader.pid());
    EXPECT_EQ(event.message, "unkillable: pid " + pid + ", state D, waits in rpc_wait_bit_killable: sleep 1000");
    EXPECT_EQ(fieldOf(event, "PINFOLD_UNKILLABLE_PID"), pid);
    EXPECT_EQ(fieldOf(event, "PINFOLD_UNKILLABLE_WAIT_POINT"), "rpc_wait_bit_killable");
    EXPECT_EQ(observer.log.back(), "unkillable sge.1 1");

    EXPECT_EQ(manager->job("sge.1")->state, JobState::Ending);
    EXPECT_EQ(manager->job("sge.1")->unkillableSince, killedAt);
    const auto listed = listProcesses("sge.1");
    ASSERT_TRUE(listed && listed->size() == 1);
    EXPECT_EQ((*listed)[0].state, "D");
    EXPECT_EQ((*listed)[0].waitPoint, "rpc_wait_bit_killable");
    EXPECT_FALSE(comment()) << "nobody asked for one";
}

TEST_F(UnkillableTest, aGraceThatASoonerStopCutShortDelaysNoReport) {
    auto leader = child();
    create("sge.1", leader);
    node.hang(leader.pid(), "rpc_wait_bit_killable");
    const auto stop = [this](Microseconds grace) {
        manager->stopJob(root, "sge.1", grace, [](const Result<void>& done) { EXPECT_TRUE(done); });
        loop.settle();
    };
    stop(config.unkillable.after / 2);
    stop(0s);
    passBound();
    EXPECT_EQ(events("unkillable").size(), 1U);
    loop.advance(1s); // pinfoldd writes the number of unkillable processes to the history
    EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(UnkillableTest, theJobEndsByItselfAndNobodyAsksForThat) {
    auto leader = stuckJob("sge.1");
    passBound();
    loop.advance(1s); // pinfoldd writes the number of unkillable processes to the history
    EXPECT_EQ(loop.timers(), 0U);
    EXPECT_TRUE(receipts().empty());
    end(leader);
    EXPECT_EQ(manager->jobCount(), 0U);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Stopped);
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(UnkillableTest, theReceiptHasTheHighestNumberThatWasReported) {
    auto leader = stuckJob("sge.1");
    auto second = child();
    node.spawnInside(second.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    node.hang(second.pid(), "rpc_wait_bit_killable");
    passBound();
    crash();
    restart();
    end(second);
    passBound();
    ASSERT_EQ(events("unkillable").size(), 2U);
    EXPECT_EQ(fieldOf(events("unkillable")[1], "PINFOLD_UNKILLABLE_COUNT"), "1");
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].unkillableProcesses, 2U);
}

// Only a reset of the node ends unkillable processes, so pinfoldd must store the number of these processes before the reset.
TEST_F(UnkillableTest, aResetOfTheNodeKeepsTheNumber) {
    auto leader = stuckJob("sge.1");
    loop.advance(10s);
    const auto live = [this] { return history->live()->rows; };
    ASSERT_EQ(live().size(), 1U);
    EXPECT_FALSE(live()[0].receipt.unkillableProcesses);
    passBound();
    loop.advance(1s);
    ASSERT_EQ(live().size(), 1U);
    EXPECT_EQ(live()[0].receipt.unkillableProcesses, 1U);
}

TEST_F(UnkillableTest, whatDiesInTimeIsNotReported) {
    auto leader = stuckJob("sge.1");
    loop.advance(config.unkillable.after - 1us);
    end(leader);
    loop.advance(config.unkillable.after);
    EXPECT_TRUE(events("unkillable").empty());
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_FALSE(receipts()[0].unkillableProcesses);
}

// The first cgroup.kill does not kill a process that comes into the job later, for example a new task.
TEST_F(UnkillableTest, theOwnersTracersAreEndedBeforeAnybodyIsTold) {
    auto leader = stuckJob("sge.1");
    node.tracers = {4711};
    loop.advance(config.unkillable.after - 1'000'001us);
    EXPECT_TRUE(node.tracersKilledOf.empty());
    loop.advance(1us);
    EXPECT_EQ(node.tracersKilledOf, std::vector<uid_t>{manager->job("sge.1")->uid});
    EXPECT_TRUE(said("pinfoldd killed process 4711, because the process traced the job and kept the job from ending"));
}

// If a user has hundreds of tasks that SIGKILL does not end, these tasks can delay all kills. A process that has not been killed
// yet does not count as unkillable.
TEST_F(UnkillableTest, nobodyIsToldBeforeTheSecondKillIsDone) {
    config.unkillable.action = UnkillableAction::Drain;
    background->hold(Lane::Kills);
    auto leader = stuckJob("sge.1");
    passBound();
    loop.advance(60s);
    EXPECT_TRUE(events("unkillable").empty());
    EXPECT_FALSE(manager->job("sge.1")->unkillableSince);

    background->release(Lane::Kills);
    loop.settle();
    EXPECT_EQ(node.tracersKilledOf.size(), 1U);
    EXPECT_EQ(node.killedEach.size(), 2U) << "for the first kill and for the second one";
    loop.advance(1s);
    EXPECT_EQ(events("unkillable").size(), 1U);
}

TEST_F(UnkillableTest, aSecondKillForWhichThereIsNoRoomIsTriedAgain) {
    background->hold(Lane::Kills);
    const auto bound = Background::boundOf(Lane::Kills);
    for (std::size_t i = 0; i < bound.threads + bound.queued; ++i)
        (void)background->ask(
            Lane::Kills, [] { return 0; }, [](int) {});
    auto leader = stuckJob("sge.1");
    passBound();
    loop.advance(60s);
    EXPECT_TRUE(events("unkillable").empty());

    background->release(Lane::Kills);
    loop.advance(1s);
    EXPECT_EQ(node.tracersKilledOf.size(), 1U);
    loop.advance(1s);
    EXPECT_EQ(events("unkillable").size(), 1U);
}

TEST_F(UnkillableTest, whatCameInAfterTheKillIsKilledBeforeAnybodyIsTold) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = child();
    create("sge.1", leader);
    manager->stopJob(root, "sge.1", 0s, [](const Result<void>&) {});
    auto late = child();
    EXPECT_TRUE(node.applyCgroupKills());
    node.spawnInside(late.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    loop.settle();
    loop.advance(config.unkillable.after - 1us);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.advance(1us);
    EXPECT_TRUE(events("unkillable").empty());
    EXPECT_EQ(receipts().size(), 1U);
}

// Without inotify (fs.inotify.max_user_watches), nobody reports that the slice has become empty.
TEST_F(UnkillableTest, aJobWithoutAWatchEnds) {
    crash();
    addWatch = [](int, const char*, std::uint32_t) {
        errno = ENOSPC;
        return -1;
    };
    restart();
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1");
    auto second = stuckJob("sge.2");
    end(leader);
    end(second);
    loop.advance(CgroupWatch::kLookAgain);
    EXPECT_EQ(receipts().size(), 2U);
    EXPECT_TRUE(events("unkillable").empty());
    const auto messages = journal.messages();
    EXPECT_EQ(std::count_if(messages.begin(), messages.end(),
                            [](const auto& line) { return line.find("max_user_watches") != std::string::npos; }),
              1);
}

TEST_F(UnkillableTest, anUnreadableWaitPointIsUnknown) {
    auto leader = stuckJob("sge.1", "0");
    passBound();
    ASSERT_EQ(events("unkillable-process").size(), 1U);
    EXPECT_FALSE(fieldOf(events("unkillable-process")[0], "PINFOLD_UNKILLABLE_WAIT_POINT"));
    EXPECT_FALSE(listProcesses("sge.1")->front().waitPoint);
}

TEST_F(UnkillableTest, theReportKeepsToTheLeftoversLimits) {
    config.leftovers = {.reportMax = 1, .commandLines = CommandLines::None};
    auto leader = child();
    create("sge.1", leader);
    auto second = child();
    node.spawnInside(second.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    manager->stopJob(root, "sge.1", 0s, [](const Result<void>&) {});
    passBound();
    EXPECT_EQ(fieldOf(events("unkillable").at(0), "PINFOLD_UNKILLABLE_COUNT"), "2");
    ASSERT_EQ(events("unkillable-process").size(), 1U);
    EXPECT_FALSE(fieldOf(events("unkillable-process")[0], "PINFOLD_UNKILLABLE_COMMAND"));
    EXPECT_FALSE(said("sleep 1000"));
}

TEST_F(UnkillableTest, theCommentStaysUntilTheLastSuchJobHasGone) {
    config.unkillable.action = UnkillableAction::Comment;
    auto first = stuckJob("sge.1");
    auto second = stuckJob("sge.2");
    EXPECT_FALSE(comment());
    passBound();
    ASSERT_TRUE(comment());
    EXPECT_TRUE(comment()->starts_with("pinfold: job sge.1 cannot be killed since 20")) << *comment();
    EXPECT_NE(comment()->find(", job sge.2 cannot be killed"), std::string::npos) << *comment();
    EXPECT_EQ(comment()->find('\n'), comment()->size() - 1);
    struct stat status {};
    ASSERT_EQ(::stat((node.root() / "run/pinfold/comment").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0644U) << "schedulers need not be root";
    end(first);
    ASSERT_TRUE(comment());
    EXPECT_EQ(comment()->find("sge.1"), std::string::npos);
    end(second);
    EXPECT_FALSE(comment());
}

TEST_F(UnkillableTest, aUserWhoWaitsForAFileServerOfHisOwnDoesNotDrainTheNode) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1", "request_wait_answer");
    makeNamespace(leader);
    auto waitsForItsLock = child();
    node.spawnInside(waitsForItsLock.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    node.hang(waitsForItsLock.pid(), "do_unlinkat");
    makeNamespace(waitsForItsLock);
    passBound();
    EXPECT_FALSE(manager->draining());
    EXPECT_TRUE(manager->job("sge.1")->unkillableInFuse);
    EXPECT_EQ(manager->unkillableCount(), 0U) << "the administrator has nothing to do";
    EXPECT_TRUE(said("/sys/fs/fuse/connections/N/abort"));
    crash();
    restart();
    EXPECT_FALSE(manager->draining());
    passBound();
    EXPECT_FALSE(manager->draining());
    EXPECT_EQ(events("unkillable").size(), 2U);

    // In the second part of the test, a second process of the job waits for a file system of the node.
    auto other = child();
    node.spawnInside(other.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    node.hang(other.pid(), "rpc_wait_bit_killable");
    crash();
    restart();
    passBound();
    EXPECT_TRUE(manager->draining());
}

TEST_F(UnkillableTest, threadsThatHangInCommandLinesKeepNobodyFromSeeingWhoWaitsForAServerOfHisOwn) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1", "request_wait_answer");
    makeNamespace(leader);
    background->hold(Lane::Processes);
    while (background->run(
        Lane::Processes, [] {}, nullptr)) {
    }
    passBound();
    loop.advance(Describer::kPatience);
    EXPECT_FALSE(manager->draining());
    EXPECT_TRUE(manager->job("sge.1")->unkillableInFuse);
}

TEST_F(UnkillableTest, whatNobodyCouldLookAtDrainsNothing) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1", "request_wait_answer");
    makeNamespace(leader);
    background->hold(Lane::WaitPoints);
    while (background->run(
        Lane::WaitPoints, [] {}, nullptr)) {
    }
    passBound();
    loop.advance(10 * Describer::kPatience);
    EXPECT_FALSE(manager->draining());
    EXPECT_FALSE(manager->job("sge.1")->unkillableSince);
    background->release(Lane::WaitPoints);
    loop.advance(Describer::kPatience);
    EXPECT_FALSE(manager->draining());
    EXPECT_TRUE(manager->job("sge.1")->unkillableInFuse);
}

TEST_F(UnkillableTest, theNodesOwnFileServerInFuseDrainsIt) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1", "request_wait_answer");
    passBound();
    EXPECT_TRUE(manager->draining());
    EXPECT_FALSE(manager->job("sge.1")->unkillableInFuse);
    EXPECT_FALSE(said("/sys/fs/fuse"));
}

TEST_F(UnkillableTest, aFileOfAUsersServerThatWasHandedOutOfItsNamespaceDrainsNothing) {
    config.unkillable.action = UnkillableAction::Drain;
    writeFile("proc/self/mountinfo", "26 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
                                     "60 26 0:57 / /cvmfs rw shared:2 - fuse cvmfs2 rw,user_id=0,group_id=0,allow_other\n");
    writeFile("sys/fs/fuse/connections/57/waiting", "0\n");
    auto leader = stuckJob("sge.1", "request_wait_answer");
    passBound();
    EXPECT_FALSE(manager->draining());
    EXPECT_TRUE(manager->job("sge.1")->unkillableInFuse);
    writeFile("sys/fs/fuse/connections/57/waiting", "1\n");
    crash();
    restart();
    passBound();
    EXPECT_TRUE(manager->draining()) << "it may be the node's own";

    // In the second part of the test, a user runs a file server. The job's process can hang in the user's file server.
    const auto users = node.root() / "sys/fs/fuse/connections/58";
    std::filesystem::create_directory(users);
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(users.c_str(), 1000, 1000), 0);
    }
    auto waitsForItsLock = child();
    node.spawnInside(waitsForItsLock.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    node.hang(waitsForItsLock.pid(), "do_unlinkat");
    crash();
    restart();
    passBound();
    EXPECT_FALSE(manager->draining());
    EXPECT_TRUE(manager->job("sge.1")->unkillableInFuse);
    EXPECT_TRUE(said("/sys/fs/fuse/connections/N/abort"));
}

TEST_F(UnkillableTest, whatHangsInANamespaceAndNotInFuseDrains) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1");
    makeNamespace(leader);
    passBound();
    EXPECT_TRUE(manager->draining());
}

TEST_F(UnkillableTest, anotherActionIsInForceAtOnce) {
    auto leader = stuckJob("sge.1");
    passBound();
    config.unkillable.action = UnkillableAction::Comment;
    manager->configChanged();
    EXPECT_TRUE(comment());
    config.unkillable.action = UnkillableAction::None;
    manager->configChanged();
    EXPECT_FALSE(comment());
}

TEST_F(UnkillableTest, aCommentOnWhatIsOverGoesWithTheNextStart) {
    config.unkillable.action = UnkillableAction::Comment;
    auto leader = stuckJob("sge.1");
    passBound();
    crash();
    node.vanish(leader.pid());
    leader.end();
    restart();
    EXPECT_EQ(receipts().size(), 1U);
    EXPECT_FALSE(comment());
}

TEST_F(UnkillableTest, aDrainedNodeTakesNoJobUntilTheProcessIsGone) {
    config.unkillable.action = UnkillableAction::Drain;
    auto leader = stuckJob("sge.1");
    auto other = child();
    passBound();
    create("sge.2", other);
    ASSERT_TRUE(created && !*created);
    EXPECT_EQ(created->error().code, ErrorCode::Draining);
    EXPECT_NE(created->error().message.find("job sge.1 cannot be killed"), std::string::npos) << created->error().message;
    crash();
    restart();
    create("sge.2", other);
    ASSERT_TRUE(created && !*created) << "it holds across a restart";
    end(leader);
    create("sge.2", other);
    EXPECT_TRUE(created && *created) << created->error().message;
}

TEST_F(UnkillableTest, theScriptIsRunOnceAlsoAcrossARestart) {
    config.unkillable = {.action = UnkillableAction::Script, .script = "/bin/sh"};
    auto leader = stuckJob("sge.1[2]");
    passBound();
    ASSERT_EQ(node.services.size(), 1U) << (journal.messages().empty() ? "" : journal.messages().back());
    EXPECT_EQ(node.services[0].unit, "pinfold-unkillable-" + JobKey::parse("sge.1[2]")->escaped() + ".service");
    EXPECT_EQ(node.services[0].argv, (std::vector<std::string>{std::filesystem::canonical("/bin/sh").string(), "sge.1[2]", "1000",
                                                               std::to_string(leader.pid())}));
    crash();
    restart();
    passBound();
    EXPECT_EQ(events("unkillable").size(), 2U) << "a restarted pinfoldd says it again";
    EXPECT_EQ(node.services.size(), 1U);
    EXPECT_EQ(manager->job("sge.1[2]")->state, JobState::Ending);
}

TEST_F(UnkillableTest, aScriptThatOthersMayWriteIsNotRun) {
    const auto script = node.root() / "script"; // the script is below /tmp, which is open to all users
    std::ofstream(script) << "#!/bin/sh\n";
    ASSERT_EQ(::chmod(script.c_str(), 0755), 0);
    config.unkillable = {.action = UnkillableAction::Script, .script = script.string()};
    auto leader = stuckJob("sge.1");
    passBound();
    EXPECT_TRUE(node.services.empty());
    EXPECT_TRUE(said("unkillable.script was not run: "));
    EXPECT_EQ(events("unkillable").size(), 1U);
}

} // namespace
} // namespace pinfold::test
