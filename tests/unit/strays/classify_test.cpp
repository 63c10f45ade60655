// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/classify.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

const Logins kLogins{.services = {{"1", "sshd"}, {"2", "crond"}, {"c3", "atd"}}, .lingering = {1001}};

TEST(Classify, everyPlaceHasItsKind) {
    const std::pair<const char*, StrayKind> cases[] = {
        {"/user.slice/user-1000.slice/session-1.scope", StrayKind::Session},
        {"/user.slice/user-1000.slice/session-9.scope", StrayKind::Session},
        {"/user.slice/user-1000.slice/session-2.scope", StrayKind::Cron},
        {"/user.slice/user-1000.slice/session-c3.scope", StrayKind::At},
        {"/user.slice/user-1000.slice/user@1000.service/init.scope", StrayKind::UserManager},
        {"/user.slice/user-1000.slice/user@1000.service/app.slice/run-u1.service", StrayKind::UserManager},
        {"/user.slice/user-1000.slice/user@1000.service/app.slice/slurmd.service", StrayKind::UserManager},
        {"/user.slice/user-1000.slice/user@1000.service/batch.slice/batch-sge.1.slice/job-sge.1.scope", StrayKind::UserManager},
        {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-4711.scope/container", StrayKind::Container},
        {"/user.slice/user-1001.slice/user@1001.service/app.slice/own.service", StrayKind::Linger},
        {"/system.slice/cron.service", StrayKind::Cron},
        {"/system.slice/crond.service", StrayKind::Cron},
        {"/system.slice/atd.service", StrayKind::At},
        {"/system.slice/site.service", StrayKind::Service},
        {"/system.slice/system-site.slice/site@1.service/worker", StrayKind::Service},
        {"/system.slice/gridengine-exec.service", StrayKind::BatchSystem},
        {"/system.slice/slurmstepd.scope/job_1/step_0/user/task_0", StrayKind::BatchSystem},
        {"/system.slice/slurmd.service", StrayKind::BatchSystem},
        {"/system.slice/docker-0123.scope", StrayKind::Container},
        {"/docker/0123", StrayKind::Container},
        {"/machine.slice/machine-debian.scope/payload", StrayKind::Container},
        {"/machine.slice/own.scope", StrayKind::Container},
        {"/system.slice/run-r12.scope", StrayKind::Other},
        {"/init.scope", StrayKind::Other},
        {"/", StrayKind::Moved},
        {"/elsewhere/session-1.scope", StrayKind::Moved},
        {"/system.slice", StrayKind::Moved},
        {"/batch.slice", StrayKind::Moved},
        {"/user.slice/user-1000.slice", StrayKind::Moved},
        {"/pinfold.slice", StrayKind::Supervisor},
        {"/batch.slice/batch-sge.1.slice/job-sge.1.scope", StrayKind::Orphan},
        {"/batch.slice/batch-odd.slice", StrayKind::Orphan},
        {"/batch.slice/site.service", StrayKind::Service},
    };
    for (const auto& [path, kind] : cases)
        EXPECT_EQ(toString(kindOf(placeOf(path), kLogins)), toString(kind)) << path;
}

TEST(Classify, aJobsSliceIsOneInBatchSliceAlone) {
    EXPECT_EQ(jobSliceOf(placeOf("/batch.slice/batch-sge.1.slice/job-sge.1.scope/nested")), "batch-sge.1.slice");
    EXPECT_EQ(jobSliceOf(placeOf("/batch.slice/batch-sge.1.slice")), "batch-sge.1.slice");
    for (const char* path : {"/user.slice/user-1000.slice/user@1000.service/batch.slice/batch-sge.1.slice", "/batch.slice", "/",
                             "/elsewhere/batch.slice/batch-sge.1.slice", "/site.slice/batch-sge.1.slice"})
        EXPECT_EQ(jobSliceOf(placeOf(path)), "") << path;
}

TEST(Classify, unitsAreTheSystemsOwn) {
    const std::vector<std::string> globs{"site-*.service", "site.slice"};
    EXPECT_TRUE(matchesUnit(placeOf("/system.slice/site-web.service"), globs));
    EXPECT_TRUE(matchesUnit(placeOf("/system.slice/site-web.service/below"), globs));
    EXPECT_TRUE(matchesUnit(placeOf("/site.slice/any.scope"), globs));
    EXPECT_FALSE(matchesUnit(placeOf("/system.slice/other.service/site-web.service"), globs));
    EXPECT_FALSE(matchesUnit(placeOf("/user.slice/user-1000.slice/user@1000.service/site.slice/site-web.service"), globs))
        << "a user chooses these names";
    EXPECT_FALSE(matchesUnit(placeOf("/system.slice/site-web.service"), {}));
}

TEST(Classify, theInnermostUnitIsShown) {
    EXPECT_EQ(unitForPeople("/user.slice/user-1.slice/user@1.service/app.slice/run-u1.service/x"), "run-u1.service");
    EXPECT_EQ(unitForPeople("/elsewhere\n"), "/elsewhere\\x0a");
    EXPECT_EQ(unitForPeople("/"), "/");
}

TEST(Classify, everyKindHasAName) {
    for (const auto& name : strayKindNames())
        EXPECT_EQ(toString(*strayKindFromString(name)), name);
    EXPECT_EQ(strayKindFromString("sessions"), std::nullopt);
}

} // namespace
} // namespace pinfold
