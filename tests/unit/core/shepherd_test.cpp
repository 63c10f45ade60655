// SPDX-License-Identifier: LGPL-2.1-or-later
// A shepherd is the batch system's own process that starts a job and waits for the job's end. Tests that the shepherd sees the
// job's end, and can report the end before the shepherd exits.
#include "tests/unit/core/core_fixture.hpp"

#include <csignal>

namespace pinfold::test {
namespace {

class ShepherdTest : public CoreTest {
protected:
    ShepherdTest() : shepherd(child(0)), script(child()) {
        CreateRequest request;
        request.key = "sge.1";
        request.leader = shepherd.pidfd();
        request.owner = 1000;
        request.shepherd = true;
        manager->createJob(root, std::move(request), [this](Result<JobSummary> answer) { created = std::move(answer); });
        loop.settle();
        node.spawnInside(script.pid(), kScope);
    }
    static bool lives(const ChildProcess& process) { return !hasEnded(process.pidfd().get()); }
    static bool ends(const ChildProcess& process) {
        const auto pidfd = process.pidfd();
        pollfd poller{pidfd.get(), POLLIN, 0};
        return ::poll(&poller, 1, 10'000) > 0;
    }
    void stop() {
        manager->stopJob(root, "sge.1", {}, [](const Result<void>&) {});
        loop.settle();
    }
    /// Makes the fake kernel freeze the job, and lets pinfoldd notice the freeze.
    void freeze() {
        node.applyFreeze(kSlice);
        loop.waitForEvent(1000);
    }

    ChildProcess shepherd;
    ChildProcess script;
};

TEST_F(ShepherdTest, isNotKilledForMemoryWithItsJob) {
    ASSERT_TRUE(created && *created);
    const auto& properties = node.starts[0].scopeProperties;
    EXPECT_NE(std::find(properties.begin(), properties.end(), UnitProperty{"OOMPolicy", std::string("continue")}),
              properties.end());
}

TEST_F(ShepherdTest, hearsNothingOfAStop) {
    stop();
    EXPECT_TRUE(ends(script));
    EXPECT_TRUE(lives(shepherd));
    EXPECT_TRUE(node.signals.empty()) << "systemd would have told all of them";
}

// pinfoldd reads the list of processes before it sends the signal. If a process of the list ends before pinfoldd
// sends the signal, a new process can get the process id of the ended process.
TEST_F(ShepherdTest, aSignalIsForProcessesThatAreInTheJob) {
    auto stranger = child(1001, "/system.slice/other.service");
    node.setFile(kScope, "cgroup.procs", std::to_string(stranger.pid()) + "\n" + std::to_string(script.pid()) + "\n");
    stop();
    EXPECT_TRUE(ends(script));
    EXPECT_TRUE(lives(stranger));
}

TEST_F(ShepherdTest, isSparedByTheKillAndEndsTheJobByItsOwnEnd) {
    stop();
    auto stubborn = child();
    node.spawnInside(stubborn.pid(), kScope);
    loop.advance(config.jobs.killGrace);
    freeze();
    EXPECT_TRUE(ends(stubborn));
    EXPECT_TRUE(lives(shepherd));
    EXPECT_EQ(*cgroups.open(kSlice)->read("cgroup.freeze"), "0") << "it can't report from the ice";
    node.vanish(script.pid());
    node.vanish(stubborn.pid());
    auto epilog = child();
    node.spawnInside(epilog.pid(), kScope, 1000, "left by the epilog");
    end(shepherd);
    EXPECT_TRUE(node.applyCgroupKills()) << "what it leaves has no further grace";
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Stopped);
    EXPECT_EQ(receipts()[0].leftovers.count, 1U);
}

TEST_F(ShepherdTest, thatDoesNotEndIsKilledAfterItsGrace) {
    stop();
    loop.advance(config.jobs.killGrace);
    freeze();
    loop.advance(config.jobs.shepherdGrace - 1s);
    EXPECT_FALSE(node.applyCgroupKills());
    loop.advance(2s);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ShepherdTest, isKilledWithAJobThatCanNotBeFrozen) {
    stop();
    loop.advance(config.jobs.killGrace);
    loop.advance(2s);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ShepherdTest, isSparedAfterARestartToo) {
    stop();
    crash();
    restart();
    EXPECT_TRUE(node.signals.empty());
    loop.advance(config.jobs.killGrace);
    freeze();
    EXPECT_TRUE(lives(shepherd));
    node.vanish(script.pid());
    end(shepherd);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ShepherdTest, isForTheBatchSystemToName) {
    config.jobs.allowUserJobs = true;
    auto process = child();
    CreateRequest request;
    request.key = "sge.2";
    request.leader = process.pidfd();
    request.shepherd = true;
    std::optional<Result<JobSummary>> answer;
    manager->createJob({1000, false}, std::move(request), [&](Result<JobSummary> job) { answer = std::move(job); });
    EXPECT_EQ(answer->error().code, ErrorCode::Denied);
}

} // namespace
} // namespace pinfold::test
