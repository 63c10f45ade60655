// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the topologies of fake nodes. tests/unit/os/topology_test.cpp writes the topologies to files in the kernel's form.
#pragma once

#include "base/cpu_list.hpp"
#include "os/topology.hpp"

#include <algorithm>

namespace pinfold::test {

enum class Numbering {
    Adjacent,    ///< a core's hyper-threads have the numbers 2n and 2n+1
    Interleaved, ///< the first hyper-threads of all cores have the lowest numbers
};

struct Shape {
    unsigned packages = 1;
    unsigned nodesPerPackage = 1;
    unsigned l3sPerNode = 1;
    unsigned coresPerL3 = 4;
    unsigned threads = 1;
    Numbering numbering = Numbering::Adjacent;
};

inline Topology makeTopology(const Shape& shape) {
    const auto nodes = shape.packages * shape.nodesPerPackage;
    const auto cores = nodes * shape.l3sPerNode * shape.coresPerL3;
    const auto number = [&](unsigned core, unsigned thread) {
        return shape.numbering == Numbering::Adjacent ? core * shape.threads + thread : thread * cores + core;
    };
    Topology topology;
    for (unsigned core = 0; core < cores; ++core) {
        const auto l3 = core / shape.coresPerL3;
        const auto node = l3 / shape.l3sPerNode;
        for (unsigned thread = 0; thread < shape.threads; ++thread)
            topology.cpus.push_back({.cpu = number(core, thread),
                                     .package = node / shape.nodesPerPackage,
                                     .core = number(core, 0),
                                     .l3 = number(l3 * shape.coresPerL3, 0),
                                     .node = node});
    }
    std::sort(topology.cpus.begin(), topology.cpus.end(), [](const auto& a, const auto& b) { return a.cpu < b.cpu; });
    return topology;
}

/// Returns the CPUs whose member `member` has the value `value`. For example, cpusWith(topology, &CpuPlace::l3, 8) returns the
/// CPUs of the L3 cache 8.
inline CpuList cpusWith(const Topology& topology, unsigned CpuPlace::*member, unsigned value) {
    std::vector<unsigned> numbers;
    for (const auto& place : topology.cpus)
        if (place.*member == value)
            numbers.push_back(place.cpu);
    return CpuList::of(numbers);
}

/// Returns the topology that the kernel shows after `echo 0 > /sys/devices/system/cpu/cpuN/online` for each CPU in `offline`. The
/// number of a core or cache is the lowest number of its online CPUs.
inline Topology withoutCpus(const Topology& topology, const CpuList& offline) {
    Topology left;
    for (auto place : topology.cpus) {
        if (offline.contains(place.cpu))
            continue;
        place.core = cpusWith(topology, &CpuPlace::core, place.core).without(offline).numbers().front();
        place.l3 = cpusWith(topology, &CpuPlace::l3, place.l3).without(offline).numbers().front();
        left.cpus.push_back(place);
    }
    return left;
}

} // namespace pinfold::test
