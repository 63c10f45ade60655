// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the CPUs, memory nodes and GPUs that pinfoldd gives to one job. Tests which part of the node is available to jobs.
#include "base/parse.hpp"
#include "tests/support/cpp/fake_topology.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <fstream>

namespace pinfold::test {
namespace {

constexpr std::uint64_t kGibi = 1 << 30;

/// The node has two packages of two cores, and each core has two hyper-threads with adjacent numbers. The CPUs 0-3 have memory
/// node 0, and the CPUs 4-7 have memory node 1.
class AllocationTest : public CoreTest {
protected:
    AllocationTest() {
        for (const auto& place : makeTopology({.packages = 2, .coresPerL3 = 2, .threads = 2}).cpus) {
            const auto cpu = "sys/devices/system/cpu/cpu" + std::to_string(place.cpu);
            write(cpu + "/topology/core_cpus_list", std::to_string(place.core) + "-" + std::to_string(place.core + 1));
            write(cpu + "/topology/physical_package_id", std::to_string(place.package));
        }
        write("sys/devices/system/cpu/online", "0-7");
        write("sys/devices/system/node/node0/cpulist", "0-3");
        write("sys/devices/system/node/node1/cpulist", "4-7");
        write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids");
        write("sys/fs/cgroup/cpuset.cpus.effective", "0-7");
        write("sys/fs/cgroup/cpuset.mems.effective", "0-1");
        write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:         1 kB");
    }
    void write(const std::string& file, const std::string& text) const {
        const auto path = node.root() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }

    const Result<JobSummary>& ask(const std::string& key, AllocationRequest allocation, ResourceLimits limits = {},
                                  Caller caller = {0, true}) {
        leaders.push_back(child());
        CreateRequest request;
        request.key = key;
        request.leader = leaders.back().pidfd();
        request.limits = std::move(limits);
        request.allocation = std::move(allocation);
        created.reset();
        manager->createJob(caller, std::move(request), [this](Result<JobSummary> answer) { created = std::move(answer); });
        loop.settle();
        return *created;
    }
    /// Creates a job that asks for `allocation`. Returns the job's CPUs and memory nodes. If pinfoldd refuses the job, returns
    /// the message.
    std::string cpus(const std::string& key, AllocationRequest allocation) {
        const auto& job = ask(key, std::move(allocation));
        return job ? job->allocation.cpus.toString() + " on " + job->limits.allowedMemoryNodes->toString() : job.error().message;
    }
    void expectRefused(ErrorCode code, const std::string& words) const {
        ASSERT_FALSE(*created);
        EXPECT_EQ(created->error().code, code) << created->error().message;
        EXPECT_NE(created->error().message.find(words), std::string::npos) << created->error().message;
    }
    static CpuList list(const char* text) { return *CpuList::parse(text); }
    static std::optional<UnitProperty> property(const std::vector<UnitProperty>& all, const std::string& name) {
        for (const auto& property : all)
            if (property.name == name)
                return property;
        return std::nullopt;
    }
    std::vector<UnitProperty> batchChanges() {
        std::vector<UnitProperty> all;
        for (const auto& [unit, properties] : std::exchange(node.changes, {}))
            if (unit == "batch.slice")
                all.insert(all.end(), properties.begin(), properties.end());
        return all;
    }

