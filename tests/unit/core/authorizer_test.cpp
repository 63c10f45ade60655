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
constexpr Caller kNobody{};

/// What becomes of a request, for each phase: no job, starting, running, suspended, ending, over.
/// + done, d Denied, n NoSuchJob, r NoSuchReceipt, x AlreadyExists, b Busy, e JobEnding
struct Line {
    Verb verb;
    bool userJobs; ///< jobs.allow_user_jobs
    const char* admin;
    const char* owner;
    const char* inside; ///< a process of the job, which is the owner's, and offers itself
    const char* other;
};

// Nobody who is not known may do anything: that is not in the table.
constexpr Line kLines[] = {
    {Verb::CreateJob, false, "+xxxx+", "dddddd", "dddddd", "dddddd"},
    {Verb::CreateJob, true, "+xxxx+", "+xxxx+", "dddddd", "+xxxx+"},
    {Verb::CreateJobAgain, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Verb::OpenJob, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Verb::AddTask, false, "nb+ben", "nb+ben", "nddddn", "nddddn"},
    {Verb::AddTaskAgain, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Verb::Adopt, false, "nb+ben", "nb+ben", "nddddn", "nddddn"},
    {Verb::EndJob, false, "n+++++", "n+++++", "n+++++", "nddddd"},
    {Verb::StopJob, false, "nb+++n", "nb+++n", "nb+++n", "nddddn"},
    {Verb::KillJob, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Verb::SuspendJob, false, "nb++en", "nb++en", "nb++en", "nddddn"},
    {Verb::ResumeJob, false, "nb++en", "nb++en", "nb++en", "nddddn"},
    {Verb::SetLimits, false, "nb++en", "nb++en", "nb++en", "nddddn"},
    {Verb::WaitJob, false, "n+++++", "n+++++", "n+++++", "nddddd"},
    {Verb::WaitTask, false, "++++++", "++++++", "++++++", "+dddd+"},
    {Verb::ListJobs, false, "++++++", "++++++", "++++++", "++++++"},
    {Verb::ListMoreJobs, false, "++++++", "++++++", "++++++", "++++++"},
    {Verb::GetJob, false, "n++++n", "n++++n", "n++++n", "n++++n"},
    {Verb::GetJobByPID, false, "n++++n", "n++++n", "n++++n", "n++++n"},
    {Verb::GetJobByUnit, false, "n++++n", "n++++n", "n++++n", "n++++n"},
    {Verb::ListProcesses, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Verb::ListMoreProcesses, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Verb::GetUsage, false, "n++++n", "n++++n", "n++++n", "nddddn"},
    {Verb::GetReceipt, false, "rrrrr+", "rrrrr+", "rrrrr+", "rrrrrd"},
    {Verb::ListReceipts, false, "++++++", "++++++", "++++++", "++++++"},
    {Verb::VacuumHistory, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Verb::Drain, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Verb::Undrain, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Verb::Reconcile, true, "++++++", "dddddd", "dddddd", "dddddd"},
    {Verb::Reload, true, "++++++", "dddddd", "dddddd", "dddddd"},
};

constexpr int kLast = static_cast<int>(Verb::Reload);

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
        all += letter(decide(caller, line.verb, target));
    }
    return all;
}

TEST(AuthorizerTable, isWhatIsWrittenHere) {
    std::set<int> verbs;
    for (const auto& line : kLines) {
        verbs.insert(static_cast<int>(line.verb));
        const auto verb = "verb " + std::to_string(static_cast<int>(line.verb));
        EXPECT_EQ(allPhases(kRoot, line), line.admin) << verb << " root";
        EXPECT_EQ(allPhases(kAdmin, line), line.admin) << verb << " admin";
        EXPECT_EQ(allPhases(kOwner, line), line.owner) << verb << " owner";
        EXPECT_EQ(allPhases(kOwner, line, true), line.inside) << verb << " inside";
        EXPECT_EQ(allPhases(kOther, line), line.other) << verb << " other";
        EXPECT_EQ(allPhases(kNobody, line), "dddddd") << verb << " nobody";
    }
    EXPECT_EQ(verbs.size(), static_cast<std::size_t>(kLast) + 1);
}

