// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/choice.hpp"

#include <gtest/gtest.h>

namespace pinfold::pam {
namespace {

const Jobs kNone;
const Jobs kRunning{{"sge.1", ShownState::Running}};
const Jobs kSuspended{{"sge.2", ShownState::Suspended}};
const Jobs kSeveral{{"sge.4", ShownState::Suspended},
                    {"sge.3", ShownState::Running},
                    {"sge.2", ShownState::Running},
                    {"sge.1", ShownState::Ending}};

ErrorCode refusal(const Jobs& jobs) { return mayLogIn(jobs, "node7").error().code; }

TEST(Choice, whoHasAJobMayLogIn) {
    EXPECT_TRUE(mayLogIn(kRunning, "node7"));
    EXPECT_TRUE(mayLogIn(kSuspended, "node7"));
    EXPECT_TRUE(mayLogIn(kSeveral, "node7"));
}

TEST(Choice, whoHasNoneIsToldWhy) {
    EXPECT_EQ(refusal(kNone), ErrorCode::NoSuchJob);
    EXPECT_TRUE(mayLogIn(kNone, "node7").error().message.starts_with("You have no job on node7, so you cannot log in here. "));
    for (const auto state :
         {std::optional(ShownState::Ending), std::optional(ShownState::Accounting), shownStateFromString("from-the-future")}) {
        EXPECT_EQ(refusal({{"sge.1", state}}), ErrorCode::JobEnding);
        EXPECT_EQ(mayLogIn({{"sge.1", state}}, "node7").error().message,
                  "Your job sge.1 on node7 is ending, so you cannot log in here any more.");
    }
    EXPECT_EQ(refusal({{"sge.1", ShownState::Ending}, {"sge.2", ShownState::Creating}}), ErrorCode::NoSuchJob);
    EXPECT_EQ(mayLogIn({{"sge.2", ShownState::Creating}}, "node7").error().message,
              "Your job sge.2 is just starting on node7: try again in a moment.");
}

TEST(Choice, theNewestThatRunsUnlessTheOriginIsKnown) {
    EXPECT_EQ(*chooseJob(kRunning, {}, true, "node7"), "sge.1");
    EXPECT_EQ(*chooseJob(kSeveral, {}, false, "node7"), "sge.3");
    EXPECT_EQ(*chooseJob(kSeveral, "sge.2", false, "node7"), "sge.2");
    EXPECT_EQ(*chooseJob(kSeveral, "sge.2", true, "node7"), "sge.2");
    EXPECT_EQ(*chooseJob(kSeveral, "sge.1", false, "node7"), "sge.3") << "one that ends takes nobody";
}

TEST(Choice, noneOfSeveralWhereTheSiteSaysSo) {
    const auto refused = chooseJob(kSeveral, {}, true, "node7");
    EXPECT_EQ(refused.error().code, ErrorCode::Denied);
    EXPECT_TRUE(refused.error().message.starts_with("You have several jobs on node7 (sge.3, sge.2), "))
        << refused.error().message;
    const auto many = chooseJob(Jobs(100, {"sge.1", ShownState::Running}), {}, true, "node7");
    EXPECT_NE(many.error().message.find("(sge.1, sge.1, sge.1, sge.1, sge.1, ...)"), std::string::npos);
}

TEST(Choice, noneThatTakesNobody) {
    EXPECT_EQ(chooseJob(kNone, {}, false, "node7").error().code, ErrorCode::NoSuchJob);
    const auto suspended = chooseJob(kSuspended, {}, false, "node7");
    EXPECT_EQ(suspended.error().code, ErrorCode::Busy);
    EXPECT_EQ(suspended.error().message, "Your job sge.2 on node7 is suspended: you can log in when the job has been resumed.");
}

TEST(Choice, aCgroupIsOfTheJobWhoseSliceItIsIn) {
    const Jobs jobs{{"sge.1", ShownState::Running},
                    {"sge.11", ShownState::Running},
                    {"no key", ShownState::Running},
                    {"pbs.1[2]", ShownState::Running}};
    EXPECT_EQ(jobOf("/batch.slice/batch-sge.1.slice/job-sge.1-3.scope", jobs), "sge.1");
    EXPECT_EQ(jobOf("/batch.slice/batch-sge.11.slice/job-sge.11.scope/below", jobs), "sge.11");
    EXPECT_EQ(jobOf(R"(/batch.slice/batch-pbs.1\x5b2\x5d.slice/x)", jobs), "pbs.1[2]");
    for (const char* other : {"", "/", "/batch.slice/batch-sge.1.slice", "/batch.slice/batch-sge.12.slice/x",
                              "/user.slice/batch.slice/batch-sge.1.slice/x", "/system.slice/ssh.service"})
        EXPECT_EQ(jobOf(other, jobs), std::nullopt) << other;
}

} // namespace
} // namespace pinfold::pam
