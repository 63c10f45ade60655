// SPDX-License-Identifier: LGPL-2.1-or-later
// A batch system can run root's prologue and epilogue inside the job of a user. kill(2) does not let the job's owner signal
// processes of root. If the owner of a job asks pinfoldd to signal the job, pinfoldd must not signal processes of root.
#include "tests/unit/core/core_fixture.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>

namespace pinfold::test {
namespace {

constexpr Caller kOwnerOfJob{1000, false};

class OwnerReachTest : public CoreTest {
protected:
    OwnerReachTest() : script(child()), epilogue(child(0)) { create("sge.1", script); }

    void rootsEpilogueRuns() { node.spawnInside(epilogue.pid(), kScope, 0, "epilogue"); }
    static bool lives(const ChildProcess& process) { return !hasEnded(process.pidfd().get()); }
    static bool ends(const ChildProcess& process) {
        const auto pidfd = process.pidfd();
        pollfd poller{pidfd.get(), POLLIN, 0};
        return ::poll(&poller, 1, 10'000) > 0;
    }
    Result<void> kill(int signal = SIGKILL) {
        std::optional<Result<void>> done;
        manager->killJob(kOwnerOfJob, "sge.1", signal, [&](Result<void> answer) { done = std::move(answer); });
        loop.settle();
        return done.value_or(Error{ErrorCode::Internal, "no answer"});
    }
    Result<void> suspend(const Caller& caller = kOwnerOfJob) {
        std::optional<Result<void>> done;
        manager->suspendJob(caller, "sge.1", [&](Result<void> answer) { done = std::move(answer); });
        loop.settle();
        return done.value_or(Error{ErrorCode::Internal, "no answer"});
    }

    ChildProcess script;
    ChildProcess epilogue;
};

TEST_F(OwnerReachTest, aSignalIsForTheOwnersProcesses) {
    rootsEpilogueRuns();
    EXPECT_TRUE(kill());
    EXPECT_TRUE(ends(script));
    EXPECT_TRUE(lives(epilogue));
    // After the end of the leader, pinfoldd can end the job, and send SIGTERM to all processes of the job. The test therefore
    // looks only for SIGKILL.
    EXPECT_TRUE(std::ranges::none_of(node.signals, [](const auto& sent) { return sent.second == SIGKILL; }))
        << "systemd would have told all of them";
}

TEST_F(OwnerReachTest, nobodyWaitsBehindASecondRequestOfAnotherUser) {
    std::vector<ChildProcess> leaders;
    for (const char* key : {"sge.2", "sge.3", "sge.4"}) {
        leaders.push_back(child());
        create(key, leaders.back());
    }
    leaders.push_back(child(1001));
    create("sge.5", leaders.back());
    background->hold(Lane::Owners);
    std::vector<std::string> done;
    const auto say = [&](const char* key) {
        return [&done, key](const Result<void>& result) { done.push_back(result ? key : result.error().message); };
    };
    for (const char* key : {"sge.1", "sge.2", "sge.3"})
        manager->killJob(kOwnerOfJob, key, SIGCONT, say(key));
    manager->suspendJob(kOwnerOfJob, "sge.4", say("sge.4"));
    manager->killJob({1001, false}, "sge.5", SIGCONT, say("sge.5"));
    EXPECT_EQ(background->hanging(Lane::Owners), 2U) << "one of each user's";
    background->release(Lane::Owners);
    loop.settle();
    EXPECT_EQ(done, (std::vector<std::string>{"sge.1", "sge.5", "sge.2", "sge.3", "sge.4"}));
}

TEST_F(OwnerReachTest, aSignalThatReachesNobodyIsDenied) {
    rootsEpilogueRuns();
    node.vanish(script.pid());
    const auto killed = kill();
    ASSERT_FALSE(killed);
    EXPECT_EQ(killed.error().code, ErrorCode::Denied);
    EXPECT_TRUE(lives(epilogue));
}

TEST_F(OwnerReachTest, subordinateIdsAreTheOwners) {
    context->idsOf = [](uid_t user) { return UserIds{user, {{100'000, 165'535}}}; };
    const auto rootless = child();
    node.spawnInside(rootless.pid(), kScope, 100'007);
    EXPECT_TRUE(kill());
    EXPECT_TRUE(ends(rootless));
}

TEST_F(OwnerReachTest, whatIsInNoJobIsNotSignalled) {
    const auto own = child(1000, "/user.slice");
    node.setFile(kScope, "cgroup.procs", std::to_string(own.pid()) + "\n" + std::to_string(script.pid()) + "\n");
    EXPECT_TRUE(kill());
    EXPECT_TRUE(ends(script));
    EXPECT_TRUE(lives(own));
}

TEST_F(OwnerReachTest, theOwnersAreSentOneSignalAtATime) {
    background->hold(Lane::Owners);
    std::optional<Result<void>> first;
    manager->killJob(kOwnerOfJob, "sge.1", SIGKILL, [&](Result<void> answer) { first = std::move(answer); });
    EXPECT_EQ(kill().error().code, ErrorCode::Busy);
    background->release(Lane::Owners);
    loop.settle();
    EXPECT_TRUE(first && *first);
}

TEST_F(OwnerReachTest, theOwnerSuspendsWhatIsTheirs) {
    EXPECT_TRUE(suspend());
    EXPECT_TRUE(manager->job("sge.1")->suspended);
    EXPECT_EQ(node.frozen.size(), 1U);
}

TEST_F(OwnerReachTest, theOwnerDoesNotFreezeRootsEpilogue) {
    rootsEpilogueRuns();
    bool frozen = false;
    node.beforeFreeze = [&] { frozen = true; };
    EXPECT_EQ(suspend().error().code, ErrorCode::Denied);
    EXPECT_FALSE(frozen);
    EXPECT_FALSE(manager->job("sge.1")->suspended);
    EXPECT_TRUE(suspend(root)) << "the batch system suspends jobs as they are";
}

TEST_F(OwnerReachTest, norOneThatBeginsMeanwhile) {
    node.beforeFreeze = [&] {
        rootsEpilogueRuns();
        loop.advance(1s);
    };
    EXPECT_EQ(suspend().error().code, ErrorCode::Denied);
    EXPECT_FALSE(manager->job("sge.1")->suspended);
    EXPECT_TRUE(node.frozen.empty());
    EXPECT_EQ(records.load()->records.front().suspended, 0s) << "a way around the limit of run time";
}

TEST_F(OwnerReachTest, whatRootSuspendsMeanwhileStaysSo) {
    node.beforeFreeze = [&] {
        rootsEpilogueRuns();
        manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    };
    EXPECT_TRUE(suspend());
    EXPECT_TRUE(manager->job("sge.1")->suspended);
}

TEST_F(OwnerReachTest, theOwnerWaitsForTasksThatAreBeingStarted) {
    const auto process = child(0);
    node.hangs = true;
    std::vector<UniqueFd> pidfds;
    pidfds.push_back(process.pidfd());
    manager->adopt(root, "sge.1", {std::move(pidfds)}, [](const Result<TaskAdded>&) {});
    EXPECT_EQ(suspend().error().code, ErrorCode::Busy);
}

} // namespace
} // namespace pinfold::test
