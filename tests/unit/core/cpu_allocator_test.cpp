// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/cpu_allocator.hpp"

#include "tests/support/cpp/fake_topology.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

using test::cpusWith;
using test::makeTopology;
using test::Numbering;
using test::Shape;
using test::withoutCpus;

constexpr auto kCount = HyperThreads::Count;
constexpr auto kShare = HyperThreads::Share;
constexpr auto kIdle = HyperThreads::Idle;

/// There are two packages. Each package has one L3 cache with four cores. Each core has the CPUs n and n+8.
constexpr Shape kInterleaved{.packages = 2, .coresPerL3 = 4, .threads = 2, .numbering = Numbering::Interleaved};
/// There are two packages, and each package has four L3 caches. Each L3 cache has eight cores, so the L3 caches begin at the CPUs
/// 0, 8, 16 and so on. The second package begins at CPU 32.
constexpr Shape kManyL3s{.packages = 2, .l3sPerNode = 4, .coresPerL3 = 8};
/// There are two packages, and each package has two NUMA nodes. Each NUMA node has four cores.
constexpr Shape kSubNuma{.packages = 2, .nodesPerPackage = 2, .coresPerL3 = 4};

CpuList list(std::string_view text) {
    auto parsed = text.empty() ? CpuList() : CpuList::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *std::move(parsed) : CpuList();
}

Result<CpuAllocation> ask(const Topology& topology, std::string_view taken, unsigned cpus, HyperThreads mode = kCount) {
    return allocateCpus(topology, topology.all(), list(taken), {.cpus = cpus}, mode);
}

/// Returns the CPUs of the allocation, or the message of the refusal.
std::string given(const Result<CpuAllocation>& allocation) {
    return allocation ? allocation->cpus.toString() : allocation.error().message;
}

void expectRefused(const Result<CpuAllocation>& allocation, ErrorCode code, const std::string& message) {
    ASSERT_FALSE(allocation) << allocation->cpus.toString();
    EXPECT_EQ(allocation.error().code, code);
    EXPECT_EQ(allocation.error().message, message);
}

struct Row {
    const char* what;
    Shape shape;
    const char* taken;
    unsigned asked;
    const char* cpus;
    const char* nodes;
};

TEST(CpuAllocator, placesByCacheAndNode) {
    const Row rows[] = {
        {"lowest first", kManyL3s, "", 1, "0", "0"},
        {"one L3", kManyL3s, "", 8, "0-7", "0"},
        {"fullest L3 that has room", kManyL3s, "16-20", 3, "21-23", "0"},
        {"not the fuller L3 without room", kManyL3s, "16-20", 4, "0-3", "0"},
        {"fullest L3 of the other package", kManyL3s, "16-20,40-44,45", 2, "46-47", "1"},
        {"of equal L3s the one of the fuller node", kManyL3s, "32-39", 2, "40-41", "1"},
        {"two L3s of one node", kManyL3s, "", 10, "0-9", "0"},
        {"roomiest L3, remainder where it fits best", kManyL3s, "0-2,8-12", 10, "13-14,16-23", "0"},
        {"the node with fewer L3s to span", kManyL3s, "0-3,8-11,16-19,24-27", 16, "32-47", "1"},
        {"of nodes with equal spans the fuller", kManyL3s, "56-63", 16, "32-47", "1"},
        {"across packages, the roomiest whole", kManyL3s, "0-7", 33, "8,32-63", "0-1"},
        {"all", kManyL3s, "", 64, "0-63", "0-1"},
        {"in a node", kSubNuma, "", 4, "0-3", "0"},
        {"the fullest node", kSubNuma, "8-9", 2, "10-11", "2"},
        {"clusters of one package", kSubNuma, "0-3", 5, "8-12", "2-3"},
        {"the fullest package", kSubNuma, "8", 6, "9-10,12-15", "2-3"},
        {"a whole package and the best of the other", kSubNuma, "0-1,4,8-9,12", 8, "2-3,5-7,13-15", "0-1,3"},
        {"no cache known: packages of one node", {.packages = 2, .coresPerL3 = 4}, "0", 4, "4-7", "1"},
    };
    for (const auto& row : rows) {
        const auto allocation = ask(makeTopology(row.shape), row.taken, row.asked);
        EXPECT_EQ(given(allocation), row.cpus) << row.what;
        if (allocation) {
            EXPECT_EQ(allocation->memoryNodes, list(row.nodes)) << row.what;
            EXPECT_EQ(allocation->reserved, allocation->cpus) << row.what;
        }
    }
}

