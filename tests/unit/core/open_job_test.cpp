// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests jobs that have no process when they are opened. A prologue opens a job before the job has a process.
#include "base/parse.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <filesystem>

namespace pinfold::test {
namespace {

class OpenJobTest : public CoreTest {
protected:
    static CreateRequest opening(uid_t owner = 1000) {
        CreateRequest request;
        request.key = "sge.1";
        request.owner = owner;
        return request;
    }
    Result<JobSummary> open(CreateRequest request, Caller caller = {0, true}) {
        std::optional<Result<JobSummary>> answer;
        manager->openJob(caller, std::move(request), [&](Result<JobSummary> opened) { answer = std::move(opened); });
        loop.settle();
        return answer.value_or(Error{ErrorCode::TimedOut, "no answer"});
    }
    Result<TaskAdded> add(
        const ChildProcess& leader, void (*change)(TaskRequest&) = [](TaskRequest&) {}, Caller caller = {0, true}) {
        auto request = taskOf("sge.1", leader);
        change(request);
        added.reset();
        manager->addTask(caller, std::move(request), [this](Result<TaskAdded> answer) { added = std::move(answer); });
        loop.settle();
        return added.value_or(Error{ErrorCode::TimedOut, "no answer"});
    }
    static void asBatch(TaskRequest& request) { request.batch = true; }
    static void openFirst(TaskRequest& request) { request.open = opening(); }

    std::optional<Result<TaskAdded>> added;
};

TEST_F(OpenJobTest, isASliceWithItsLimitsAndNoProcess) {
    auto request = opening();
    request.limits.tasksMax = 7;
    const auto job = open(std::move(request));
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->leader, 0);
    EXPECT_TRUE(job->tasks.empty());
    EXPECT_EQ(job->uid, 1000U);
    ASSERT_EQ(node.starts.size(), 1U);
    EXPECT_EQ(node.starts[0].scope, "");
    EXPECT_EQ(node.starts[0].slice, "batch-sge.1.slice");
    EXPECT_EQ(*cgroups.open(kSlice)->read("pids.max"), "7");
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
}

TEST_F(OpenJobTest, theSameAgainIsTheSameJob) {
    ASSERT_TRUE(open(opening()));
    ASSERT_TRUE(open(opening()));
    EXPECT_EQ(node.starts.size(), 1U);
    EXPECT_EQ(open(opening(1001)).error().code, ErrorCode::AlreadyExists);
}

TEST_F(OpenJobTest, withoutARecordNothingIsStarted) {
    const auto directory = node.root() / "run/pinfold/jobs";
    std::filesystem::remove_all(directory);
    const auto refused = open(opening());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::SystemdFailed);
    EXPECT_NE(refused.error().message.find(directory.string()), std::string::npos) << refused.error().message;
    const auto leader = child();
    create("sge.1", leader);
    EXPECT_EQ(created->error().code, ErrorCode::SystemdFailed);
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_TRUE(node.starts.empty());

    ASSERT_TRUE(records.prepare());
    ASSERT_TRUE(open(opening()));
    std::filesystem::remove_all(directory);
    const auto task = child();
    EXPECT_EQ(add(task).error().code, ErrorCode::SystemdFailed);
    EXPECT_EQ(node.starts.size(), 1U) << "only the slice";
    EXPECT_TRUE(manager->job("sge.1")->tasks.empty());
    ASSERT_TRUE(records.prepare());
    EXPECT_TRUE(add(task));
}

TEST_F(OpenJobTest, isForTheBatchSystemOnly) {
    config.jobs.allowUserJobs = true;
    EXPECT_EQ(open(opening(), {1000, false}).error().code, ErrorCode::Denied);
    auto nobodys = opening();
    nobodys.owner.reset();
    EXPECT_EQ(open(std::move(nobodys)).error().code, ErrorCode::InvalidArgument);
    auto unnamed = opening();
    unnamed.key.clear();
    EXPECT_EQ(open(std::move(unnamed)).error().code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(node.starts.empty());
}

TEST_F(OpenJobTest, itsBatchScriptIsTaskZeroAndEndsIt) {
    ASSERT_TRUE(open(opening()));
    auto script = child();
    ASSERT_EQ(add(script, asBatch)->task, 0U);
    EXPECT_EQ(node.cgroupOf(script.pid()), std::string(kSlice) + "/job-sge.1.scope");
    EXPECT_EQ(manager->job("sge.1")->leader, script.pid());
    end(script);
    loop.advance(kReportWait);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].tasks, 1U);
}

TEST_F(OpenJobTest, theOwnerBringsTheBatchScriptOnceAndNobodyElse) {
    ASSERT_TRUE(open(opening()));
    auto stranger = child(1001);
    EXPECT_EQ(add(stranger, asBatch, {1001, false}).error().code, ErrorCode::Denied);
    EXPECT_EQ(add(stranger, asBatch, {1000, false}).error().code, ErrorCode::Denied) << "not the owner's process";
    auto script = child(1000);
    ASSERT_TRUE(add(script, asBatch, {1000, false}));
    auto second = child(1000);
    EXPECT_EQ(add(second, asBatch, {1000, false}).error().code, ErrorCode::AlreadyExists);
}

