// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/authorizer.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

constexpr Caller kRoot{0, true};
constexpr Caller kAdmin{500, true};
constexpr Caller kOwner{1000, false};
constexpr Caller kOther{1001, false};

struct Row {
    const char* what;
    Caller caller;
    Verb verb;
    Target target;
    bool allowed;
};

class AuthorizerTable : public ::testing::TestWithParam<Row> {};

TEST_P(AuthorizerTable, decides) {
    const auto& row = GetParam();
    const auto decision = decide(row.caller, row.verb, row.target);
    EXPECT_EQ(static_cast<bool>(decision), row.allowed) << row.what;
    if (!decision) {
        EXPECT_EQ(decision.error().code, ErrorCode::Denied);
        EXPECT_FALSE(decision.error().message.empty());
    }
}

Target ofOwner() {
    Target target;
    target.owner = kOwner.uid;
    return target;
}

Target createOwn() {
    auto target = ofOwner();
    target.ownProcesses = true;
    target.userJobsAllowed = true;
    return target;
}

template <class F> Target with(Target target, F&& change) {
    change(target);
    return target;
}

std::vector<Row> rows() {
    std::vector<Row> table{
        {"root creates", kRoot, Verb::Create, ofOwner(), true},
        {"admin creates", kAdmin, Verb::Create, ofOwner(), true},
        {"user creates own where allowed", kOwner, Verb::Create, createOwn(), true},
        {"user creates where not allowed", kOwner, Verb::Create, with(createOwn(), [](Target& t) { t.userJobsAllowed = false; }),
         false},
        {"user creates with another's process", kOwner, Verb::Create,
         with(createOwn(), [](Target& t) { t.ownProcesses = false; }), false},
        {"user creates from inside a job", kOwner, Verb::Create, with(createOwn(), [](Target& t) { t.processesInJob = true; }),
         false},
        {"user creates above the default", kOwner, Verb::Create,
         with(createOwn(), [](Target& t) { t.looserLimit = "memory_max"; }), false},
        {"user names an owner", kOwner, Verb::Create, with(createOwn(), [](Target& t) { t.namesOwner = true; }), false},
        {"root creates above the default", kRoot, Verb::Create, with(ofOwner(), [](Target& t) { t.looserLimit = "memory_max"; }),
         true},
        {"root moves a process between jobs", kRoot, Verb::Create, with(ofOwner(), [](Target& t) { t.processesInJob = true; }),
         false},
        {"root adopts out of another job", kRoot, Verb::AddProcess, with(ofOwner(), [](Target& t) { t.processesInJob = true; }),
         false},
        {"root adopts", kRoot, Verb::AddProcess, ofOwner(), true},
        {"owner adopts own", kOwner, Verb::AddProcess, createOwn(), true},
        {"owner adopts another's process", kOwner, Verb::AddProcess, ofOwner(), false},
        {"other adopts own process into the job", kOther, Verb::AddProcess, createOwn(), false},
        {"reload by root", kRoot, Verb::Reload, {}, true},
        {"reload by admin", kAdmin, Verb::Reload, {}, true},
        {"reload by user", kOwner, Verb::Reload, {}, false},
        {"owner loosens", kOwner, Verb::SetLimits, with(ofOwner(), [](Target& t) { t.looserLimit = "memory_max"; }), false},
        {"admin loosens", kAdmin, Verb::SetLimits, with(ofOwner(), [](Target& t) { t.looserLimit = "memory_max"; }), true},
        {"root removes receipts", kRoot, Verb::VacuumHistory, {}, true},
        {"user removes receipts", kOwner, Verb::VacuumHistory, {}, false},
        {"admin drains", kAdmin, Verb::Drain, {}, true},
        {"user drains", kOwner, Verb::Drain, {}, false},
        {"admin reconciles", kAdmin, Verb::Reconcile, {}, true},
        {"user reconciles", kOwner, Verb::Reconcile, {}, false},
        {"list by anyone", kOther, Verb::List, {}, true},
    };
    for (const auto verb : {Verb::End, Verb::Stop, Verb::Kill, Verb::Suspend, Verb::SetLimits, Verb::Wait, Verb::ListProcesses,
                            Verb::GetUsage, Verb::ReadReceipt}) {
        table.push_back({"root on a user's job", kRoot, verb, ofOwner(), true});
        table.push_back({"admin on a user's job", kAdmin, verb, ofOwner(), true});
        table.push_back({"owner", kOwner, verb, ofOwner(), true});
        table.push_back({"other user", kOther, verb, ofOwner(), false});
        table.push_back({"a job without an owner", kOther, verb, {}, false});
    }
    return table;
}

INSTANTIATE_TEST_SUITE_P(uidVerbState, AuthorizerTable, ::testing::ValuesIn(rows()));

} // namespace
} // namespace pinfold
