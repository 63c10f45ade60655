// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/topology.hpp"

#include "tests/support/cpp/fake_topology.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <set>

namespace pinfold {

void PrintTo(const CpuPlace& place, std::ostream* out) {
    *out << "cpu " << place.cpu << " package " << place.package << " core " << place.core << " l3 " << place.l3 << " node "
         << place.node;
}

} // namespace pinfold

namespace pinfold::test {
namespace {

const std::filesystem::path kCpus = "sys/devices/system/cpu";
const std::filesystem::path kNodes = "sys/devices/system/node";

class TopologyFiles : public TemporaryDirectory {
protected:
    void put(const std::filesystem::path& file, const std::string& text) const { write(file, text + "\n"); }
    static std::filesystem::path cpu(unsigned number) { return kCpus / ("cpu" + std::to_string(number)); }
    void remove(const std::filesystem::path& file) const { std::filesystem::remove_all(top() / file); }

    void putCache(unsigned number, int index, int level, const CpuList& shared) const {
        const auto cache = cpu(number) / "cache" / ("index" + std::to_string(index));
        put(cache / "level", std::to_string(level));
        put(cache / "shared_cpu_list", shared.toString());
    }
    /// Writes the files as Linux 6 does. There are three levels of caches. For each CPU, each of two files contains the list of
    /// the CPU's siblings.
    void putAll(const Topology& topology) const {
        std::set<unsigned> nodes;
        for (const auto& place : topology.cpus) {
            const auto core = cpusWith(topology, &CpuPlace::core, place.core);
            put(cpu(place.cpu) / "topology/physical_package_id", std::to_string(place.package));
            put(cpu(place.cpu) / "topology/core_cpus_list", core.toString());
            put(cpu(place.cpu) / "topology/thread_siblings_list", core.toString());
            for (int index = 0; index < 3; ++index)
                putCache(place.cpu, index, index < 2 ? 1 : 2, core);
            putCache(place.cpu, 3, 3, cpusWith(topology, &CpuPlace::l3, place.l3));
            nodes.insert(place.node);
        }
        put(kCpus / "online", topology.all().toString());
        for (const auto node : nodes)
            put(kNodes / ("node" + std::to_string(node)) / "cpulist", cpusWith(topology, &CpuPlace::node, node).toString());
        put(kNodes / "online", "0");
    }
    Topology read() const {
        auto topology = readTopology(top());
        EXPECT_TRUE(topology) << topology.error().message;
        return topology ? *std::move(topology) : Topology();
    }
    void expectComesBack(const Topology& topology) const {
        putAll(topology);
        EXPECT_EQ(read().cpus, topology.cpus);
    }
};

} // namespace

TEST_F(TopologyFiles, twoPackagesWithSiblingsInterleaved) {
    putAll(makeTopology({.packages = 2, .coresPerL3 = 4, .threads = 2, .numbering = Numbering::Interleaved}));
    const auto cpus = read().cpus;
    ASSERT_EQ(cpus.size(), 16U);
    EXPECT_EQ(cpus[0], (CpuPlace{.cpu = 0, .package = 0, .core = 0, .l3 = 0, .node = 0}));
    EXPECT_EQ(cpus[5], (CpuPlace{.cpu = 5, .package = 1, .core = 5, .l3 = 4, .node = 1}));
    EXPECT_EQ(cpus[13], (CpuPlace{.cpu = 13, .package = 1, .core = 5, .l3 = 4, .node = 1}));
}

TEST_F(TopologyFiles, siblingsAdjacent) {
    putAll(makeTopology({.packages = 2, .coresPerL3 = 4, .threads = 2}));
    const auto cpus = read().cpus;
    ASSERT_EQ(cpus.size(), 16U);
    EXPECT_EQ(cpus[7], (CpuPlace{.cpu = 7, .package = 0, .core = 6, .l3 = 0, .node = 0}));
    EXPECT_EQ(cpus[15], (CpuPlace{.cpu = 15, .package = 1, .core = 14, .l3 = 8, .node = 1}));
}

TEST_F(TopologyFiles, subNumaClusters) {
    expectComesBack(makeTopology({.packages = 2, .nodesPerPackage = 2, .coresPerL3 = 3, .threads = 2}));
}

TEST_F(TopologyFiles, anL3ThatSpansSubNumaClusters) {
    auto topology = makeTopology({.packages = 2, .nodesPerPackage = 2, .coresPerL3 = 2});
    for (auto& place : topology.cpus)
        place.l3 = place.package * 4;
    expectComesBack(topology);
}

TEST_F(TopologyFiles, severalL3sInANode) {
    expectComesBack(
        makeTopology({.packages = 2, .l3sPerNode = 4, .coresPerL3 = 8, .threads = 2, .numbering = Numbering::Interleaved}));
}

TEST_F(TopologyFiles, offlineCpusAndHoles) {
    const auto all = makeTopology({.packages = 2, .coresPerL3 = 4, .threads = 2, .numbering = Numbering::Interleaved});
    expectComesBack(withoutCpus(all, CpuList::of({0, 3, 11, 12})));
    put(cpu(3) / "online", "0"); // the directory of an offline CPU has no file except `online`
    const auto cpus = read().cpus;
    ASSERT_EQ(cpus.size(), 12U);
    EXPECT_EQ(cpus.front().cpu, 1U);
    EXPECT_EQ(cpus.front().l3, 1U);
}

TEST_F(TopologyFiles, offlineCpusInTheListsAreNoNames) {
    putAll(makeTopology({.coresPerL3 = 2, .threads = 2}));
    put(kCpus / "online", "1-3");
    const auto cpus = read().cpus;
    ASSERT_EQ(cpus.size(), 3U);
    EXPECT_EQ(cpus[0], (CpuPlace{.cpu = 1, .package = 0, .core = 1, .l3 = 1, .node = 0}));
    EXPECT_EQ(cpus[2], (CpuPlace{.cpu = 3, .package = 0, .core = 2, .l3 = 1, .node = 0}));
}

TEST_F(TopologyFiles, olderKernelsNameTheSiblingsDifferently) {
    const auto topology = makeTopology({.coresPerL3 = 2, .threads = 2});
    putAll(topology);
    for (unsigned number = 0; number < 4; ++number)
        remove(cpu(number) / "topology/core_cpus_list");
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, aVirtualMachineMayShowNothing) {
    put(kCpus / "online", "0-1,4");
    const auto cpus = read().cpus;
    ASSERT_EQ(cpus.size(), 3U);
    EXPECT_EQ(cpus[1], (CpuPlace{.cpu = 1, .package = 0, .core = 1, .l3 = 0, .node = 0}));
    EXPECT_EQ(cpus[2], (CpuPlace{.cpu = 4, .package = 0, .core = 4, .l3 = 0, .node = 0}));
}

TEST_F(TopologyFiles, withoutCachesAPackageIsOneL3) {
    const auto topology = makeTopology({.packages = 2, .coresPerL3 = 4, .threads = 2, .numbering = Numbering::Interleaved});
    putAll(topology);
    for (const auto& place : topology.cpus)
        remove(cpu(place.cpu) / "cache");
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, withoutNumaAllIsNode0) {
    auto topology = makeTopology({.packages = 2, .coresPerL3 = 4});
    putAll(topology);
    remove(kNodes);
    for (auto& place : topology.cpus)
        place.node = 0;
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, anUnknownPackageIs0) {
    const auto topology = makeTopology({.coresPerL3 = 2});
    putAll(topology);
    put(cpu(0) / "topology/physical_package_id", "-1");
    put(cpu(1) / "topology/physical_package_id", "99999999999999999999");
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, nodesOfMemoryOnlyHaveNoCpus) {
    auto topology = makeTopology({.packages = 2, .coresPerL3 = 2});
    for (auto& place : topology.cpus)
        place.node = place.node == 0 ? 1 : 8; // the numbers of memory nodes can have gaps
    putAll(topology);
    put(kNodes / "node0/cpulist", "");
    put(kNodes / "node2/cpulist", "");
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, theL3CountsNotTheL4BehindIt) {
    const auto topology = makeTopology({.l3sPerNode = 2, .coresPerL3 = 2});
    putAll(topology);
    for (const auto& place : topology.cpus)
        putCache(place.cpu, 4, 4, topology.all());
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, withoutAnL3ASharedL2IsTheLastLevel) {
    const auto topology = makeTopology({.l3sPerNode = 2, .coresPerL3 = 2, .threads = 2});
    putAll(topology);
    for (const auto& place : topology.cpus) {
        remove(cpu(place.cpu) / "cache/index3");
        putCache(place.cpu, 2, 2, cpusWith(topology, &CpuPlace::l3, place.l3));
    }
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, anL2ThatACoreHasToItselfSetsNothingApart) {
    const auto topology = makeTopology({.packages = 2, .coresPerL3 = 3, .threads = 2});
    putAll(topology);
    for (const auto& place : topology.cpus)
        remove(cpu(place.cpu) / "cache/index3");
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, anL3OfOneCoreIsAnL3) { expectComesBack(makeTopology({.l3sPerNode = 4, .coresPerL3 = 1, .threads = 2})); }

TEST_F(TopologyFiles, damagedListsAreAsMissing) {
    const auto topology = makeTopology({.coresPerL3 = 4});
    putAll(topology);
    put(cpu(1) / "topology/core_cpus_list", "junk");
    put(cpu(1) / "topology/thread_siblings_list", "2-1");
    put(cpu(1) / "cache/index3/shared_cpu_list", "2-3"); // the list of CPU 1 does not contain CPU 1 itself
    put(kNodes / "nodefoo/cpulist", "0-3");
    put(kNodes / "node0/cpulist", "x");
    EXPECT_EQ(read().cpus, topology.cpus);
}

TEST_F(TopologyFiles, withoutTheListOfOnlineCpusThereIsNone) {
    for (const char* text : {"", "junk"}) {
        put(kCpus / "online", text);
        const auto topology = readTopology(top());
        ASSERT_FALSE(topology) << text;
        EXPECT_EQ(topology.error().code, ErrorCode::Internal);
        EXPECT_NE(topology.error().message.find("sys/devices/system/cpu/online"), std::string::npos);
    }
    remove(kCpus);
    EXPECT_FALSE(readTopology(top()));
}

TEST(TopologyOfThisHost, isConsistent) {
    const auto topology = readTopology();
    ASSERT_TRUE(topology) << topology.error().message;
    const auto online = topology->all();
    for (const auto& place : topology->cpus) {
        EXPECT_TRUE(online.contains(place.core)) << ::testing::PrintToString(place);
        EXPECT_TRUE(online.contains(place.l3)) << ::testing::PrintToString(place);
        EXPECT_LE(place.core, place.cpu);
    }
}

} // namespace pinfold::test
