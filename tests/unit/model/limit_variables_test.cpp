// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/limit_variables.hpp"

#include "base/parse.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

using Variables = std::map<std::string, std::string>;

JobRecord record(ResourceLimits limits) {
    JobRecord made("id", "boot", *JobKey::parse("sge.4711"));
    made.created = fromUsec<RealTime>(1'763'678'000'900'000);
    made.limits = std::move(limits);
    return made;
}

Variables variablesOf(JobRecord job, bool ompThreads = false) {
    setLimitVariables(job, ompThreads);
    return job.allocation.environment;
}

TEST(LimitVariables, haveTheLimits) {
    EXPECT_EQ(
        variablesOf(record(
            {.memoryMax = 4ULL << 30, .allowedCpus = *CpuList::parse("0-3,8"), .tasksMax = 100, .runTimeMax = 3'600'000'000})),
        (Variables{{"PINFOLD_JOB", "sge.4711"},
                   {"PINFOLD_CPUS", "5"},
                   {"PINFOLD_CPU_LIST", "0-3,8"},
                   {"PINFOLD_MEMORY_MAX", "4294967296"},
                   {"PINFOLD_TASKS_MAX", "100"},
                   {"PINFOLD_END_TIME", "1763681600"}}));
}

TEST(LimitVariables, areMissingWithoutALimit) {
    EXPECT_EQ(variablesOf(record({})), (Variables{{"PINFOLD_JOB", "sge.4711"}}));
    EXPECT_EQ(variablesOf(record({.memoryMax = kInfinity, .cpuQuota = kInfinity, .tasksMax = kInfinity, .runTimeMax = kInfinity}),
                          true),
              (Variables{{"PINFOLD_JOB", "sge.4711"}}));
}

TEST(LimitVariables, countTheCpusThatTheJobCanKeepBusy) {
    const auto cpus = [](std::optional<std::uint64_t> slots, std::optional<std::uint64_t> quota, const char* list) {
        auto job = record({.cpuQuota = quota});
        job.slots = slots;
        if (list)
            job.limits.allowedCpus = *CpuList::parse(list);
        return variablesOf(std::move(job))["PINFOLD_CPUS"];
    };
    EXPECT_EQ(cpus(4, {}, nullptr), "4");
    EXPECT_EQ(cpus({}, 1'500'000, nullptr), "2") << "1.5 CPUs are enough for two";
    EXPECT_EQ(cpus({}, 10'000, nullptr), "1");
    EXPECT_EQ(cpus({}, 2'000'000, nullptr), "2");
    EXPECT_EQ(cpus(4, 3'000'000, "0-7"), "3");
    EXPECT_EQ(cpus(4, 3'000'000, "5"), "1");
}

TEST(LimitVariables, forOpenMpAreTheSitesChoice) {
    auto job = record({});
    job.slots = 4;
    EXPECT_FALSE(variablesOf(job).contains("OMP_NUM_THREADS"));
    EXPECT_EQ(variablesOf(job, true)["OMP_NUM_THREADS"], "4");
}

TEST(LimitVariables, followAChangeOfTheLimitsAndLeaveOthers) {
    auto job = record({.memoryMax = 1 << 20, .tasksMax = 5});
    job.allocation.environment = {{"CUDA_VISIBLE_DEVICES", "0"}};
    setLimitVariables(job, false);
    job.limits.memoryMax = 2 << 20;
    job.limits.tasksMax = kInfinity;
    EXPECT_EQ(variablesOf(job),
              (Variables{{"CUDA_VISIBLE_DEVICES", "0"}, {"PINFOLD_JOB", "sge.4711"}, {"PINFOLD_MEMORY_MAX", "2097152"}}));
}

TEST(LimitVariables, theEndTimeIsTheEarlierEnd) {
    const auto end = [](std::optional<std::uint64_t> own, std::optional<std::uint64_t> batch) {
        return variablesOf(record({.runTimeMax = own, .batchRunTimeMax = batch}))["PINFOLD_END_TIME"];
    };
    EXPECT_EQ(end(4'200'000'000, 3'600'000'000), "1763681600");
    EXPECT_EQ(end({}, 3'600'000'000), "1763681600");
    EXPECT_EQ(end(kInfinity, 3'600'000'000), "1763681600");
    EXPECT_EQ(end(3'600'000'000, kInfinity), "1763681600");
    EXPECT_EQ(end(3'600'000'000, 4'200'000'000), "1763681600");
}

TEST(LimitVariables, theEndTimeOfTheLongestJobIsATime) {
    auto job = record({.runTimeMax = kInfinity - 1});
    EXPECT_EQ(variablesOf(job)["PINFOLD_END_TIME"].find('-'), std::string::npos);
}

TEST(LimitVariables, areKnownByTheirNames) {
    EXPECT_TRUE(isLimitVariable("PINFOLD_JOB"));
    EXPECT_TRUE(isLimitVariable("OMP_NUM_THREADS"));
    EXPECT_FALSE(isLimitVariable("CUDA_VISIBLE_DEVICES"));
}

} // namespace
} // namespace pinfold