TEST_F(OpenJobTest, aJobThatWasCreatedTakesNoSecondBatchScript) {
    auto leader = child();
    create("sge.1", leader);
    auto second = child();
    EXPECT_EQ(add(second, asBatch).error().code, ErrorCode::AlreadyExists);
}

TEST_F(OpenJobTest, aCallerThatAsksAgainIsAnsweredAlike) {
    ASSERT_TRUE(open(opening()));
    auto task = child(1000);
    ASSERT_EQ(add(task, {[](TaskRequest&) {}}, {1000, false})->task, 1U);
    EXPECT_EQ(add(task, {[](TaskRequest&) {}}, {1000, false})->task, 1U);
    EXPECT_EQ(add(task, {[](TaskRequest&) {}}, {1001, false}).error().code, ErrorCode::Denied);
    EXPECT_EQ(manager->job("sge.1")->tasks, std::vector<std::uint32_t>{1});
}

TEST_F(OpenJobTest, aCallerThatAsksAgainWhileItsTaskStartsWaitsForTheSame) {
    ASSERT_TRUE(open(opening()));
    auto task = child();
    node.holdStarts = true;
    EXPECT_FALSE(add(task));
    std::optional<Result<TaskAdded>> first;
    EXPECT_FALSE(add(task));
    node.holdStarts = false;
    node.release();
    loop.settle();
    ASSERT_TRUE(added && *added);
    EXPECT_EQ((*added)->task, 1U);
    EXPECT_EQ(node.starts.size(), 2U) << "one slice, one scope";
}

TEST_F(OpenJobTest, outlivesItsLastTaskByItsLingerTime) {
    auto request = opening();
    request.linger = 5s;
    ASSERT_TRUE(open(std::move(request)));
    auto task = child();
    ASSERT_EQ(add(task)->task, 1U);
    loop.advance(60s);
    EXPECT_TRUE(manager->job("sge.1")) << "it has a task";
    end(task);
    EXPECT_EQ(observer.log.back(), "task gone sge.1 1");
    loop.advance(4s);
    EXPECT_TRUE(manager->job("sge.1"));
    loop.advance(2s);
    EXPECT_FALSE(manager->job("sge.1"));
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].tasks, 1U);
}

TEST_F(OpenJobTest, aTaskInTimeStartsItsLingerTimeAnew) {
    auto request = opening();
    request.linger = 5s;
    ASSERT_TRUE(open(std::move(request)));
    loop.advance(4s);
    auto task = child();
    ASSERT_TRUE(add(task));
    end(task);
    loop.advance(4s);
    EXPECT_TRUE(manager->job("sge.1"));
    loop.advance(2s);
    EXPECT_FALSE(manager->job("sge.1"));
}

TEST_F(OpenJobTest, lingersForEverWhereThatIsAskedFor) {
    auto request = opening();
    request.linger = kForever;
    ASSERT_TRUE(open(std::move(request)));
    loop.advance(24h);
    EXPECT_TRUE(manager->job("sge.1"));
}

TEST_F(OpenJobTest, lingersAsLongAsTheSiteSays) {
    config.jobs.linger = 1s;
    ASSERT_TRUE(open(opening()));
    crash();
    restart();
    EXPECT_TRUE(manager->job("sge.1")) << "a restart is no reason to end it";
    loop.advance(2s);
    EXPECT_FALSE(manager->job("sge.1"));
}

TEST_F(OpenJobTest, endJobNamesWhatIsLeftAndStopsIt) {
    ASSERT_TRUE(open(opening()));
    auto task = child();
    ASSERT_TRUE(add(task));
    std::optional<Result<Receipt>> receipt;
    manager->endJob(root, "sge.1", {.exit = {.status = 3, .signal = {}}, .leader = {}},
                    [&](Result<Receipt> answer) { receipt = std::move(answer); });
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    ASSERT_TRUE(receipt && *receipt);
    EXPECT_EQ((*receipt)->leftovers.count, 1U);
    EXPECT_EQ((*receipt)->exit.status, 3);
}

TEST_F(OpenJobTest, aStopFindsNoLeftoversInTasksThatHeedIt) {
    ASSERT_TRUE(open(opening()));
    auto task = child();
    ASSERT_TRUE(add(task));
    manager->stopJob(root, "sge.1", {}, [](const Result<void>&) {});
    loop.settle();
    end(task);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].leftovers.count, 0U);
    EXPECT_EQ(receipts()[0].result, JobResult::Stopped);
}

TEST_F(OpenJobTest, aTaskOpensTheJobWhereThereIsNone) {
    auto task = child();
    ASSERT_EQ(add(task, openFirst)->task, 1U);
    EXPECT_EQ(manager->job("sge.1")->uid, 1000U);
    auto second = child();
    ASSERT_EQ(add(second, openFirst)->task, 2U);
    EXPECT_EQ(node.starts.size(), 3U) << "one slice, two scopes";
}

