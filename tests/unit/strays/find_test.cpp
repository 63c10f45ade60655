// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/find.hpp"

#include "strays/sweep.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

constexpr Microseconds kSecond = 1s;
constexpr BootTime kNow(1000s);
constexpr const char* kSession = "/user.slice/user-1000.slice/session-1.scope";
constexpr const char* kJob = "/batch.slice/batch-sge.1.slice/job-sge.1.scope";

SeenProcess process(pid_t pid, uid_t uid = 1000, const char* cgroup = kSession) {
    SeenProcess seen;
    seen.info.pid = pid;
    seen.info.realUid = seen.info.effectiveUid = seen.info.savedUid = uid;
    seen.info.groups = {uid};
    seen.info.started = BootTime(100s);
    seen.info.command = "sleep 1000";
    seen.cgroup = cgroup;
    return seen;
}

class Find : public ::testing::Test {
protected:
    Find() {
        jobs.jobsKnown = jobs.recordsKnown = true;
        jobs.slices = {"batch-sge.1.slice"};
        jobs.users = {1001};
        policy.config = StraysConfig{};
    }

    template <class... P> std::vector<Stray> find(P... processes) {
        std::vector<SeenProcess> all;
        (all.push_back(std::move(processes)), ...);
        return findStrays(std::move(all), jobs, {}, policy, kNow);
    }
    template <class... P> std::vector<pid_t> pids(P... processes) {
        std::vector<pid_t> found;
        for (const auto& stray : find(std::move(processes)...))
            found.push_back(stray.process.info.pid);
        return found;
    }

    JobKnowledge jobs;
    StrayPolicy policy;
};

using Pids = std::vector<pid_t>;

TEST_F(Find, whatIsOfALiveJobIsNone) {
    EXPECT_EQ(pids(process(7, 1000, kJob), process(8)), Pids{8});
    jobs.slices.clear();
    const auto strays = find(process(7, 1000, kJob));
    ASSERT_EQ(strays.size(), 1U);
    EXPECT_EQ(strays[0].kind, StrayKind::Orphan);
    EXPECT_FALSE(strays[0].actedOn());
}

TEST_F(Find, withoutPinfolddsAnswerAJobsSliceIsBelieved) {
    jobs.slices.clear();
    jobs.jobsKnown = false;
    const auto strays = find(process(7, 1000, kJob), process(8));
    ASSERT_EQ(strays.size(), 1U);
    EXPECT_EQ(strays[0].hasJob, std::nullopt);
}

TEST_F(Find, supervisorsAreToldByPidAndStart) {
    auto supervisor = process(7, 1000, "/pinfold.slice");
    jobs.ours = {{7, supervisor.info.started}, {8, supervisor.info.started}};
    EXPECT_EQ(pids(process(7, 1000, "/pinfold.slice"), process(8), process(9, 1000, "/pinfold.slice")), Pids{9});
    jobs.ours = {{7, supervisor.info.started + 1us}};
    EXPECT_EQ(find(process(7, 1000, "/pinfold.slice"))[0].kind, StrayKind::Supervisor);
    jobs.recordsKnown = false;
    EXPECT_EQ(pids(process(7, 1000, "/pinfold.slice")), Pids{});
}

TEST_F(Find, onlyOrdinaryUsers) {
    EXPECT_EQ(pids(process(2, 0), process(3, 999), process(4, 1000), process(5, 61183), process(6, 61184), process(7, 65519),
                   process(8, 65520), process(9, 65534), process(10, 2'000'000)),
              (Pids{4, 5, 8, 10}));
    policy.config.minUid = 2000;
    policy.config.maxUid = 3000;
    EXPECT_EQ(pids(process(4, 1999), process(5, 2000), process(6, 3000), process(7, 3001)), (Pids{5, 6}));
    policy.config.minUid = 1;
    policy.config.maxUid = StraysConfig::kMostUid;
    EXPECT_EQ(pids(process(2, 0), process(6, 61184), process(9, 65534)), Pids{});
}

TEST_F(Find, exemptionsHold) {
    policy.exemptUsers = {1001};
    policy.exemptGroups = {77};
    policy.config.exemptUnits = {"session-5.scope"};
    auto member = process(3);
    member.info.groups.push_back(77);
    EXPECT_EQ(
        pids(process(1, 1001), process(2), std::move(member), process(4, 1000, "/user.slice/user-1000.slice/session-5.scope")),
        Pids{2});
    policy.config.users = {"carol"};
    policy.users = {1002};
    EXPECT_EQ(pids(process(2), process(5, 1002)), Pids{5});
}

TEST_F(Find, nameThatNobodyKnowsInUsersIsNotEverybody) {
    policy.config.users = {"nosuchuser"};
    EXPECT_EQ(pids(process(2)), Pids{});
}

