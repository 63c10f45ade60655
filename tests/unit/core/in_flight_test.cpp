// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that a job is not over while it is being started. If PID 1 starts a unit after the job's end, the unit must not make the
// job live again.
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>
#include <filesystem>

namespace pinfold::test {
namespace {

constexpr Microseconds kLeaderWait = 1s;

class InFlightTest : public CoreTest {
protected:
    void open() {
        CreateRequest request;
        request.key = "sge.1";
        request.owner = 1000;
        opened.reset();
        manager->openJob(root, std::move(request), [this](Result<JobSummary> answer) { opened = std::move(answer); });
        loop.settle();
    }
    void add(const ChildProcess& leader, bool batch = false) {
        auto request = taskOf("sge.1", leader);
        request.batch = batch;
        added.reset();
        manager->addTask(root, std::move(request), [this](Result<TaskAdded> answer) { added = std::move(answer); });
        loop.settle();
    }
    /// Calls add(), but PID 1 does not start the task's scope yet.
    void addHeld(const ChildProcess& leader, bool batch = false) {
        node.holdStarts = true;
        add(leader, batch);
        ASSERT_FALSE(added);
        node.show(leader.pid());
        std::filesystem::remove_all(node.root() / "sys/fs/cgroup" / kSlice.substr(1) / (batch ? kBatchScope : kTaskScope));
    }
    /// Adopts the process. PID 1 has received the call, but keeps the start in its queue.
    void adoptHeld(const ChildProcess& process) {
        node.holdStarts = true;
        std::vector<UniqueFd> pidfds;
        pidfds.push_back(process.pidfd());
        manager->adopt(root, "sge.1", {std::move(pidfds)}, [this](Result<TaskAdded> answer) { added = std::move(answer); });
        loop.settle();
        ASSERT_FALSE(added);
        node.holdStarts = false;
        node.show(process.pid(), 0);
        std::filesystem::remove_all(node.root() / "sys/fs/cgroup" / kSlice.substr(1) / kTaskScope);
        node.activeStates[kTaskScope] = "inactive";
    }
    void doHeld(const ChildProcess& leader, bool batch = false) {
        node.spawnInside(leader.pid(), kSlice + "/" + (batch ? kBatchScope : kTaskScope));
        node.release();
        loop.settle();
    }
    std::size_t countOf(const std::string& line) const {
        return static_cast<std::size_t>(std::count(observer.log.begin(), observer.log.end(), line));
    }