TEST(AuthorizerTable, refusesWhatIsNotInIt) {
    for (const auto verb : {kLast + 1, 1000, -1})
        for (const auto& caller : {kRoot, kOwner, kOther, kNobody}) {
            EXPECT_EQ(letter(admit(caller, static_cast<Verb>(verb))), 'd');
            EXPECT_EQ(letter(decide(caller, static_cast<Verb>(verb), {})), 'd');
        }
    for (const auto* method : {"", "Createjob", "Introspect", "Get", "Reload "})
        EXPECT_FALSE(verbOf(method)) << method;
    EXPECT_EQ(verbOf("Reload"), Verb::Reload);
    EXPECT_EQ(verbOf("CreateJob"), Verb::CreateJob);
}

TEST(AuthorizerTable, aJobWithoutAnOwnerIsNobodysButTheAdmins) {
    Target target;
    target.phase = Phase::Running;
    for (const auto& line : kLines)
        if (std::string(line.other) == "nddddn") {
            EXPECT_EQ(letter(decide(kOther, line.verb, target)), 'd');
        }
}

TEST(AuthorizerTable, admitsBeforeTheJobIsKnownWhoMightBeItsOwner) {
    for (const auto& line : kLines) {
        const bool onlyAdmins = std::string(line.owner) == "dddddd" && line.userJobs;
        EXPECT_EQ(letter(admit(kOwner, line.verb)), onlyAdmins ? 'd' : '+');
        EXPECT_EQ(letter(admit(kAdmin, line.verb)), '+');
        EXPECT_EQ(letter(admit(kNobody, line.verb)), 'd');
    }
}

struct Row {
    const char* what;
    Caller caller;
    Verb verb;
    Target target;
    bool allowed;
};

class AuthorizerConditions : public ::testing::TestWithParam<Row> {};

TEST_P(AuthorizerConditions, decide) {
    const auto& row = GetParam();
    EXPECT_EQ(letter(decide(row.caller, row.verb, row.target)), row.allowed ? '+' : 'd') << row.what;
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
    ::testing::Values(Row{"user creates with another's process", kOwner, Verb::CreateJob, with(createOwn(), kStrange), false},
                      Row{"user creates above the default", kOwner, Verb::CreateJob, with(createOwn(), kLoose), false},
                      Row{"user names it as a batch system does", kOwner, Verb::CreateJob, with(createOwn(), kReserved), false},
                      Row{"root names it so", kRoot, Verb::CreateJob, with(createOwn(), kReserved), true},
                      Row{"user names an owner", kOwner, Verb::CreateJob, with(createOwn(), kNamesOwner), false},
                      Row{"user takes a GPU", kOwner, Verb::CreateJob, with(createOwn(), kAllocates), false},
                      Row{"user is the batch system", kOwner, Verb::CreateJob, with(createOwn(), kShepherd), false},
                      Row{"root creates above the default", kRoot, Verb::CreateJob, with(createOwn(), kLoose), true},
                      Row{"root names an owner", kRoot, Verb::CreateJob, with(createOwn(), kNamesOwner), true},
                      Row{"root takes a GPU", kRoot, Verb::CreateJob, with(createOwn(), kAllocates), true},
                      Row{"root is the batch system", kRoot, Verb::CreateJob, with(createOwn(), kShepherd), true},
                      Row{"root creates with a user's process", kRoot, Verb::CreateJob, with(createOwn(), kStrange), true},
                      Row{"root moves a process between jobs", kRoot, Verb::CreateJob, with(createOwn(), kInside), false},
                      Row{"root adds out of another job", kRoot, Verb::AddTask, with(running(), kInside), false},
                      Row{"root adopts out of another job", kRoot, Verb::Adopt, with(running(), kInside), false},
                      Row{"root adopts a user's process", kRoot, Verb::Adopt, with(running(), kStrange), true},
                      Row{"owner adopts another's process", kOwner, Verb::Adopt, with(running(), kStrange), false},
                      Row{"owner adds another's process", kOwner, Verb::AddTask, with(running(), kStrange), false},
                      Row{"owner adds another's process again", kOwner, Verb::AddTaskAgain, with(running(), kStrange), false},
                      Row{"owner is the batch system", kOwner, Verb::AddTask, with(running(), kShepherd), false},
                      Row{"root is the batch system of a task", kRoot, Verb::AddTask, with(running(), kShepherd), true},
                      Row{"owner loosens", kOwner, Verb::SetLimits, with(running(), kLoose), false},
                      Row{"admin loosens", kAdmin, Verb::SetLimits, with(running(), kLoose), true}));

} // namespace
} // namespace pinfold
