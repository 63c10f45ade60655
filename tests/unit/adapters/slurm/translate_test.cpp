// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/slurm/translate.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <string>

namespace pinfold {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(SlurmRequest, aBatchScriptIsTaskZeroAndAStepsTaskAFurtherOne) {
    const auto batch = slurmRequest({.jobId = 4711, .stepId = kSlurmBatchStep, .owner = 1000});
    EXPECT_EQ(batch.key, "slurm.4711");
    EXPECT_EQ(batch.role, WrapperRole::Job);
    EXPECT_EQ(batch.owner, 1000U);
    const auto first = slurmRequest({.jobId = 4711, .stepId = 0, .owner = 1000});
    EXPECT_EQ(first.key, batch.key);
    EXPECT_EQ(first.role, WrapperRole::TaskOfOpen);
    const auto interactive = slurmRequest({.jobId = 4711, .stepId = 0xfffffffa, .owner = 1000});
    EXPECT_EQ(interactive.role, WrapperRole::TaskOfOpen);
}

TEST(SlurmRequest, memoryIsTheJobsOnThisNode) {
    EXPECT_EQ(slurmRequest({.memory = 250}).limits.memoryMax, 250 * kMiB);
    EXPECT_EQ(slurmRequest({.memory = (std::uint64_t{1} << 40) - 1}).limits.memoryMax, ((std::uint64_t{1} << 40) - 1) * kMiB);
}

TEST(SlurmRequest, noMemoryCountedIsNoLimit) {
    for (const std::uint64_t none : {std::uint64_t{0}, std::uint64_t{1} << 40, std::uint64_t{0xfffffffffffffffe}, UINT64_MAX})
        EXPECT_EQ(slurmRequest({.memory = none}).limits, ResourceLimits{}) << none;
}

TEST(SlurmRequest, slotsAreTheCoresOfTheJob) {
    EXPECT_EQ(slurmRequest({.cores = "0-3,8"}).slots, 5U);
    EXPECT_EQ(slurmRequest({.cores = "7"}).slots, 1U);
    for (const auto* unknown : {"", "(null)", "3-1", "0-99999999", "0,,1"})
        EXPECT_EQ(slurmRequest({.cores = unknown}).slots, std::nullopt) << unknown;
}

TEST(SlurmRequest, comesThroughTheWrappersSocket) {
    const auto request = slurmRequest({.jobId = 4294967295, .stepId = 3, .owner = 1000, .memory = 250, .cores = "0-8191"});
    const auto decoded = decodeWrapperRequest(encode(request));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(std::get<WrapperCreate>(*decoded), request);
}

std::string none(const char*) { return {}; }

TEST(SlurmIdentity, isOfTheItemsAndOfTheTasksVariables) {
    const std::map<std::string, std::string> variables{{"SLURM_JOB_NAME", "train\nme"}, {"SLURM_JOB_ACCOUNT", "physics"},
                                                       {"SLURM_JOB_PARTITION", "long"}, {"SLURM_JOB_NUM_NODES", "2"},
                                                       {"SLURM_SUBMIT_HOST", "login1"}, {"SLURM_SUBMIT_DIR", "/home/alice"},
                                                       {"SLURM_NODELIST", "node[1-2]"}, {"SLURM_JOB_USER", "somebody else"}};
    const auto variable = [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
    };
    EXPECT_EQ(slurmIdentity({.arrayJob = 12, .arrayTask = 0, .restarts = 1, .group = "users"}, variable),
              (JobIdentity{.jobName = "train\\x0ame",
                           .group = "users",
                           .arrayJob = 12,
                           .arrayTask = 0,
                           .run = 1,
                           .submitHost = "login1",
                           .submitDirectory = "/home/alice"}));
    EXPECT_EQ(slurmdIdentity(variable),
              (JobIdentity{.account = "physics", .queue = "long", .nodes = {"node1", "node2"}, .nodeCount = 2}));
}

TEST(SlurmIdentity, withoutVariablesHasTheItemsAlone) {
    EXPECT_EQ(slurmIdentity({.arrayJob = 12, .arrayTask = 3, .restarts = 0}, none),
              (JobIdentity{.arrayJob = 12, .arrayTask = 3, .run = 0}));
    for (const std::uint32_t unset : {0xfffffffeU, 0xffffffffU})
        EXPECT_EQ(slurmIdentity({.arrayJob = 0, .arrayTask = unset, .restarts = unset}, none), JobIdentity{});
    EXPECT_EQ(slurmdIdentity(none), JobIdentity{});
}

TEST(SlurmHosts, areOfAListWithRanges) {
    using Hosts = std::vector<std::string>;
    EXPECT_EQ(slurmHosts("node1"), Hosts{"node1"});
    EXPECT_EQ(slurmHosts("node[09-11,7],login"), (Hosts{"node09", "node10", "node11", "node7", "login"}));
    EXPECT_EQ(slurmHosts("r[1-2]n[3-4].x"), (Hosts{"r1n3.x", "r1n4.x", "r2n3.x", "r2n4.x"}));
    EXPECT_EQ(slurmHosts("[1-2]"), (Hosts{"1", "2"}));
    EXPECT_EQ(slurmHosts("n[18446744073709551614-18446744073709551615]"),
              (Hosts{"n18446744073709551614", "n18446744073709551615"}));
    for (const auto* odd : {"", "node[", "node[1-", "node[2-1]", "node[a-b]", "node[1-2", ",", "node[-1]", "node[]"})
        EXPECT_EQ(slurmHosts(odd), Hosts{}) << odd;
}

TEST(SlurmHosts, areAtMostAsManyAsAReceiptHasRoomFor) {
    for (const auto* many : {"n[1-4000000000]", "n[1-99999]m[1-99999]k[1-99999]", "n[0-18446744073709551615]"})
        EXPECT_EQ(slurmHosts(many).size(), JobIdentity::kMostNodes) << many;
}

TEST(SlurmHosts, ofAListThatNamesNoHostAreRefusedAtOnce) {
    const auto repeat = [](const std::string& text, int times) {
        std::string all;
        for (int i = 0; i < times; ++i)
            all += text;
        return all;
    };
    for (const auto& odd : {"n" + repeat("[0-9]", 20) + "[]", std::string("n[0-18446744073709551615][]"),
                            "n" + repeat("[0]", 40000), "n[" + repeat("0", 100000) + "-9]"})
        EXPECT_EQ(slurmHosts(odd), std::vector<std::string>{}) << odd.substr(0, 40);
}

EnvironmentChanges changes(const std::map<std::string, std::string>& given, const std::set<std::string>& present) {
    return environmentChanges(given, [&](const char* name) { return present.contains(name); });
}

TEST(SlurmEnvironment, hasTheJobsVariablesAndKeepsTheUsersOwn) {
    const std::map<std::string, std::string> given{
        {"PINFOLD_JOB", "slurm.2"}, {"PINFOLD_CPUS", "4"}, {"OMP_NUM_THREADS", "4"}, {"CUDA_VISIBLE_DEVICES", "0"}};
    EXPECT_EQ(changes(given, {}), (EnvironmentChanges{given.begin(), given.end()}));
    EXPECT_EQ(changes(given, {"PINFOLD_CPUS", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PINFOLD_MEMORY_MAX"}),
              (EnvironmentChanges{{"PINFOLD_JOB", "slurm.2"}, {"CUDA_VISIBLE_DEVICES", "0"}}));
}

TEST(SlurmEnvironment, losesTheVariablesOfAnotherJobAndOfAnotherNode) {
    const EnvironmentChanges none{{"PINFOLD_JOB", {}},        {"PINFOLD_CPUS", {}},      {"PINFOLD_CPU_LIST", {}},
                                  {"PINFOLD_MEMORY_MAX", {}}, {"PINFOLD_TASKS_MAX", {}}, {"PINFOLD_END_TIME", {}}};
    EXPECT_EQ(changes({}, {"PINFOLD_JOB", "PINFOLD_CPUS", "OMP_NUM_THREADS"}), none) << "the task has no scope";
    auto expected = none;
    expected["PINFOLD_JOB"] = "slurm.2";
    expected["PINFOLD_CPUS"] = "4";
    EXPECT_EQ(changes({{"PINFOLD_JOB", "slurm.2"}, {"PINFOLD_CPUS", "4"}, {"OMP_NUM_THREADS", "4"}},
                      {"PINFOLD_JOB", "PINFOLD_CPUS", "PINFOLD_MEMORY_MAX", "OMP_NUM_THREADS"}),
              expected);
}

TEST(SlurmContains, itsCgroupsOfBothVersions) {
    for (const auto* text : {
             "0::/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0\n",
             "0::/system.slice/slurmstepd.scope\n",
             "0::/system.slice/node1_slurmstepd.scope/job_7/step_0/user/task_0", // a host with several slurmd
             "12:cpuset:/\n5:freezer:/slurm/uid_1000/job_7/step_0\n0::/system.slice/slurmd.service\n",
             "5:memory:/slurm_node1/uid_1000/job_7/step_batch/task_0\n",
             "0::/system.slice/slurmstepd.scope/systems\n",
             "0::/system.slice/slurmstepd.scope/system/job_7\n",
         })
        EXPECT_TRUE(slurmContains(text)) << text;
}

TEST(SlurmContains, neitherItsServicesNorAnybodyElses) {
    for (const auto* text : {
             "", "\n\n", "0::/\n", "0::/system.slice/slurmd.service\n", "0::/system.slice/slurmstepd.scopes/x\n",
             "0::/batch.slice/batch-slurm.7.slice/job-slurm.7.scope\n", "5:freezer:/slurm\n",
             // the cgroup of slurmstepd itself, in which the job is if Slurm makes no cgroups for jobs
             "0::/system.slice/slurmstepd.scope/system\n", "0::/system.slice/node1_slurmstepd.scope/system",
             "5:freezer:/xslurm/uid_1000/job_7\n", "5:freezer:/uid_1000\n",
             "5:freezer:/slurm\n4:memory:/other/uid_1000\n", // the text has "/slurm" and "/uid_1000", but not in the same line
         })
        EXPECT_FALSE(slurmContains(text)) << text;
}

TEST(SlurmScope, isTheBatchScriptsOwn) {
    const std::string slice = "0::/batch.slice/batch-slurm.7.slice";
    EXPECT_TRUE(isInBatchScope(slice + "/job-slurm.7.scope\n", 7));
    for (const auto& other : {slice + "/job-slurm.7-1.scope\n", slice + "/job-slurm.7.scope/x\n", slice + "\n", std::string(),
                              std::string("0::/batch.slice/batch-slurm.77.slice/job-slurm.77.scope\n"),
                              std::string("0::/system.slice/slurmd.service\n")})
        EXPECT_FALSE(isInBatchScope(other, 7)) << other;
}

TEST(SlurmExit, asWaitHasIt) {
    EXPECT_EQ(exitFromWaitStatus(0), (ExitState{.status = 0, .signal = {}}));
    EXPECT_EQ(exitFromWaitStatus(3 << 8), (ExitState{.status = 3, .signal = {}}));
    EXPECT_EQ(exitFromWaitStatus(SIGKILL), (ExitState{.status = {}, .signal = SIGKILL}));
    EXPECT_EQ(exitFromWaitStatus(SIGSEGV | 0x80), (ExitState{.status = {}, .signal = SIGSEGV})); // 0x80 means a core dump
}

TEST(SlurmExit, whatIsNoneIsUnknown) {
    for (const std::uint32_t none : {0xffffffffU, 0xfffffffeU, 0x10000U, 0x7fU, 100U})
        EXPECT_FALSE(exitFromWaitStatus(none).known()) << none;
}

TEST(SlurmExit, fromTheEpiloguesEnvironment) {
    EXPECT_EQ(slurmJobExit("768"), (ExitState{.status = 3, .signal = {}}));
    EXPECT_EQ(slurmJobExit("9"), (ExitState{.status = {}, .signal = 9}));
    for (const auto* none : {"", "3:0", "-1", "4294967295", "99999999999999999999", " 0"})
        EXPECT_FALSE(slurmJobExit(none).known()) << none;
}

} // namespace
} // namespace pinfold
