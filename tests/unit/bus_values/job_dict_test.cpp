// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/job_dict.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

TEST(JobDict, aJobComesBack) {
    const JobInfo full{.key = "sge.4711",
                       .object = "/org/pinfold1/job/sge_2e4711",
                       .state = ShownState::Running,
                       .uid = 1000,
                       .slice = "batch-sge.4711.slice",
                       .unit = "job-sge.4711.scope",
                       .leader = 815,
                       .created = fromUsec<RealTime>(7),
                       .tasks = 2,
                       .unkillableSince = fromUsec<RealTime>(8),
                       .unkillableInFuse = true,
                       .memoryNeed = 9};
    JobInfo opened;
    opened.object = "/org/pinfold1/job/sge_2e1";
    for (const auto& job : {full, opened})
        EXPECT_EQ(jobFrom(toDict(job)), job);
    EXPECT_EQ(toDict(opened).at("leader").get<std::uint32_t>(), 0U) << "a job without a batch script";
    EXPECT_EQ(std::string(toDict(full).at("job").peekValueType()), "o");
}

TEST(JobDict, aProcessComesBack) {
    const JobProcess full{.pid = 815,
                          .task = 2,
                          .uid = 1000,
                          .started = fromUsec<RealTime>(3),
                          .cpu = 4us,
                          .rss = 5,
                          .state = "D",
                          .waitPoint = "fuse_dentry_revalidate",
                          .command = "sleep 1"};
    for (const auto& process : {full, JobProcess{}})
        EXPECT_EQ(processFrom(toDict(process)), process);
}

TEST(JobDict, whatWasReconciledComesBack) {
    Reconciliation found;
    forEachOrphanKind(found, [](const char* kind, std::vector<std::string>& names) { names = {kind, "x"}; });
    EXPECT_EQ(reconciliationFrom(toDict(found)), found);
}

TEST(JobDict, aDrainComesBack) {
    for (const auto& drain :
         {Drain{.reason = "", .since = {}, .by = {}}, Drain{.reason = "disk", .since = fromUsec<RealTime>(1), .by = 0}}) {
        Dict properties;
        put(properties, "Draining", true);
        put(properties, "DrainReason", drain.reason);
        put(properties, "DrainDetails", drainDetails(drain));
        EXPECT_EQ(drainFrom(properties), drain);
        properties["Draining"] = sdbus::Variant(false);
        EXPECT_EQ(drainFrom(properties), std::nullopt);
    }
    EXPECT_TRUE(drainDetails(std::nullopt).empty());
}

TEST(JobDict, whatIsNotKnownOfANodeHasNoEntry) {
    NodeResources resources;
    resources.cpus = withFree({.total = 8'000'000, .kept = 0, .given = 1'500'000, .unlimitedJobs = 2});
    resources.memory.given = 4096;
    const auto dict = toDict(resources);
    Dict properties;
    put(properties, "Resources", dict);
    EXPECT_EQ(resourcesFrom(properties), resources);
    EXPECT_EQ(dict.at("cpus_free").get<std::uint64_t>(), 6'500'000U);
    EXPECT_FALSE(dict.contains("memory_total"));
    EXPECT_FALSE(dict.contains("memory_unlimited_jobs"));
    EXPECT_EQ(resourcesFrom({}), NodeResources{}) << "an older pinfoldd";
}

} // namespace
} // namespace pinfold
