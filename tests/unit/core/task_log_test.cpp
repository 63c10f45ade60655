// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what a receipt says about each task of a job.
#include "tests/unit/core/core_fixture.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <list>
#include <utility>

namespace pinfold::test {
namespace {

std::string scope(std::uint32_t number) {
    return std::string(kSlice) + (number == 0 ? "/job-sge.1.scope" : fmt::format("/job-sge.1-{}.scope", number));
}

class TaskLogTest : public CoreTest {
protected:
    std::optional<std::uint32_t> add(const ChildProcess& leader, bool asBatch = false) {
        auto request = taskOf("sge.1", leader);
        request.batch = asBatch;
        std::optional<std::uint32_t> number;
        manager->addTask(root, std::move(request), [&](const Result<TaskAdded>& added) {
            if (added)
                number = added->task;
        });
        loop.settle();
        return number;
    }
    void adopt(const ChildProcess& process, TaskKind kind) {
        AdoptRequest request{.kind = kind};
        request.processes.push_back(process.pidfd());
        manager->adopt(root, "sge.1", std::move(request), [](const Result<TaskAdded>& added) { EXPECT_TRUE(added); });
        loop.settle();
    }
    void open() {
        CreateRequest request;
        request.key = "sge.1";
        request.owner = 1000;
        manager->openJob(root, std::move(request), [](const Result<JobSummary>& opened) { EXPECT_TRUE(opened); });
        loop.settle();
    }
    void used(std::uint32_t number, Microseconds cpu, std::uint64_t peak) {
        node.setFile(scope(number), "cpu.stat", fmt::format("usage_usec {0}\nuser_usec {0}\nsystem_usec 0\n", cpu.count()));
        node.setFile(scope(number), "memory.peak", std::to_string(peak) + "\n");
    }
    /// Ends the process. The fake systemd removes the scope before pinfoldd looks at the scope.
    void endUnseen(ChildProcess& process, std::uint32_t number) {
        node.keepEmptyScopes = true;
        node.vanish(process.pid());
        node.keepEmptyScopes = false;
        node.units.erase(scope(number).substr(scope(number).rfind('/') + 1));
        std::filesystem::remove_all(node.root() / "sys/fs/cgroup" / scope(number).substr(1));
        process.end();
        loop.waitForEvent(1000);
    }
    void wait(std::uint32_t number, pid_t leader, ExitState exit, Caller caller = {0, true}) {
        manager->waitTask(caller, "sge.1", number, {exit, leader}, [](const Result<void>&) {});
        loop.settle();
    }
    std::vector<TaskReceipt> finish() {
        end(batch);
        loop.advance(60s); // after 60 s, the grace time for further tasks is over
        while (node.applyCgroupKills())
            loop.waitForEvent(1000);
        loop.settle();
        EXPECT_EQ(receipts().size(), 1U);
        return receipts().empty() ? std::vector<TaskReceipt>() : receipts().front().taskList;
    }
    bool hasLog() const { return static_cast<bool>(records.load()->records.at(0).taskLog); }

    ChildProcess batch = child();
};

TEST_F(TaskLogTest, aJobWithOnlyItsBatchScriptHasNoLogAndOneTask) {
    create("sge.1", batch);
    EXPECT_FALSE(hasLog());
    node.setFile(kSlice, "cpu.stat", "usage_usec 9\nuser_usec 7\nsystem_usec 2\n");
    const auto started = loop.realTime();
    loop.advance(2s);
    EXPECT_FALSE(hasLog());
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0], (TaskReceipt{.kind = TaskKind::Batch,
                                     .command = "odd) name",
                                     .started = started,
                                     .ended = started + 2s,
                                     .cpu = 9us,
                                     .memoryPeak = 4096,
                                     .exact = true}));
    EXPECT_EQ(receipts()[0].ended, started + 2s);
}

TEST_F(TaskLogTest, aShortJobHasTheNameThatItsLeaderHadAtTheStart) {
    create("sge.1", batch);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].command, "odd) name");
}

TEST_F(TaskLogTest, theNameIsReadAgainAtTheFirstLook) {
    create("sge.1", batch);
    node.hang(batch.pid(), "0"); // the name becomes "stuck"
    loop.advance(2s);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].command, "stuck");
}

TEST_F(TaskLogTest, aRestartedPinfolddLearnsTheNameAgain) {
    create("sge.1", batch);
    crash();
    node.hang(batch.pid(), "0"); // the name becomes "stuck"
    restart();
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].command, "stuck");
}

TEST_F(TaskLogTest, eachTaskHasItsOwnFigures) {
    create("sge.1", batch);
    auto one = child();
    auto two = child();
    ASSERT_EQ(add(one), 1U);
    loop.advance(3s);
    ASSERT_EQ(add(two), 2U);
    const auto began = loop.realTime();
    used(0, 4s, 400);
    used(1, 1s, 100);
    used(2, 2s, 200);
    const auto leader = one.pid();
    end(one);
    wait(1, leader, {.status = 3});
    loop.advance(5s);
    wait(2, two.pid(), {.signal = 9}); // the supervisor can report a task's end before pinfoldd notices the end
    end(two);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 3U);
    EXPECT_EQ(tasks[0].kind, TaskKind::Batch);
    EXPECT_EQ(tasks[0].cpu, 4s);
    EXPECT_EQ(tasks[0].memoryPeak, 400U);
    EXPECT_TRUE(tasks[0].exact);
    EXPECT_EQ(tasks[1], (TaskReceipt{.number = 1,
                                     .command = "odd) name",
                                     .started = began - 3s,
                                     .ended = began,
                                     .exit = {.status = 3},
                                     .cpu = 1s,
                                     .memoryPeak = 100,
                                     .exact = true}));
    EXPECT_EQ(tasks[2].exit.signal, 9);
    EXPECT_EQ(tasks[2].cpu, 2s);
    EXPECT_EQ(tasks[2].started, began);
    EXPECT_EQ(tasks[2].ended, began + 5s);
    EXPECT_TRUE(tasks[2].exact);
}

