// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/access/authorizer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace pinfold {
namespace {

constexpr Caller kRoot{0, true};
constexpr Caller kAdmin{500, true};
constexpr Caller kOwner{1000, false};
constexpr Caller kOther{1001, false};
constexpr Caller kAuditor{1002, false, 1002, true};
constexpr Caller kNobody{};

/// The results of a request in each phase of a job: no job, starting, running, suspended, ending, over. The letters are: +
/// success, d Denied, n NoSuchJob, r NoSuchReceipt, x AlreadyExists, b Busy, e JobEnding.
struct Line {
    Action action;
    bool userJobs; ///< jobs.allow_user_jobs
    const char* admin;
    const char* owner;
    const char* inside; ///< the result if the owner's process is in the job, and this process passes its own pidfd
    const char* other;
    const char* auditor = nullptr; ///< the result for an auditor; null means the same result as `other`
};

// The table leaves out unknown callers, because pinfoldd refuses all their requests.
constexpr Line kLines[] = {
    {Action::CreateJob, false, "+xxxx+", "dddddd", "dddddd", "dddddd"},
    {Action::CreateJob, true, "+xxxx+", "+xxxx+", "dddddd", "+xxxx+"},
    {Action::CreateJobAgain, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Action::OpenJob, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Action::AddTask, false, "nb+ben", "nb+ben", "nddddn", "nddddn"},
    {Action::AddTaskAgain, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Action::Adopt, false, "nb+ben", "nb+ben", "nddddn", "nddddn"},
    {Action::EndJob, false, "n+++++", "n+++++", "n+++++", "nddddd"},
    {Action::StopJob, false, "nb+++n", "nb+++n", "nb+++n", "nddddn"},
    {Action::KillJob, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Action::SuspendJob, false, "nb++en", "nb++en", "nb++en", "nddddn"},
    {Action::ResumeJob, false, "nb++en", "nb++en", "nb++en", "nddddn"},
    {Action::SetLimits, false, "nb++en", "nb++en", "nb++en", "nddddn"},
    {Action::WaitJob, false, "n+++++", "n+++++", "n+++++", "nddddd", "n+++++"},
    {Action::WaitTask, false, "++++++", "++++++", "++++++", "+dddd+", "++++++"},
    {Action::ListJobs, false, "++++++", "++++++", "++++++", "++++++"},
    {Action::ListMoreJobs, false, "++++++", "++++++", "++++++", "++++++"},
    {Action::GetJob, false, "n++++n", "n++++n", "n++++n", "n++++n"},
    {Action::GetJobByPID, false, "n++++n", "n++++n", "n++++n", "n++++n"},
    {Action::GetJobByUnit, false, "n++++n", "n++++n", "n++++n", "n++++n"},
    {Action::ListProcesses, false, "n++++n", "n++++n", "n++++n", "nddddn", "n++++n"},
    {Action::ListMoreProcesses, false, "n++++n", "n++++n", "n++++n", "nddddn", "n++++n"},
    {Action::GetUsage, false, "n++++n", "n++++n", "n++++n", "nddddn", "n++++n"},
    {Action::GetIdentity, false, "n++++n", "n++++n", "n++++n", "nddddn", "n++++n"},
    {Action::GetReceipt, false, "rrrrr+", "rrrrr+", "rrrrr+", "rrrrrd", "rrrrr+"},
    {Action::GetProfile, false, "r+++++", "r+++++", "r+++++", "rddddd", "r+++++"},
    {Action::ListReceipts, false, "++++++", "++++++", "++++++", "++++++"},
    {Action::VacuumHistory, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Action::Drain, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Action::Undrain, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Action::Reconcile, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Action::Reload, true, "++++++", "dddddd", "dddddd", "dddddd"},
};

constexpr int kLast = static_cast<int>(Action::Reload);

char letter(const Result<void>& decision) {
    if (decision)
        return '+';
    EXPECT_FALSE(decision.error().message.empty());
    switch (decision.error().code) {
    case ErrorCode::Denied:
        return 'd';
    case ErrorCode::NoSuchJob:
        return 'n';
    case ErrorCode::NoSuchReceipt:
        return 'r';
    case ErrorCode::AlreadyExists:
        return 'x';
    case ErrorCode::Busy:
        return 'b';
    case ErrorCode::JobEnding:
        return 'e';
    default:
        return '?';
    }
}

std::string allPhases(const Caller& caller, const Line& line, bool inside = false) {
    std::string all;
    for (int phase = 0; phase <= static_cast<int>(Phase::Over); ++phase) {
        Target target;
        target.key = "sge.1";
        target.phase = static_cast<Phase>(phase);
        if (target.phase != Phase::NoJob)
            target.owner = kOwner.uid;
        target.ownProcesses = true;
        target.processesInJob = inside;
        target.userJobsAllowed = line.userJobs;
        all += letter(decide(caller, line.action, target));
    }
    return all;
}

TEST(AuthorizerTable, isWhatIsWrittenHere) {
    std::set<int> actions;
    for (const auto& line : kLines) {
        actions.insert(static_cast<int>(line.action));
        const auto action = "action " + std::to_string(static_cast<int>(line.action));
        EXPECT_EQ(allPhases(kRoot, line), line.admin) << action << " root";
        EXPECT_EQ(allPhases(kAdmin, line), line.admin) << action << " admin";
        EXPECT_EQ(allPhases(kOwner, line), line.owner) << action << " owner";
        EXPECT_EQ(allPhases(kOwner, line, true), line.inside) << action << " inside";
        EXPECT_EQ(allPhases(kOther, line), line.other) << action << " other";
        EXPECT_EQ(allPhases(kAuditor, line), line.auditor ? line.auditor : line.other) << action << " auditor";
        EXPECT_EQ(allPhases(kNobody, line), "dddddd") << action << " nobody";
    }
    EXPECT_EQ(actions.size(), static_cast<std::size_t>(kLast) + 1);
}

TEST(AuthorizerTable, refusesWhatIsNotInIt) {
    for (const auto action : {kLast + 1, 1000, -1})
        for (const auto& caller : {kRoot, kOwner, kOther, kNobody}) {
            EXPECT_EQ(letter(admit(caller, static_cast<Action>(action))), 'd');
            EXPECT_EQ(letter(decide(caller, static_cast<Action>(action), {})), 'd');
        }
    for (const auto* method : {"", "Createjob", "Introspect", "Get", "Reload "})
        EXPECT_FALSE(actionOf(method)) << method;
    EXPECT_EQ(actionOf("Reload"), Action::Reload);
    EXPECT_EQ(actionOf("CreateJob"), Action::CreateJob);
}

TEST(AuthorizerTable, aJobWithoutAnOwnerIsNobodysButTheAdmins) {
    Target target;
    target.phase = Phase::Running;
    for (const auto& line : kLines)
        if (std::string(line.other) == "nddddn") {
            EXPECT_EQ(letter(decide(kOther, line.action, target)), 'd');
        }
}

TEST(AuthorizerTable, admitsBeforeTheJobIsKnownWhoMightBeItsOwner) {
    for (const auto& line : kLines) {
        const bool onlyAdmins = std::string(line.owner) == "dddddd" && line.userJobs;
        EXPECT_EQ(letter(admit(kOwner, line.action)), onlyAdmins ? 'd' : '+');
        EXPECT_EQ(letter(admit(kAdmin, line.action)), '+');
        EXPECT_EQ(letter(admit(kNobody, line.action)), 'd');
    }
}

struct Decision {
    const char* what;
    Caller caller;
    Action action;
    Target target;
    bool allowed;
};

class AuthorizerConditions : public ::testing::TestWithParam<Decision> {};

TEST_P(AuthorizerConditions, decide) {
    const auto& row = GetParam();
    EXPECT_EQ(letter(decide(row.caller, row.action, row.target)), row.allowed ? '+' : 'd') << row.what;
}

Target createOwn() {
    Target target;
    target.ownProcesses = true;
    target.userJobsAllowed = true;
    return target;
}

Target running() {
    auto target = createOwn();
    target.phase = Phase::Running;
    target.owner = kOwner.uid;
    return target;
}

template <class F> Target with(Target target, F&& change) {
    change(target);
    return target;
}

constexpr auto kStrange = [](Target& t) { t.ownProcesses = false; };
constexpr auto kInside = [](Target& t) { t.processesInJob = true; };
constexpr auto kLoose = [](Target& t) { t.looserLimit = "memory_max"; };
constexpr auto kShepherd = [](Target& t) { t.shepherd = true; };
constexpr auto kAllocates = [](Target& t) { t.allocates = true; };
constexpr auto kNamesOwner = [](Target& t) { t.namesOwner = true; };
constexpr auto kReserved = [](Target& t) { t.reservedKey = "sge.1"; };

INSTANTIATE_TEST_SUITE_P(
    rules, AuthorizerConditions,
    ::testing::Values(
        Decision{"user creates with another's process", kOwner, Action::CreateJob, with(createOwn(), kStrange), false},
        Decision{"user creates above the default", kOwner, Action::CreateJob, with(createOwn(), kLoose), false},
        Decision{"user names it as a batch system does", kOwner, Action::CreateJob, with(createOwn(), kReserved), false},
        Decision{"root names it so", kRoot, Action::CreateJob, with(createOwn(), kReserved), true},
        Decision{"user names an owner", kOwner, Action::CreateJob, with(createOwn(), kNamesOwner), false},
        Decision{"user takes a GPU", kOwner, Action::CreateJob, with(createOwn(), kAllocates), false},
        Decision{"user is the batch system", kOwner, Action::CreateJob, with(createOwn(), kShepherd), false},
        Decision{"root creates above the default", kRoot, Action::CreateJob, with(createOwn(), kLoose), true},
        Decision{"root names an owner", kRoot, Action::CreateJob, with(createOwn(), kNamesOwner), true},
        Decision{"root takes a GPU", kRoot, Action::CreateJob, with(createOwn(), kAllocates), true},
        Decision{"root is the batch system", kRoot, Action::CreateJob, with(createOwn(), kShepherd), true},
        Decision{"root creates with a user's process", kRoot, Action::CreateJob, with(createOwn(), kStrange), true},
        Decision{"root moves a process between jobs", kRoot, Action::CreateJob, with(createOwn(), kInside), false},
        Decision{"root adds out of another job", kRoot, Action::AddTask, with(running(), kInside), false},
        Decision{"root adopts out of another job", kRoot, Action::Adopt, with(running(), kInside), false},
        Decision{"root adopts a user's process", kRoot, Action::Adopt, with(running(), kStrange), true},
        Decision{"owner adopts another's process", kOwner, Action::Adopt, with(running(), kStrange), false},
        Decision{"owner adds another's process", kOwner, Action::AddTask, with(running(), kStrange), false},
        Decision{"owner adds another's process again", kOwner, Action::AddTaskAgain, with(running(), kStrange), false},
        Decision{"owner is the batch system", kOwner, Action::AddTask, with(running(), kShepherd), false},
        Decision{"root is the batch system of a task", kRoot, Action::AddTask, with(running(), kShepherd), true},
        Decision{"owner loosens", kOwner, Action::SetLimits, with(running(), kLoose), false},
        Decision{"admin loosens", kAdmin, Action::SetLimits, with(running(), kLoose), true}));

} // namespace
} // namespace pinfold