    std::vector<ChildProcess> leaders;
};

TEST_F(AllocationTest, theNodeSaysWhatItHasAndWhatJobsHold) {
    EXPECT_EQ(manager->resources().cpus, (NodeShare{8'000'000, 0, 0, 8'000'000, 0}));
    EXPECT_EQ(manager->resources().memory, (NodeShare{8 * kGibi, 0, 0, 8 * kGibi, 0}));
    EXPECT_EQ(manager->resources().gpus, NodeShare{}) << "the configuration has no GPUs";
    config.gpus.devices = {{{"/dev/nvidia0", "rw"}}, {{"/dev/nvidia1", "rw"}}};
    config.node = {.memory = Config::Reserve{25, true}, .cpus = Config::Reserve{2, false}};
    manager->configChanged();
    loop.settle();
    EXPECT_EQ(manager->resources().memory.kept, 2 * kGibi);
    ask("sge.1", {.cpus = 1, .gpus = 1}, {.memoryMax = kGibi});
    ask("sge.2", {}, {.memoryMax = kInfinity, .cpuQuota = 1'500'000});
    ask("sge.3", {}, {.memoryMax = 2 * kGibi});
    const auto has = manager->resources();
    EXPECT_EQ(has.cpus, (NodeShare{8'000'000, 2'000'000, 3'500'000, 2'500'000, 1})) << "sge.1 has a core with two hyper-threads";
    EXPECT_EQ(has.memory, (NodeShare{8 * kGibi, 2 * kGibi, 3 * kGibi, 3 * kGibi, 1}));
    EXPECT_EQ(has.gpus, (NodeShare{2, std::nullopt, 1, 1, std::nullopt}));
    ask("sge.4", {}, {.memoryMax = kInfinity - 1, .cpuQuota = kInfinity - 1});
    EXPECT_EQ(manager->resources().memory.given, kInfinity) << "not more than a number can say";
    EXPECT_EQ(manager->resources().memory.free, 0U);
    EXPECT_EQ(manager->resources().cpus.free, 0U);
}

TEST_F(AllocationTest, aJobAlsoHoldsTheHyperThreadsThatItLeavesIdle) {
    config.allocation.hyperThreads = HyperThreads::Idle;
    EXPECT_EQ(cpus("sge.1", {.cpus = 1}), "0 on 0");
    EXPECT_EQ(manager->resources().cpus.given, 2'000'000U);
}

TEST_F(AllocationTest, theLimitOfBatchSliceIsWhatTheSiteKeeps) {
    config.node.memory = Config::Reserve{25, true};
    node.setFile("/batch.slice", "memory.max", "7516192768\n");
    EXPECT_EQ(manager->resources().memory.kept, kGibi) << "not the 2 GiB of the configuration, which are not in force";
    node.setFile("/batch.slice", "memory.max", "max\n");
    EXPECT_EQ(manager->resources().memory.kept, 0U);
    std::filesystem::remove(node.root() / "sys/fs/cgroup/batch.slice/memory.max");
    EXPECT_EQ(manager->resources().memory.kept, std::nullopt) << "without the memory controller, nobody knows";
    std::filesystem::remove_all(node.root() / "sys/fs/cgroup/batch.slice");
    EXPECT_EQ(manager->resources().memory.kept, 2 * kGibi) << "the first job makes the cgroup";
    config.node.memory.reset();
    EXPECT_EQ(manager->resources().memory.kept, std::nullopt);
}

TEST_F(AllocationTest, jobsGetWholeCoresAndTheirMemory) {
    EXPECT_EQ(cpus("sge.1", {.cpus = 1}), "0-1 on 0");
    EXPECT_EQ(cpus("sge.2", {.cpus = 4}), "4-7 on 1") << "one node, not two halves";
    EXPECT_EQ(cpus("sge.3", {.cpus = 3}), "3 CPUs requested, but only 2 of 8 are free now: try again when jobs have ended");
    EXPECT_EQ(created->error().code, ErrorCode::Busy);
    EXPECT_EQ(cpus("sge.4", {.cpus = 2}), "2-3 on 0");
    const auto& slice = node.starts[0].sliceProperties;
    EXPECT_EQ(property(slice, "AllowedCPUs")->value, UnitProperty::Value(list("0-1").toBitmap()));
    EXPECT_EQ(property(slice, "AllowedMemoryNodes")->value, UnitProperty::Value(list("0").toBitmap()));
    EXPECT_EQ(cgroups.open("/batch.slice/batch-sge.1.slice")->read("cpuset.cpus"), "0-1");
}

TEST_F(AllocationTest, isFreeOnceTheJobHasEnded) {
    ask("sge.1", {.cpus = 8});
    EXPECT_EQ(cpus("sge.2", {.cpus = 2}), "2 CPUs requested, but only 0 of 8 are free now: try again when jobs have ended");
    end(leaders[0]);
    EXPECT_EQ(cpus("sge.3", {.cpus = 8}), "0-7 on 0-1");
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].allocation.cpus, list("0-7"));
}

TEST_F(AllocationTest, survivesACrash) {
    ask("sge.1", {.cpus = 4});
    crash();
    restart();
    EXPECT_EQ(manager->job("sge.1")->allocation.cpus, list("0-3"));
    EXPECT_EQ(cpus("sge.2", {.cpus = 2}), "4-5 on 1");
}

TEST_F(AllocationTest, idleSiblingsAreNobodys) {
    config.allocation.hyperThreads = HyperThreads::Idle;
    EXPECT_EQ(cpus("sge.1", {.cpus = 2}), "0,2 on 0");
    crash();
    restart();
    EXPECT_EQ(cpus("sge.2", {.cpus = 2}), "4,6 on 1");
}