TEST_F(TaskLogTest, figuresOfAnEarlierLookAreNotExact) {
    create("sge.1", batch);
    auto seen = child();
    auto unseen = child();
    ASSERT_EQ(add(seen), 1U);
    loop.advance(30s);
    ASSERT_EQ(add(unseen), 2U);
    used(1, 1s, 100);
    loop.advance(1s);
    endUnseen(unseen, 2);
    loop.advance(30s);
    used(1, 2s, 200);
    endUnseen(seen, 1);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 3U);
    EXPECT_EQ(tasks[1].cpu, 1s);
    EXPECT_EQ(tasks[1].memoryPeak, 100U);
    EXPECT_FALSE(tasks[1].exact);
    EXPECT_EQ(tasks[2].cpu, std::nullopt) << "pinfoldd never looked at it";
    EXPECT_FALSE(tasks[2].exact);
    EXPECT_TRUE(tasks[0].exact);
}

TEST_F(TaskLogTest, aTaskThatRunsAtTheEndOfTheJobIsListed) {
    create("sge.1", batch);
    auto task = child();
    ASSERT_EQ(add(task), 1U);
    used(1, 7s, 700);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[1].cpu, 7s);
    EXPECT_TRUE(tasks[1].exact);
    EXPECT_FALSE(tasks[1].exit.known());
    EXPECT_EQ(tasks[1].ended, receipts()[0].ended);
}

TEST_F(TaskLogTest, theTasksSurviveARestart) {
    create("sge.1", batch);
    auto over = child();
    auto live = child();
    ASSERT_EQ(add(over), 1U);
    ASSERT_EQ(add(live), 2U);
    used(1, 1s, 100);
    const auto leader = over.pid();
    end(over);
    wait(1, leader, {.status = 3});
    crash();
    restart();
    used(0, 4s, 400);
    used(2, 2s, 200);
    end(live);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 3U);
    EXPECT_EQ(tasks[0].cpu, 4s);
    EXPECT_EQ(tasks[1].exit.status, 3);
    EXPECT_EQ(tasks[1].cpu, 1s);
    EXPECT_TRUE(tasks[1].exact);
    EXPECT_EQ(tasks[2].cpu, 2s);
    EXPECT_TRUE(tasks[2].exact);
}

TEST_F(TaskLogTest, aReportIsStoredEvenIfPinfolddIsStoppedBeforeItIsIdle) {
    create("sge.1", batch);
    auto task = child();
    ASSERT_EQ(add(task), 1U);
    const auto leader = task.pid();
    end(task);
    manager->waitTask({0, true}, "sge.1", 1, {{.status = 3}, leader}, [](const Result<void>&) {});
    manager->storeChanges();
    crash();
    restart();
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[1].exit.status, 3);
}

TEST_F(TaskLogTest, onlyTheOwnerAndAdminsSayHowATaskEnded) {
    create("sge.1", batch);
    auto task = child();
    ASSERT_EQ(add(task), 1U);
    wait(1, batch.pid(), {.status = 1});
    wait(1, task.pid(), {.status = 2}, {1001, false});
    wait(1, task.pid(), {.status = 3}, {1000, false});
    wait(1, task.pid(), {.status = 4});
    end(task);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[1].exit.status, 3) << "of the first report about this leader";
}

TEST_F(TaskLogTest, theBatchScriptOfAnOpenedJobComesFirst) {
    open();
    auto login = child();
    adopt(login, TaskKind::Login);
    loop.advance(2s);
    ASSERT_EQ(add(batch, true), 0U);
    const auto began = loop.realTime();
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[0].kind, TaskKind::Batch);
    EXPECT_EQ(tasks[0].started, began);
    EXPECT_EQ(tasks[1].kind, TaskKind::Login);
    EXPECT_EQ(tasks[1].command, "odd) name");
    EXPECT_EQ(tasks[1].started, began - 2s);
}

TEST_F(TaskLogTest, aTaskThatDidNotStartIsNotListed) {
    create("sge.1", batch);
    auto refused = child();
    node.nextStartFaults.push_back({SystemdFault::Other, "no"});
    EXPECT_EQ(add(refused), std::nullopt);
    const auto tasks = finish();
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].number, 0U);
}

TEST_F(TaskLogTest, theListHasABound) {
    create("sge.1", batch);
    std::list<ChildProcess> tasks;
    for (std::size_t i = 0; i < TaskReceipt::kMost + 3; ++i) {
        auto& task = tasks.emplace_back(child());
        ASSERT_TRUE(add(task));
        end(task);
    }
    const auto listed = finish();
    ASSERT_EQ(listed.size(), TaskReceipt::kMost);
    EXPECT_EQ(listed.back().number, TaskReceipt::kMost - 1);
    EXPECT_EQ(receipts()[0].tasks, TaskReceipt::kMost + 4);
}

} // namespace
} // namespace pinfold::test
