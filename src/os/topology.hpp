// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the cores, caches and NUMA nodes of the node's CPUs. The kernel describes the files in
// Documentation/admin-guide/cputopology.rst, Documentation/ABI/stable/sysfs-devices-node and
// Documentation/ABI/testing/sysfs-devices-system-cpu (cache).
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <vector>

namespace pinfold {

struct CpuPlace {
    unsigned cpu = 0;     ///< 0 to CpuList::kMaxCpu
    unsigned package = 0; ///< 0 also if the kernel does not know the package (-1)
    unsigned core = 0;    ///< unique on the node: the core's lowest online CPU; CPUs with the same value are hyper-threads of the
                          ///< same core
    unsigned l3 = 0;      ///< unique on the node: the lowest online CPU of the L3 cache, or of the package if there is no L3
    unsigned node = 0;    ///< number of the NUMA node; 0 on a kernel without NUMA

    bool operator==(const CpuPlace&) const = default;
};

struct Topology {
    std::vector<CpuPlace> cpus; ///< the online CPUs, sorted by number

    CpuList all() const;
    bool operator==(const Topology&) const = default;
};

/// Reads the topology. `root` is the directory that contains "sys": "/", except in tests. If the kernel does not report cores,
/// caches or NUMA nodes, all CPUs count as equally near in that respect. Error: Internal if there is no list of online CPUs;
/// everything else may be missing.
Result<Topology> readTopology(const std::filesystem::path& root = "/");

} // namespace pinfold