TEST_F(AllocationTest, whatTheBatchSystemChoseIsTaken) {
    EXPECT_EQ(cpus("sge.1", {.cpuList = list("2,5")}), "2,5 on 0-1");
    EXPECT_EQ(cpus("sge.2", {.cpuList = list("5")}), "5 on 1") << "twice, if it says so";
    EXPECT_EQ(cpus("sge.3", {.cpus = 2}), "0-1 on 0") << "but nobody is put there by pinfoldd";
    ask("sge.4", {.cpuList = list("7-8")});
    expectRefused(ErrorCode::LimitInvalid, "8 do not exist");
}

TEST_F(AllocationTest, anExclusiveJobIsAlone) {
    ask("sge.1", {});
    ask("sge.2", {.exclusive = true});
    expectRefused(ErrorCode::Busy, "job 'sge.1' is live");
    end(leaders[0]);
    EXPECT_EQ(cpus("sge.3", {.exclusive = true}), "0-7 on 0-1");
    ask("sge.4", {});
    expectRefused(ErrorCode::Busy, "an exclusive job has the node for itself: job 'sge.3'");
    EXPECT_EQ(manager->jobCount(), 1U);
}

TEST_F(AllocationTest, asksForOneThingOnly) {
    ResourceLimits pinned;
    pinned.allowedCpus = list("0");
    ask("sge.1", {.cpus = 1}, pinned);
    expectRefused(ErrorCode::InvalidArgument, "allowed_cpus");
    ask("sge.1", {.cpus = 1, .cpuList = list("0")});
    expectRefused(ErrorCode::InvalidArgument, "cpu_list");
    ask("sge.1", {.cpus = 0});
    expectRefused(ErrorCode::LimitInvalid, "cpus is 0");
    ask("sge.1", {.cpus = 9});
    expectRefused(ErrorCode::LimitInvalid, "at most 8 CPUs");
    EXPECT_TRUE(node.starts.empty());
}

TEST_F(AllocationTest, usersDoNotTakeFromOthers) {
    config.jobs.allowUserJobs = true;
    ask("user.1", {.cpus = 1}, {}, {1000, false});
    expectRefused(ErrorCode::Denied, "may reserve CPUs and GPUs for a job");
}

class GpuTest : public AllocationTest {
protected:
    GpuTest() {
        config.gpus.devices = {{{"/dev/nvidia0", "rw"}}, {{"/dev/nvidia1", "rw"}}, {{"/dev/nvidia2", "rw"}}};
        config.gpus.common = {{"/dev/nvidiactl", "rw"}};
    }
    UnitProperty::DeviceRules opened(std::size_t start) const {
        const auto& slice = node.starts.at(start).sliceProperties;
        EXPECT_EQ(property(slice, "DevicePolicy")->value, UnitProperty::Value(std::string("closed")));
        return std::get<UnitProperty::DeviceRules>(property(slice, "DeviceAllow")->value);
    }
};

TEST_F(GpuTest, aJobOpensItsOwnAlone) {
    using Rules = UnitProperty::DeviceRules;
    ASSERT_TRUE(ask("sge.1", {.gpus = 2}));
    EXPECT_EQ(opened(0), (Rules{{"/dev/nvidiactl", "rw"}, {"/dev/nvidia0", "rw"}, {"/dev/nvidia1", "rw"}}));
    ASSERT_TRUE(ask("sge.2", {.gpus = 1}));
    EXPECT_EQ(opened(1), (Rules{{"/dev/nvidiactl", "rw"}, {"/dev/nvidia2", "rw"}}));
    EXPECT_EQ((**created).allocation.environment.at("CUDA_VISIBLE_DEVICES"), "0") << "it sees one only";
    EXPECT_EQ((**created).allocation.environment.at("ROCR_VISIBLE_DEVICES"), "0");
    ASSERT_TRUE(ask("sge.3", {}));
    EXPECT_EQ(opened(2), Rules());
    EXPECT_FALSE((**created).allocation.environment.contains("CUDA_VISIBLE_DEVICES"));
}