TEST(CpuAllocator, withoutNumaAPackageIsStillAPlace) {
    auto topology = makeTopology(kManyL3s);
    for (auto& place : topology.cpus)
        place.node = 0;
    EXPECT_EQ(given(ask(topology, "0-7,16-31,40-47", 16)), "32-39,48-55") << "not 8-15 of the other package";
    EXPECT_EQ(ask(topology, "0-7", 33)->memoryNodes, list("0"));
}

TEST(CpuAllocator, anL3OverSubNumaClustersStillHasTwoMemories) {
    auto topology = makeTopology(kSubNuma);
    for (auto& place : topology.cpus)
        place.l3 = place.package * 8;
    EXPECT_EQ(given(ask(topology, "0-1,4", 3)), "5-7") << "not 2-4, over both nodes of the L3";
    EXPECT_EQ(given(ask(topology, "0", 4)), "4-7");
}

TEST(CpuAllocator, keepsHyperThreadsTogether) {
    struct {
        HyperThreads mode;
        unsigned asked;
        const char* cpus;
        const char* reserved;
    } const rows[] = {{kCount, 1, "0,8", "0,8"},           {kCount, 2, "0,8", "0,8"},   {kCount, 3, "0-1,8-9", "0-1,8-9"},
                      {kCount, 9, "0-4,8-12", "0-4,8-12"}, {kShare, 1, "0,8", "0,8"},   {kShare, 3, "0-2,8-10", "0-2,8-10"},
                      {kShare, 8, "0-15", "0-15"},         {kIdle, 1, "0", "0,8"},      {kIdle, 3, "0-2", "0-2,8-10"},
                      {kIdle, 5, "0-4", "0-4,8-12"},       {kCount, 16, "0-15", "0-15"}};
    const auto topology = makeTopology(kInterleaved);
    for (const auto& row : rows) {
        const auto allocation = ask(topology, "", row.asked, row.mode);
        ASSERT_TRUE(allocation) << row.asked;
        EXPECT_EQ(allocation->cpus, list(row.cpus)) << row.asked << ": " << allocation->cpus.toString();
        EXPECT_EQ(allocation->reserved, list(row.reserved)) << row.asked << ": " << allocation->reserved.toString();
    }
    EXPECT_EQ(given(ask(makeTopology({.threads = 2}), "", 3)), "0-3") << "adjacent numbers";
    EXPECT_EQ(given(ask(makeTopology({.threads = 2}), "", 3, kIdle)), "0,2,4") << "adjacent numbers";
}

TEST(CpuAllocator, aCoreOfWhichANeighbourHasAnyIsNotFree) {
    const auto topology = makeTopology(kInterleaved);
    for (const auto mode : {kCount, kShare, kIdle}) {
        const auto allocation = ask(topology, "8,1,2,11", 1, mode); // one hyper-thread of each core in the first package is taken
        ASSERT_TRUE(allocation);
        EXPECT_EQ(allocation->cpus.numbers().front(), 4U);
        EXPECT_EQ(allocation->reserved, list("4,12"));
    }
}

TEST(CpuAllocator, onlyCountTakesTheUsableRestOfACore) {
    const auto topology = makeTopology({.coresPerL3 = 2, .threads = 2}); // 0-1, 2-3
    const auto usable = list("1-3");                                     // CPU 0 is reserved for the system
    EXPECT_EQ(given(allocateCpus(topology, usable, {}, {.cpus = 3}, kCount)), "1-3");
    EXPECT_EQ(given(allocateCpus(topology, usable, {}, {.cpus = 1}, kShare)), "2-3");
    EXPECT_EQ(given(allocateCpus(topology, usable, {}, {.cpus = 1}, kIdle)), "2");
    expectRefused(allocateCpus(topology, usable, {}, {.cpus = 2}, kShare), ErrorCode::LimitInvalid,
                  "2 cores requested, but jobs can have at most 1 core on this node");
}

TEST(CpuAllocator, aSiblingThatIsOfflineIsNoPartOfTheCore) {
    const auto topology = withoutCpus(makeTopology({.coresPerL3 = 3, .threads = 2}), list("0,3")); // the cores are 1, 2 and 4-5
    EXPECT_EQ(given(ask(topology, "", 2, kShare)), "1-2");
    EXPECT_EQ(given(ask(topology, "", 1, kCount)), "1") << "the core that is just large enough";
    EXPECT_EQ(given(ask(topology, "1", 2, kCount)), "2,4-5") << "in the order of their numbers, then whole";
    EXPECT_EQ(given(ask(topology, "1-2", 1, kCount)), "4-5");
}

