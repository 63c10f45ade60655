// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what each user is allowed to do to a job, in each state of the job. A stranger must never get control of the job, and the
// owner must never lose control of the job.
#include "tests/unit/core/core_fixture.hpp"

#include <csignal>
#include <tuple>

namespace pinfold::test {
namespace {

struct Who {
    const char* name;
    Caller caller;
    bool mayAct;
};

constexpr Who kWho[] = {
    {"root", {0, true}, true}, {"admin", {500, true}, true}, {"owner", {1000, false}, true}, {"stranger", {1001, false}, false}};
constexpr JobState kStates[] = {JobState::Creating, JobState::Running, JobState::Ending, JobState::Accounting};

using Answer = std::optional<ErrorCode>; ///< the reason for a refusal, or no value if pinfoldd has not answered yet

template <class T> Reply<T> into(Answer& answer) {
    return [&answer](const Result<T>& result) {
        if (!result)
            answer = result.error().code;
    };
}

template <class T> Answer codeOf(const Result<T>& result) { return result ? Answer() : Answer(result.error().code); }

struct Call {
    const char* name;
    Answer (*ask)(JobManager&, const Caller&, const ChildProcess& other, Answer& later);
};

const Call kCalls[] = {
    {"AddTask",
     [](JobManager& manager, const Caller& caller, const ChildProcess& other, Answer& later) {
         TaskRequest request;
         request.key = "sge.1";
         request.leader = other.pidfd();
         manager.addTask(caller, std::move(request), into<TaskAdded>(later));
         return Answer();
     }},
    {"EndJob",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.endJob(caller, "sge.1", {}, into<Receipt>(later));
         return Answer();
     }},
    {"StopJob",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.stopJob(caller, "sge.1", {}, into<void>(later));
         return Answer();
     }},
    {"KillJob",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.killJob(caller, "sge.1", SIGUSR1, into<void>(later));
         return Answer();
     }},
    {"WaitTask",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.waitTask(caller, "sge.1", 0, {}, into<void>(later));
         return Answer();
     }},
    {"WaitJob",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.waitJob(caller, "sge.1", into<Receipt>(later));
         return Answer();
     }},
    {"SuspendJob",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.suspendJob(caller, "sge.1", into<void>(later));
         return Answer();
     }},
    {"ResumeJob",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.resumeJob(caller, "sge.1", into<void>(later));
         return Answer();
     }},
    {"SetLimits",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         ResourceLimits tighter;
         tighter.tasksMax = 10;
         manager.setLimits(caller, "sge.1", tighter, false, into<ResourceLimits>(later));
         return Answer();
     }},
    {"ListProcesses",
     [](JobManager& manager, const Caller& caller, const ChildProcess&, Answer& later) {
         manager.processes(caller, "sge.1", 0, into<std::vector<JobProcess>>(later));
         return Answer();
     }},
    {"GetUsage", [](JobManager& manager, const Caller& caller, const ChildProcess&,
                    Answer&) { return codeOf(manager.usage(caller, "sge.1")); }},
    {"GetIdentity", [](JobManager& manager, const Caller& caller, const ChildProcess&,
                       Answer&) { return codeOf(manager.identity(caller, "sge.1")); }},
};

class TrustTable : public CoreTest, public ::testing::WithParamInterface<std::tuple<Who, Call, JobState>> {
protected:
    void bring(ChildProcess& leader, ChildProcess& leftover, JobState state) {
        node.holdStarts = state == JobState::Creating;
        create("sge.1", leader);
        node.holdStarts = state == JobState::Accounting;
        if (state == JobState::Ending)
            node.spawnInside(leftover.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
        if (state == JobState::Ending || state == JobState::Accounting)
            end(leader);
        node.holdStarts = state == JobState::Creating || state == JobState::Accounting;
    }
};

TEST_P(TrustTable, holdsInEachState) {
    const auto& [who, call, state] = GetParam();
    auto leader = child();
    auto leftover = child();
    const auto other = child();
    bring(leader, leftover, state);
    ASSERT_EQ(manager->job("sge.1")->state, state);
    const auto signalsBefore = node.signals.size();
    Answer later;
    const auto atOnce = call.ask(*manager, who.caller, other, later);
    const auto refused = atOnce ? atOnce : later;
    EXPECT_EQ(refused == ErrorCode::Denied, !who.mayAct);
    if (!who.mayAct) {
        EXPECT_EQ(node.signals.size(), signalsBefore);
        EXPECT_EQ(manager->job("sge.1")->state, state);
    }
    // The manager still waits for an answer of the fake systemd. release() makes the fake systemd answer while the variables
    // of this test still exist.
    node.release();
    manager.reset();
}

INSTANTIATE_TEST_SUITE_P(Users, TrustTable,
                         ::testing::Combine(::testing::ValuesIn(kWho), ::testing::ValuesIn(kCalls), ::testing::ValuesIn(kStates)),
                         [](const auto& entry) {
                             return std::string(std::get<0>(entry.param).name) + std::get<1>(entry.param).name +
                                    std::string(toString(std::get<2>(entry.param)));
                         });

} // namespace
} // namespace pinfold::test