TEST_F(Find, ageCpuAndCommand) {
    auto young = process(2);
    young.info.started = kNow - 59 * kSecond;
    auto old = process(3);
    old.info.started = kNow - 60 * kSecond;
    auto future = process(4);
    future.info.started = kNow + kSecond; // the kernel rounds the start time of a process to clock ticks
    EXPECT_EQ(pids(std::move(young), std::move(old), std::move(future)), Pids{3});
    policy.config.minCpu = 10us;
    auto busy = process(5);
    busy.info.cpu = 10us;
    EXPECT_EQ(pids(process(4), std::move(busy)), Pids{5});
    policy.config.minCpu = 0s;
    policy.config.commands = {"*matlab*", "sleep *"};
    auto other = process(6);
    other.info.command = "my sleep 1000";
    EXPECT_EQ(pids(process(7), std::move(other)), Pids{7});
}

TEST_F(Find, withoutJobIsByUser) {
    const auto strays = find(process(2), process(3, 1001));
    EXPECT_EQ(strays[0].hasJob, false);
    EXPECT_EQ(strays[1].hasJob, true);
    policy.config.withoutJob = true;
    EXPECT_EQ(pids(process(2), process(3, 1001)), Pids{2});
}

TEST_F(Find, byUserAndPidAndNoMoreThanAllowed) {
    policy.config.maxKills = 2;
    const auto strays = find(process(9, 1001), process(8), process(3, 1000, "/system.slice/site.service"), process(5, 1001));
    ASSERT_EQ(strays.size(), 4U);
    const std::pair<pid_t, bool> expected[] = {{3, false}, {8, true}, {5, true}, {9, false}};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(strays[i].process.info.pid, expected[i].first);
        EXPECT_EQ(strays[i].actedOn(), expected[i].second) << strays[i].process.info.pid;
    }
    EXPECT_EQ(*strays[0].spared, "the chosen kinds do not include the stray's kind");
    EXPECT_EQ(*strays[3].spared, "max_kills is reached");
}

TEST_F(Find, usersTakeTurnsUntilMaxKillsIsReached) {
    policy.config.maxKills = 3;
    policy.subordinates = parseSubordinateIds("1000:100000:65536\n"); // user 1000's
    const auto strays = find(process(2), process(3), process(4), process(5, 1001), process(6, 1001), process(7, 100007));
    ASSERT_EQ(strays.size(), 6U);
    std::set<pid_t> actedOn;
    for (const auto& stray : strays)
        if (stray.actedOn())
            actedOn.insert(stray.process.info.pid);
    EXPECT_EQ(actedOn, (std::set<pid_t>{2, 5, 3}));
}

TEST_F(Find, whoCallsIsNotEndedByIt) {
    policy.ownCgroup = kSession;
    const auto strays = find(process(2), process(3, 1000, "/user.slice/user-1000.slice/session-2.scope"));
    EXPECT_EQ(strays[0].spared, "this command runs in the same unit as the stray");
    EXPECT_TRUE(strays[1].actedOn());
}

TEST_F(Find, thePlanFollowsTheMode) {
    const auto strays = find(process(3, 1000, "/system.slice/site.service"), process(8));
    EXPECT_EQ(plannedAction(strays[0], StraysMode::Kill).kind, StrayAction::Kind::Spare);
    EXPECT_EQ(plannedAction(strays[0], StraysMode::Report).kind, StrayAction::Kind::Report);
    const std::pair<StraysMode, StrayAction::Kind> expected[] = {{StraysMode::Report, StrayAction::Kind::Report},
                                                                 {StraysMode::Warn, StrayAction::Kind::Warning},
                                                                 {StraysMode::Stop, StrayAction::Kind::Terminate},
                                                                 {StraysMode::Kill, StrayAction::Kind::Kill}};
    for (const auto& [mode, kind] : expected)
        EXPECT_EQ(plannedAction(strays[1], mode).kind, kind);
}

TEST(Policy, namesThatNobodyKnowsAreProblems) {
    StraysConfig config;
    config.users = {"root", "4711"};
    config.exemptUsers = {"no such user"};
    config.exemptGroups = {"no such group", "root"};
    const auto policy = resolve(config);
    EXPECT_EQ(policy.users, (std::set<uid_t>{0, 4711}));
    EXPECT_EQ(policy.exemptGroups, std::set<gid_t>{0});
    ASSERT_EQ(policy.problems.size(), 2U);
    EXPECT_EQ(policy.problems[0], "exempt_users: unknown user 'no such user'");
    EXPECT_EQ(policy.problems[1], "exempt_groups: unknown group 'no such group'");
}

} // namespace
} // namespace pinfold