    const std::string kSlice = "/batch.slice/batch-sge.1.slice";
    const std::string kBatchScope = "job-sge.1.scope";
    const std::string kTaskScope = "job-sge.1-1.scope";
    std::optional<Result<JobSummary>> opened;
    std::optional<Result<TaskAdded>> added;
};

TEST_F(InFlightTest, aTaskThatIsBeingStartedDuringAReloadIsAnswered) {
    const auto leader = child();
    create("sge.1", leader);
    const auto task = child();
    addHeld(task);
    node.onReloaded();
    node.onUnitRemoved(kTaskScope);
    loop.settle();
    doHeld(task);
    ASSERT_TRUE(added && *added);
    EXPECT_EQ(manager->job("sge.1")->tasks, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_TRUE(records.load()->records.front().tasks.at(1).leader);
    EXPECT_EQ(countOf("task gone sge.1 1"), 0U);
}

TEST_F(InFlightTest, aBatchScriptThatIsBeingStartedDuringAReloadDoesNotEndItsJob) {
    open();
    ASSERT_TRUE(opened && *opened);
    auto script = child();
    addHeld(script, true);
    node.onReloaded();
    loop.settle();
    ASSERT_TRUE(manager->job("sge.1"));
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    doHeld(script, true);
    ASSERT_TRUE(added && *added);
    loop.advance(kReportWait);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(InFlightTest, aJobIsNotOverBeforeItsStartsAre) {
    auto leader = child();
    create("sge.1", leader);
    auto task = child();
    addHeld(task);
    node.holdStarts = false; // the fake systemd answers new starts, but has not answered the start of the task
    end(leader);
    loop.advance(kReportWait);
    EXPECT_EQ(manager->jobCount(), 1U);
    EXPECT_TRUE(receipts().empty());
    doHeld(task);
    ASSERT_TRUE(added);
    ASSERT_FALSE(*added);
    EXPECT_EQ(added->error().code, ErrorCode::JobEnding);
    EXPECT_EQ(node.signals.front(), (std::pair<std::string, int>{"batch-sge.1.slice", SIGTERM}));
    end(task);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(receipts().size(), 1U);
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(InFlightTest, aStartIsNotRepeatedForAJobThatIsOver) {
    auto leader = child();
    create("sge.1", leader);
    const auto task = child();
    // the administrator's systemctl stop is in systemd's queue
    node.nextStartFaults.push_back({SystemdFault::Destructive, "Transaction is destructive"});
    add(task);
    ASSERT_FALSE(added);
    const auto starts = node.starts.size();
    end(leader);
    loop.advance(100ms);
    ASSERT_TRUE(added);
    ASSERT_FALSE(*added);
    EXPECT_EQ(added->error().code, ErrorCode::JobEnding);
    EXPECT_EQ(node.starts.size(), starts);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(receipts().size(), 1U);
    EXPECT_TRUE(node.units.empty());
    EXPECT_EQ(recordFiles(), 0U);
}

TEST_F(InFlightTest, theWaitForTheSupervisorsWordEndsNoJobThatHasProcesses) {
    const auto supervisor = child(0);
    auto leader = child();
    create("sge.1", leader, {}, &supervisor);
    end(leader);
    ASSERT_EQ(manager->job("sge.1")->state, JobState::Ending);
    const auto late = child();
    node.spawnInside(late.pid(), kSlice + "/" + kBatchScope);
    loop.advance(kReportWait);
    EXPECT_EQ(manager->jobCount(), 1U);
    EXPECT_TRUE(receipts().empty());
}

TEST_F(InFlightTest, aSupervisorThatIsKilledWithItsLeaderIsLostWhicheverIsSeenFirst) {
    auto supervisor = child(0);
    auto leader = child();
    create("sge.1", leader, {}, &supervisor);
    end(leader);
    ASSERT_EQ(manager->jobCount(), 1U) << "the supervisor has a word on the exit status yet";
    end(supervisor);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts().front().result, JobResult::SupervisorLost);
}

TEST_F(InFlightTest, aSupervisorThatIsKilledWithItsLeaderIsLostWhenTheEmptySliceIsSeenFirst) {
    auto supervisor = child(0);
    auto leader = child();
    create("sge.1", leader, {}, &supervisor);
    for (auto* process : {&supervisor, &leader}) {
        node.vanish(process->pid());
        process->end();
    }
    node.onUnitRemoved(kBatchScope); // pinfoldd looks at the job before the event loop reports the ends of the processes
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts().front().result, JobResult::SupervisorLost);
}

TEST_F(InFlightTest, aLeaderThatLeavesItsCgroupBeforeItsPidfdTellsItsEndIsNotLost) {
    auto leader = child();
    create("sge.1", leader);
    // other events can come after the process has left its cgroup, and before the pidfd reports the end of the process
    node.vanish(leader.pid());
    loop.waitForEvent(1000);
    EXPECT_TRUE(receipts().empty());
    leader.end();
    loop.waitForEvent(1000);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
}

TEST_F(InFlightTest, aLeaderThatLivesOnOutsideItsJobIsLost) {
    const auto leader = child();
    create("sge.1", leader);
    node.vanish(leader.pid());
    loop.waitForEvent(1000);
    loop.advance(kLeaderWait);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Lost);
}

TEST_F(InFlightTest, aTaskWhoseScopeIsEmptyButStillThereAtARestartIsToldOnce) {
    open();
    auto task = child();
    add(task);
    ASSERT_TRUE(added && *added);
    crash();
    node.vanish(task.pid()); // systemd has not removed the scope's cgroup yet
    task.end();
    restart();
    EXPECT_EQ(countOf("task gone sge.1 1"), 1U);
    EXPECT_EQ(manager->job("sge.1")->tasks, std::vector<std::uint32_t>{});
}

TEST_F(InFlightTest, whatATaskLeftBehindIsCountedOnceOverARestart) {
    auto leader = child();
    create("sge.1", leader);
    auto task = child();
    add(task);
    const auto daemon = child();
    node.spawnInside(daemon.pid(), kSlice + "/" + kTaskScope);
    end(task);
    ASSERT_EQ(records.load()->records.front().leftovers.count, 1U);
    crash();
    restart();
    EXPECT_EQ(records.load()->records.front().leftovers.count, 1U);
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills()) << "the grace goes on";
}

TEST_F(InFlightTest, aTaskThatEndedWhilePinfolddWasAwayIsToldOnce) {
    open();
    auto task = child();
    add(task);
    crash();
    node.vanish(task.pid());
    task.end();
    std::filesystem::remove_all(node.root() / "sys/fs/cgroup" / kSlice.substr(1) / kTaskScope);
    restart();
    EXPECT_EQ(countOf("task gone sge.1 1"), 1U);
}

TEST_F(InFlightTest, aTaskThatIsBeingStartedIsOneTaskOverARestart) {
    const auto leader = child();
    create("sge.1", leader);
    const auto task = child();
    addHeld(task);
    crash();
    node.holdStarts = false;
    restart();
    EXPECT_EQ(countOf("task gone sge.1 1"), 0U) << "PID 1 has its unit, and did not start it yet";
    loop.advance(2s);
    node.spawnInside(task.pid(), kSlice + "/" + kTaskScope);
    loop.advance(2s);
    add(task); // the caller lost the connection, and repeats the call
    ASSERT_TRUE(added);
    ASSERT_TRUE(*added) << added->error().message;
    EXPECT_EQ((*added)->task, 1U);
    EXPECT_EQ(manager->job("sge.1")->tasks, (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(InFlightTest, anAdoptionThatIsBeingStartedIsATaskOfTheNextPinfoldd) {
    const auto leader = child();
    create("sge.1", leader);
    const auto adopted = child(0); // systemd moves root's processes, and pinfoldd itself would move a process of another user
    adoptHeld(adopted);
    crash();
    restart();
    EXPECT_EQ(countOf("task gone sge.1 1"), 0U) << "PID 1 has its unit, and did not start it yet";
    node.spawnInside(adopted.pid(), kSlice + "/" + kTaskScope);
    node.activeStates.clear();
    loop.advance(1s);
    EXPECT_EQ(manager->job("sge.1")->tasks, (std::vector<std::uint32_t>{0, 1}));
    node.vanish(adopted.pid());
    loop.waitForEvent(1000);
    EXPECT_EQ(countOf("task gone sge.1 1"), 1U);
}

TEST_F(InFlightTest, aJobWhoseEndPinfolddTakesUpWaitsForAnAdoptionThatIsBeingStarted) {
    auto leader = child();
    create("sge.1", leader);
    const auto adopted = child(0); // systemd moves root's processes, and pinfoldd itself would move a process of another user
    adoptHeld(adopted);
    end(leader);
    crash();
    restart();
    EXPECT_TRUE(receipts().empty());
    node.spawnInside(adopted.pid(), kSlice + "/" + kTaskScope);
    node.activeStates.clear();
    loop.advance(1s);
    EXPECT_TRUE(receipts().empty()) << "there is a process to end";
    node.vanish(adopted.pid());
    loop.waitForEvent(1000);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(InFlightTest, aTaskWhoseStartWasLostWithPinfolddIsStartedByTheNext) {
    const auto leader = child();
    create("sge.1", leader);
    const auto task = child();
    addHeld(task);
    node.units.erase(kTaskScope); // PID 1 never got the call
    crash();
    node.holdStarts = false;
    restart();
    loop.advance(1s);
    add(task);
    ASSERT_TRUE(added && *added);
    EXPECT_EQ((*added)->task, 1U);
    EXPECT_EQ(countOf("task gone sge.1 1"), 0U);
}

TEST_F(InFlightTest, aBatchScriptThatIsBeingStartedIsNotDroppedAtARestart) {
    open();
    ASSERT_TRUE(opened && *opened);
    auto script = child();
    addHeld(script, true);
    crash();
    node.holdStarts = false;
    restart();
    loop.advance(2s);
    doHeld(script, true);
    loop.advance(2s);
    add(script, true);
    ASSERT_TRUE(added);
    ASSERT_TRUE(*added) << added->error().message;
    EXPECT_EQ((*added)->task, 0U);
    end(script);
    loop.advance(kReportWait);
    ASSERT_EQ(receipts().size(), 1U) << "its end is the job's";
}

TEST_F(InFlightTest, aJobWhoseOpeningWasInterruptedIsOpenedByTheNextRequest) {
    node.holdStarts = true;
    open();
    ASSERT_FALSE(opened);
    crash();
    node.holdStarts = false;
    restart();
    open();
    ASSERT_TRUE(opened && *opened) << opened->error().message;
    EXPECT_TRUE(std::filesystem::exists(node.root() / "sys/fs/cgroup" / kSlice.substr(1))) << "the live slice's cgroup is gone";
    EXPECT_EQ(node.starts.size(), 1U);
}

/// PID 1 hangs for 200 s. At the end of the hang, no caller waits for an answer of PID 1.
class SystemdHangs : public InFlightTest {
protected:
    void hang(const ChildProcess& leader) {
        node.hangs = true;
        create("sge.1", leader);
        loop.advance(200s);
        ASSERT_TRUE(created);
        ASSERT_FALSE(*created);
        EXPECT_EQ(created->error().code, ErrorCode::SystemdFailed);
    }
    void goOn() {
        node.goOn();
        loop.advance(30s); // each call that pinfoldd made during the hang ends within 30 s
    }
};

TEST_F(SystemdHangs, aLeaderThatGoesOnWithoutAScopeIsNotKilled) {
    auto leader = child();
    hang(leader);
    EXPECT_TRUE(node.stops.empty());
    goOn();
    ASSERT_TRUE(manager->job("sge.1"));
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_EQ(node.cgroupOf(leader.pid()), kSlice + "/" + kBatchScope);
    EXPECT_TRUE(node.stops.empty());
    EXPECT_TRUE(node.signals.empty());
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts().front().result, JobResult::Exited);
}

TEST_F(SystemdHangs, aLeaderThatHasEndedMeanwhileLeavesNothing) {
    auto leader = child();
    hang(leader);
    end(leader);
    goOn();
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(receipts().empty());
    EXPECT_EQ(recordFiles(), 0U);
    EXPECT_TRUE(node.units.empty());
}

TEST_F(SystemdHangs, aLeaderOutsideItsJobDoesNotEndItWhileATaskIsBeingStarted) {
    const auto leader = child();
    create("sge.1", leader);
    node.vanish(leader.pid());
    loop.waitForEvent(1000);
    auto task = child();
    node.hangs = true;
    add(task);
    loop.advance(kLeaderWait);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    goOn();
    ASSERT_TRUE(added && *added);
    end(task);
    loop.advance(kLeaderWait);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Lost);
}

} // namespace
} // namespace pinfold::test