TEST_F(GpuTest, idsAreTheSiteS) {
    config.gpus.ids = {"GPU-a", "GPU-b", "GPU-c"};
    config.gpus.environment = {"CUDA_VISIBLE_DEVICES"};
    ASSERT_TRUE(ask("sge.1", {.gpuList = list("0,2")}));
    EXPECT_EQ((**created).allocation.environment,
              (std::map<std::string, std::string>{{"CUDA_VISIBLE_DEVICES", "GPU-a,GPU-c"}, {"PINFOLD_JOB", "sge.1"}}));
    crash();
    restart();
    EXPECT_EQ(manager->job("sge.1")->allocation.environment.at("CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-c");
    ASSERT_TRUE(ask("sge.2", {.gpus = 1}));
    EXPECT_EQ((**created).allocation.gpus, list("1"));
}

TEST_F(GpuTest, noMoreThanThereAre) {
    ask("sge.1", {.gpus = 4});
    expectRefused(ErrorCode::LimitInvalid, "4 GPUs requested, but this node has 3");
    ask("sge.1", {.gpuList = list("3")});
    expectRefused(ErrorCode::LimitInvalid, "counted from 0");
    ASSERT_TRUE(ask("sge.1", {.gpus = 2}));
    ask("sge.2", {.gpus = 2});
    expectRefused(ErrorCode::Busy, "1 are free");
}

TEST_F(GpuTest, aProfileIsOpenAsWell) {
    config.devices["mpi"] = {{"char-infiniband_verbs", "rw"}};
    ResourceLimits limits;
    limits.deviceProfile = "mpi";
    ASSERT_TRUE(ask("sge.1", {.gpus = 1}, limits));
    EXPECT_EQ(opened(0),
              (UnitProperty::DeviceRules{{"char-infiniband_verbs", "rw"}, {"/dev/nvidiactl", "rw"}, {"/dev/nvidia0", "rw"}}));
}

TEST_F(AllocationTest, batchSliceGetsWhatIsNotReserved) {
    config.node.memory = Config::Reserve{2 * kGibi, false};
    config.node.cpus = Config::Reserve{3, false};
    manager->configChanged();
    loop.settle();
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryMax", 6 * kGibi}, {"AllowedCPUs", list("4-7").toBitmap()}}));
    EXPECT_EQ(cpus("sge.1", {.cpus = 2}), "4-5 on 1") << "although no cgroup says so yet";
    ResourceLimits pinned;
    pinned.allowedCpus = list("3");
    ask("sge.2", {}, pinned);
    expectRefused(ErrorCode::LimitInvalid, "CPUs 3 are not all available: jobs on this node may use 4-7");
}

TEST_F(AllocationTest, reservesByPercentRoundedUp) {
    config.node.memory = Config::Reserve{10, true};
    config.node.cpus = Config::Reserve{1, true};
    manager->configChanged();
    loop.settle();
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryMax", 8 * kGibi - (8 * kGibi * 10 + 99) / 100},
                                                         {"AllowedCPUs", list("2-7").toBitmap()}}));
}

TEST_F(AllocationTest, withoutAReserveTheSiteSOwnSettingsHold) {
    manager->configChanged();
    loop.settle();
    EXPECT_TRUE(batchChanges().empty());
    // The earlier configuration reserved memory for the system, and systemd still enforces this reserve.
    write("run/systemd/system.control/batch.slice.d/50-MemoryMax.conf", "[Slice]\nMemoryMax=1");
    crash();
    restart();
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryMax", kInfinity}}));
    write("run/systemd/system.control/batch.slice.d/50-AllowedCPUs.conf", "[Slice]\nAllowedCPUs=1");
    manager->configChanged();
    loop.settle();
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryMax", kInfinity}, {"AllowedCPUs", list("0-7").toBitmap()}}));
}

TEST_F(AllocationTest, aReserveOfEverythingIsNone) {
    config.node.memory = Config::Reserve{8 * kGibi, false};
    config.node.cpus = Config::Reserve{7, false};
    manager->configChanged();
    loop.settle();
    EXPECT_TRUE(batchChanges().empty());
    const auto messages = journal.messages();
    ASSERT_GE(messages.size(), 2U);
    EXPECT_NE(messages[messages.size() - 2].find("reserve_memory"), std::string::npos);
    EXPECT_NE(messages.back().find("reserve_cpus leaves no CPU for jobs: the node has 8 CPUs"), std::string::npos);
}

TEST_F(AllocationTest, protectionOfJobsNeedsThatOfTheSlice) {
    ResourceLimits low;
    low.memoryLow = kGibi;
    ask("sge.1", {}, low);
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryLow", kGibi}}));
    ask("sge.2", {}, low);
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryLow", 2 * kGibi}}));
    ask("sge.3", {});
    EXPECT_TRUE(batchChanges().empty());
    end(leaders[0]);
    EXPECT_EQ(batchChanges(), (std::vector<UnitProperty>{{"MemoryLow", kGibi}}));
}

} // namespace
} // namespace pinfold::test
