// SPDX-License-Identifier: LGPL-2.1-or-later
#include "job_on_hosts.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace pinfold::test {
namespace {

using Receipts = std::vector<Receipt>;

/// Returns the host, the kind and the task of the job's first end, for example "b task-failed 3".
std::string firstOf(Receipts receipts) {
    const auto job = hostsOfJob(std::move(receipts));
    if (!job.first.event)
        return "not known";
    const auto& event = *job.first.event;
    return job.hosts[event.host].name + " " + std::string(toString(event.kind)) +
           (event.task ? " " + std::to_string(*event.task) : "");
}

TEST(FirstEnd, isTheBatchScriptOfAJobThatSucceeded) {
    EXPECT_EQ(firstOf({batchHost("a", 1h, {.status = 0}), toldHost("b", 1h + 800ms), toldHost("c", 1h + 300ms)}),
              "a batch-ended 0");
}

TEST(FirstEnd, isTheBatchScriptAlsoIfTheSistersEndFirst) {
    // Torque and OpenPBS end a job on the sister hosts before the job ends on the host of the batch script. Some processes of the
    // batch script can live until the epilogue runs.
    EXPECT_EQ(
        firstOf({batchHost("a", 1h + 2s, {.status = 1}), withTask(toldHost("b", 1h + 1s), 1, 1h + 1s, {.signal = SIGKILL})}),
        "a batch-ended 0");
}

TEST(FirstEnd, isTheOutOfMemoryKillOnASister) {
    const auto killed = outOfMemory(withTask(toldHost("b", 1h + 20ms), 3, 1h + 10ms, {.signal = SIGKILL}), 1h);
    EXPECT_EQ(firstOf({batchHost("a", 1h + 900ms, {.status = 137}), killed,
                       withTask(toldHost("c", 1h + 700ms), 2, 1h + 600ms, {.status = 1})}),
              "b out-of-memory 3");
}

TEST(FirstEnd, isNotAnEarlierKillThatTheJobSurvived) {
    auto killed = outOfMemory(withTask(toldHost("b", 5h), 3, 5h, {.signal = SIGKILL}), 1h);
    const auto job = hostsOfJob({killed, toldHost("c", 5h)});
    ASSERT_TRUE(job.first.event);
    EXPECT_EQ(job.first.event->at, at(5h));
    killed.result = JobResult::Exited;
    EXPECT_EQ(firstOf({killed, batchHost("a", 5h, {.status = 0})}), "a batch-ended 0");
}

TEST(FirstEnd, isTheKindAndNotTheClockWithinTheTolerance) {
    const auto killed = outOfMemory(withTask(toldHost("b", 1h + 20ms), 3, 1h + 10ms, {.signal = SIGKILL}), 1h);
    EXPECT_EQ(firstOf({killed, withTask(toldHost("c", 1h), 2, 1h - 300ms, {.status = 1})}), "b out-of-memory 3");
    EXPECT_EQ(firstOf({killed, withTask(toldHost("c", 1h), 2, 1h - 600ms, {.status = 1})}), "c task-failed 2");
}

TEST(FirstEnd, isTheTaskThatFailedAndNotTheTasksThatWereKilled) {
    const Receipts receipts{batchHost("a", 1h + 2s, {.status = 1}), withTask(toldHost("b", 1h + 2s), 7, 1h, {.status = 1}),
                            withTask(toldHost("c", 1h + 2s), 8, 1h - 100ms, {.signal = SIGTERM})};
    EXPECT_EQ(firstOf(receipts), "b task-failed 7");
}

TEST(FirstEnd, isATaskThatWasKilledIfNothingElseExplainsTheEnd) {
    const auto killed = withTask(toldHost("b", 1h + 9s), 7, 1h, {.signal = SIGKILL});
    EXPECT_EQ(firstOf({killed, toldHost("c", 1h + 9s)}), "b task-killed 7");
    EXPECT_EQ(firstOf({killed, withTask(toldHost("c", 1h + 9s), 8, 1h + 400ms, {.status = 1})}), "c task-failed 8");
    EXPECT_EQ(firstOf({killed, withTask(toldHost("c", 1h + 9s), 8, 1h + 5s, {.status = 1})}), "b task-killed 7");
}

TEST(FirstEnd, isTheSignalToTheBatchScriptIfTheBatchSystemStopsTheJob) {
    EXPECT_EQ(firstOf({batchHost("a", 1h, {.signal = SIGTERM}), withTask(toldHost("b", 1h + 1s), 7, 1h, {.signal = SIGTERM}),
                       withTask(toldHost("c", 1h + 1s), 8, 1h - 200ms, {.status = 1})}),
              "a batch-ended 0");
}

TEST(FirstEnd, isTheCrashOfATaskWhoseShellReportsTheSignal) {
    EXPECT_EQ(firstOf({batchHost("a", 1h + 100ms, {.status = 139}), withTask(toldHost("b", 1h + 2s), 7, 1h, {.status = 139}),
                       withTask(toldHost("c", 1h + 2s), 8, 1h - 50ms, {.status = 1})}),
              "b task-crashed 7");
}

TEST(FirstEnd, isNotAFailureThatTheBatchScriptSurvived) {
    const auto failed = withTask(toldHost("b", 5h), 7, 1h, {.status = 1});
    const Receipts receipts{batchHost("a", 5h, {.signal = SIGTERM}), failed};
    EXPECT_EQ(firstOf(receipts), "a batch-ended 0");
    const auto job = hostsOfJob(receipts);
    EXPECT_EQ(job.first.survived, 1U);
    ASSERT_TRUE(job.first.survivor);
    EXPECT_EQ(job.first.survivor->task, 7U);
    EXPECT_EQ(firstOf({failed, withTask(toldHost("c", 5h), 8, 2h, {.status = 0})}), "b task-failed 7");
}

TEST(FirstEnd, isNotAFailureBeforeALaterStep) {
    auto later = withTask(toldHost("b", 5h), 7, 1h, {.status = 1});
    later.taskList.push_back({.number = 8, .started = at(2h), .ended = at(3h), .exit = {.signal = SIGKILL}});
    later.tasks = 2;
    EXPECT_EQ(firstOf({later, toldHost("c", 5h)}), "b task-killed 8");
}

TEST(FirstEnd, isNotAFailureThatTheBatchScriptIgnored) {
    const Receipts receipts{batchHost("a", 1h + 1s, {.status = 0}), withTask(toldHost("b", 1h + 2s), 7, 1h, {.status = 1})};
    EXPECT_EQ(firstOf(receipts), "a batch-ended 0");
    EXPECT_EQ(hostsOfJob(receipts).first.survived, 1U);
}

TEST(FirstEnd, isTheHostThatWentDownWhateverItsLastSignOfLife) {
    const auto lost = ended(toldHost("b", 20min), JobResult::NodeLost);
    EXPECT_EQ(firstOf({batchHost("a", 1h + 5min, {.signal = SIGKILL}), lost, withTask(toldHost("c", 1h), 8, 1h, {.status = 1})}),
              "b node-lost");
    // The lost host still ran when the task failed, so the failure came before the loss of the host.
    EXPECT_EQ(firstOf({ended(toldHost("b", 2h), JobResult::NodeLost), withTask(toldHost("c", 1h), 8, 1h, {.status = 1})}),
              "c task-failed 8");
    EXPECT_EQ(firstOf({batchHost("a", 1h, {.status = 0}), lost}), "a batch-ended 0");
    // Each of the two events would have ended the job. The receipts contain the time at which the memory ran out. The receipts do
    // not contain the time at which the node was lost.
    EXPECT_EQ(firstOf({outOfMemory(toldHost("c", 1h), 1h), lost}), "c out-of-memory");
}

TEST(FirstEnd, isTheStopThatBeganBeforeTheGraceTime) {
    auto stopped = ended(withTask(toldHost("b", 1h + 30s), 1, 1h, {.signal = SIGTERM}), JobResult::Stopped);
    stopped.taskList.push_back({.number = 2, .started = at(0s), .ended = at(1h + 30s), .exit = {.signal = SIGKILL}});
    stopped.tasks = 2;
    EXPECT_EQ(
        firstOf({batchHost("a", 1h + 5s, {.status = 1}), stopped, withTask(toldHost("c", 1h + 4s), 8, 1h + 1s, {.status = 1})}),
        "b stopped");
}

TEST(FirstEnd, isTheTimeAtWhichTheLimitWasReached) {
    auto late = ended(toldHost("b", 1h + 30s), JobResult::Timeout);
    late.limits.runTimeMax = toUsec(1h);
    const auto job = hostsOfJob({late, batchHost("a", 1h + 5s, {.status = 1})});
    ASSERT_TRUE(job.first.event);
    EXPECT_EQ(job.first.event->kind, EndKind::TimeLimit);
    EXPECT_EQ(job.first.event->at, at(1h));
}

TEST(FirstEnd, isNotAHostThatTheJobDidNotNeedAnyMore) {
    EXPECT_EQ(firstOf({batchHost("a", 5h, {.status = 3}), ended(toldHost("b", 1h), JobResult::Stopped)}), "a batch-ended 0");
}

TEST(FirstEnd, namesTheOtherHostsThatMayHaveBeenFirst) {
    const auto job =
        hostsOfJob({withTask(toldHost("a", 1h), 1, 1h, {.status = 1}), withTask(toldHost("b", 1h), 2, 1h + 400ms, {.status = 1}),
                    withTask(toldHost("c", 1h + 2s), 3, 1h + 600ms, {.status = 1})});
    EXPECT_EQ(job.first.alike, std::vector<std::size_t>{1});
}

TEST(FirstEnd, isNotKnownIfNoReceiptSaysIt) {
    EXPECT_EQ(firstOf({toldHost("a", 1h), toldHost("b", 1h)}), "not known");
    auto reported = toldHost("a", 1h); // the batch system has reported the exit state of the whole job
    reported.exit.status = 1;
    EXPECT_EQ(firstOf({reported, toldHost("b", 1h)}), "not known");
}

TEST(FirstEnd, isALoginNever) {
    auto login = toldHost("b", 1h);
    login.taskList.push_back(
        {.number = 2, .kind = TaskKind::Login, .started = at(0s), .ended = at(59min), .exit = {.status = 1}});
    login.tasks = 2;
    EXPECT_EQ(firstOf({login, toldHost("c", 1h)}), "not known");
}

} // namespace
} // namespace pinfold::test