TEST(CpuAllocator, aSmallCoreClosesTheGap) {
    auto topology = makeTopology({.coresPerL3 = 3, .threads = 2});
    topology = withoutCpus(topology, list("5")); // the cores are 0-1, 2-3 and 4
    EXPECT_EQ(given(ask(topology, "", 3)), "0-1,4");
    EXPECT_EQ(given(ask(topology, "", 1)), "4");
    EXPECT_EQ(given(ask(topology, "", 4)), "0-3");
    topology = withoutCpus(makeTopology({.coresPerL3 = 2, .threads = 4}), list("6-7")); // 0-3, 4-5
    EXPECT_EQ(given(ask(topology, "", 1)), "4-5") << "the smallest of those that are too large";
}

TEST(CpuAllocator, exclusiveIsAllOrNothing) {
    const auto topology = makeTopology(kInterleaved);
    const auto usable = list("1-15"); // one hyper-thread of core 0 is reserved for the system
    const auto exclusive = [&](std::string_view taken, HyperThreads mode, unsigned cpus = 0) {
        return allocateCpus(topology, usable, list(taken), {.cpus = cpus, .exclusive = true}, mode);
    };
    EXPECT_EQ(given(exclusive("", kCount)), "1-15");
    EXPECT_EQ(given(exclusive("", kShare, 7)), "1-7,9-15");
    EXPECT_EQ(given(exclusive("", kIdle, 2)), "1-7");
    for (const auto mode : {kCount, kShare, kIdle}) {
        EXPECT_EQ(exclusive("", mode)->reserved, usable);
        EXPECT_EQ(exclusive("", mode)->memoryNodes, list("0-1"));
    }
    expectRefused(exclusive("3,11", kCount), ErrorCode::Busy,
                  "all 15 CPUs requested, but only 13 of 15 are free now: try again when jobs have ended");
    expectRefused(exclusive("3", kIdle), ErrorCode::Busy,
                  "all 7 cores requested, but only 6 of 7 are free now: try again when jobs have ended");
    EXPECT_EQ(exclusive("8", kShare).error().code, ErrorCode::Busy) << "half a core that Share can't give is somebody's";
    expectRefused(exclusive("", kCount, 16), ErrorCode::LimitInvalid,
                  "16 CPUs requested, but jobs can have at most 15 CPUs on this node");
}

TEST(CpuAllocator, notEnoughNowOrAtAll) {
    const auto topology = makeTopology(kInterleaved);
    expectRefused(ask(topology, "0-5,8-13", 5), ErrorCode::Busy,
                  "5 CPUs requested, but only 4 of 16 are free now: try again when jobs have ended");
    expectRefused(ask(topology, "0-6", 2, kShare), ErrorCode::Busy,
                  "2 cores requested, but only 1 of 8 are free now: try again when jobs have ended");
    EXPECT_EQ(given(ask(topology, "0-5,8-13", 4)), "6-7,14-15");
    expectRefused(ask(topology, "", 17), ErrorCode::LimitInvalid,
                  "17 CPUs requested, but jobs can have at most 16 CPUs on this node");
    expectRefused(ask(topology, "", 9, kIdle), ErrorCode::LimitInvalid,
                  "9 cores requested, but jobs can have at most 8 cores on this node");
    EXPECT_EQ(ask(topology, "", 4294967295U).error().code, ErrorCode::LimitInvalid);
    EXPECT_EQ(ask(topology, "0-15", 17).error().code, ErrorCode::LimitInvalid) << "what can't ever be is no matter of time";
    expectRefused(ask(topology, "", 0), ErrorCode::LimitInvalid, "0 CPUs requested: request at least 1");
    expectRefused(allocateCpus(topology, {}, {}, {.cpus = 0, .exclusive = true}, kCount), ErrorCode::LimitInvalid,
                  "all CPUs requested, but jobs can have at most 0 CPUs on this node");
    EXPECT_EQ(allocateCpus(topology, list("16-99"), {}, {.cpus = 1}, kCount).error().code, ErrorCode::LimitInvalid);
}

TEST(CpuAllocator, describesWhatTheBatchSystemChose) {
    const auto topology = withoutCpus(makeTopology(kSubNuma), list("15"));
    const auto chosen = describeCpus(topology, list("0,5,13"));
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(*chosen, (CpuAllocation{.cpus = list("0,5,13"), .reserved = list("0,5,13"), .memoryNodes = list("0-1,3")}));
    expectRefused(describeCpus(topology, list("13-17")), ErrorCode::LimitInvalid,
                  "CPUs 15-17 do not exist on this node, or are not online: use CPUs that are online");
    EXPECT_EQ(describeCpus(topology, {}).error().code, ErrorCode::LimitInvalid);
}

} // namespace
} // namespace pinfold