TEST_F(OpenJobTest, aTaskJoinsTheJobOfABatchScript) {
    auto leader = child();
    create("sge.1", leader);
    auto task = child();
    ASSERT_EQ(add(task, openFirst)->task, 1U);
    EXPECT_EQ(add(leader, openFirst)->task, 0U) << "the batch script itself has its task";
    auto stranger = child();
    EXPECT_EQ(add(stranger, [](TaskRequest& request) { request.open = opening(1001); })->task, 2U)
        << "whose job it is was settled when it began";
}

TEST_F(OpenJobTest, aTaskThatComesAsTheJobEndsOpensItAnewAfterwards) {
    auto leader = child();
    create("sge.1", leader);
    auto daemon = child();
    node.spawnInside(daemon.pid(), std::string(kSlice) + "/job-sge.1.scope");
    end(leader);
    ASSERT_EQ(manager->job("sge.1")->state, JobState::Ending);
    auto task = child();
    EXPECT_FALSE(add(task, openFirst)) << "not yet";
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    loop.settle();
    ASSERT_TRUE(added && *added);
    EXPECT_EQ((*added)->task, 1U);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(OpenJobTest, aRestartInBetweenLosesNoBatchScript) {
    ASSERT_TRUE(open(opening()));
    auto script = child();
    node.nextStartFaults.push_back({SystemdFault::NoReply, "lost"});
    EXPECT_FALSE(add(script, asBatch)) << "no answer yet";
    crash();
    restart();
    EXPECT_EQ(manager->job("sge.1")->leader, script.pid()) << "this pinfoldd has started it";
    ASSERT_EQ(add(script, asBatch)->task, 0U);
    crash();
    restart();
    EXPECT_EQ(manager->job("sge.1")->leader, script.pid());
    end(script);
    loop.advance(kReportWait);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(OpenJobTest, aTaskWhoseLeaderOrSupervisorEndedMeanwhileIsEnded) {
    ASSERT_TRUE(open(opening()));
    auto leader = child();
    auto supervisor = child();
    auto request = taskOf("sge.1", leader);
    request.supervisor = supervisor.pidfd();
    manager->addTask(root, std::move(request), [](const Result<TaskAdded>&) {});
    loop.settle();
    std::optional<Result<void>> over;
    crash();
    supervisor.end();
    node.vanish(supervisor.pid());
    restart();
    manager->waitTask(root, "sge.1", 1, {}, [&](Result<void> answer) { over = std::move(answer); });
    EXPECT_FALSE(over);
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.applyCgroupKills());
    loop.waitForEvent(1000);
    EXPECT_TRUE(over && *over);
    EXPECT_TRUE(manager->job("sge.1")) << "the job goes on";
}

TEST_F(OpenJobTest, aTaskThatIsOverNeedsNoWait) {
    std::optional<Result<void>> over;
    const auto note = [&](Result<void> answer) { over = std::move(answer); };
    manager->waitTask(root, "sge.1", 1, {}, note);
    EXPECT_TRUE(over && *over);
    ASSERT_TRUE(open(opening()));
    auto task = child();
    ASSERT_TRUE(add(task));
    over.reset();
    manager->waitTask(root, "sge.1", 1, {{}, task.pid() + 1}, note);
    EXPECT_TRUE(over && *over) << "that was an earlier task's number";
    over.reset();
    manager->waitTask(root, "sge.1", 1, {{}, task.pid()}, note);
    EXPECT_FALSE(over);
    manager->waitTask({1001, false}, "sge.1", 1, {}, note);
    EXPECT_EQ(over->error().code, ErrorCode::Denied);
    over.reset();
    end(task);
    EXPECT_TRUE(over && *over);
}

TEST_F(OpenJobTest, slotsBecomeWhatTheSiteSays) {
    config.jobs.unenforcedLimits = UnenforcedLimits::Warn; // the fake kernel lacks some files of the cgroup
    const auto limitsOf = [this](Slots slots) {
        config.jobs.slots = slots;
        auto request = opening();
        request.slots = 4;
        const auto job = open(std::move(request));
        EXPECT_TRUE(job) << job.error().message;
        manager->endJob(root, "sge.1", {}, [](const Result<Receipt>&) {});
        loop.settle();
        return job->limits;
    };
    EXPECT_EQ(limitsOf(Slots::None), ResourceLimits{});
    EXPECT_EQ(limitsOf(Slots::Quota).cpuQuota, 4'000'000U);
    node.setFile("/", "cgroup.controllers", "memory pids");
    EXPECT_EQ(limitsOf(Slots::Weight), ResourceLimits{}) << "nobody asked for a weight, and this kernel has none";
    node.setFile("/", "cgroup.controllers", "cpu memory pids");
    EXPECT_EQ(limitsOf(Slots::Weight).cpuWeight, 400U);
    auto many = opening();
    many.slots = 8193;
    EXPECT_EQ(open(std::move(many)).error().code, ErrorCode::InvalidArgument);
}

} // namespace
} // namespace pinfold::test
